/* HDF5 with a known answer: groups in groups, every kind of selection, chunks, attributes, objects that are
 * opened and closed in unusual ways, calls that fail. The application's error handler, error stack and
 * errno stay its own. Built for each HDF5 of the system. */
#include <errno.h>
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>

#define must(condition)                                                           \
    do {                                                                          \
        if (!(condition)) {                                                       \
            fprintf(stderr, "line %d: %s\n", __LINE__, #condition);               \
            exit(1);                                                              \
        }                                                                         \
    } while (0)

static int complaints;

static herr_t complain(hid_t stack, void *data)
{
    (void)stack;
    ++*(int *)data;
    return 0;
}

/* What netra asks of HDF5 must leave nothing behind. */
static void unmoved(int expected)
{
    H5E_auto2_t handler;
    void *data;
    must(H5Eget_num(H5E_DEFAULT) == 0 || expected);
    must(H5Eget_auto2(H5E_DEFAULT, &handler, &data) >= 0);
    must(handler == complain && data == &complaints && complaints == expected);
}

static void selections(hid_t set)
{
    double data[60] = {0};
    hid_t space = H5Dget_space(set);
    must(H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0); /* 480 bytes */

    hsize_t start[2] = {1, 0}, stride[2] = {2, 3}, count[2] = {2, 3}, block[2] = {1, 2}, n = 12;
    must(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, stride, count, block) >= 0);
    hid_t memory = H5Screate_simple(1, &n, NULL);
    must(H5Dwrite(set, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, data) >= 0); /* regular, 96 bytes */

    hsize_t other[2] = {0, 9}, one[2] = {1, 1};
    must(H5Sselect_hyperslab(space, H5S_SELECT_OR, other, NULL, one, NULL) >= 0);
    n = 13;
    must(H5Sset_extent_simple(memory, 1, &n, NULL) >= 0);
    must(H5Dread(set, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, data) >= 0); /* irregular, 104 bytes */

    hsize_t points[4] = {5, 9, 0, 1};
    must(H5Sselect_elements(space, H5S_SELECT_SET, 2, points) >= 0);
    n = 2;
    must(H5Sset_extent_simple(memory, 1, &n, NULL) >= 0);
    must(H5Dread(set, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, data) >= 0); /* points, 16 bytes */

    must(H5Sselect_none(space) >= 0 && H5Sselect_none(memory) >= 0);
    must(H5Dread(set, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, data) >= 0); /* nothing */
    must(H5Sclose(memory) >= 0 && H5Sclose(space) >= 0);
}

static void chunks(hid_t file)
{
    hsize_t size[1] = {100}, most[1] = {H5S_UNLIMITED}, chunk[1] = {50}, larger[1] = {150}, at[1] = {50};
    int data[150] = {0};
    uint32_t filters = 0;
    hid_t space = H5Screate_simple(1, size, most), plan = H5Pcreate(H5P_DATASET_CREATE);
    must(H5Pset_chunk(plan, 1, chunk) >= 0);
    hid_t set = H5Dcreate2(file, "grows", H5T_NATIVE_INT, space, H5P_DEFAULT, plan, H5P_DEFAULT);
    must(H5Dwrite(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0); /* 400 bytes */
    must(H5Dset_extent(set, larger) >= 0);
    must(H5Dread(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0); /* 600 bytes */
    must(H5Dwrite_chunk(set, H5P_DEFAULT, 0, at, 200, data) >= 0);
    must(H5Dread_chunk(set, H5P_DEFAULT, at, &filters, data) >= 0);
    must(H5Dflush(set) >= 0);
    must(H5Dclose(set) >= 0 && H5Pclose(plan) >= 0 && H5Sclose(space) >= 0);
}

static void attributes(hid_t group)
{
    hsize_t three = 3;
    int data[3] = {1, 2, 3};
    hid_t space = H5Screate_simple(1, &three, NULL);
    hid_t attribute = H5Acreate2(group, "levels", H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT);
    must(H5Awrite(attribute, H5T_NATIVE_INT, data) >= 0 && H5Aclose(attribute) >= 0);
    attribute = H5Aopen(group, "levels", H5P_DEFAULT);
    must(H5Aread(attribute, H5T_NATIVE_INT, data) >= 0);
    must(H5Aread(attribute, H5T_NATIVE_INT, data) >= 0 && H5Aclose(attribute) >= 0);
    must(H5Adelete(group, "levels") >= 0 && H5Sclose(space) >= 0);
}

/* Opens what a walk comes to, by an id that HDF5 itself made. */
static herr_t visit(hid_t group, const char *name, const H5L_info_t *info, void *data)
{
    (void)info;
    hid_t set = H5Oopen(group, name, H5P_DEFAULT);
    if (H5Iget_type(set) == H5I_DATASET)
        must(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0); /* 480 bytes */
    /* A second reference: the first close does not close it. */
    must(H5Iinc_ref(set) == 2 && H5Oclose(set) >= 0 && H5Iis_valid(set) > 0);
    if (H5Iget_type(set) == H5I_DATASET)
        must(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0); /* 480 bytes */
    must(H5Idec_ref(set) == 0);
    return 0;
}

int main(void)
{
    double data[60] = {0};
    hsize_t size[2] = {6, 10};
    must(H5Eset_auto2(H5E_DEFAULT, complain, &complaints) >= 0);
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    errno = 77;
    hid_t file = H5Fcreate("data.h5", H5F_ACC_TRUNC, H5P_DEFAULT, access);
    must(file >= 0);
    unmoved(0);
    hid_t outer = H5Gcreate2(file, "outer", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    hid_t inner = H5Gcreate2(outer, "inner", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    hid_t space = H5Screate_simple(2, size, NULL);
    hid_t set = H5Dcreate2(inner, "./set", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    must(set >= 0);
    selections(set);
    must(H5Dclose(set) >= 0);
    chunks(file);
    attributes(outer);
    must(H5Fflush(inner, H5F_SCOPE_LOCAL) >= 0);
    unmoved(0);
    must(H5Literate(inner, H5_INDEX_NAME, H5_ITER_INC, NULL, visit, data) >= 0);
    set = H5Dopen1(file, "/outer//inner/set");
    must(H5Dwrite(set, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0); /* 480 bytes in the file */
    must(H5Dclose(set) >= 0);
    must(H5Gclose(inner) >= 0 && H5Gclose(outer) >= 0 && H5Sclose(space) >= 0);
    must(H5Fclose(file) >= 0);
    unmoved(0);

    must(H5Fopen("missing.h5", H5F_ACC_RDONLY, access) < 0);
    must(H5Eget_num(H5E_DEFAULT) > 0);
    unmoved(1);
    must(H5Dread(1234, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) < 0);
    must(H5Eget_num(H5E_DEFAULT) > 0);
    unmoved(2);
    must(H5Pclose(access) >= 0);
    printf("done\n");
    return 0;
}

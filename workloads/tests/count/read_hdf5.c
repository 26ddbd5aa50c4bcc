/* read_hdf5 FILE SET: writes the bytes of a data set, or of an attribute SET@NAME, to standard output.
 * read_hdf5 FILE SET where: writes where they lie instead, one offset a line, chunk after chunk. */
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int fail(const char *what, const char *name)
{
    fprintf(stderr, "read_hdf5: %s %s failed\n", what, name);
    return 1;
}

static hid_t native_of(hid_t type, hid_t space, void **data, size_t *size)
{
    hid_t native = H5Tget_native_type(type, H5T_DIR_ASCEND);
    *size = H5Tget_size(native) * (size_t)H5Sget_simple_extent_npoints(space);
    *data = malloc(*size ? *size : 1);
    return native;
}

static int where(hid_t set)
{
    hid_t creation = H5Dget_create_plist(set);
    if (H5Pget_layout(creation) != H5D_CHUNKED) {
        printf("%llu\n", (unsigned long long)H5Dget_offset(set));
        return 0;
    }
    hsize_t chunks = 0;
    hid_t space = H5Dget_space(set);
    H5Dget_num_chunks(set, space, &chunks);
    for (hsize_t i = 0; i < chunks; i++) {
        haddr_t address;
        if (H5Dget_chunk_info(set, space, i, NULL, NULL, &address, NULL) < 0)
            return fail("H5Dget_chunk_info", "");
        printf("%llu\n", (unsigned long long)address);
    }
    return 0;
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return fail("usage: read_hdf5 FILE SET [where],", "");
    hid_t file = H5Fopen(argv[1], H5F_ACC_RDONLY, H5P_DEFAULT);
    if (file < 0)
        return fail("H5Fopen", argv[1]);
    char *name = argv[2], *at = strchr(name, '@');
    void *data;
    size_t size;
    if (at) {
        *at++ = 0;
        hid_t attribute = H5Aopen_by_name(file, name, at, H5P_DEFAULT, H5P_DEFAULT);
        if (attribute < 0)
            return fail("H5Aopen_by_name", at);
        hid_t native = native_of(H5Aget_type(attribute), H5Aget_space(attribute), &data, &size);
        if (H5Aread(attribute, native, data) < 0)
            return fail("H5Aread", at);
    } else {
        hid_t set = H5Dopen2(file, name, H5P_DEFAULT);
        if (set < 0)
            return fail("H5Dopen2", name);
        if (argc > 3)
            return where(set);
        hid_t native = native_of(H5Dget_type(set), H5Dget_space(set), &data, &size);
        if (H5Dread(set, native, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) < 0)
            return fail("H5Dread", name);
    }
    if (fwrite(data, 1, size, stdout) != size)
        return fail("writing", name);
    return 0;
}

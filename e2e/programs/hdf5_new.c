/* The functions of HDF5 that came with 1.14: several data sets in a call, and asynchronous calls. Debian's HDF5 is older, so
 * this is linked with the one inside h5py's wheel, which has no headers: what is used is declared here. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef int64_t hid_t;
typedef uint64_t hsize_t;
typedef int herr_t;

#define FROM const char *file, const char *function, unsigned line
#define HERE __FILE__, __func__, __LINE__
#define NO_SET 0 /* H5ES_NONE: done when the call returns */

extern hid_t H5T_NATIVE_DOUBLE_g, H5T_NATIVE_FLOAT_g, H5T_NATIVE_INT_g;
herr_t H5open(void);
hid_t H5Screate_simple(int, const hsize_t *, const hsize_t *);
herr_t H5Sselect_hyperslab(hid_t, int, const hsize_t *, const hsize_t *, const hsize_t *, const hsize_t *);
hid_t H5Fcreate_async(FROM, const char *, unsigned, hid_t, hid_t, hid_t);
herr_t H5Fflush_async(FROM, hid_t, int, hid_t);
herr_t H5Fclose_async(FROM, hid_t, hid_t);
hid_t H5Gcreate_async(FROM, hid_t, const char *, hid_t, hid_t, hid_t, hid_t);
herr_t H5Gclose_async(FROM, hid_t, hid_t);
hid_t H5Dcreate_async(FROM, hid_t, const char *, hid_t, hid_t, hid_t, hid_t, hid_t, hid_t);
hid_t H5Dopen_async(FROM, hid_t, const char *, hid_t, hid_t);
herr_t H5Dwrite_async(FROM, hid_t, hid_t, hid_t, hid_t, hid_t, const void *, hid_t);
herr_t H5Dread_async(FROM, hid_t, hid_t, hid_t, hid_t, hid_t, void *, hid_t);
herr_t H5Dclose_async(FROM, hid_t, hid_t);
herr_t H5Dwrite_multi(size_t, hid_t[], hid_t[], hid_t[], hid_t[], hid_t, const void *[]);
herr_t H5Dread_multi(size_t, hid_t[], hid_t[], hid_t[], hid_t[], hid_t, void *[]);
hid_t H5Acreate_async(FROM, hid_t, const char *, hid_t, hid_t, hid_t, hid_t, hid_t);
herr_t H5Awrite_async(FROM, hid_t, hid_t, const void *, hid_t);
herr_t H5Aclose_async(FROM, hid_t, hid_t);

#define must(condition)                                             \
    do {                                                            \
        if (!(condition)) {                                         \
            fprintf(stderr, "line %d: %s\n", __LINE__, #condition); \
            exit(1);                                                \
        }                                                           \
    } while (0)

int main(void)
{
    hsize_t size[1] = {100}, start[1] = {10}, count[1] = {20};
    static double data[2][100];
    must(H5open() >= 0);
    hid_t real = H5T_NATIVE_DOUBLE_g;
    hid_t file = H5Fcreate_async(HERE, "new.h5", 2 /* truncate */, 0, 0, NO_SET);
    hid_t group = H5Gcreate_async(HERE, file, "group", 0, 0, 0, NO_SET);
    hid_t space = H5Screate_simple(1, size, NULL), part = H5Screate_simple(1, size, NULL);
    hid_t memory = H5Screate_simple(1, count, NULL);
    must(H5Sselect_hyperslab(part, 0 /* set */, start, NULL, count, NULL) >= 0);
    hid_t one = H5Dcreate_async(HERE, group, "one", real, space, 0, 0, 0, NO_SET);
    hid_t two = H5Dcreate_async(HERE, group, "two", H5T_NATIVE_FLOAT_g, space, 0, 0, 0, NO_SET);
    must(file >= 0 && group >= 0 && one >= 0 && two >= 0);
    must(H5Dwrite_async(HERE, one, real, 0, 0, 0, data[0], NO_SET) >= 0); /* 800 bytes */

    hid_t sets[2] = {one, two}, types[2] = {real, real}, memories[2] = {0, memory}, files[2] = {0, part};
    const void *from[2] = {data[0], data[1]};
    void *into[2] = {data[0], data[1]};
    must(H5Dwrite_multi(2, sets, types, memories, files, 0, from) >= 0); /* 800 and 80 bytes */
    must(H5Dread_multi(2, sets, types, memories, files, 0, into) >= 0); /* the same */
    must(H5Dclose_async(HERE, one, NO_SET) >= 0 && H5Dclose_async(HERE, two, NO_SET) >= 0);

    /* May still be on its way as far as netra knows: not asked about, measured by its memory. */
    one = H5Dopen_async(HERE, group, "one", 0, NO_SET);
    must(H5Dread_async(HERE, one, real, memory, part, 0, data[0], NO_SET) >= 0); /* 160 bytes */
    must(H5Dclose_async(HERE, one, NO_SET) >= 0);

    int level = 3;
    hid_t attribute = H5Acreate_async(HERE, group, "level", H5T_NATIVE_INT_g, space, 0, 0, NO_SET);
    static int levels[100];
    levels[0] = level;
    must(H5Awrite_async(HERE, attribute, H5T_NATIVE_INT_g, levels, NO_SET) >= 0);
    must(H5Aclose_async(HERE, attribute, NO_SET) >= 0);
    must(H5Fflush_async(HERE, file, 0, NO_SET) >= 0);
    must(H5Gclose_async(HERE, group, NO_SET) >= 0 && H5Fclose_async(HERE, file, NO_SET) >= 0);
    printf("done\n");
    return 0;
}

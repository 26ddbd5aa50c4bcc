/* Counts HDF5 calls of files, groups, data sets and attributes; for data calls the selected elements
 * times the size of the memory type. */
#include "count.h"
#include <hdf5.h>

__attribute__((destructor)) static void done(void) { count_write("hdf5"); }

static long long size_of(hid_t type)
{
    return (long long)COUNT_NEXT(H5Tget_size)(type);
}

static long long points(hid_t space)
{
    return (long long)COUNT_NEXT(H5Sget_select_npoints)(space);
}

/* What a data call moves: the memory selection, or that of the file, or the whole data set. */
static long long moved(hid_t set, hid_t type, hid_t memory, hid_t file)
{
    if (memory != H5S_ALL) return points(memory) * size_of(type);
    if (file != H5S_ALL) return points(file) * size_of(type);
    hid_t whole = COUNT_NEXT(H5Dget_space)(set);
    long long all = points(whole);
    COUNT_NEXT(H5Sclose)(whole);
    return all * size_of(type);
}

static long long attribute(hid_t id, hid_t type)
{
    hid_t whole = COUNT_NEXT(H5Aget_space)(id);
    long long all = points(whole);
    COUNT_NEXT(H5Sclose)(whole);
    return all * size_of(type);
}

#define PLAIN(result, name, arguments, values) \
    result name arguments                      \
    {                                          \
        count_add(#name, 0);                   \
        return COUNT_NEXT(name) values;        \
    }

PLAIN(hid_t, H5Fcreate, (const char *path, unsigned flags, hid_t create, hid_t access), (path, flags, create, access))
PLAIN(hid_t, H5Fopen, (const char *path, unsigned flags, hid_t access), (path, flags, access))
PLAIN(herr_t, H5Fflush, (hid_t id, H5F_scope_t scope), (id, scope))
PLAIN(herr_t, H5Fclose, (hid_t id), (id))
PLAIN(hid_t, H5Gcreate2, (hid_t place, const char *path, hid_t link, hid_t create, hid_t access), (place, path, link, create, access))
PLAIN(hid_t, H5Gopen2, (hid_t place, const char *path, hid_t access), (place, path, access))
PLAIN(herr_t, H5Gclose, (hid_t id), (id))
PLAIN(hid_t, H5Dcreate2, (hid_t place, const char *path, hid_t type, hid_t space, hid_t link, hid_t create, hid_t access),
      (place, path, type, space, link, create, access))
PLAIN(hid_t, H5Dopen2, (hid_t place, const char *path, hid_t access), (place, path, access))
PLAIN(herr_t, H5Dset_extent, (hid_t id, const hsize_t *size), (id, size))
PLAIN(herr_t, H5Dclose, (hid_t id), (id))
PLAIN(hid_t, H5Acreate2, (hid_t place, const char *path, hid_t type, hid_t space, hid_t create, hid_t access),
      (place, path, type, space, create, access))
PLAIN(hid_t, H5Aopen, (hid_t place, const char *path, hid_t access), (place, path, access))
PLAIN(herr_t, H5Aclose, (hid_t id), (id))

herr_t H5Dwrite(hid_t set, hid_t type, hid_t memory, hid_t file, hid_t transfer, const void *data)
{
    count_add("H5Dwrite", moved(set, type, memory, file));
    return COUNT_NEXT(H5Dwrite)(set, type, memory, file, transfer, data);
}

herr_t H5Dread(hid_t set, hid_t type, hid_t memory, hid_t file, hid_t transfer, void *data)
{
    count_add("H5Dread", moved(set, type, memory, file));
    return COUNT_NEXT(H5Dread)(set, type, memory, file, transfer, data);
}

herr_t H5Awrite(hid_t id, hid_t type, const void *data)
{
    count_add("H5Awrite", attribute(id, type));
    return COUNT_NEXT(H5Awrite)(id, type, data);
}

herr_t H5Aread(hid_t id, hid_t type, void *data)
{
    count_add("H5Aread", attribute(id, type));
    return COUNT_NEXT(H5Aread)(id, type, data);
}

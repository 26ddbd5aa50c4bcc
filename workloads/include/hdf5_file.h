/* HDF5 calls of a workload, checked, in parallel with MPI and serial without: a file of all ranks, data
 * sets of doubles, and slabs of them. */
#ifndef HDF5_FILE_H
#define HDF5_FILE_H

#include "crew.h"
#include <hdf5.h>

/* Passes a result on, or ends the crew when it is an error. */
static hid_t hdf5_ok(hid_t result, const char *function, const char *name)
{
    if (result < 0)
        crew_fail("%s %s failed", function, name);
    return result;
}

/* Refuses knobs that make one write too large: HDF5 hands it to MPI-IO with an int for the length. */
static void hdf5_limit(long long bytes, const char *knobs)
{
    if (bytes > 0x7fffffffLL)
        knob_refuse("%s make one H5Dwrite of %lld bytes; HDF5 passes fewer than 2 GiB to MPI-IO at once", knobs, bytes);
}

#ifdef WITHOUT_MPI
typedef int hdf5_hints;
#define HDF5_NO_HINTS 0
#else
typedef MPI_Info hdf5_hints;
#define HDF5_NO_HINTS MPI_INFO_NULL
#endif

/* The access properties of a file of all ranks; the caller may add to them, and closes them. */
static hid_t hdf5_access(hdf5_hints hints)
{
    hid_t access = hdf5_ok(H5Pcreate(H5P_FILE_ACCESS), "H5Pcreate", "");
#ifdef WITHOUT_MPI
    (void)hints;
#else
    hdf5_ok(H5Pset_fapl_mpio(access, MPI_COMM_WORLD, hints), "H5Pset_fapl_mpio", "");
#endif
    return access;
}

static hid_t hdf5_create(const char *name, hid_t access)
{
    return hdf5_ok(H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, access), "H5Fcreate", name);
}

static void hdf5_close(hid_t file, const char *name)
{
    hdf5_ok(H5Fclose(file), "H5Fclose", name);
}

static hid_t hdf5_transfer(int collective)
{
    hid_t transfer = hdf5_ok(H5Pcreate(H5P_DATASET_XFER), "H5Pcreate", "");
#ifdef WITHOUT_MPI
    (void)collective;
#else
    hdf5_ok(H5Pset_dxpl_mpio(transfer, collective ? H5FD_MPIO_COLLECTIVE : H5FD_MPIO_INDEPENDENT), "H5Pset_dxpl_mpio", "");
#endif
    return transfer;
}

/* A data set of doubles that is never filled before it is written; contiguous. */
static hid_t hdf5_dataset(hid_t place, const char *name, int dimensions, const hsize_t *size)
{
    hid_t space = hdf5_ok(H5Screate_simple(dimensions, size, NULL), "H5Screate_simple", name);
    hid_t creation = hdf5_ok(H5Pcreate(H5P_DATASET_CREATE), "H5Pcreate", name);
    H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER);
    hid_t set = H5Dcreate2(place, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    H5Pclose(creation);
    H5Sclose(space);
    return hdf5_ok(set, "H5Dcreate2", name);
}

/* Writes `data` to the slab that begins at `start` and has `count` elements in each direction. */
static void hdf5_write(hid_t set, const char *name, int dimensions, const hsize_t *start, const hsize_t *count,
                       hid_t transfer, const void *data)
{
    hid_t memory = hdf5_ok(H5Screate_simple(dimensions, count, NULL), "H5Screate_simple", name);
    hid_t space = hdf5_ok(H5Dget_space(set), "H5Dget_space", name);
    hdf5_ok(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL), "H5Sselect_hyperslab", name);
    hdf5_ok(H5Dwrite(set, H5T_NATIVE_DOUBLE, memory, space, transfer, data), "H5Dwrite", name);
    H5Sclose(space);
    H5Sclose(memory);
}

static void hdf5_dataset_close(hid_t set, const char *name)
{
    hdf5_ok(H5Dclose(set), "H5Dclose", name);
}

static hid_t hdf5_group(hid_t place, const char *name)
{
    return hdf5_ok(H5Gcreate2(place, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), "H5Gcreate2", name);
}

/* An attribute of `count` doubles, made and left open. */
static hid_t hdf5_attribute(hid_t place, const char *name, hsize_t count)
{
    hid_t space = hdf5_ok(H5Screate_simple(1, &count, NULL), "H5Screate_simple", name);
    hid_t attribute = H5Acreate2(place, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT);
    H5Sclose(space);
    return hdf5_ok(attribute, "H5Acreate2", name);
}

static void hdf5_attribute_write(hid_t attribute, const char *name, const void *data)
{
    hdf5_ok(H5Awrite(attribute, H5T_NATIVE_DOUBLE, data), "H5Awrite", name);
}

static void hdf5_attribute_close(hid_t attribute, const char *name)
{
    hdf5_ok(H5Aclose(attribute), "H5Aclose", name);
}

#endif

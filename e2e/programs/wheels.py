"""Two wheels in one process, each with an HDF5 of its own: h5py and netCDF4. 77 if they are not there."""
import sys

try:
    import h5py
    import netCDF4
    import numpy
except ImportError as missing:
    print(missing)
    sys.exit(77)

with h5py.File("a.h5", "w") as file:
    data = file.create_group("grp").create_dataset("dset", data=numpy.arange(1000.0))
    data.attrs["unit"] = "m"
    data[100:200] = 7.0
with h5py.File("a.h5", "r") as file:
    whole = file["grp/dset"][...]
    some = file["grp/dset"][10:20:2]

file = netCDF4.Dataset("b.nc", "w", format="NETCDF4")
group = file.createGroup("deep")
group.createDimension("time", None)
group.createDimension("x", 50)
group.createVariable("temperature", "f8", ("time", "x"))[0:4, :] = numpy.ones((4, 50))
file.close()
file = netCDF4.Dataset("b.nc")
total = float(file["deep"]["temperature"][:].sum())
file.close()

assert whole.sum() == 485250.0 and some.tolist() == [10, 12, 14, 16, 18] and total == 200.0

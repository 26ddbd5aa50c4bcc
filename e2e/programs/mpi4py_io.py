# MPI-IO from Python: mpi4py loads its MPI library where nobody else sees it, and calls the
# functions with large counts where there are some.
import sys
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.rank, comm.size
block = bytearray([65 + rank]) * 1000
file = MPI.File.Open(comm, "python.dat", MPI.MODE_CREATE | MPI.MODE_RDWR)
file.Write_at(rank * 1000, block)
file.Write_at_all((size + rank) * 1000, block)
request = file.Iwrite_at((2 * size + rank) * 1000, block)
request.Wait()
file.Sync()
comm.Barrier()
back = bytearray(1000)
file.Read_at_all(rank * 1000, back)
file.Close()
if back != block:
    sys.exit("read something else than was written")
if rank == 0:
    print("python wrote", 3 * size * 1000, "bytes")

! MPI-IO from Fortran: through the module `mpi` and, for the second file, `mpi_f08`. The libraries
! convert handles and call their C functions, under one name or the other.
module with_mpi
contains
    subroutine old_way(rank)
        use mpi
        integer, intent(in) :: rank
        integer :: file, code, request, status(MPI_STATUS_SIZE)
        integer(kind=MPI_OFFSET_KIND) :: at
        double precision :: values(100)
        values = rank
        at = rank * 800_MPI_OFFSET_KIND
        call MPI_File_open(MPI_COMM_WORLD, "old.dat", MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, file, code)
        call MPI_File_write_at(file, at, values, 100, MPI_DOUBLE_PRECISION, status, code)
        call MPI_File_write_at_all(file, at, values, 100, MPI_DOUBLE_PRECISION, status, code)
        call MPI_File_iread_at(file, at, values, 50, MPI_DOUBLE_PRECISION, request, code)
        call MPI_Wait(request, status, code)
        call MPI_File_close(file, code)
    end subroutine

    subroutine new_way(rank)
        use mpi_f08
        integer, intent(in) :: rank
        type(MPI_File) :: file
        integer(kind=MPI_OFFSET_KIND) :: at
        double precision :: values(100)
        values = rank
        at = rank * 800_MPI_OFFSET_KIND
        call MPI_File_open(MPI_COMM_WORLD, "new.dat", MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, file)
        call MPI_File_write_at(file, at, values, 100, MPI_DOUBLE_PRECISION, MPI_STATUS_IGNORE)
        call MPI_File_read_at_all(file, at, values, 100, MPI_DOUBLE_PRECISION, MPI_STATUS_IGNORE)
        call MPI_File_close(file)
    end subroutine
end module

program fortran_io
    use mpi
    use with_mpi
    integer :: rank, code
    call MPI_Init(code)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
    call old_way(rank)
    call new_way(rank)
    if (rank == 0) print *, "done"
    call MPI_Finalize(code)
end program fortran_io

! sw4: images and checkpoints at different intervals, through MPI-IO from Fortran (see README.md).
! Knobs and expectation are in sw4.c, which calls sw4_run.
module sw4
  use, intrinsic :: iso_c_binding, only: c_int, c_long_long, c_loc, c_ptr, c_double
  use mpi
  implicit none
  private

  integer, parameter :: word = 8

  interface
    subroutine sw4_fill(into, stream, offset, length) bind(c)
      import :: c_ptr, c_long_long
      type(c_ptr), value :: into
      integer(c_long_long), value :: stream, offset, length
    end subroutine sw4_fill

    subroutine sw4_fail(step) bind(c)
      import :: c_int
      integer(c_int), value :: step
    end subroutine sw4_fail
  end interface

contains

  subroutine sw4_run(steps, image_every, checkpoint_every, across, rows, deep, slabs, rank, ranks) bind(c)
    integer(c_long_long), value :: steps, image_every, checkpoint_every, across, rows, deep
    integer(c_int), value :: slabs, rank, ranks
    integer(c_long_long) :: step, volume

    if (ranks < 1) return
    volume = across * rows * deep
    do step = 1, steps
      if (mod(step, image_every) == 0) then
        call write_file('image', step, 2 * step, across * rows, merge(across * rows, across, slabs /= 0), &
                        slabs /= 0, rank)
      end if
      if (mod(step, checkpoint_every) == 0) then
        call write_file('checkpoint', step, 2 * step + 1, volume, volume, .true., rank)
      end if
    end do
  end subroutine sw4_run

  ! One file of all ranks: each writes its share, `points` doubles, in parts of `part` doubles.
  subroutine write_file(kind, step, stream, points, part, collective, rank)
    character(*), intent(in) :: kind
    integer(c_long_long), intent(in) :: step, stream, points, part
    logical, intent(in) :: collective
    integer(c_int), intent(in) :: rank
    character(64) :: name
    real(c_double), allocatable, target :: grid(:)
    integer(kind=MPI_OFFSET_KIND) :: offset
    integer :: file, error, state(MPI_STATUS_SIZE)
    integer(c_long_long) :: at

    write (name, '("sw4.", a, ".", i7.7)') kind, step
    allocate (grid(points))
    call sw4_fill(c_loc(grid), stream, rank * points * word, points * word)
    call MPI_File_open(MPI_COMM_WORLD, trim(name), ior(MPI_MODE_CREATE, MPI_MODE_WRONLY), MPI_INFO_NULL, file, error)
    call check(error, step)
    do at = 0, points - 1, part
      offset = (rank * points + at) * word
      if (collective) then
        call MPI_File_write_at_all(file, offset, grid(at + 1), int(part), MPI_DOUBLE_PRECISION, state, error)
      else
        call MPI_File_write_at(file, offset, grid(at + 1), int(part), MPI_DOUBLE_PRECISION, state, error)
      end if
      call check(error, step)
    end do
    call MPI_File_close(file, error)
    call check(error, step)
    deallocate (grid)
  end subroutine write_file

  subroutine check(error, step)
    integer, intent(in) :: error
    integer(c_long_long), intent(in) :: step

    if (error /= MPI_SUCCESS) call sw4_fail(int(step, c_int))
  end subroutine check

end module sw4

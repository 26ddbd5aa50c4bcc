//! `MPI_File_*`, counted as Darshan's MPI-IO module defines its counters, with what it leaves out: sizes
//! beyond 2 GiB, the second halves of split calls, calls that are waited for later timed until they are
//! done, seeks, sizes, hints.
//!
//! The calls of the application and of libraries above (HDF5, PnetCDF) come here through their slots
//! (`got`), under both of each function's names. What the MPI library does below stands inside these calls
//! (`nest`).

mod data;
mod handle;
mod later;
mod meta;
mod open;
mod process;
mod request;
mod split;

pub use handle::{HANDLES, Handle};
pub use request::{REQUESTS, Request};

use crate::got::Family;
use crate::slot_rows;

/// The hooks.
pub static FAMILY: Family = Family {
    mark: c"MPI_Init",
    prefix: b"MPI_",
    rows: slot_rows! {
        MPI_File_close = open::close;
        MPI_File_delete = meta::delete;
        MPI_File_iread = later::iread;
        MPI_File_iread_all = later::iread_all;
        MPI_File_iread_all_c = later::iread_all_c;
        MPI_File_iread_at = later::iread_at;
        MPI_File_iread_at_all = later::iread_at_all;
        MPI_File_iread_at_all_c = later::iread_at_all_c;
        MPI_File_iread_at_c = later::iread_at_c;
        MPI_File_iread_c = later::iread_c;
        MPI_File_iread_shared = later::iread_shared;
        MPI_File_iread_shared_c = later::iread_shared_c;
        MPI_File_iwrite = later::iwrite;
        MPI_File_iwrite_all = later::iwrite_all;
        MPI_File_iwrite_all_c = later::iwrite_all_c;
        MPI_File_iwrite_at = later::iwrite_at;
        MPI_File_iwrite_at_all = later::iwrite_at_all;
        MPI_File_iwrite_at_all_c = later::iwrite_at_all_c;
        MPI_File_iwrite_at_c = later::iwrite_at_c;
        MPI_File_iwrite_c = later::iwrite_c;
        MPI_File_iwrite_shared = later::iwrite_shared;
        MPI_File_iwrite_shared_c = later::iwrite_shared_c;
        MPI_File_open = open::open;
        MPI_File_preallocate = meta::preallocate;
        MPI_File_read = data::read;
        MPI_File_read_all = data::read_all;
        MPI_File_read_all_begin = split::read_all_begin;
        MPI_File_read_all_begin_c = split::read_all_begin_c;
        MPI_File_read_all_c = data::read_all_c;
        MPI_File_read_all_end = split::read_all_end;
        MPI_File_read_at = data::read_at;
        MPI_File_read_at_all = data::read_at_all;
        MPI_File_read_at_all_begin = split::read_at_all_begin;
        MPI_File_read_at_all_begin_c = split::read_at_all_begin_c;
        MPI_File_read_at_all_c = data::read_at_all_c;
        MPI_File_read_at_all_end = split::read_at_all_end;
        MPI_File_read_at_c = data::read_at_c;
        MPI_File_read_c = data::read_c;
        MPI_File_read_ordered = data::read_ordered;
        MPI_File_read_ordered_begin = split::read_ordered_begin;
        MPI_File_read_ordered_begin_c = split::read_ordered_begin_c;
        MPI_File_read_ordered_c = data::read_ordered_c;
        MPI_File_read_ordered_end = split::read_ordered_end;
        MPI_File_read_shared = data::read_shared;
        MPI_File_read_shared_c = data::read_shared_c;
        MPI_File_seek = meta::seek;
        MPI_File_seek_shared = meta::seek_shared;
        MPI_File_set_info = meta::set_info;
        MPI_File_set_size = meta::set_size;
        MPI_File_set_view = meta::set_view;
        MPI_File_sync = meta::sync;
        MPI_File_write = data::write;
        MPI_File_write_all = data::write_all;
        MPI_File_write_all_begin = split::write_all_begin;
        MPI_File_write_all_begin_c = split::write_all_begin_c;
        MPI_File_write_all_c = data::write_all_c;
        MPI_File_write_all_end = split::write_all_end;
        MPI_File_write_at = data::write_at;
        MPI_File_write_at_all = data::write_at_all;
        MPI_File_write_at_all_begin = split::write_at_all_begin;
        MPI_File_write_at_all_begin_c = split::write_at_all_begin_c;
        MPI_File_write_at_all_c = data::write_at_all_c;
        MPI_File_write_at_all_end = split::write_at_all_end;
        MPI_File_write_at_c = data::write_at_c;
        MPI_File_write_c = data::write_c;
        MPI_File_write_ordered = data::write_ordered;
        MPI_File_write_ordered_begin = split::write_ordered_begin;
        MPI_File_write_ordered_begin_c = split::write_ordered_begin_c;
        MPI_File_write_ordered_c = data::write_ordered_c;
        MPI_File_write_ordered_end = split::write_ordered_end;
        MPI_File_write_shared = data::write_shared;
        MPI_File_write_shared_c = data::write_shared_c;
        MPI_Finalize = process::finalize;
        MPI_Init = process::init;
        MPI_Init_thread = process::init_thread;
        MPI_Request_free = request::request_free;
        MPI_Test = request::test;
        MPI_Testall = request::testall;
        MPI_Testany = request::testany;
        MPI_Testsome = request::testsome;
        MPI_Wait = request::wait;
        MPI_Waitall = request::waitall;
        MPI_Waitany = request::waitany;
        MPI_Waitsome = request::waitsome;
    },
};

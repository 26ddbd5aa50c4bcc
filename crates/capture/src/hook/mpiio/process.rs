//! The beginning and the end of MPI in a process.

use core::ffi::{c_char, c_int};

use super::request;
use crate::got;
use crate::job;
use crate::mpi;
use crate::slot_hook;

slot_hook! {
    /// `MPI_Init`.
    fn init(count: *mut c_int, arguments: *mut *mut *mut c_char) -> c_int, real, taken => {
        // SAFETY: the caller's contract is the real function's.
        let done = unsafe { real(count, arguments) };
        begun(taken, done);
        done
    }
    /// `MPI_Init_thread`.
    fn init_thread(count: *mut c_int, arguments: *mut *mut *mut c_char, wanted: c_int, given: *mut c_int) -> c_int, real, taken => {
        // SAFETY: the caller's contract is the real function's.
        let done = unsafe { real(count, arguments, wanted, given) };
        begun(taken, done);
        done
    }
    /// `MPI_Finalize`.
    fn finalize() -> c_int, real, taken => {
        if let Some(mpi) = mpi::known(taken.real) {
            request::end_all();
            job::join(mpi);
        }
        // SAFETY: the caller's contract is the real function's.
        unsafe { real() }
    }
}

/// MPI has begun: who are we? The library may have loaded others meanwhile.
fn begun(taken: got::Taken, done: c_int) {
    if done != 0 {
        return;
    }
    got::patch::scan(got::FAMILIES);
    if let Some(mpi) = mpi::known(taken.real) {
        mpi::introduce(mpi);
    }
}

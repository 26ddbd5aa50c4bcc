//! `longjmp` in its forms: a jump out of a signal handler may leave bookkeeping of ours half way. The
//! thread's mark "inside netra" goes with the frame that set it, or nothing would be recorded again.

use core::ffi::{c_int, c_void};

use super::posix::named;
use crate::tls;

/// The functions behind the hooks.
mod real {
    use super::*;

    crate::real! {
        fn longjmp(to: *mut c_void, value: c_int) -> (), else ();
        fn __longjmp_chk(to: *mut c_void, value: c_int) -> (), else ();
    }
}

named! {
    /// `longjmp(3)`. It is no I/O: no event, no count.
    fn [longjmp __longjmp_chk](to: *mut c_void, value: c_int, _site: usize) -> (), real => {
        tls::slot().busy.set(0);
        // SAFETY: the caller's contract is the real function's. It does not return.
        unsafe { real(to, value) };
    }
}

//! Calls of libraries that a process may hold several copies of, HDF5 and PnetCDF: what their hooks share.

use core::ops::Deref;

use crate::nest::{Enclosing, Within};
use crate::real;

/// A copy of such a library.
pub(super) trait Copied: 'static {
    /// The copy that the function at an address belongs to.
    fn of(real: *const ()) -> &'static Self;

    /// Whether a call that returned `done` succeeded.
    fn succeeded(&self, done: i64) -> bool;
}

/// A call that has ended and is being recorded.
pub(super) struct Recorded<L: Copied> {
    pub(super) within: Within,
    pub(super) library: &'static L,
    /// The application's errno, which what is asked of the library may change.
    errno: i32,
    /// Whether the call succeeded. After one that did not HDF5 is asked nothing: the error stack is the
    /// application's to read.
    pub(super) succeeded: bool,
}

impl<L: Copied> Recorded<L> {
    /// Ends a call of the function at `real` that returned `done`; none where it must leave no trace.
    pub(super) fn after(outer: Enclosing, real: *const (), done: i64) -> Option<Recorded<L>> {
        let errno = real::errno();
        let within = outer.leave()?;
        let library = L::of(real);
        Some(Recorded { within, library, errno, succeeded: library.succeeded(done) })
    }
}

impl<L: Copied> Deref for Recorded<L> {
    type Target = Within;

    fn deref(&self) -> &Within {
        &self.within
    }
}

impl<L: Copied> Drop for Recorded<L> {
    fn drop(&mut self) {
        real::set_errno(self.errno);
    }
}

/// Declares hooks: a function's arguments, and what is recorded when it has returned.
macro_rules! hooks {
    ($($(#[$meta:meta])* fn $name:ident[$function:ident]($($arg:ident: $kind:ty),* $(,)?) -> $result:ty,
        |$ended:ident, $done:ident| $record:expr;)*) => {
        $crate::slot_hook! {$(
            #[doc = concat!("`", stringify!($function), "`.")]
            $(#[$meta])*
            fn $name($($arg: $kind),*) -> $result, real, taken => {
                let Some(outer) = $crate::nest::enter(netra_event::Function::$function, taken) else {
                    // SAFETY: the caller's contract is the real function's.
                    return unsafe { real($($arg),*) };
                };
                // SAFETY: the caller's contract is the real function's.
                let $done = unsafe { real($($arg),*) };
                if let Some($ended) = super::Recorded::after(outer, taken.real, i64::from($done)) {
                    // SAFETY: what is recorded are the arguments of the real call, which has returned.
                    unsafe { $record };
                }
                $done
            }
        )*}
    };
}
pub(super) use hooks;

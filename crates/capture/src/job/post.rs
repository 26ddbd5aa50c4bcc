//! Messages between ranks that never wait without end.
//!
//! They go over `MPI_COMM_WORLD`, but only after every rank has called `MPI_Finalize`: the application has
//! no receive left that could take them. Whether every rank has is what [`Post::arrive`] finds out, by a
//! barrier that is not waited for, which the application cannot receive either. A communicator of our own
//! would have to be made by all ranks together when MPI begins, and where a rank runs without netra (another
//! environment on another node, a static program) the others would wait for it for ever.
//!
//! Errors come back to us, not to the application's handler, as long as a `Post` lives.

use core::ffi::c_int;

use crate::mpi::Mpi;
use crate::sys;
use crate::time;

/// Marks our messages; every library has tags up to 32,767.
const TAG: c_int = 0x6e72;
/// How long is waited by giving way only, in nanoseconds.
const BRISK: u64 = 100_000;
/// The first and the longest sleep after that.
const NAP: u32 = 50_000;
const NAP_MOST: u32 = 1_000_000;

/// How often a request is looked at between: libraries do their work there, a little each time.
const TESTS: usize = 16;

/// A second in nanoseconds.
pub(super) const SECOND: u64 = 1_000_000_000;

/// The way to the other ranks.
pub(super) struct Post {
    mpi: Mpi,
    world: usize,
    /// The application's error handler.
    handler: u64,
}

impl Post {
    /// Opens the way. MPI must be initialised.
    pub(super) fn open(mpi: Mpi) -> Option<Post> {
        let (world, mut handler) = (mpi.abi().world(), 0_u64);
        // SAFETY: MPI is initialised, both handles are its own, and the results are as wide as any handle.
        unsafe {
            if mpi.comm_get_errhandler(world, &raw mut handler)? != 0 {
                return None;
            }
            mpi.comm_set_errhandler(world, mpi.abi().errors_return());
        }
        Some(Post { mpi, world, handler })
    }

    /// Waits until every rank has come; false if that takes too long.
    pub(super) fn arrive(&self, patience: u64) -> bool {
        let mut request = 0_u64;
        // SAFETY: MPI is initialised and not finalised; the request outlives the call. One that is given up
        // stays with the library, which ends next.
        let begun = unsafe { self.mpi.ibarrier(self.world, &raw mut request) };
        begun == Some(0) && self.wait(&mut request, patience).is_some()
    }

    /// Sends bytes; none if they are not taken in time.
    pub(super) fn send(&self, to: u32, bytes: &[u8], patience: u64) -> Option<()> {
        let (count, to) = (c_int::try_from(bytes.len()).ok()?, c_int::try_from(to).ok()?);
        let (byte, mut request) = (self.mpi.abi().byte(), 0_u64);
        // SAFETY: as above; the bytes are waited for. Where that is in vain the job's processes are ending.
        let begun = unsafe {
            self.mpi.isend(bytes.as_ptr(), count, byte, to, TAG, self.world, &raw mut request)
        };
        (begun? == 0).then_some(())?;
        self.wait(&mut request, patience)
    }

    /// Receives at most as many bytes as there is room for; none if nothing comes in time.
    pub(super) fn receive(&self, from: u32, into: &mut [u8], patience: u64) -> Option<()> {
        let (count, from) = (c_int::try_from(into.len()).ok()?, c_int::try_from(from).ok()?);
        let (byte, mut request) = (self.mpi.abi().byte(), 0_u64);
        // SAFETY: as above; a request that comes to nothing is taken back before the bytes are gone.
        unsafe {
            let begun = self.mpi.irecv(
                into.as_mut_ptr(),
                count,
                byte,
                from,
                TAG,
                self.world,
                &raw mut request,
            );
            (begun? == 0).then_some(())?;
            let done = self.wait(&mut request, patience);
            if done.is_none() {
                self.mpi.cancel(&raw mut request);
                self.wait(&mut request, SECOND);
            }
            done
        }
    }

    /// Sends words.
    pub(super) fn send_words(&self, to: u32, words: &[u64], patience: u64) -> Option<()> {
        self.send(to, bytes_of(words), patience)
    }

    /// Receives words.
    pub(super) fn receive_words(&self, from: u32, words: &mut [u64], patience: u64) -> Option<()> {
        self.receive(from, bytes_of_mut(words), patience)
    }

    /// Waits for a request, without keeping a processor that others need.
    fn wait(&self, request: &mut u64, patience: u64) -> Option<()> {
        let begin = time::monotonic();
        let mut nap = NAP;
        loop {
            for _ in 0..TESTS {
                if self.is_done(request)? {
                    return Some(());
                }
            }
            let waited = time::monotonic().saturating_sub(begin);
            if waited > patience {
                return None;
            }
            if waited < BRISK {
                sys::give_way();
            } else {
                sys::sleep(nap);
                nap = nap.saturating_mul(2).min(NAP_MOST);
            }
        }
    }

    /// Whether a request is done; none if it has failed.
    fn is_done(&self, request: &mut u64) -> Option<bool> {
        // As large as a status is anywhere.
        let (mut done, mut status) = (0, [0_u64; 16]);
        // SAFETY: the request is the library's, the results outlive the call.
        let asked = unsafe { self.mpi.test(request, &raw mut done, status.as_mut_ptr()) };
        (asked? == 0).then_some(done != 0)
    }
}

impl Drop for Post {
    fn drop(&mut self) {
        let handler = &raw mut self.handler;
        // SAFETY: the handler came from the library; what it gave is given back after its last use.
        unsafe {
            let theirs = self.mpi.abi().load(handler.expose_provenance());
            self.mpi.comm_set_errhandler(self.world, theirs);
            self.mpi.errhandler_free(handler);
        }
    }
}

fn bytes_of(words: &[u64]) -> &[u8] {
    // SAFETY: every byte of a word is a byte, and the lengths are the same.
    unsafe { core::slice::from_raw_parts(words.as_ptr().cast(), size_of_val(words)) }
}

fn bytes_of_mut(words: &mut [u64]) -> &mut [u8] {
    // SAFETY: as above, and any bytes are words.
    unsafe { core::slice::from_raw_parts_mut(words.as_mut_ptr().cast(), size_of_val(words)) }
}

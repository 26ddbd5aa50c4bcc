//! The MPI library of the process, found at run time: which binary interface it has ([`abi`]), and the
//! functions of its own that we call.
//!
//! Handles travel as `usize`: an `int` of MPICH or a pointer of Open MPI and of the standard interface
//! takes the same register. We call the library's profiling names (`PMPI_`) directly, never through a slot,
//! and only with handles that it has just accepted from the application. While the application runs we call
//! nothing that needs another process, so its error handlers never hear of us; when it ends MPI, ranks talk
//! to each other (`job`).
//!
//! With an MPI of no known interface the hooks only forward; what is left is POSIX, with the rank that
//! the launcher put into the environment.

pub mod abi;
mod info;

use core::ffi::{CStr, c_char, c_int};
use core::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use crate::arena::{ARENA, note};
use crate::got::patch;
use crate::nest;

pub use abi::Abi;

const UNKNOWN: u32 = 0;
const SEARCHING: u32 = 1;
const FOUND: u32 = 2;
const STRANGE: u32 = 3;

static STATE: AtomicU32 = AtomicU32::new(UNKNOWN);

/// The library, once it is known.
#[derive(Clone, Copy)]
pub struct Mpi(());

/// The process's MPI library; `near` is an address in it, or in whatever stands in front of it. None if
/// its interface is not one we know.
#[must_use]
pub fn known(near: *const ()) -> Option<Mpi> {
    match STATE.load(Ordering::Acquire) {
        FOUND => Some(Mpi(())),
        STRANGE => None,
        _ => search(near.addr()),
    }
}

/// The process's MPI library, if it has been met.
#[must_use]
pub fn met() -> Option<Mpi> {
    (STATE.load(Ordering::Acquire) == FOUND).then_some(Mpi(()))
}

#[cold]
fn search(near: usize) -> Option<Mpi> {
    // Another thread that comes now does without.
    STATE.compare_exchange(UNKNOWN, SEARCHING, Ordering::AcqRel, Ordering::Acquire).ok()?;
    patch::find(near, NAMES, &ADDRESSES);
    let found = abi::find(near);
    STATE.store(if found { FOUND } else { STRANGE }, Ordering::Release);
    if !found {
        note(b"an MPI library of unknown kind: its calls pass unseen");
    }
    found.then_some(Mpi(()))
}

/// Declares the functions that we call ourselves: a method with its C name and arguments, none where the
/// library has no such function.
macro_rules! functions {
    ($($method:ident = $symbol:literal($($arg:ident: $kind:ty),*);)*) => {
        #[expect(non_camel_case_types, reason = "they are the methods' names")]
        enum Place { $($method),*, Count }

        const NAMES: &[&CStr] = &[$($symbol),*];
        static ADDRESSES: [AtomicUsize; Place::Count as usize] =
            [const { AtomicUsize::new(0) }; Place::Count as usize];

        #[expect(clippy::too_many_arguments, reason = "MPI's functions have as many")]
        impl Mpi {$(
            #[doc = concat!("`", stringify!($method), "` of MPI; its result, none if there is no such function.")]
            ///
            /// # Safety
            /// MPI is initialised, and the arguments are such that the library takes them.
            pub(crate) unsafe fn $method(self, $($arg: $kind),*) -> Option<c_int> {
                type Function = unsafe extern "C" fn($($kind),*) -> c_int;
                let address = ADDRESSES.get(Place::$method as usize)?.load(Ordering::Relaxed);
                if address == 0 {
                    return None;
                }
                let address = core::ptr::with_exposed_provenance::<()>(address);
                // SAFETY: the library's function of this name has this signature.
                let function = unsafe { core::mem::transmute::<*const (), Function>(address) };
                // SAFETY: the caller vouches.
                Some(unsafe { function($($arg),*) })
            }
        )*}
    };
}

functions! {
    get_library_version = c"PMPI_Get_library_version"(into: *mut u8, length: *mut c_int);
    initialized = c"PMPI_Initialized"(begun: *mut c_int);
    comm_rank = c"PMPI_Comm_rank"(comm: usize, rank: *mut c_int);
    comm_size = c"PMPI_Comm_size"(comm: usize, size: *mut c_int);
    type_size = c"PMPI_Type_size"(datatype: usize, size: *mut c_int);
    type_size_x = c"PMPI_Type_size_x"(datatype: usize, size: *mut i64);
    file_get_position = c"PMPI_File_get_position"(handle: usize, offset: *mut i64);
    file_get_byte_offset = c"PMPI_File_get_byte_offset"(handle: usize, offset: i64, bytes: *mut i64);
    file_get_info = c"PMPI_File_get_info"(handle: usize, info: *mut u64);
    info_get_nkeys = c"PMPI_Info_get_nkeys"(info: usize, count: *mut c_int);
    info_get_nthkey = c"PMPI_Info_get_nthkey"(info: usize, number: c_int, key: *mut u8);
    info_get = c"PMPI_Info_get"(info: usize, key: *const u8, room: c_int, value: *mut u8, found: *mut c_int);
    info_free = c"PMPI_Info_free"(info: *mut u64);
    comm_get_errhandler = c"PMPI_Comm_get_errhandler"(comm: usize, handler: *mut u64);
    comm_set_errhandler = c"PMPI_Comm_set_errhandler"(comm: usize, handler: usize);
    errhandler_free = c"PMPI_Errhandler_free"(handler: *mut u64);
    ibarrier = c"PMPI_Ibarrier"(comm: usize, request: *mut u64);
    isend = c"PMPI_Isend"(from: *const u8, count: c_int, datatype: usize, to: c_int, tag: c_int, comm: usize, request: *mut u64);
    irecv = c"PMPI_Irecv"(into: *mut u8, count: c_int, datatype: usize, from: c_int, tag: c_int, comm: usize, request: *mut u64);
    test = c"PMPI_Test"(request: *mut u64, done: *mut c_int, status: *mut u64);
    cancel = c"PMPI_Cancel"(request: *mut u64);
}

/// Bytes that a version may take: the most that any library asks for.
const VERSION_BYTES: usize = 8192;

impl Mpi {
    /// Its interface.
    #[must_use]
    pub fn abi(self) -> &'static Abi {
        abi::current()
    }

    /// Processes in a communicator.
    ///
    /// # Safety
    /// MPI is initialised and has just taken this communicator.
    pub(crate) unsafe fn size(self, comm: usize) -> u32 {
        let mut size = 0;
        // SAFETY: the caller vouches; `size` outlives the call.
        unsafe { self.comm_size(comm, &raw mut size) };
        u32::try_from(size).unwrap_or(0)
    }

    /// Bytes of `count` elements of a data type.
    ///
    /// # Safety
    /// MPI has just taken this data type.
    pub(crate) unsafe fn bytes(self, datatype: usize, count: i64) -> u64 {
        let (mut large, mut small) = (0_i64, 0);
        if count <= 0 {
            return 0;
        }
        if let Some(size) = self.abi().size(datatype) {
            return size.wrapping_mul(count.cast_unsigned());
        }
        // SAFETY: the caller vouches; the results outlive the calls.
        unsafe {
            if self.type_size_x(datatype, &raw mut large) != Some(0) {
                self.type_size(datatype, &raw mut small);
                large = i64::from(small);
            }
        }
        u64::try_from(large.saturating_mul(count)).unwrap_or(0)
    }
}

/// Writes into the segment which rank this process is, once. MPI must be initialised. A program that only has
/// sessions (`MPI_Session_init`) has no world to have a rank in, and asking for it would end the program: its
/// rank is what the launcher put into the environment.
pub fn introduce(mpi: Mpi) {
    const FROM_MPI: u32 = 1;
    nest::own(|_| {
        let Some(header) = ARENA.header() else { return };
        if header.rank_source.load(Ordering::Relaxed) == FROM_MPI {
            return;
        }
        let (mut begun, mut rank, world) = (0, -1, mpi.abi().world());
        // SAFETY: this may be asked at any time.
        if unsafe { mpi.initialized(&raw mut begun) } != Some(0) || begun == 0 {
            return;
        }
        // SAFETY: MPI is initialised, and the handle is the library's own.
        let size = unsafe {
            mpi.comm_rank(world, &raw mut rank);
            mpi.size(world)
        };
        let Ok(rank) = u32::try_from(rank) else { return };
        header.rank_plus_one.store(rank.wrapping_add(1), Ordering::Relaxed);
        header.nprocs.store(size, Ordering::Relaxed);
        header.rank_source.store(FROM_MPI, Ordering::Relaxed);
        let mut version = [0_u8; VERSION_BYTES];
        let mut length = 0;
        // SAFETY: the buffer has the room that the library may use.
        unsafe { mpi.get_library_version(version.as_mut_ptr(), &raw mut length) };
        let line = version.split(|&byte| byte < b' ').next().unwrap_or_default();
        let line = line.get(..line.len().min(120)).unwrap_or_default();
        header.mpi.store(ARENA.text(line), Ordering::Relaxed);
    });
}

/// The text of a C string in a buffer.
fn text(buffer: &[u8]) -> &[u8] {
    buffer.split(|&byte| byte == 0).next().unwrap_or_default()
}

/// Of what `MPI_File_open` calls a file the part that is its path: ROMIO lets the name of a file system
/// stand in front (`ufs:/path`).
///
/// # Safety
/// `name` is a C string.
#[must_use]
pub unsafe fn path(name: *const c_char) -> *const c_char {
    // SAFETY: the caller vouches.
    let bytes = unsafe { CStr::from_ptr(name) }.to_bytes();
    match bytes.iter().position(|&byte| byte == b':') {
        Some(at) if at > 1 => name.wrapping_add(at.wrapping_add(1)),
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use core::ffi::CStr;

    #[test]
    fn a_file_system_in_front_is_no_part_of_the_path() {
        for (name, want) in
            [(c"ufs:/a/b", c"/a/b"), (c"/a:b", c"b"), (c"c:/x", c"c:/x"), (c"", c"")]
        {
            // SAFETY: both are C strings.
            let path = unsafe { CStr::from_ptr(super::path(name.as_ptr())) };
            assert_eq!(path, want);
        }
    }
}

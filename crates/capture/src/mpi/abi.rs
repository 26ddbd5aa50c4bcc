//! The binary interfaces of MPI libraries: the values that a program compiled for one has inside it. A
//! table, from the headers of MPICH 4 and 5, Open MPI 4 and 5, Intel MPI and the MPI-5 standard.

use core::ffi::{CStr, c_int};
use core::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use crate::got::patch;

/// A family of libraries that share an interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// MPICH, and with it Intel's, Cray's and MVAPICH.
    Mpich,
    /// Open MPI.
    OpenMpi,
    /// The interface that MPI 5 standardises.
    Standard,
}

/// An interface.
pub struct Abi {
    /// Whose it is.
    pub kind: Kind,
    /// Whether handles are 32-bit numbers; else they are as wide as pointers.
    pub narrow: bool,
    world: usize,
    byte: usize,
    info_null: usize,
    request_null: usize,
    errors_return: usize,
    /// `MPI_MODE_SEQUENTIAL`.
    pub sequential: c_int,
    /// `MPI_DISPLACEMENT_CURRENT`.
    pub displacement_current: i64,
    /// Open modes as Darshan's logs have them: this interface's bits, in the order of the others'.
    modes: [c_int; 9],
}

const CLASSIC_MODES: [c_int; 9] = [1, 2, 4, 8, 16, 32, 64, 128, 256];

static MPICH: Abi = Abi {
    kind: Kind::Mpich,
    narrow: true,
    world: 0x4400_0000,
    byte: 0x4c00_010d,
    info_null: 0x1c00_0000,
    request_null: 0x2c00_0000,
    errors_return: 0x5400_0001,
    sequential: 256,
    displacement_current: -54_278_278,
    modes: CLASSIC_MODES,
};
static STANDARD: Abi = Abi {
    kind: Kind::Standard,
    narrow: false,
    world: 0x101,
    byte: 0x247,
    info_null: 0x130,
    request_null: 0x180,
    errors_return: 0x143,
    sequential: 64,
    displacement_current: -1,
    // Create, read only, write only, both, delete on close, unique, exclusive, append, sequential.
    modes: [2, 16, 256, 32, 4, 128, 8, 1, 64],
};
/// Its handles are addresses, which [`OPEN_MPI_DATA`] has.
static OPEN_MPI: Abi = Abi {
    kind: Kind::OpenMpi,
    narrow: false,
    world: 0,
    byte: 0,
    info_null: 0,
    request_null: 0,
    errors_return: 0,
    sequential: 256,
    displacement_current: -54_278_278,
    modes: CLASSIC_MODES,
};

/// The objects whose addresses are Open MPI's handles.
const OPEN_MPI_NAMES: [&CStr; 5] = [
    c"ompi_mpi_comm_world",
    c"ompi_mpi_byte",
    c"ompi_mpi_info_null",
    c"ompi_request_null",
    c"ompi_mpi_errors_return",
];
static OPEN_MPI_DATA: [AtomicUsize; 5] = [const { AtomicUsize::new(0) }; 5];
static CURRENT: AtomicU32 = AtomicU32::new(0);

/// Finds out which interface the library near an address has; false if none of these.
pub(super) fn find(near: usize) -> bool {
    patch::find(near, &OPEN_MPI_NAMES, &OPEN_MPI_DATA);
    let open_mpi = OPEN_MPI_DATA.iter().all(|data| data.load(Ordering::Relaxed) != 0);
    let kind = if open_mpi {
        Kind::OpenMpi
    } else if standard(near) {
        Kind::Standard
    } else if mpich(near) {
        Kind::Mpich
    } else {
        return false;
    };
    CURRENT.store(kind as u32, Ordering::Release);
    true
}

/// Whether the library says that it has the standard interface. MPICH 5 with its own one says −1.
fn standard(near: usize) -> bool {
    type Version = unsafe extern "C" fn(*mut c_int, *mut c_int) -> c_int;
    let found = [AtomicUsize::new(0)];
    patch::find(near, &[c"PMPI_Abi_get_version"], &found);
    let [found] = found.map(AtomicUsize::into_inner);
    if found == 0 {
        return false;
    }
    let found = core::ptr::with_exposed_provenance::<()>(found);
    let (mut major, mut minor) = (-1, -1);
    // SAFETY: the library's function of this name has this signature, and may be called at any time.
    unsafe {
        core::mem::transmute::<*const (), Version>(found)(&raw mut major, &raw mut minor);
    }
    major >= 1
}

/// Whether the library says of itself that it is of MPICH's family; it may be asked at any time.
fn mpich(near: usize) -> bool {
    type Version = unsafe extern "C" fn(*mut u8, *mut c_int) -> c_int;
    let found = [AtomicUsize::new(0)];
    patch::find(near, &[c"PMPI_Get_library_version"], &found);
    let [found] = found.map(AtomicUsize::into_inner);
    if found == 0 {
        return false;
    }
    let found = core::ptr::with_exposed_provenance::<()>(found);
    let (mut version, mut length) = ([0_u8; super::VERSION_BYTES], 0);
    // SAFETY: the library's function of this name has this signature, and may be called at any time;
    // the buffer has the room that it may use.
    unsafe {
        core::mem::transmute::<*const (), Version>(found)(version.as_mut_ptr(), &raw mut length);
    }
    let has = |name: &[u8]| version.windows(name.len()).any(|part| part == name);
    // Intel, MVAPICH and Cray say who they are; Cray's says MPICH as well.
    has(b"MPICH") || has(b"Intel(R) MPI") || has(b"MVAPICH")
}

/// The interface that was found.
pub(super) fn current() -> &'static Abi {
    match CURRENT.load(Ordering::Acquire) {
        code if code == Kind::OpenMpi as u32 => &OPEN_MPI,
        code if code == Kind::Standard as u32 => &STANDARD,
        _ => &MPICH,
    }
}

impl Abi {
    fn handle(&self, fixed: usize, place: usize) -> usize {
        match self.kind {
            Kind::OpenMpi => {
                OPEN_MPI_DATA.get(place).map_or(0, |data| data.load(Ordering::Relaxed))
            }
            Kind::Mpich | Kind::Standard => fixed,
        }
    }

    /// `MPI_COMM_WORLD`.
    #[must_use]
    pub fn world(&self) -> usize {
        self.handle(self.world, 0)
    }

    /// `MPI_BYTE`.
    #[must_use]
    pub fn byte(&self) -> usize {
        self.handle(self.byte, 1)
    }

    /// `MPI_INFO_NULL`.
    #[must_use]
    pub fn info_null(&self) -> usize {
        self.handle(self.info_null, 2)
    }

    /// `MPI_REQUEST_NULL`.
    #[must_use]
    pub fn request_null(&self) -> usize {
        self.handle(self.request_null, 3)
    }

    /// `MPI_ERRORS_RETURN`.
    #[must_use]
    pub fn errors_return(&self) -> usize {
        self.handle(self.errors_return, 4)
    }

    /// A handle as it came in a register: the upper half of a narrow one means nothing.
    #[must_use]
    pub fn clean(&self, handle: usize) -> usize {
        if self.narrow { handle & 0xffff_ffff } else { handle }
    }

    /// Bytes of a data type whose handle tells: all simple ones of MPICH's interface have them in the
    /// handle; of others, single bytes are known.
    #[must_use]
    pub fn size(&self, datatype: usize) -> Option<u64> {
        const SIMPLE: usize = 0x4c00_0000;
        let datatype = self.clean(datatype);
        if self.narrow {
            let size = (datatype >> 8) & 0xff;
            return (datatype & !0xffff == SIMPLE && size != 0).then_some(size as u64);
        }
        (datatype == self.byte()).then_some(1)
    }

    /// A handle that lies in memory.
    ///
    /// # Safety
    /// The address is that of a handle.
    #[must_use]
    pub unsafe fn load(&self, at: usize) -> usize {
        // SAFETY: the caller vouches; handles are this wide.
        unsafe {
            if self.narrow {
                core::ptr::with_exposed_provenance::<u32>(at).read_unaligned() as usize
            } else {
                core::ptr::with_exposed_provenance::<usize>(at).read_unaligned()
            }
        }
    }

    /// Bytes of a handle in memory.
    #[must_use]
    pub fn handle_bytes(&self) -> usize {
        if self.narrow { 4 } else { 8 }
    }

    /// An open mode as every library but those of the standard interface has it, and logs with them.
    #[must_use]
    pub fn classic_mode(&self, mode: c_int) -> c_int {
        let pairs = self.modes.iter().zip(CLASSIC_MODES);
        pairs.filter(|(own, _)| mode & **own != 0).fold(0, |sum, (_, classic)| sum | classic)
    }
}

#[cfg(test)]
mod tests {
    use super::{MPICH, STANDARD};

    #[test]
    fn open_modes_are_told_as_logs_have_them() {
        assert_eq!(MPICH.classic_mode(1 | 8), 1 | 8);
        // Create and read-write of the standard interface.
        assert_eq!(STANDARD.classic_mode(2 | 32), 1 | 8);
        assert_eq!(STANDARD.classic_mode(64 | 256), 256 | 4);
    }

    #[test]
    fn simple_types_of_mpich_have_their_size_in_the_handle() {
        // MPI_BYTE, MPI_INT, MPI_DOUBLE, MPI_LONG_DOUBLE; a derived type; a pair; no type.
        let handles = [0x4c00_010d, 0x4c00_0405, 0x4c00_080b, 0x4c00_100c];
        assert_eq!(handles.map(|handle| MPICH.size(handle)), [1, 4, 8, 16].map(Some));
        assert_eq!(
            [0xcc00_0000, 0x8c00_0000, 0x0c00_0000].map(|handle| MPICH.size(handle)),
            [None; 3]
        );
        assert_eq!((STANDARD.size(0x247), STANDARD.size(0x209)), (Some(1), None));
    }

    #[test]
    fn the_upper_half_of_a_narrow_handle_means_nothing() {
        assert_eq!(MPICH.clean(0xdead_beef_4400_0000), MPICH.world());
        assert_eq!(STANDARD.clean(usize::MAX), usize::MAX);
    }
}

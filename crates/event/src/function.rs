//! Every function that netra hooks, each with its own stable code. A table, so it is long.
//!
//! A code has 12 bits; it is written into every event and indexes the call counts of a lane, so it
//! never changes its meaning. Layers own ranges: POSIX 1–255, STDIO 256–511, process, io_uring and
//! other 512–639, the example module 640–1023, MPI-IO 1024–1535, HDF5 1536–2047, PnetCDF
//! 2048–3071. Names that glibc exports for the same call (`64`, `_chk`, `_2`, `_unlocked`,
//! `__isoc99`, `__isoc23`, `__xstat`) share the code of their base; a row lists them.

use core::fmt;

use crate::Module;

/// What a call does, as far as counting and drawing care.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Kind {
    /// Makes a descriptor or stream.
    Open = 1,
    /// Gives one back.
    Close = 2,
    /// Moves bytes from a file.
    Read = 3,
    /// Moves bytes into a file.
    Write = 4,
    /// Moves a position.
    Seek = 5,
    /// Asks about a file.
    Stat = 6,
    /// Waits until data is durable or flushed.
    Sync = 7,
    /// Changes names, sizes, rights or hints.
    Meta = 8,
    /// Maps a file into memory.
    Map = 9,
    /// Makes another descriptor for the same open file.
    Duplicate = 10,
    /// Waits for or asks about an asynchronous transfer.
    Complete = 11,
    /// Begins or ends a process, thread or image.
    Process = 12,
    /// Anything else.
    Other = 13,
}

impl Kind {
    /// Every kind, in the order of their codes.
    pub const ALL: [Kind; 13] = [
        Kind::Open,
        Kind::Close,
        Kind::Read,
        Kind::Write,
        Kind::Seek,
        Kind::Stat,
        Kind::Sync,
        Kind::Meta,
        Kind::Map,
        Kind::Duplicate,
        Kind::Complete,
        Kind::Process,
        Kind::Other,
    ];

    /// The name that people and programs read.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Open => "open",
            Kind::Close => "close",
            Kind::Read => "read",
            Kind::Write => "write",
            Kind::Seek => "seek",
            Kind::Stat => "stat",
            Kind::Sync => "sync",
            Kind::Meta => "meta",
            Kind::Map => "map",
            Kind::Duplicate => "duplicate",
            Kind::Complete => "complete",
            Kind::Process => "process",
            Kind::Other => "other",
        }
    }
}

/// The layer of software a function belongs to; the range of its code says which.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Layer {
    /// System calls on files.
    Posix = 1,
    /// C's buffered streams.
    Stdio = 2,
    /// Processes, threads, io_uring, `syscall()`.
    Process = 3,
    /// The documented example of a module.
    Example = 4,
    /// `MPI_File_*`.
    Mpiio = 5,
    /// HDF5.
    Hdf5 = 6,
    /// PnetCDF.
    Pnetcdf = 7,
}

impl Layer {
    /// Every layer, in the order of their codes.
    pub const ALL: [Layer; 7] = [
        Layer::Posix,
        Layer::Stdio,
        Layer::Process,
        Layer::Example,
        Layer::Mpiio,
        Layer::Hdf5,
        Layer::Pnetcdf,
    ];

    /// The layer that owns a code.
    #[must_use]
    pub const fn of_code(code: u16) -> Option<Layer> {
        match code {
            1..=255 => Some(Layer::Posix),
            256..=511 => Some(Layer::Stdio),
            512..=639 => Some(Layer::Process),
            640..=1023 => Some(Layer::Example),
            1024..=1535 => Some(Layer::Mpiio),
            1536..=2047 => Some(Layer::Hdf5),
            2048..=3071 => Some(Layer::Pnetcdf),
            _ => None,
        }
    }

    /// The module of a log whose records count this layer, where there is one.
    #[must_use]
    pub const fn module(self) -> Option<Module> {
        match self {
            Layer::Posix => Some(Module::Posix),
            Layer::Stdio => Some(Module::Stdio),
            Layer::Mpiio => Some(Module::Mpiio),
            Layer::Hdf5 => Some(Module::H5d),
            Layer::Pnetcdf => Some(Module::PnetcdfVar),
            Layer::Process | Layer::Example => None,
        }
    }

    /// The name that people read.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Layer::Posix => "POSIX",
            Layer::Stdio => "STDIO",
            Layer::Process => "PROCESS",
            Layer::Example => "EXAMPLE",
            Layer::Mpiio => "MPI-IO",
            Layer::Hdf5 => "HDF5",
            Layer::Pnetcdf => "PNETCDF",
        }
    }
}

/// The other names of a row: listed, or the twelve of a PnetCDF call that is there for every C type.
macro_rules! aliases {
    () => { &[] };
    ([$($alias:literal)*]) => { &[$($alias),*] };
    (typed $base:literal $end:literal) => {
        &[
            concat!($base, "_text", $end), concat!($base, "_schar", $end),
            concat!($base, "_uchar", $end), concat!($base, "_short", $end),
            concat!($base, "_ushort", $end), concat!($base, "_int", $end),
            concat!($base, "_uint", $end), concat!($base, "_long", $end),
            concat!($base, "_float", $end), concat!($base, "_double", $end),
            concat!($base, "_longlong", $end), concat!($base, "_ulonglong", $end),
        ]
    };
}

macro_rules! functions {
    ($($variant:ident = $code:literal, $name:literal, $kind:ident
        $(, also $alias:tt)? $(, typed $base:literal $end:literal)?;)*) => {
        /// A hooked function.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u16)]
        pub enum Function { $(#[doc = concat!("`", $name, "`.")] $variant = $code),* }

        impl Function {
            /// Every function, in the order of their codes.
            pub const ALL: &[Function] = &[$(Function::$variant),*];

            /// The function with this code, if it is known.
            #[must_use]
            pub const fn from_code(code: u16) -> Option<Function> {
                match code { $($code => Some(Function::$variant),)* _ => None }
            }

            /// The name of the call.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Function::$variant => $name),* }
            }

            /// What it does.
            #[must_use]
            pub const fn kind(self) -> Kind {
                match self { $(Function::$variant => Kind::$kind),* }
            }

            /// Other exported names of the same call; they share this code.
            #[must_use]
            pub const fn aliases(self) -> &'static [&'static str] {
                match self {
                    $(Function::$variant => aliases!($($alias)? $(typed $base $end)?)),*
                }
            }
        }
    };
}

functions! {
    // POSIX
    Open = 1, "open", Open, also ["open64" "__open_2" "__open64_2"];
    Openat = 2, "openat", Open, also ["openat64" "__openat_2" "__openat64_2"];
    Creat = 3, "creat", Open, also ["creat64"];
    OpenByHandleAt = 4, "open_by_handle_at", Open;
    MemfdCreate = 5, "memfd_create", Open;
    Mkstemp = 6, "mkstemp", Open, also ["mkstemp64"];
    Mkostemp = 7, "mkostemp", Open, also ["mkostemp64"];
    Mkstemps = 8, "mkstemps", Open, also ["mkstemps64"];
    Mkostemps = 9, "mkostemps", Open, also ["mkostemps64"];
    Close = 10, "close", Close;
    CloseRange = 11, "close_range", Close;
    Closefrom = 12, "closefrom", Close;
    Read = 13, "read", Read, also ["__read_chk"];
    Pread = 14, "pread", Read, also ["pread64" "__pread_chk" "__pread64_chk"];
    Readv = 15, "readv", Read;
    Preadv = 16, "preadv", Read, also ["preadv64"];
    Preadv2 = 17, "preadv2", Read, also ["preadv64v2"];
    Write = 18, "write", Write;
    Pwrite = 19, "pwrite", Write, also ["pwrite64"];
    Writev = 20, "writev", Write;
    Pwritev = 21, "pwritev", Write, also ["pwritev64"];
    Pwritev2 = 22, "pwritev2", Write, also ["pwritev64v2"];
    Lseek = 23, "lseek", Seek, also ["lseek64"];
    Dup = 24, "dup", Duplicate;
    Dup2 = 25, "dup2", Duplicate;
    Dup3 = 26, "dup3", Duplicate;
    Fcntl = 27, "fcntl", Meta, also ["fcntl64"];
    Fsync = 28, "fsync", Sync;
    Fdatasync = 29, "fdatasync", Sync;
    SyncFileRange = 30, "sync_file_range", Sync;
    Syncfs = 31, "syncfs", Sync;
    Sync = 32, "sync", Sync;
    Mmap = 33, "mmap", Map, also ["mmap64"];
    Munmap = 34, "munmap", Map;
    Msync = 35, "msync", Sync;
    Mremap = 36, "mremap", Map;
    Sendfile = 38, "sendfile", Read, also ["sendfile64"];
    CopyFileRange = 39, "copy_file_range", Read;
    Splice = 40, "splice", Read;
    Tee = 41, "tee", Read;
    Vmsplice = 42, "vmsplice", Write;
    Truncate = 43, "truncate", Meta, also ["truncate64"];
    Ftruncate = 44, "ftruncate", Meta, also ["ftruncate64"];
    Fallocate = 45, "fallocate", Meta, also ["fallocate64"];
    PosixFallocate = 46, "posix_fallocate", Meta, also ["posix_fallocate64"];
    PosixFadvise = 47, "posix_fadvise", Meta, also ["posix_fadvise64"];
    Readahead = 48, "readahead", Meta;
    Stat = 49, "stat", Stat, also ["stat64" "__xstat" "__xstat64"];
    Fstat = 50, "fstat", Stat, also ["fstat64" "__fxstat" "__fxstat64"];
    Lstat = 51, "lstat", Stat, also ["lstat64" "__lxstat" "__lxstat64"];
    Fstatat = 52, "fstatat", Stat, also ["fstatat64" "__fxstatat" "__fxstatat64"];
    Statx = 53, "statx", Stat;
    Access = 54, "access", Stat, also ["euidaccess" "eaccess"];
    Faccessat = 55, "faccessat", Stat;
    Rename = 56, "rename", Meta;
    Renameat = 57, "renameat", Meta;
    Renameat2 = 58, "renameat2", Meta;
    Unlink = 59, "unlink", Meta;
    Unlinkat = 60, "unlinkat", Meta;
    Remove = 61, "remove", Meta;
    Link = 62, "link", Meta;
    Linkat = 63, "linkat", Meta;
    Symlink = 64, "symlink", Meta;
    Symlinkat = 65, "symlinkat", Meta;
    Mkdir = 66, "mkdir", Meta;
    Mkdirat = 67, "mkdirat", Meta;
    Rmdir = 68, "rmdir", Meta;
    Opendir = 69, "opendir", Meta;
    Fdopendir = 70, "fdopendir", Meta;
    Readdir = 71, "readdir", Meta, also ["readdir64" "readdir_r" "readdir64_r"];
    Closedir = 72, "closedir", Meta;
    Statfs = 73, "statfs", Stat, also ["statfs64"];
    Fstatfs = 74, "fstatfs", Stat, also ["fstatfs64"];
    Statvfs = 75, "statvfs", Stat, also ["statvfs64"];
    Fstatvfs = 76, "fstatvfs", Stat, also ["fstatvfs64"];
    Readlink = 77, "readlink", Stat, also ["__readlink_chk"];
    Readlinkat = 78, "readlinkat", Stat, also ["__readlinkat_chk"];
    Chmod = 79, "chmod", Meta;
    Fchmod = 80, "fchmod", Meta;
    Fchmodat = 81, "fchmodat", Meta;
    Chown = 82, "chown", Meta;
    Fchown = 83, "fchown", Meta;
    Lchown = 84, "lchown", Meta;
    Fchownat = 85, "fchownat", Meta;
    Utimensat = 86, "utimensat", Meta;
    Futimens = 87, "futimens", Meta;
    Utime = 88, "utime", Meta;
    Utimes = 89, "utimes", Meta, also ["lutimes" "futimes"];
    Chdir = 90, "chdir", Meta;
    Fchdir = 91, "fchdir", Meta;
    AioRead = 92, "aio_read", Read, also ["aio_read64"];
    AioWrite = 93, "aio_write", Write, also ["aio_write64"];
    AioReturn = 94, "aio_return", Complete, also ["aio_return64"];
    AioError = 95, "aio_error", Complete, also ["aio_error64"];
    AioSuspend = 96, "aio_suspend", Complete, also ["aio_suspend64"];
    AioFsync = 97, "aio_fsync", Sync, also ["aio_fsync64"];
    LioListio = 98, "lio_listio", Complete, also ["lio_listio64"];
    AioCancel = 99, "aio_cancel", Complete, also ["aio_cancel64"];
    Ioctl = 100, "ioctl", Meta;
    Flock = 101, "flock", Meta;
    Lockf = 102, "lockf", Meta, also ["lockf64"];
    Fileno = 103, "fileno", Meta, also ["fileno_unlocked"];
    ShmOpen = 104, "shm_open", Open;
    ShmUnlink = 105, "shm_unlink", Meta;
    Mknod = 106, "mknod", Meta, also ["__xmknod"];
    Mkfifo = 107, "mkfifo", Meta;
    Openat2 = 108, "openat2", Open;
    // Parts of a call: a transfer of asynchronous I/O when its result is taken, and the far end of a move.
    AsyncRead = 109, "async_read", Read;
    AsyncWrite = 110, "async_write", Write;
    AsyncSync = 111, "async_sync", Sync;
    SendfileTo = 112, "sendfile_to", Write;
    CopyFileRangeTo = 113, "copy_file_range_to", Write;
    SpliceTo = 114, "splice_to", Write;

    // STDIO
    Fopen = 256, "fopen", Open, also ["fopen64"];
    Fdopen = 257, "fdopen", Open;
    Freopen = 258, "freopen", Open, also ["freopen64"];
    Fclose = 259, "fclose", Close;
    Fcloseall = 260, "fcloseall", Close;
    Tmpfile = 261, "tmpfile", Open, also ["tmpfile64"];
    Popen = 262, "popen", Open;
    Pclose = 263, "pclose", Close;
    Fread = 264, "fread", Read, also ["fread_unlocked" "__fread_chk" "__fread_unlocked_chk"];
    Fwrite = 265, "fwrite", Write, also ["fwrite_unlocked"];
    Fgetc = 266, "fgetc", Read, also ["getc" "_IO_getc" "fgetc_unlocked" "getc_unlocked"];
    Getchar = 267, "getchar", Read, also ["getchar_unlocked"];
    Fgets = 268, "fgets", Read, also ["fgets_unlocked" "__fgets_chk" "__fgets_unlocked_chk"];
    Gets = 269, "gets", Read, also ["__gets_chk"];
    Getline = 270, "getline", Read;
    Getdelim = 271, "getdelim", Read, also ["__getdelim"];
    Ungetc = 272, "ungetc", Other, also ["_IO_ungetc"];
    Getw = 273, "getw", Read;
    Fputc = 274, "fputc", Write, also ["putc" "_IO_putc" "fputc_unlocked" "putc_unlocked"];
    Putchar = 275, "putchar", Write, also ["putchar_unlocked"];
    Fputs = 276, "fputs", Write, also ["fputs_unlocked"];
    Puts = 277, "puts", Write;
    Putw = 278, "putw", Write;
    Fprintf = 279, "fprintf", Write, also ["__fprintf_chk"];
    Vfprintf = 280, "vfprintf", Write, also ["__vfprintf_chk"];
    Printf = 281, "printf", Write, also ["__printf_chk"];
    Vprintf = 282, "vprintf", Write, also ["__vprintf_chk"];
    Dprintf = 283, "dprintf", Write, also ["__dprintf_chk"];
    Vdprintf = 284, "vdprintf", Write, also ["__vdprintf_chk"];
    Fscanf = 285, "fscanf", Read, also ["__isoc99_fscanf" "__isoc23_fscanf"];
    Vfscanf = 286, "vfscanf", Read, also ["__isoc99_vfscanf" "__isoc23_vfscanf"];
    Scanf = 287, "scanf", Read, also ["__isoc99_scanf" "__isoc23_scanf"];
    Vscanf = 288, "vscanf", Read, also ["__isoc99_vscanf" "__isoc23_vscanf"];
    Perror = 289, "perror", Write;
    Fgetwc = 290, "fgetwc", Read, also ["getwc" "fgetwc_unlocked" "getwc_unlocked"];
    Getwchar = 291, "getwchar", Read, also ["getwchar_unlocked"];
    Fgetws = 292, "fgetws", Read, also ["fgetws_unlocked" "__fgetws_chk" "__fgetws_unlocked_chk"];
    Fputwc = 293, "fputwc", Write, also ["putwc" "fputwc_unlocked" "putwc_unlocked"];
    Putwchar = 294, "putwchar", Write, also ["putwchar_unlocked"];
    Fputws = 295, "fputws", Write, also ["fputws_unlocked"];
    Fwprintf = 296, "fwprintf", Write, also ["__fwprintf_chk"];
    Vfwprintf = 297, "vfwprintf", Write, also ["__vfwprintf_chk"];
    Wprintf = 298, "wprintf", Write, also ["__wprintf_chk"];
    Vwprintf = 299, "vwprintf", Write, also ["__vwprintf_chk"];
    Fwscanf = 300, "fwscanf", Read, also ["__isoc99_fwscanf" "__isoc23_fwscanf"];
    Vfwscanf = 301, "vfwscanf", Read, also ["__isoc99_vfwscanf" "__isoc23_vfwscanf"];
    Wscanf = 302, "wscanf", Read, also ["__isoc99_wscanf" "__isoc23_wscanf"];
    Vwscanf = 303, "vwscanf", Read, also ["__isoc99_vwscanf" "__isoc23_vwscanf"];
    Ungetwc = 304, "ungetwc", Other;
    Overflow = 305, "__overflow", Write, also ["__woverflow"];
    Uflow = 306, "__uflow", Read, also ["__wuflow" "__underflow" "__wunderflow"];
    Fseek = 307, "fseek", Seek;
    Fseeko = 308, "fseeko", Seek, also ["fseeko64"];
    Fsetpos = 309, "fsetpos", Seek, also ["fsetpos64"];
    Rewind = 310, "rewind", Seek;
    Fflush = 311, "fflush", Sync, also ["fflush_unlocked"];
    Setvbuf = 312, "setvbuf", Meta, also ["setbuf" "setbuffer" "setlinebuf"];
    Ftell = 313, "ftell", Other, also ["ftello" "ftello64" "fgetpos" "fgetpos64"];

    // processes, threads, io_uring and what else passes by
    Thread = 512, "thread", Process;
    Fork = 513, "fork", Process, also ["_Fork"];
    Vfork = 514, "vfork", Process;
    Exec = 515, "execve", Process,
        also ["execv" "execvp" "execvpe" "execl" "execlp" "execle" "fexecve" "execveat"];
    Exit = 516, "_exit", Process, also ["_Exit"];
    Spawn = 517, "posix_spawn", Process, also ["posix_spawnp"];
    System = 518, "system", Process;
    Dlopen = 519, "dlopen", Process, also ["dlmopen"];
    Dlclose = 520, "dlclose", Process;
    Chroot = 521, "chroot", Process;
    Syscall = 528, "syscall", Other;
    UringSetup = 529, "io_uring_setup", Other,
        also ["io_uring_queue_init" "io_uring_queue_init_params" "io_uring_queue_init_mem"];
    UringSubmit = 530, "io_uring_submit", Other,
        also ["io_uring_submit_and_wait" "io_uring_submit_and_wait_timeout"
            "io_uring_submit_and_get_events" "io_uring_enter" "io_uring_enter2"];
    UringWait = 531, "io_uring_wait_cqe", Complete,
        also ["__io_uring_get_cqe" "io_uring_wait_cqes" "io_uring_wait_cqe_timeout"
            "io_uring_peek_batch_cqe" "io_uring_get_events"];
    LibaioSubmit = 532, "io_submit", Other;
    LibaioGetevents = 533, "io_getevents", Complete, also ["io_pgetevents"];
    LibaioDestroy = 534, "io_destroy", Other, also ["io_queue_release"];

    // the example module
    Getrandom = 640, "getrandom", Other, also ["getentropy"];

    // MPI-IO; each also as `PMPI_`, and with a large count as `_c`
    MpiFileOpen = 1024, "MPI_File_open", Open;
    MpiFileClose = 1025, "MPI_File_close", Close;
    MpiFileDelete = 1026, "MPI_File_delete", Meta;
    MpiFileSetSize = 1027, "MPI_File_set_size", Meta;
    MpiFilePreallocate = 1028, "MPI_File_preallocate", Meta;
    MpiFileSync = 1029, "MPI_File_sync", Sync;
    MpiFileSetView = 1030, "MPI_File_set_view", Meta;
    MpiFileSeek = 1031, "MPI_File_seek", Seek;
    MpiFileSeekShared = 1032, "MPI_File_seek_shared", Seek;
    MpiFileSetInfo = 1033, "MPI_File_set_info", Meta;
    MpiFileRead = 1040, "MPI_File_read", Read, also ["MPI_File_read_c"];
    MpiFileReadAll = 1041, "MPI_File_read_all", Read, also ["MPI_File_read_all_c"];
    MpiFileReadAt = 1042, "MPI_File_read_at", Read, also ["MPI_File_read_at_c"];
    MpiFileReadAtAll = 1043, "MPI_File_read_at_all", Read, also ["MPI_File_read_at_all_c"];
    MpiFileReadShared = 1044, "MPI_File_read_shared", Read, also ["MPI_File_read_shared_c"];
    MpiFileReadOrdered = 1045, "MPI_File_read_ordered", Read, also ["MPI_File_read_ordered_c"];
    MpiFileIread = 1046, "MPI_File_iread", Read, also ["MPI_File_iread_c"];
    MpiFileIreadAll = 1047, "MPI_File_iread_all", Read, also ["MPI_File_iread_all_c"];
    MpiFileIreadAt = 1048, "MPI_File_iread_at", Read, also ["MPI_File_iread_at_c"];
    MpiFileIreadAtAll = 1049, "MPI_File_iread_at_all", Read, also ["MPI_File_iread_at_all_c"];
    MpiFileIreadShared = 1050, "MPI_File_iread_shared", Read, also ["MPI_File_iread_shared_c"];
    MpiFileReadAllBegin = 1051, "MPI_File_read_all_begin", Read, also ["MPI_File_read_all_begin_c"];
    MpiFileReadAtAllBegin = 1052, "MPI_File_read_at_all_begin", Read, also ["MPI_File_read_at_all_begin_c"];
    MpiFileReadOrderedBegin = 1053, "MPI_File_read_ordered_begin", Read, also ["MPI_File_read_ordered_begin_c"];
    MpiFileReadAllEnd = 1054, "MPI_File_read_all_end", Complete;
    MpiFileReadAtAllEnd = 1055, "MPI_File_read_at_all_end", Complete;
    MpiFileReadOrderedEnd = 1056, "MPI_File_read_ordered_end", Complete;
    MpiFileWrite = 1057, "MPI_File_write", Write, also ["MPI_File_write_c"];
    MpiFileWriteAll = 1058, "MPI_File_write_all", Write, also ["MPI_File_write_all_c"];
    MpiFileWriteAt = 1059, "MPI_File_write_at", Write, also ["MPI_File_write_at_c"];
    MpiFileWriteAtAll = 1060, "MPI_File_write_at_all", Write, also ["MPI_File_write_at_all_c"];
    MpiFileWriteShared = 1061, "MPI_File_write_shared", Write, also ["MPI_File_write_shared_c"];
    MpiFileWriteOrdered = 1062, "MPI_File_write_ordered", Write, also ["MPI_File_write_ordered_c"];
    MpiFileIwrite = 1063, "MPI_File_iwrite", Write, also ["MPI_File_iwrite_c"];
    MpiFileIwriteAll = 1064, "MPI_File_iwrite_all", Write, also ["MPI_File_iwrite_all_c"];
    MpiFileIwriteAt = 1065, "MPI_File_iwrite_at", Write, also ["MPI_File_iwrite_at_c"];
    MpiFileIwriteAtAll = 1066, "MPI_File_iwrite_at_all", Write, also ["MPI_File_iwrite_at_all_c"];
    MpiFileIwriteShared = 1067, "MPI_File_iwrite_shared", Write, also ["MPI_File_iwrite_shared_c"];
    MpiFileWriteAllBegin = 1068, "MPI_File_write_all_begin", Write, also ["MPI_File_write_all_begin_c"];
    MpiFileWriteAtAllBegin = 1069, "MPI_File_write_at_all_begin", Write, also ["MPI_File_write_at_all_begin_c"];
    MpiFileWriteOrderedBegin = 1070, "MPI_File_write_ordered_begin", Write, also ["MPI_File_write_ordered_begin_c"];
    MpiFileWriteAllEnd = 1071, "MPI_File_write_all_end", Complete;
    MpiFileWriteAtAllEnd = 1072, "MPI_File_write_at_all_end", Complete;
    MpiFileWriteOrderedEnd = 1073, "MPI_File_write_ordered_end", Complete;

    // HDF5 files
    H5Fcreate = 1536, "H5Fcreate", Open;
    H5Fopen = 1537, "H5Fopen", Open;
    H5FcreateAsync = 1538, "H5Fcreate_async", Open;
    H5FopenAsync = 1539, "H5Fopen_async", Open;
    H5Freopen = 1540, "H5Freopen", Open;
    H5Fflush = 1541, "H5Fflush", Sync;
    H5FflushAsync = 1542, "H5Fflush_async", Sync;
    H5Fclose = 1543, "H5Fclose", Close;
    H5FcloseAsync = 1544, "H5Fclose_async", Close;

    // HDF5 data sets
    H5Dcreate1 = 1552, "H5Dcreate1", Open;
    H5Dcreate2 = 1553, "H5Dcreate2", Open;
    H5DcreateAnon = 1554, "H5Dcreate_anon", Open;
    H5Dopen1 = 1555, "H5Dopen1", Open;
    H5Dopen2 = 1556, "H5Dopen2", Open;
    H5DcreateAsync = 1557, "H5Dcreate_async", Open;
    H5DopenAsync = 1558, "H5Dopen_async", Open;
    H5Dread = 1559, "H5Dread", Read;
    H5DreadMulti = 1560, "H5Dread_multi", Read;
    H5DreadChunk = 1561, "H5Dread_chunk", Read, also ["H5Dread_chunk1" "H5Dread_chunk2"];
    H5DreadAsync = 1562, "H5Dread_async", Read;
    H5DreadMultiAsync = 1563, "H5Dread_multi_async", Read;
    H5Dwrite = 1564, "H5Dwrite", Write;
    H5DwriteMulti = 1565, "H5Dwrite_multi", Write;
    H5DwriteChunk = 1566, "H5Dwrite_chunk", Write;
    H5DwriteAsync = 1567, "H5Dwrite_async", Write;
    H5DwriteMultiAsync = 1568, "H5Dwrite_multi_async", Write;
    H5DsetExtent = 1569, "H5Dset_extent", Meta, also ["H5Dextend"];
    H5DsetExtentAsync = 1570, "H5Dset_extent_async", Meta;
    H5Dflush = 1571, "H5Dflush", Sync;
    H5Dclose = 1572, "H5Dclose", Close;
    H5DcloseAsync = 1573, "H5Dclose_async", Close;

    // HDF5 attributes: metadata, whatever they hold
    H5Acreate1 = 1600, "H5Acreate1", Meta;
    H5Acreate2 = 1601, "H5Acreate2", Meta;
    H5AcreateByName = 1602, "H5Acreate_by_name", Meta;
    H5AcreateAsync = 1603, "H5Acreate_async", Meta;
    H5AcreateByNameAsync = 1604, "H5Acreate_by_name_async", Meta;
    H5Aopen = 1605, "H5Aopen", Meta;
    H5AopenName = 1606, "H5Aopen_name", Meta;
    H5AopenIdx = 1607, "H5Aopen_idx", Meta;
    H5AopenByName = 1608, "H5Aopen_by_name", Meta;
    H5AopenByIdx = 1609, "H5Aopen_by_idx", Meta;
    H5AopenAsync = 1610, "H5Aopen_async", Meta;
    H5AopenByNameAsync = 1611, "H5Aopen_by_name_async", Meta;
    H5AopenByIdxAsync = 1612, "H5Aopen_by_idx_async", Meta;
    H5Aread = 1613, "H5Aread", Meta;
    H5AreadAsync = 1614, "H5Aread_async", Meta;
    H5Awrite = 1615, "H5Awrite", Meta;
    H5AwriteAsync = 1616, "H5Awrite_async", Meta;
    H5Aclose = 1617, "H5Aclose", Meta;
    H5AcloseAsync = 1618, "H5Aclose_async", Meta;
    H5Adelete = 1619, "H5Adelete", Meta, also ["H5Adelete_by_name" "H5Adelete_by_idx"];

    // HDF5 groups and objects
    H5Gcreate1 = 1632, "H5Gcreate1", Meta;
    H5Gcreate2 = 1633, "H5Gcreate2", Meta;
    H5GcreateAnon = 1634, "H5Gcreate_anon", Meta;
    H5GcreateAsync = 1635, "H5Gcreate_async", Meta;
    H5Gopen1 = 1636, "H5Gopen1", Meta;
    H5Gopen2 = 1637, "H5Gopen2", Meta;
    H5GopenAsync = 1638, "H5Gopen_async", Meta;
    H5Gclose = 1639, "H5Gclose", Meta;
    H5GcloseAsync = 1640, "H5Gclose_async", Meta;
    H5Oopen = 1641, "H5Oopen", Open;
    H5OopenByAddr = 1642, "H5Oopen_by_addr", Open;
    H5OopenByIdx = 1643, "H5Oopen_by_idx", Open;
    H5OopenByToken = 1644, "H5Oopen_by_token", Open;
    H5OopenAsync = 1645, "H5Oopen_async", Open;
    H5Oclose = 1646, "H5Oclose", Close;
    H5OcloseAsync = 1647, "H5Oclose_async", Close;
    H5IdecRef = 1648, "H5Idec_ref", Close;

    // PnetCDF files
    NcCreate = 2048, "ncmpi_create", Open;
    NcOpen = 2049, "ncmpi_open", Open;
    NcClose = 2050, "ncmpi_close", Close;
    NcAbort = 2051, "ncmpi_abort", Close;
    NcEnddef = 2052, "ncmpi_enddef", Meta, also ["ncmpi__enddef"];
    NcRedef = 2053, "ncmpi_redef", Meta;
    NcBeginIndepData = 2054, "ncmpi_begin_indep_data", Meta;
    NcEndIndepData = 2055, "ncmpi_end_indep_data", Meta;
    NcDefDim = 2056, "ncmpi_def_dim", Meta;
    NcSync = 2057, "ncmpi_sync", Sync;
    NcFlush = 2058, "ncmpi_flush", Sync;
    NcSyncNumrecs = 2059, "ncmpi_sync_numrecs", Sync;
    NcWait = 2060, "ncmpi_wait", Complete;
    NcWaitAll = 2061, "ncmpi_wait_all", Complete;
    NcDefVar = 2062, "ncmpi_def_var", Meta;
    NcInqVarid = 2063, "ncmpi_inq_varid", Meta;
    NcPutAtt = 2064, "ncmpi_put_att", Meta, typed "ncmpi_put_att" "";
    NcGetAtt = 2065, "ncmpi_get_att", Meta, typed "ncmpi_get_att" "";

    // PnetCDF variables
    NcPutVar = 2080, "ncmpi_put_var", Write, typed "ncmpi_put_var" "";
    NcPutVar1 = 2081, "ncmpi_put_var1", Write, typed "ncmpi_put_var1" "";
    NcPutVara = 2082, "ncmpi_put_vara", Write, typed "ncmpi_put_vara" "";
    NcPutVars = 2083, "ncmpi_put_vars", Write, typed "ncmpi_put_vars" "";
    NcPutVarm = 2084, "ncmpi_put_varm", Write, typed "ncmpi_put_varm" "";
    NcPutVarn = 2085, "ncmpi_put_varn", Write, typed "ncmpi_put_varn" "";
    NcPutVard = 2086, "ncmpi_put_vard", Write;
    NcPutVarAll = 2087, "ncmpi_put_var_all", Write, typed "ncmpi_put_var" "_all";
    NcPutVar1All = 2088, "ncmpi_put_var1_all", Write, typed "ncmpi_put_var1" "_all";
    NcPutVaraAll = 2089, "ncmpi_put_vara_all", Write, typed "ncmpi_put_vara" "_all";
    NcPutVarsAll = 2090, "ncmpi_put_vars_all", Write, typed "ncmpi_put_vars" "_all";
    NcPutVarmAll = 2091, "ncmpi_put_varm_all", Write, typed "ncmpi_put_varm" "_all";
    NcPutVarnAll = 2092, "ncmpi_put_varn_all", Write, typed "ncmpi_put_varn" "_all";
    NcPutVardAll = 2093, "ncmpi_put_vard_all", Write;
    NcGetVar = 2094, "ncmpi_get_var", Read, typed "ncmpi_get_var" "";
    NcGetVar1 = 2095, "ncmpi_get_var1", Read, typed "ncmpi_get_var1" "";
    NcGetVara = 2096, "ncmpi_get_vara", Read, typed "ncmpi_get_vara" "";
    NcGetVars = 2097, "ncmpi_get_vars", Read, typed "ncmpi_get_vars" "";
    NcGetVarm = 2098, "ncmpi_get_varm", Read, typed "ncmpi_get_varm" "";
    NcGetVarn = 2099, "ncmpi_get_varn", Read, typed "ncmpi_get_varn" "";
    NcGetVard = 2100, "ncmpi_get_vard", Read;
    NcGetVarAll = 2101, "ncmpi_get_var_all", Read, typed "ncmpi_get_var" "_all";
    NcGetVar1All = 2102, "ncmpi_get_var1_all", Read, typed "ncmpi_get_var1" "_all";
    NcGetVaraAll = 2103, "ncmpi_get_vara_all", Read, typed "ncmpi_get_vara" "_all";
    NcGetVarsAll = 2104, "ncmpi_get_vars_all", Read, typed "ncmpi_get_vars" "_all";
    NcGetVarmAll = 2105, "ncmpi_get_varm_all", Read, typed "ncmpi_get_varm" "_all";
    NcGetVarnAll = 2106, "ncmpi_get_varn_all", Read, typed "ncmpi_get_varn" "_all";
    NcGetVardAll = 2107, "ncmpi_get_vard_all", Read;
    NcIputVar = 2108, "ncmpi_iput_var", Write, typed "ncmpi_iput_var" "";
    NcIputVar1 = 2109, "ncmpi_iput_var1", Write, typed "ncmpi_iput_var1" "";
    NcIputVara = 2110, "ncmpi_iput_vara", Write, typed "ncmpi_iput_vara" "";
    NcIputVars = 2111, "ncmpi_iput_vars", Write, typed "ncmpi_iput_vars" "";
    NcIputVarm = 2112, "ncmpi_iput_varm", Write, typed "ncmpi_iput_varm" "";
    NcIputVarn = 2113, "ncmpi_iput_varn", Write, typed "ncmpi_iput_varn" "";
    NcIgetVar = 2114, "ncmpi_iget_var", Read, typed "ncmpi_iget_var" "";
    NcIgetVar1 = 2115, "ncmpi_iget_var1", Read, typed "ncmpi_iget_var1" "";
    NcIgetVara = 2116, "ncmpi_iget_vara", Read, typed "ncmpi_iget_vara" "";
    NcIgetVars = 2117, "ncmpi_iget_vars", Read, typed "ncmpi_iget_vars" "";
    NcIgetVarm = 2118, "ncmpi_iget_varm", Read, typed "ncmpi_iget_varm" "";
    NcIgetVarn = 2119, "ncmpi_iget_varn", Read, typed "ncmpi_iget_varn" "";
    NcBputVar = 2120, "ncmpi_bput_var", Write, typed "ncmpi_bput_var" "";
    NcBputVar1 = 2121, "ncmpi_bput_var1", Write, typed "ncmpi_bput_var1" "";
    NcBputVara = 2122, "ncmpi_bput_vara", Write, typed "ncmpi_bput_vara" "";
    NcBputVars = 2123, "ncmpi_bput_vars", Write, typed "ncmpi_bput_vars" "";
    NcBputVarm = 2124, "ncmpi_bput_varm", Write, typed "ncmpi_bput_varm" "";
    NcBputVarn = 2125, "ncmpi_bput_varn", Write, typed "ncmpi_bput_varn" "";
    NcMputVar = 2126, "ncmpi_mput_var", Write, typed "ncmpi_mput_var" "";
    NcMputVar1 = 2127, "ncmpi_mput_var1", Write, typed "ncmpi_mput_var1" "";
    NcMputVara = 2128, "ncmpi_mput_vara", Write, typed "ncmpi_mput_vara" "";
    NcMputVars = 2129, "ncmpi_mput_vars", Write, typed "ncmpi_mput_vars" "";
    NcMputVarm = 2130, "ncmpi_mput_varm", Write, typed "ncmpi_mput_varm" "";
    NcMputVarAll = 2131, "ncmpi_mput_var_all", Write, typed "ncmpi_mput_var" "_all";
    NcMputVar1All = 2132, "ncmpi_mput_var1_all", Write, typed "ncmpi_mput_var1" "_all";
    NcMputVaraAll = 2133, "ncmpi_mput_vara_all", Write, typed "ncmpi_mput_vara" "_all";
    NcMputVarsAll = 2134, "ncmpi_mput_vars_all", Write, typed "ncmpi_mput_vars" "_all";
    NcMputVarmAll = 2135, "ncmpi_mput_varm_all", Write, typed "ncmpi_mput_varm" "_all";
    NcMgetVar = 2136, "ncmpi_mget_var", Read, typed "ncmpi_mget_var" "";
    NcMgetVar1 = 2137, "ncmpi_mget_var1", Read, typed "ncmpi_mget_var1" "";
    NcMgetVara = 2138, "ncmpi_mget_vara", Read, typed "ncmpi_mget_vara" "";
    NcMgetVars = 2139, "ncmpi_mget_vars", Read, typed "ncmpi_mget_vars" "";
    NcMgetVarm = 2140, "ncmpi_mget_varm", Read, typed "ncmpi_mget_varm" "";
    NcMgetVarAll = 2141, "ncmpi_mget_var_all", Read, typed "ncmpi_mget_var" "_all";
    NcMgetVar1All = 2142, "ncmpi_mget_var1_all", Read, typed "ncmpi_mget_var1" "_all";
    NcMgetVaraAll = 2143, "ncmpi_mget_vara_all", Read, typed "ncmpi_mget_vara" "_all";
    NcMgetVarsAll = 2144, "ncmpi_mget_vars_all", Read, typed "ncmpi_mget_vars" "_all";
    NcMgetVarmAll = 2145, "ncmpi_mget_varm_all", Read, typed "ncmpi_mget_varm" "_all";
}

impl Function {
    /// Codes are below this: 12 bits.
    pub const CODES: usize = 4096;

    /// The code in an event.
    #[must_use]
    pub const fn code(self) -> u16 {
        self as u16
    }

    /// The layer it belongs to.
    #[must_use]
    pub const fn layer(self) -> Layer {
        match Layer::of_code(self.code()) {
            Some(layer) => layer,
            // The test below walks the table: every code has a layer.
            None => Layer::Process,
        }
    }

    /// The function that exports this name.
    #[must_use]
    pub fn from_symbol(symbol: &str) -> Option<Function> {
        Function::ALL
            .iter()
            .copied()
            .find(|function| function.name() == symbol || function.aliases().contains(&symbol))
    }
}

impl fmt::Display for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::{Function, Kind, Layer};

    #[test]
    fn codes_rise_fit_their_layer_and_lead_back() {
        let mut last = 0;
        for &function in Function::ALL {
            let code = function.code();
            assert!(code > last && usize::from(code) < Function::CODES, "{function}");
            assert!(Layer::of_code(code).is_some(), "{function} has no layer");
            assert_eq!(Function::from_code(code), Some(function));
            last = code;
        }
        assert_eq!(Function::from_code(0), None);
        assert_eq!(Function::from_code(4095), None);
    }

    #[test]
    fn a_symbol_belongs_to_one_function() {
        for &function in Function::ALL {
            assert_eq!(Function::from_symbol(function.name()), Some(function));
            for &alias in function.aliases() {
                assert_eq!(Function::from_symbol(alias), Some(function), "{alias}");
            }
        }
        assert_eq!(Function::from_symbol("__pread64_chk"), Some(Function::Pread));
        assert_eq!(
            Function::from_symbol("ncmpi_put_vara_double_all"),
            Some(Function::NcPutVaraAll)
        );
        assert_eq!(Function::from_symbol("main"), None);
    }

    #[test]
    fn layers_and_kinds_follow_from_the_row() {
        assert_eq!(Function::Pwrite.layer(), Layer::Posix);
        assert_eq!(Function::Pwrite.kind(), Kind::Write);
        assert_eq!(Function::Fopen.layer(), Layer::Stdio);
        assert_eq!(Function::Thread.layer(), Layer::Process);
        assert_eq!(Function::Getrandom.layer(), Layer::Example);
        assert_eq!(Function::H5Dwrite.layer(), Layer::Hdf5);
        assert_eq!(Function::H5Awrite.kind(), Kind::Meta);
        assert_eq!(Function::NcIputVarn.layer(), Layer::Pnetcdf);
    }
}

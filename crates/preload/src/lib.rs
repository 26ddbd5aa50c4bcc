//! `libnetra_preload.so`: the names that netra exports, one row a symbol. Each is a jump into the
//! hook of `netra-capture` that stands behind it, with the caller's return address as one more
//! argument. There are no bodies here.
//!
//! Built with the profile `preload` (`cargo xtask artifact`) it has no standard library, no
//! allocator and no panics; a build for development has, and is not for use.
#![cfg_attr(panic = "abort", no_std)]

#[cfg(panic = "abort")]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    // If any panic survives optimisation, `abort` is imported, and `cargo xtask artifact` fails.
    unsafe extern "C" {
        safe fn abort() -> !;
    }
    abort()
}

/// The constructor.
#[used]
#[unsafe(link_section = ".init_array")]
static START: extern "C" fn() = start;

extern "C" fn start() {
    netra_capture::life::start();
}

/// A row: the exported name, how many arguments the C function has, and its hook.
macro_rules! export {
    ($($name:ident / $arguments:tt = $hook:path;)*) => {$(
        #[doc = concat!("`", stringify!($name), "`.")]
        ///
        /// # Safety
        /// The contract of the C function of this name.
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name() {
            export!(@jump $arguments $hook)
        }
    )*};
    (@jump 0 $hook:path) => { netra_capture::export_jump!(@0 $hook) };
    (@jump 1 $hook:path) => { netra_capture::export_jump!(@1 $hook) };
    (@jump 2 $hook:path) => { netra_capture::export_jump!(@2 $hook) };
    (@jump 3 $hook:path) => { netra_capture::export_jump!(@3 $hook) };
    (@jump 4 $hook:path) => { netra_capture::export_jump!(@4 $hook) };
    (@jump 5 $hook:path) => { netra_capture::export_jump!(@5 $hook) };
    (@jump 6 $hook:path) => { netra_capture::export_jump!(@6 $hook) };
}

/// The names, by family.
#[expect(unreachable_pub, reason = "the linker reaches them")]
mod names {
    use netra_capture::arch;
    use netra_capture::hook::{posix, process};

    export! {
        open / 3 = posix::open;
        open64 / 3 = posix::open64;
        __open_2 / 2 = posix::__open_2;
        __open64_2 / 2 = posix::__open64_2;
        openat / 4 = posix::openat;
        openat64 / 4 = posix::openat64;
        __openat_2 / 3 = posix::__openat_2;
        __openat64_2 / 3 = posix::__openat64_2;
        creat / 2 = posix::creat;
        creat64 / 2 = posix::creat64;
        close / 1 = posix::close;
        close_range / 3 = posix::close_range;
        closefrom / 1 = posix::closefrom;
        read / 3 = posix::read;
        __read_chk / 4 = posix::__read_chk;
        pread / 4 = posix::pread;
        pread64 / 4 = posix::pread64;
        __pread_chk / 5 = posix::__pread_chk;
        __pread64_chk / 5 = posix::__pread64_chk;
        write / 3 = posix::write;
        pwrite / 4 = posix::pwrite;
        pwrite64 / 4 = posix::pwrite64;
        readv / 3 = posix::readv;
        writev / 3 = posix::writev;
        preadv / 4 = posix::preadv;
        preadv64 / 4 = posix::preadv64;
        pwritev / 4 = posix::pwritev;
        pwritev64 / 4 = posix::pwritev64;
        preadv2 / 5 = posix::preadv2;
        preadv64v2 / 5 = posix::preadv64v2;
        pwritev2 / 5 = posix::pwritev2;
        pwritev64v2 / 5 = posix::pwritev64v2;
        lseek / 3 = posix::lseek;
        lseek64 / 3 = posix::lseek64;
        dup / 1 = posix::dup;
        dup2 / 2 = posix::dup2;
        dup3 / 3 = posix::dup3;
        fcntl / 3 = posix::fcntl;
        fcntl64 / 3 = posix::fcntl64;
        fsync / 1 = posix::fsync;
        fdatasync / 1 = posix::fdatasync;
        stat / 2 = posix::stat;
        stat64 / 2 = posix::stat64;
        lstat / 2 = posix::lstat;
        lstat64 / 2 = posix::lstat64;
        fstat / 2 = posix::fstat;
        fstat64 / 2 = posix::fstat64;
        fstatat / 4 = posix::fstatat;
        fstatat64 / 4 = posix::fstatat64;
        __xstat / 3 = posix::__xstat;
        __xstat64 / 3 = posix::__xstat64;
        __lxstat / 3 = posix::__lxstat;
        __lxstat64 / 3 = posix::__lxstat64;
        __fxstat / 3 = posix::__fxstat;
        __fxstat64 / 3 = posix::__fxstat64;
        __fxstatat / 5 = posix::__fxstatat;
        __fxstatat64 / 5 = posix::__fxstatat64;

        _exit / 1 = process::_exit;
        _Exit / 1 = process::_Exit;
        execve / 3 = process::execve;
        execv / 2 = process::execv;
        execvp / 2 = process::execvp;
        execvpe / 3 = process::execvpe;
        fexecve / 3 = process::fexecve;
        // The stack may not change on the way: the return address is not looked at.
        vfork / 6 = arch::vfork;
    }
}

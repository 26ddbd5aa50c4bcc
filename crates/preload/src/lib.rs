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

/// A variadic row: the exported name jumps into `variadic.c`, which comes back with a list to the
/// hook, under a name that only this object sees.
macro_rules! variadic {
    ($($name:ident / variadic = $hook:path;)*) => {$(
        #[doc = concat!("`", stringify!($name), "`.")]
        ///
        /// # Safety
        /// The contract of the C function of this name.
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name() {
            unsafe extern "C" {
                #[link_name = concat!("netra_variadic_", stringify!($name))]
                fn with_arguments();
            }
            netra_capture::export_jump!(@6 with_arguments)
        }
        netra_capture::list_entry!($name, $hook);
    )*};
}

/// The names, by family.
#[expect(unreachable_pub, reason = "the linker reaches them")]
mod names {
    use netra_capture::arch;
    use netra_capture::hook::stdio::{format, open, read, seek, wide, write};
    use netra_capture::hook::{
        aio, data, directory, jump, map, metadata, mover, posix, process, random, raw, rename,
        sandbox, stat, statx, temporary,
    };

    export! {
        open / 3 = posix::open;
        open64 / 3 = posix::open;
        __open_2 / 2 = posix::__open_2;
        __open64_2 / 2 = posix::__open64_2;
        openat / 4 = posix::openat;
        openat64 / 4 = posix::openat;
        __openat_2 / 3 = posix::__openat_2;
        __openat64_2 / 3 = posix::__openat64_2;
        creat / 2 = posix::creat;
        creat64 / 2 = posix::creat;
        close / 1 = posix::close;
        close_range / 3 = posix::close_range;
        closefrom / 1 = posix::closefrom;
        read / 3 = data::read;
        __read_chk / 4 = data::__read_chk;
        pread / 4 = data::pread;
        pread64 / 4 = data::pread;
        __pread_chk / 5 = data::__pread_chk;
        __pread64_chk / 5 = data::__pread64_chk;
        write / 3 = data::write;
        pwrite / 4 = data::pwrite;
        pwrite64 / 4 = data::pwrite;
        readv / 3 = data::readv;
        writev / 3 = data::writev;
        preadv / 4 = data::preadv;
        preadv64 / 4 = data::preadv;
        pwritev / 4 = data::pwritev;
        pwritev64 / 4 = data::pwritev;
        preadv2 / 5 = data::preadv2;
        preadv64v2 / 5 = data::preadv2;
        pwritev2 / 5 = data::pwritev2;
        pwritev64v2 / 5 = data::pwritev2;
        lseek / 3 = posix::lseek;
        lseek64 / 3 = posix::lseek;
        dup / 1 = posix::dup;
        dup2 / 2 = posix::dup2;
        dup3 / 3 = posix::dup3;
        fcntl / 3 = posix::fcntl;
        fcntl64 / 3 = posix::fcntl;
        fsync / 1 = posix::fsync;
        fdatasync / 1 = posix::fdatasync;
        stat / 2 = stat::stat;
        stat64 / 2 = stat::stat;
        lstat / 2 = stat::lstat;
        lstat64 / 2 = stat::lstat;
        fstat / 2 = stat::fstat;
        fstat64 / 2 = stat::fstat;
        fstatat / 4 = stat::fstatat;
        fstatat64 / 4 = stat::fstatat;
        __xstat / 3 = stat::__xstat;
        __xstat64 / 3 = stat::__xstat;
        __lxstat / 3 = stat::__lxstat;
        __lxstat64 / 3 = stat::__lxstat;
        __fxstat / 3 = stat::__fxstat;
        __fxstat64 / 3 = stat::__fxstat;
        __fxstatat / 5 = stat::__fxstatat;
        __fxstatat64 / 5 = stat::__fxstatat;

        statx / 5 = statx::statx;

        mkstemp / 1 = temporary::mkstemp;
        mkstemp64 / 1 = temporary::mkstemp;
        mkostemp / 2 = temporary::mkostemp;
        mkostemp64 / 2 = temporary::mkostemp;
        mkstemps / 2 = temporary::mkstemps;
        mkstemps64 / 2 = temporary::mkstemps;
        mkostemps / 3 = temporary::mkostemps;
        mkostemps64 / 3 = temporary::mkostemps;
        memfd_create / 2 = temporary::memfd_create;
        open_by_handle_at / 3 = temporary::open_by_handle_at;
        shm_open / 3 = temporary::shm_open;

        rename / 2 = rename::rename;
        renameat / 4 = rename::renameat;
        renameat2 / 5 = rename::renameat2;

        opendir / 1 = directory::opendir;
        closedir / 1 = directory::closedir;

        access / 2 = metadata::access;
        euidaccess / 2 = metadata::euidaccess;
        eaccess / 2 = metadata::euidaccess;
        faccessat / 4 = metadata::faccessat;
        unlink / 1 = metadata::unlink;
        unlinkat / 3 = metadata::unlinkat;
        remove / 1 = metadata::remove;
        link / 2 = metadata::link;
        linkat / 5 = metadata::linkat;
        symlink / 2 = metadata::symlink;
        symlinkat / 3 = metadata::symlinkat;
        readlink / 3 = metadata::readlink;
        __readlink_chk / 4 = metadata::__readlink_chk;
        readlinkat / 4 = metadata::readlinkat;
        __readlinkat_chk / 5 = metadata::__readlinkat_chk;
        mkdir / 2 = metadata::mkdir;
        mkdirat / 3 = metadata::mkdirat;
        rmdir / 1 = metadata::rmdir;
        mknod / 3 = metadata::mknod;
        mkfifo / 2 = metadata::mkfifo;
        chmod / 2 = metadata::chmod;
        fchmodat / 4 = metadata::fchmodat;
        chown / 3 = metadata::chown;
        lchown / 3 = metadata::lchown;
        fchownat / 5 = metadata::fchownat;
        utimensat / 4 = metadata::utimensat;
        utime / 2 = metadata::utime;
        utimes / 2 = metadata::utimes;
        lutimes / 2 = metadata::lutimes;
        truncate / 2 = metadata::truncate;
        truncate64 / 2 = metadata::truncate;
        statfs / 2 = metadata::statfs;
        statfs64 / 2 = metadata::statfs;
        statvfs / 2 = metadata::statvfs;
        statvfs64 / 2 = metadata::statvfs;
        ftruncate / 2 = metadata::ftruncate;
        ftruncate64 / 2 = metadata::ftruncate;
        fallocate / 4 = metadata::fallocate;
        fallocate64 / 4 = metadata::fallocate;
        readahead / 3 = metadata::readahead;
        fchmod / 2 = metadata::fchmod;
        fchown / 3 = metadata::fchown;
        futimens / 2 = metadata::futimens;
        futimes / 2 = metadata::futimes;
        flock / 2 = metadata::flock;
        lockf / 3 = metadata::lockf;
        lockf64 / 3 = metadata::lockf;
        fstatfs / 2 = metadata::fstatfs;
        fstatfs64 / 2 = metadata::fstatfs;
        fstatvfs / 2 = metadata::fstatvfs;
        fstatvfs64 / 2 = metadata::fstatvfs;
        syncfs / 1 = metadata::syncfs;
        sync_file_range / 4 = metadata::sync_file_range;
        ioctl / 3 = metadata::ioctl;
        posix_fallocate / 3 = metadata::posix_fallocate;
        posix_fallocate64 / 3 = metadata::posix_fallocate64;
        posix_fadvise / 4 = metadata::posix_fadvise;
        posix_fadvise64 / 4 = metadata::posix_fadvise;
        readdir / 1 = metadata::readdir;
        readdir64 / 1 = metadata::readdir;
        fdopendir / 1 = metadata::fdopendir;
        sync / 0 = metadata::sync;

        sendfile / 4 = mover::sendfile;
        sendfile64 / 4 = mover::sendfile;
        tee / 4 = mover::tee;
        vmsplice / 4 = mover::vmsplice;
        copy_file_range / 6 = mover::copy_file_range;
        splice / 6 = mover::splice;

        msync / 3 = map::msync;

        aio_read / 1 = aio::aio_read;
        aio_read64 / 1 = aio::aio_read;
        aio_write / 1 = aio::aio_write;
        aio_write64 / 1 = aio::aio_write;
        aio_return / 1 = aio::aio_return;
        aio_return64 / 1 = aio::aio_return;
        lio_listio / 4 = aio::lio_listio;
        lio_listio64 / 4 = aio::lio_listio;
        aio_fsync / 2 = aio::aio_fsync;
        aio_fsync64 / 2 = aio::aio_fsync;
        aio_suspend / 3 = aio::aio_suspend;
        aio_suspend64 / 3 = aio::aio_suspend;

        syscall / 6 = raw::syscall;

        fopen / 2 = open::fopen;
        fopen64 / 2 = open::fopen;
        freopen / 3 = open::freopen;
        freopen64 / 3 = open::freopen64;
        tmpfile / 0 = open::tmpfile;
        tmpfile64 / 0 = open::tmpfile;
        fclose / 1 = open::fclose;
        pclose / 1 = open::pclose;
        fileno / 1 = open::fileno;
        fileno_unlocked / 1 = open::fileno;
        fdopen / 2 = open::fdopen;
        popen / 2 = open::popen;
        fcloseall / 0 = open::fcloseall;

        fread / 4 = read::fread;
        fread_unlocked / 4 = read::fread_unlocked;
        __fread_chk / 5 = read::__fread_chk;
        __fread_unlocked_chk / 5 = read::__fread_unlocked_chk;
        fgetc / 1 = read::fgetc;
        getc / 1 = read::fgetc;
        _IO_getc / 1 = read::fgetc;
        fgetc_unlocked / 1 = read::fgetc_unlocked;
        getc_unlocked / 1 = read::fgetc_unlocked;
        getchar / 0 = read::getchar;
        getchar_unlocked / 0 = read::getchar_unlocked;
        fgets / 3 = read::fgets;
        fgets_unlocked / 3 = read::fgets_unlocked;
        __fgets_chk / 4 = read::__fgets_chk;
        __fgets_unlocked_chk / 4 = read::__fgets_unlocked_chk;
        gets / 1 = read::gets;
        __gets_chk / 2 = read::__gets_chk;
        getline / 3 = read::getline;
        getdelim / 4 = read::getdelim;
        __getdelim / 4 = read::getdelim;
        getw / 1 = read::getw;
        __uflow / 1 = read::__uflow;
        __underflow / 1 = read::__underflow;
        ungetc / 2 = read::ungetc;

        fwrite / 4 = write::fwrite;
        fwrite_unlocked / 4 = write::fwrite_unlocked;
        fputc / 2 = write::fputc;
        putc / 2 = write::putc;
        _IO_putc / 2 = write::putc;
        fputc_unlocked / 2 = write::fputc_unlocked;
        putc_unlocked / 2 = write::putc_unlocked;
        putchar / 1 = write::putchar;
        putchar_unlocked / 1 = write::putchar_unlocked;
        fputs / 2 = write::fputs;
        fputs_unlocked / 2 = write::fputs_unlocked;
        puts / 1 = write::puts;
        _IO_puts / 1 = write::puts;
        putw / 2 = write::putw;
        perror / 1 = write::perror;
        __overflow / 2 = write::__overflow;

        fseek / 3 = seek::fseek;
        fseeko / 3 = seek::fseeko;
        fseeko64 / 3 = seek::fseeko;
        fsetpos / 2 = seek::fsetpos;
        fsetpos64 / 2 = seek::fsetpos;
        rewind / 1 = seek::rewind;
        fflush / 1 = seek::fflush;
        fflush_unlocked / 1 = seek::fflush_unlocked;
        setvbuf / 4 = seek::setvbuf;

        vfprintf / 3 = format::vfprintf;
        vprintf / 2 = format::vprintf;
        __vfprintf_chk / 4 = format::__vfprintf_chk;
        __vprintf_chk / 3 = format::__vprintf_chk;
        vdprintf / 3 = format::vdprintf;
        __vdprintf_chk / 4 = format::__vdprintf_chk;
        vfscanf / 3 = format::vfscanf;
        vscanf / 2 = format::vscanf;
        __isoc99_vfscanf / 3 = format::__isoc99_vfscanf;
        __isoc99_vscanf / 2 = format::__isoc99_vscanf;
        __isoc23_vfscanf / 3 = format::__isoc23_vfscanf;
        __isoc23_vscanf / 2 = format::__isoc23_vscanf;

        fgetwc / 1 = wide::fgetwc;
        getwc / 1 = wide::fgetwc;
        fgetwc_unlocked / 1 = wide::fgetwc_unlocked;
        getwc_unlocked / 1 = wide::fgetwc_unlocked;
        getwchar / 0 = wide::getwchar;
        getwchar_unlocked / 0 = wide::getwchar_unlocked;
        fgetws / 3 = wide::fgetws;
        fgetws_unlocked / 3 = wide::fgetws_unlocked;
        __fgetws_chk / 4 = wide::__fgetws_chk;
        __fgetws_unlocked_chk / 4 = wide::__fgetws_unlocked_chk;
        __wuflow / 1 = wide::__wuflow;
        vfwscanf / 3 = wide::vfwscanf;
        vwscanf / 2 = wide::vwscanf;
        __isoc99_vfwscanf / 3 = wide::__isoc99_vfwscanf;
        __isoc99_vwscanf / 2 = wide::__isoc99_vwscanf;
        __isoc23_vfwscanf / 3 = wide::__isoc23_vfwscanf;
        __isoc23_vwscanf / 2 = wide::__isoc23_vwscanf;
        fputwc / 2 = wide::fputwc;
        putwc / 2 = wide::putwc;
        fputwc_unlocked / 2 = wide::fputwc_unlocked;
        putwc_unlocked / 2 = wide::putwc_unlocked;
        putwchar / 1 = wide::putwchar;
        putwchar_unlocked / 1 = wide::putwchar_unlocked;
        fputws / 2 = wide::fputws;
        fputws_unlocked / 2 = wide::fputws_unlocked;
        __woverflow / 2 = wide::__woverflow;
        vfwprintf / 3 = wide::vfwprintf;
        vwprintf / 2 = wide::vwprintf;
        __vfwprintf_chk / 4 = wide::__vfwprintf_chk;
        __vwprintf_chk / 3 = wide::__vwprintf_chk;

        getrandom / 3 = random::getrandom;
        getentropy / 2 = random::getentropy;

        longjmp / 2 = jump::longjmp;
        _longjmp / 2 = jump::longjmp;
        siglongjmp / 2 = jump::longjmp;
        __longjmp_chk / 2 = jump::__longjmp_chk;

        _exit / 1 = process::_exit;
        _Exit / 1 = process::_exit;
        execve / 3 = process::execve;
        execv / 2 = process::execv;
        execvp / 2 = process::execvp;
        execvpe / 3 = process::execvpe;
        fexecve / 3 = process::fexecve;
        execveat / 5 = process::execveat;
        posix_spawn / 6 = process::posix_spawn;
        posix_spawnp / 6 = process::posix_spawnp;
        system / 1 = process::system;
        chroot / 1 = process::chroot;
        prctl / 5 = sandbox::prctl;
        setuid / 1 = process::setuid;
        seteuid / 1 = process::seteuid;
        setreuid / 2 = process::setreuid;
        setresuid / 3 = process::setresuid;
        // The stack may not change on the way: the return address is not looked at.
        vfork / 6 = arch::vfork;
        // The loader looks at who calls: the return address stays where it is.
        dlopen / 6 = arch::dlopen;
    }

    variadic! {
        fprintf / variadic = format::fprintf;
        printf / variadic = format::printf;
        __fprintf_chk / variadic = format::__fprintf_chk;
        __printf_chk / variadic = format::__printf_chk;
        dprintf / variadic = format::dprintf;
        __dprintf_chk / variadic = format::__dprintf_chk;
        fscanf / variadic = format::fscanf;
        scanf / variadic = format::scanf;
        __isoc99_fscanf / variadic = format::__isoc99_fscanf;
        __isoc99_scanf / variadic = format::__isoc99_scanf;
        __isoc23_fscanf / variadic = format::__isoc23_fscanf;
        __isoc23_scanf / variadic = format::__isoc23_scanf;
        fwscanf / variadic = wide::fwscanf;
        wscanf / variadic = wide::wscanf;
        __isoc99_fwscanf / variadic = wide::__isoc99_fwscanf;
        __isoc99_wscanf / variadic = wide::__isoc99_wscanf;
        __isoc23_fwscanf / variadic = wide::__isoc23_fwscanf;
        __isoc23_wscanf / variadic = wide::__isoc23_wscanf;
        fwprintf / variadic = wide::fwprintf;
        wprintf / variadic = wide::wprintf;
        __fwprintf_chk / variadic = wide::__fwprintf_chk;
        __wprintf_chk / variadic = wide::__wprintf_chk;
        execl / variadic = process::execl;
        execlp / variadic = process::execlp;
        execle / variadic = process::execle;
    }
}

//! `cargo xtask symbols`: writes `docs/symbols.md`, what netra does with every I/O function that this
//! machine's glibc exports: covered and how counted, or why not. A list, so it is long.
//!
//! A function of glibc is taken for I/O when its name begins with one of [`PREFIXES`]; one that is
//! neither exported by us nor listed in [`REASONS`] is an error, so a new glibc can not pass unread.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use netra_event::{Function, Kind, Layer};

use crate::artifact;
use crate::place::{output, root};

/// Beginnings of the names of I/O functions.
const PREFIXES: &str = "\
    open __open creat close read __read write __write pread __pread pwrite __pwrite lseek __lseek \
    llseek dup __dup fcntl __fcntl ioctl __ioctl fsync fdatasync sync mmap munmap __munmap msync \
    mremap sendfile copy_file_range splice tee vmsplice truncate ftruncate fallocate posix_fa \
    stat __xstat __lxstat __fxstat __xmknod fstat lstat access faccessat eaccess euidaccess \
    rename unlink remove link symlink __readlink mkdir rmdir mknod mkfifo chmod fchmod lchmod \
    chown fchown lchown utime futime lutime opendir fdopendir rewinddir seekdir telldir scandir \
    dirfd getdents getdirentries nftw ftw fts glob mkstemp mkostemp mkdtemp mktemp tmpfile tmpnam \
    tempnam memfd name_to_handle aio_ lio_ syscall flock lockf shm_ fopen fdopen freopen fclose \
    fcloseall fmemopen open_memstream open_wmemstream popen pclose fileno fread __fread fwrite \
    fget __fget getc getw gets __gets getline getdelim __getdelim _IO_getc _IO_putc _IO_puts \
    _IO_fopen _IO_fclose _IO_fread _IO_fwrite _IO_fgets _IO_fputs _IO_fprintf _IO_printf \
    _IO_vfprintf _IO_vfscanf _IO_ungetc _IO_getline _IO_file_ fput put ungetc ungetw printf \
    __printf fprintf __fprintf vprintf __vprintf vfprintf __vfprintf dprintf __dprintf vdprintf \
    __vdprintf scanf fscanf vscanf vfscanf __isoc wprintf fwprintf vwprintf vfwprintf __wprintf \
    __fwprintf __vwprintf __vfwprintf wscanf fwscanf vwscanf vfwscanf fseek ftell fgetpos fsetpos \
    rewind fflush setvbuf setbuf setbuffer setlinebuf perror __overflow __uflow __underflow \
    __woverflow __wuflow __wunderflow psignal vfork __vfork fork _Fork exec fexecve posix_spawn \
    system _exit _Exit pipe eventfd socket send recv process_vm preadv getrandom getentropy \
    longjmp _longjmp siglongjmp __longjmp dlopen prctl";

/// Why a function is not covered, and the functions.
const REASONS: &[(&str, &str)] = &[
    (
        "Inside libc under another name of a covered call; programs call them only by hand.",
        "__dup2 __fcntl __lseek __munmap __open __open64 __pread64 __pwrite64 __read __write \
         __vfork __xmknod __xmknodat __wunderflow _IO_fclose _IO_fgets _IO_fopen _IO_fprintf \
         _IO_fputs _IO_fread _IO_fwrite _IO_getline _IO_getline_info _IO_printf _IO_ungetc \
         _IO_vfprintf __open64_nocancel __open_nocancel __pread64_nocancel __read_nocancel \
         __write_nocancel",
    ),
    (
        "Parts of libc's own stream machinery; they are reached through the covered calls.",
        "_IO_file_attach _IO_file_close _IO_file_close_it _IO_file_doallocate _IO_file_finish \
         _IO_file_fopen _IO_file_init _IO_file_open _IO_file_overflow _IO_file_read \
         _IO_file_seek _IO_file_seekoff _IO_file_setbuf _IO_file_stat _IO_file_sync \
         _IO_file_underflow _IO_file_write _IO_file_xsputn __printf_fp __freadable __freading \
         flockfile",
    ),
    (
        "Works on memory, not on a file.",
        "fmemopen open_memstream open_wmemstream fopencookie __isoc99_sscanf __isoc99_swscanf \
         __isoc99_vsscanf __isoc99_vswscanf printf_size printf_size_info munmap mremap \
         process_vm_readv process_vm_writev getcontext",
    ),
    (
        "Asks where a stream or directory stands, or how it is buffered; moves nothing.",
        "ftell ftello ftello64 fgetpos fgetpos64 setbuf setbuffer setlinebuf telldir seekdir \
         rewinddir dirfd ungetwc",
    ),
    (
        "Asks or cancels; the transfer counts when `aio_return` takes its result.",
        "aio_error aio_error64 aio_cancel aio_cancel64 aio_init",
    ),
    (
        "Makes a child inside libc; the child records itself once it runs (a library is \
         loaded with it).",
        "fork _Fork forkpty \
         posix_spawn_file_actions_addchdir_np posix_spawn_file_actions_addclose \
         posix_spawn_file_actions_addclosefrom_np posix_spawn_file_actions_adddup2 \
         posix_spawn_file_actions_addfchdir_np posix_spawn_file_actions_addopen \
         posix_spawn_file_actions_addtcsetpgrp_np posix_spawn_file_actions_destroy \
         posix_spawn_file_actions_init posix_spawnattr_destroy posix_spawnattr_getflags \
         posix_spawnattr_getpgroup posix_spawnattr_getschedparam \
         posix_spawnattr_getschedpolicy posix_spawnattr_getsigdefault \
         posix_spawnattr_getsigmask posix_spawnattr_init posix_spawnattr_setflags \
         posix_spawnattr_setpgroup posix_spawnattr_setschedparam \
         posix_spawnattr_setschedpolicy posix_spawnattr_setsigdefault \
         posix_spawnattr_setsigmask",
    ),
    (
        "Walks directories with libc's inner calls; the names it meets are given to the \
         application, which opens them itself.",
        "ftw ftw64 nftw nftw64 fts64_children fts64_close fts64_open fts64_read fts64_set \
         fts_children fts_close fts_open fts_read fts_set glob glob64 globfree globfree64 \
         glob_pattern_p scandir scandir64 scandirat scandirat64 getdents64 getdirentries \
         getdirentries64 readdir_r readdir64_r",
    ),
    (
        "Rare, and moves no data: not hooked yet.",
        "futimesat lchmod mkdtemp mkfifoat mknodat mktemp name_to_handle_at open_tree \
         shm_unlink tempnam tmpnam tmpnam_r removexattr fgetxattr getcwd getwd",
    ),
    (
        "Pipes, sockets and events have no file.",
        "pipe pipe2 eventfd eventfd_read eventfd_write socket socketpair send sendto sendmsg \
         sendmmsg recv recvfrom recvmsg recvmmsg getsockname getsockopt getsourcefilter \
         openpty",
    ),
    (
        "Not I/O of the application: user, service and message databases of libc, or another \
         thing with a similar name.",
        "closelog openlog duplocale __duplocale __open_catalog fgetgrent fgetgrent_r fgetpwent \
         fgetpwent_r fgetsgent fgetsgent_r fgetspent fgetspent_r getcpu getservbyname \
         getservbyname_r getservbyport getservbyport_r getservent getservent_r getsgent \
         getsgent_r getsgnam getsgnam_r getsid getspent getspent_r getspnam getspnam_r \
         getsubopt psignal putenv putgrent putpwent putsgent putspent pututline pututxline",
    ),
];

/// Functions that are not exported but reached through the slots of their callers.
const SLOTS: &[&str] = &["mmap", "mmap64"];

/// `cargo xtask symbols`.
pub(crate) fn run(_: &[String]) -> Result<()> {
    let exports = artifact::exports()?;
    let (libc, version) = libc_functions()?;
    let mut rows: BTreeMap<&str, String> = BTreeMap::new();
    let mut unread = Vec::new();
    for name in SLOTS {
        rows.insert(name, format!("{}; reached through its callers' slots", covered(name)));
    }
    let slot = |name: &str| SLOTS.contains(&name);
    let libc: BTreeSet<String> = libc.into_iter().filter(|name| !slot(name)).collect();
    for name in libc.iter().filter(|name| is_io(name) || exports.contains(*name)) {
        match (exports.contains(name), reason(name)) {
            (true, _) => rows.insert(name, covered(name)),
            (false, Some(reason)) => rows.insert(name, format!("no | {reason}")),
            (false, None) => {
                unread.push(name.as_str());
                continue;
            }
        };
    }
    if !unread.is_empty() {
        bail!("neither covered nor given a reason in xtask/src/symbols.rs: {}", unread.join(" "));
    }
    for name in exports.iter().filter(|name| !libc.contains(*name)) {
        rows.insert(name, format!("{}; glibc {version} has no such name", covered(name)));
    }
    let page = page(&rows, &version);
    fs::write(root().join("docs/symbols.md"), page).context("writing docs/symbols.md")?;
    let covered = exports.len().saturating_add(SLOTS.len());
    println!("docs/symbols.md: {} names, {covered} of them covered", rows.len());
    Ok(())
}

fn page(rows: &BTreeMap<&str, String>, version: &str) -> String {
    let mut page = format!(
        "# I/O functions of glibc\n\nWritten by `cargo xtask symbols` from glibc {version}; not edited \
         by hand. Every function whose name begins like I/O:\ncovered and how it is counted, or why \
         not. Each call of a covered function is an event of the trace and counts by its\nfunction, \
         failed ones too; the counters named here count successful calls.\n\n\
         | function | covered | how it counts, or why not |\n|---|---|---|\n"
    );
    for (name, row) in rows {
        writeln!(page, "| `{name}` | {row} |").ok();
    }
    page
}

fn is_io(name: &str) -> bool {
    PREFIXES.split_whitespace().any(|prefix| name.starts_with(prefix))
}

fn reason(name: &str) -> Option<&'static str> {
    let row = REASONS.iter().find(|(_, names)| names.split_whitespace().any(|own| own == name));
    row.map(|(reason, _)| *reason)
}

/// How a covered function counts.
fn covered(name: &str) -> String {
    let Some(function) = Function::from_symbol(name) else {
        return "yes | no event: it only tells netra about the thread or process".into();
    };
    let base = function.name();
    let how = how(function);
    if base == name { format!("yes | {how}") } else { format!("yes | as `{base}`: {how}") }
}

fn how(function: Function) -> &'static str {
    use Function as F;
    match (function, function.layer(), function.kind()) {
        (F::Sendfile | F::CopyFileRange | F::Splice, ..) => {
            "a POSIX read of the source and a write of the target, half of the time each"
        }
        (F::Tee | F::Vmsplice, ..) => "by function: pipes have no record",
        (F::AioRead | F::AioWrite | F::LioListio, ..) => {
            "by function; the transfer counts when `aio_return` takes its result"
        }
        (F::AioReturn, ..) => {
            "POSIX READS or WRITES, BYTES, or FSYNCS, with the time since it was asked for"
        }
        (F::Dprintf | F::Vdprintf, ..) => "POSIX WRITES, BYTES_WRITTEN",
        (F::Fileno, ..) => "POSIX FILENOS and OPENS",
        (F::Rename | F::Renameat | F::Renameat2, ..) => "POSIX RENAME_SOURCES, RENAME_TARGETS",
        (F::Mmap, ..) => "POSIX MMAPS and bytes mapped",
        (F::Fsync, ..) => "POSIX FSYNCS, write time",
        (F::Fdatasync, ..) => "POSIX FDSYNCS, write time",
        (F::Fcntl, ..) => "POSIX DUPS and OPENS where it duplicates, else by function",
        (F::Stat | F::Fstat | F::Lstat | F::Fstatat | F::Statx, ..) => {
            "POSIX STATS of regular files"
        }
        (F::Fflush, ..) => "STDIO FLUSHES, write time",
        (F::Overflow | F::Uflow, ..) => {
            "STDIO WRITES or READS, with the bytes that inlined code moved since the last call"
        }
        (F::Fdopen, ..) => "STDIO FDOPENS and OPENS",
        (_, Layer::Posix, Kind::Open) => "POSIX OPENS",
        (_, Layer::Posix, Kind::Duplicate) => "POSIX DUPS and OPENS",
        (_, Layer::Posix, Kind::Read) => "POSIX READS, BYTES_READ",
        (_, Layer::Posix, Kind::Write) => "POSIX WRITES, BYTES_WRITTEN",
        (_, Layer::Posix, Kind::Seek) => "POSIX SEEKS",
        (_, Layer::Posix, Kind::Close) => "metadata time",
        (_, Layer::Stdio, Kind::Open) => "STDIO OPENS",
        (_, Layer::Stdio, Kind::Read) => "STDIO READS, BYTES_READ",
        (_, Layer::Stdio, Kind::Write) => "STDIO WRITES, BYTES_WRITTEN",
        (_, Layer::Stdio, Kind::Seek) => "STDIO SEEKS",
        (_, Layer::Stdio, Kind::Close) => "metadata time",
        (F::Syscall, ..) => "what has a hook as that function",
        (F::Getrandom, ..) => "RANDOM calls, bytes and time, in the log's netra section",
        (_, Layer::Posix, _) => "by function, metadata time",
        _ => "by function",
    }
}

/// The functions that libc exports, and its version.
fn libc_functions() -> Result<(BTreeSet<String>, String)> {
    let loader = output(Command::new("ldd").arg("--version"))?;
    let text = String::from_utf8_lossy(&loader);
    let version = text.lines().next().and_then(|line| line.split_whitespace().last());
    let version = version.context("ldd tells no version")?.to_owned();
    let names =
        output(Command::new("nm").args(["--dynamic", "--defined-only"]).arg(artifact::libc()?))?;
    let names = String::from_utf8_lossy(&names);
    let functions = names.lines().filter_map(|line| {
        let mut words = line.split_whitespace().skip(1);
        let kind = words.next()?;
        let (name, _) = words.next()?.split_once("@@")?;
        "TWi".contains(kind).then(|| name.to_owned())
    });
    Ok((functions.collect(), version))
}

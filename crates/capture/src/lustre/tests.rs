//! There is no Lustre here: the kernel's answers are given by the test, at the one door through which
//! `sys` asks, with layouts as its clients give them.

use std::ffi::CStr;
use std::io::Write as _;
use std::os::fd::AsRawFd as _;

use netra_event::segment::{MAGIC, VERSION, View};

use super::*;
use crate::arena::ARENA;
use crate::sys::fake;
use crate::{files, mount, name};

/// A target of a component: object id, generation, number.
fn target(number: u32) -> Vec<u8> {
    let mut bytes = vec![0x5a; 16];
    bytes.extend_from_slice(&0_u32.to_le_bytes());
    bytes.extend_from_slice(&number.to_le_bytes());
    bytes
}

/// A component as it stands alone, or inside a composite layout.
fn plain(pattern: u32, stripe_size: u32, pool: Option<&str>, targets: &[u32]) -> Vec<u8> {
    let magic = if pool.is_some() { MAGIC_POOL } else { MAGIC_PLAIN };
    let mut bytes = magic.to_le_bytes().to_vec();
    bytes.extend_from_slice(&pattern.to_le_bytes());
    bytes.extend_from_slice(&[0x11; 16]);
    bytes.extend_from_slice(&stripe_size.to_le_bytes());
    bytes.extend_from_slice(&u16::try_from(targets.len()).unwrap().to_le_bytes());
    bytes.extend_from_slice(&0_u16.to_le_bytes());
    if let Some(pool) = pool {
        let mut name = [0; POOL];
        name[..pool.len()].copy_from_slice(pool.as_bytes());
        bytes.extend_from_slice(&name);
    }
    bytes.extend(targets.iter().flat_map(|&number| target(number)));
    bytes
}

/// An entry of a composite layout: id, flags, extent, component.
type Part = (u32, u32, (u64, u64), Vec<u8>);

fn composite(parts: &[Part]) -> Vec<u8> {
    let mut bytes = MAGIC_COMPOSITE.to_le_bytes().to_vec();
    bytes.extend_from_slice(&[0; 4]); // the size, filled below
    bytes.extend_from_slice(&7_u32.to_le_bytes());
    bytes.extend_from_slice(&0_u16.to_le_bytes());
    bytes.extend_from_slice(&u16::try_from(parts.len()).unwrap().to_le_bytes());
    bytes.resize(COMPOSITE_HEAD, 0);
    let mut from = COMPOSITE_HEAD + parts.len() * ENTRY;
    for (id, flags, extent, part) in parts {
        for value in [*id, *flags] {
            bytes.extend_from_slice(&value.to_le_bytes());
        }
        bytes.extend_from_slice(&extent.0.to_le_bytes());
        bytes.extend_from_slice(&extent.1.to_le_bytes());
        bytes.extend_from_slice(&u32::try_from(from).unwrap().to_le_bytes());
        bytes.extend_from_slice(&u32::try_from(part.len()).unwrap().to_le_bytes());
        bytes.extend_from_slice(&[0; 16]);
        from += part.len();
    }
    for (.., part) in parts {
        bytes.extend_from_slice(part);
    }
    let size = u32::try_from(bytes.len()).unwrap();
    bytes[4..8].copy_from_slice(&size.to_le_bytes());
    bytes
}

const MIB: u32 = 1 << 20;
const EOF: i64 = -1;

/// 1 stripe up to 64 MiB, 2 stripes in the pool `flash` behind it, and 8 from 1 GiB on, not yet used.
fn progressive(flags_of_last: u32) -> Vec<u8> {
    let last = if flags_of_last & INITIALISED == 0 { vec![] } else { (20..28).collect() };
    composite(&[
        (0x0001_0001, INITIALISED, (0, 64 << 20), plain(1, MIB, None, &[3])),
        (0x0001_0002, INITIALISED, (64 << 20, 1 << 30), plain(1, 4 * MIB, Some("flash"), &[9, 4])),
        (0x0001_0003, flags_of_last, (1 << 30, u64::MAX), plain(1, 16 * MIB, None, &last)),
    ])
}

#[track_caller]
fn reads(bytes: &[u8], want: &[([i64; 7], &str, &[i64])]) {
    let layout = Layout { bytes };
    let found: Vec<([i64; 7], String, Vec<i64>)> = layout
        .components()
        .map(|component| {
            let pool = String::from_utf8_lossy(&component.pool).trim_end_matches('\0').to_owned();
            let targets = component.targets.as_chunks::<TARGET>().0.iter();
            (component.numbers(), pool, targets.map(|row| i64::from(word(row, 20))).collect())
        })
        .collect();
    let want: Vec<([i64; 7], String, Vec<i64>)> = want
        .iter()
        .map(|(numbers, pool, targets)| (*numbers, (*pool).to_owned(), targets.to_vec()))
        .collect();
    assert_eq!(found, want);
}

#[test]
fn plain_layouts_have_one_component() {
    let mib = i64::from(MIB);
    reads(&plain(1, MIB, None, &[5, 6]), &[([mib, 2, 0, 0, 0, EOF, 0], "", &[5, 6])]);
    reads(&plain(1, MIB, Some("ssd"), &[1]), &[([mib, 1, 0, 0, 0, EOF, 0], "ssd", &[1])]);
    let overstriped = plain(0x201, MIB, None, &[2, 2]);
    reads(&overstriped, &[([mib, 2, 4, 0, 0, EOF, 0], "", &[2, 2])]);
}

#[test]
fn composite_layouts_show_the_components_in_use() {
    let (mib, init) = (i64::from(MIB), i64::from(INITIALISED));
    let used: [([i64; 7], &str, &[i64]); 2] = [
        ([mib, 1, 0, init, 0, 64 << 20, 1], "", &[3]),
        ([4 * mib, 2, 0, init, 64 << 20, 1 << 30, 1], "flash", &[9, 4]),
    ];
    reads(&progressive(0), &used);
    assert!(Layout { bytes: &progressive(0) }.waits());
    assert!(!Layout { bytes: &progressive(INITIALISED) }.waits());
    // A mirror, data on the metadata target, and an extension that never has targets.
    let mirrored = composite(&[
        (0x0001_0001, INITIALISED, (0, u64::from(MIB)), plain(0x100, MIB, None, &[])),
        (0x0002_0004, INITIALISED | 1, (0, u64::MAX), plain(1, MIB, None, &[7])),
        (0x0002_0005, EXTENSION, (0, u64::MAX), plain(1, MIB, None, &[])),
    ]);
    reads(
        &mirrored,
        &[([mib, 0, 2, init, 0, mib, 1], "", &[]), ([mib, 1, 0, init | 1, 0, EOF, 2], "", &[7])],
    );
    assert!(!Layout { bytes: &mirrored }.waits());
}

#[test]
fn damaged_layouts_give_less_and_never_more() {
    for whole in [plain(1, MIB, Some("ssd"), &[1, 2, 3]), progressive(INITIALISED)] {
        let all = Layout { bytes: &whole }.components().count();
        for length in 0..whole.len() {
            assert!(Layout { bytes: &whole[..length] }.components().count() <= all);
        }
        for at in 0..whole.len() {
            let mut bent = whole.clone();
            bent[at] ^= 0xff;
            assert!(Layout { bytes: &bent }.components().count() <= 4);
        }
    }
}

/// Answers what a client of Lustre would: the list of mounts, the type of the file system, a layout
/// that changes between the first question and the second, and the numbers of targets.
fn client(
    mounts: std::path::PathBuf,
    layouts: [Vec<u8>; 2],
) -> impl FnMut(i64, [usize; 6]) -> Option<isize> {
    let mut asked = 0;
    move |number, args| match number {
        libc::SYS_openat => {
            // SAFETY: `sys` asks with C strings.
            let path = unsafe { CStr::from_ptr(core::ptr::with_exposed_provenance(args[1])) };
            let instead = match path.to_bytes() {
                b"/proc/self/mounts" => mounts.as_os_str().to_owned(),
                b"/lustre/scratch" => "/".into(),
                _ => return None,
            };
            let instead = std::ffi::CString::new(instead.into_encoded_bytes()).unwrap();
            let args = [args[0], instead.as_ptr().expose_provenance(), args[2], args[3], 0, 0];
            // SAFETY: the path ends with NUL.
            Some(unsafe { crate::arch::syscall(number, args) })
        }
        libc::SYS_statfs => {
            // SAFETY: `sys` gives a buffer of the kernel's layout.
            let stat =
                unsafe { &mut *core::ptr::with_exposed_provenance_mut::<libc::statfs>(args[1]) };
            stat.f_type = 0x0bd0_0bd0;
            stat.f_bsize = 4096;
            Some(0)
        }
        libc::SYS_fgetxattr => {
            let layout = &layouts[asked.min(1)];
            asked += 1;
            if args[3] < layout.len() {
                asked -= 1;
                return Some(-(libc::ERANGE as isize));
            }
            // SAFETY: `sys` gives a buffer of this length.
            unsafe {
                core::ptr::copy_nonoverlapping(
                    layout.as_ptr(),
                    core::ptr::with_exposed_provenance_mut(args[2]),
                    layout.len(),
                );
            }
            Some(layout.len().cast_signed())
        }
        libc::SYS_ioctl if args[1] == 0x8008_66a8 => {
            // SAFETY: `sys` gives room for a long.
            let count = unsafe { &mut *core::ptr::with_exposed_provenance_mut::<u32>(args[2]) };
            *count = if *count == 0 { 160 } else { 8 };
            Some(0)
        }
        _ => None,
    }
}

#[test]
fn a_file_on_lustre_has_its_layout_and_its_file_systems_targets() {
    let folder = std::env::temp_dir();
    let mounts = folder.join(format!("netra-mounts-{}", std::process::id()));
    let mut list = std::fs::File::create(&mounts).unwrap();
    writeln!(list, "/dev/sda1 / ext4 rw 0 0").unwrap();
    writeln!(list, "10.0.0.1@o2ib:/fs /lustre/scratch lustre rw,flock 0 0").unwrap();
    writeln!(list, "server:/export/home /home nfs4 rw,vers=4.2 0 0").unwrap();
    writeln!(list, "gpfs0 /gpfs/fs0 gpfs rw,relatime 0 0").unwrap();
    writeln!(list, "beegfs_nodev /mnt/beegfs beegfs rw 0 0").unwrap();
    let wide: Vec<u32> = (0..400).collect();
    let (first, later) = (progressive(0), plain(1, MIB, None, &wide));
    memory::map().unwrap();
    let header = ARENA.create(None, 0).unwrap();
    name::set_up();
    let descriptor = list.as_raw_fd();
    fake::answering(client(mounts.clone(), [first, progressive(INITIALISED)]), || {
        mount::list();
        files::track(descriptor, b"/lustre/scratch/run/checkpoint", 0).unwrap();
        files::forget(descriptor);
        // Nothing waits any more: closing again asks nothing.
        files::track(descriptor, b"/lustre/scratch/run/checkpoint", 0).unwrap();
        files::forget(descriptor);
    });
    fake::answering(client(mounts.clone(), [later.clone(), later]), || {
        files::track(descriptor, b"/lustre/scratch/wide", 0).unwrap();
        files::track(descriptor, b"/local", 0).unwrap();
        for path in [&b"/home/u/a"[..], b"/gpfs/fs0/b", b"/mnt/beegfs/c", b"/gpfs/other"] {
            files::track(descriptor, path, 0).unwrap();
        }
    });
    std::fs::remove_file(&mounts).unwrap();
    header.version.store(VERSION, Ordering::Relaxed);
    header.magic.store(u64::from_le_bytes(MAGIC), Ordering::Release);
    let view = View::new(ARENA.whole().unwrap()).unwrap();

    let mount = view.mounts().find(|mount| mount.kind == b"lustre").unwrap();
    assert_eq!((mount.point, mount.targets), (&b"/lustre/scratch"[..], (160, 8)));
    let file = |name: &[u8]| view.files().find(|file| file.name == name).unwrap();
    let checkpoint = file(b"/lustre/scratch/run/checkpoint");
    assert_eq!((checkpoint.mount, checkpoint.alignment), (Some(mount.index), MIB));
    assert_eq!(file(b"/local").mount, Some(0));
    let kind = |name: &[u8]| {
        let mount = file(name).mount;
        view.mounts().find(|row| Some(row.index) == mount).map(|row| row.kind)
    };
    assert_eq!(kind(b"/home/u/a"), Some(&b"nfs4"[..]));
    assert_eq!(kind(b"/gpfs/fs0/b"), Some(&b"gpfs"[..]));
    assert_eq!(kind(b"/mnt/beegfs/c"), Some(&b"beegfs"[..]));
    assert_eq!(kind(b"/gpfs/other"), Some(&b"ext4"[..]));

    let of = |index: u32| -> Vec<(u64, u64)> {
        let mine = view.records().filter(|record| record.module == 8 && record.file == index);
        mine.map(|record| (record.word(COMPONENTS), record.word(TARGETS))).collect()
    };
    assert_eq!(of(checkpoint.index), [(2, 3), (3, 11)], "asked again at close, and only then");
    assert_eq!(of(file(b"/lustre/scratch/wide").index), [(1, 400)], "longer than usual");
    assert_eq!(of(file(b"/local").index), []);
    let newest = view.records().filter(|record| record.file == checkpoint.index).last().unwrap();
    let words: Vec<u64> = (FIRST..FIRST + 3 * WIDTH + 11).map(|at| newest.word(at)).collect();
    let eof = EOF.cast_unsigned();
    assert_eq!(words[..7], [u64::from(MIB), 1, 0, 16, 0, 64 << 20, 1]);
    assert_eq!(words[9 + 7..9 + 9], [u64::from_le_bytes(*b"flash\0\0\0"), 0]);
    assert_eq!(words[18..25], [u64::from(16 * MIB), 8, 0, 16, 1 << 30, eof, 1]);
    assert_eq!(words[27..], [3, 9, 4, 20, 21, 22, 23, 24, 25, 26, 27]);
}

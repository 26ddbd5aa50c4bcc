//! What runs on clusters, as packaged, in one process.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::Path;

use super::text;
use crate::transparent::guest::{Aspect, Guest, Line, PLAIN};

const fn fio(name: &'static str, words: &'static [&'static str]) -> Guest {
    Guest { name, package: "fio", command: Line::Words(words), apart: CLOCK, ..PLAIN }
}

const CLOCK: &[(Aspect, &str)] =
    &[(Aspect::Calls, "a thread of it waits for the clock and for the others")];

/// What an engine of fio is started with; its report is about time and goes nowhere.
macro_rules! fio {
    ($engine:literal $(, $more:literal)*) => {
        &["fio", "--name=job", "--filename=fio.dat", "--size=256k", "--bs=4k", "--rw=randrw", "--randseed=7",
          "--allrandrepeat=1", "--thread", "--zero_buffers", "--output=/dev/null", "--eta=never", concat!("--ioengine=", $engine) $(, $more)*]
    };
}

pub(super) static ALL: &[Guest] = &[
    Guest {
        name: "hmmsearch",
        package: "hmmer",
        command: Line::Shell(
            "hmmbuild -o /dev/null family.hmm family.sto; hmmsearch --cpu 2 --noali --tblout hits family.hmm proteins.fa | grep -v '^#' | wc -l",
        ),
        input: proteins,
        ..PLAIN
    },
    Guest {
        name: "hdf5_tools",
        package: "hdf5-tools",
        command: Line::Shell(
            "h5import numbers -dims 10,10 -type TEXTFP -size 64 -o a.h5 >/dev/null; h5repack -f GZIP=1 a.h5 b.h5 && h5dump b.h5 | cksum; h5diff a.h5 b.h5",
        ),
        input: |work| fs::write(work.join("numbers"), "1.5 ".repeat(100)),
        ..PLAIN
    },
    Guest {
        name: "netcdf",
        package: "netcdf-bin",
        command: Line::Shell("ncgen -k nc4 -o a.nc a.cdl && nccopy -d 1 a.nc b.nc && ncdump b.nc"),
        input: |work| {
            let text = "netcdf a { dimensions: x = 5; variables: double v(x); data: v = 1, 2, 3, 4, 5; }\n";
            fs::write(work.join("a.cdl"), text)
        },
        ..PLAIN
    },
    Guest {
        name: "lammps",
        long: true,
        package: "lammps",
        command: Line::Shell("lmp -in in.lj -log none -screen none; cksum dump.*"),
        input: |work| fs::write(work.join("in.lj"), MELT),
        ..PLAIN
    },
    fio("fio_psync", fio!("psync", "--fsync=8")),
    fio("fio_libaio", fio!("libaio", "--iodepth=4")),
    fio("fio_mmap", fio!("mmap")).long(),
    fio("fio_io_uring", fio!("io_uring", "--iodepth=4")).long(),
    Guest {
        name: "sqlite3",
        package: "sqlite3",
        command: Line::Shell(
            "sqlite3 -batch a.db 'pragma journal_mode=wal; create table t(a integer primary key, b); \
             insert into t(b) with recursive n(x) as (values(1) union all select x+1 from n where x<2000) select x from n; \
             update t set b=b+1 where a%3=0; select count(*), sum(b) from t; vacuum;'; cksum a.db",
        ),
        input: text,
        ..PLAIN
    },
    Guest {
        name: "lmdb",
        package: "lmdb-utils",
        command: Line::Shell(
            "mdb_load -n -T a.mdb < pairs && mdb_dump -n -p a.mdb | cksum && mdb_stat -n a.mdb; rm a.mdb-lock",
        ),
        input: |work| {
            let head =
                "VERSION=3\nformat=print\ntype=btree\nmapsize=1048576\nHEADER=END\n".to_owned();
            let pairs = (0..500).fold(head, |mut all, number| {
                writeln!(all, " key{number:05}\n value{number}").ok();
                all
            });
            fs::write(work.join("pairs"), pairs + "DATA=END\n")
        },
        ..PLAIN
    },
];

const MELT: &str = "\
units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 4 0 4 0 4
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 3.0 87287 loop geom
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
fix 1 all nve
dump 1 all atom 20 dump.*
run 40
";

fn proteins(work: &Path) -> io::Result<()> {
    let row = "ACDEFGHIKLMNPQRSTVWYACDEFGHIKLMNPQRSTVWY";
    let rows: String = (0..4).map(|number| format!("seq{number} {row}\n")).collect();
    fs::write(work.join("family.sto"), format!("# STOCKHOLM 1.0\n\n{rows}//\n"))?;
    let all: String = (0..100).map(|number| format!(">p{number}\n{row}{row}\n")).collect();
    fs::write(work.join("proteins.fa"), all)
}

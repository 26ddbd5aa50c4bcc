//! HDF5 and PnetCDF under netra: the workloads that use them, call for call and byte for byte; one program
//! with everything in it, value by value; and the wheels of h5py and netCDF4, each with an HDF5 of its own.
#![forbid(unsafe_code)]
#![expect(clippy::print_stdout, reason = "each cell is told in a line")]
#![expect(clippy::unwrap_used, reason = "tests may fail")]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use netra_e2e::{Job, Scene, Tally, Tool};
use netra_event::segment::extension::{Extension, Shape};
use netra_event::segment::shard::h5f;
use netra_event::{Function, Layer, Module};
use netra_workloads::catalogue::{self, Library, Workload};
use netra_workloads::expected::Counts;
use netra_workloads::{Expected, Launch, Missing, Mpi};

/// What netra's library needs to see, as words of `env`.
fn environment(scene: &Scene) -> Vec<String> {
    let tool = Tool::netra().unwrap();
    let settings = tool.environment(scene).into_iter();
    settings.map(|(key, value)| format!("{key}={}", value.display())).collect()
}

/// Calls of symbols as calls of functions: those of one call for several types have one code.
fn expected_tallies(counts: Option<&Counts>) -> BTreeMap<Function, Tally> {
    let mut tallies: BTreeMap<Function, Tally> = BTreeMap::new();
    for (symbol, count) in counts.into_iter().flatten() {
        let function = Function::from_symbol(symbol).unwrap_or_else(|| panic!("{symbol}"));
        let tally = tallies.entry(function).or_default();
        tally.calls += count.calls;
        tally.bytes += count.bytes;
    }
    tallies
}

/// Runs one cell; what differs from what the program promises.
fn judge(launch: &Launch, scene: &Scene) -> anyhow::Result<Vec<String>> {
    let expected = Expected::ask(launch.expectation()?)?;
    let mut command = launch.command(&scene.work())?;
    command.env("LC_ALL", "C").env("OMPI_MCA_orte_tmpdir_base", scene.segments());
    let done = command.output()?;
    anyhow::ensure!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let job = Job::read(&scene.logs())?;
    let mut wrong = Vec::new();
    if job.dropped() != 0 {
        wrong.push(format!("{} events were dropped", job.dropped()));
    }
    for (name, layer) in [("hdf5", Layer::Hdf5), ("pnetcdf", Layer::Pnetcdf)] {
        let seen = job.tallies(layer);
        for (rank, layers) in (0..).zip(&expected.ranks) {
            let want = expected_tallies(layers.get(name));
            let have = seen.get(&rank).cloned().unwrap_or_default();
            for function in want.keys().chain(have.keys()) {
                let (want, have) = (want.get(function), have.get(function));
                if want != have {
                    wrong.push(format!("rank {rank}: {function}: {have:?}, expected {want:?}"));
                }
            }
        }
    }
    let sum = |symbol: &str| {
        let layer = expected.total.get("hdf5").and_then(|counts| counts.get(symbol));
        layer.map_or(0, |count| count.bytes.cast_signed())
    };
    for (counter, symbol) in [("H5D_BYTES_WRITTEN", "H5Dwrite"), ("H5D_BYTES_READ", "H5Dread")] {
        let (have, want) = (job.total(Module::H5d, counter), sum(symbol));
        if have != want {
            wrong.push(format!("{counter}: {have}, expected {want}"));
        }
    }
    Ok(wrong)
}

/// Every setting of a workload with every MPI, one printed line each.
#[track_caller]
fn judge_all(name: &str) {
    let workload: &'static Workload = catalogue::find(name).unwrap();
    let (mut ran, mut failed) = (0, 0);
    for mpi in Mpi::ALL {
        for (number, trial) in workload.trials.iter().enumerate() {
            let cell = format!("{name} {} {trial}", mpi.name());
            let scene = Scene::new(&format!("{name}_{}_{number}", mpi.name())).unwrap();
            let mut with_rank = vec!["env".to_owned()];
            with_rank.extend(environment(&scene));
            let launch = Launch {
                workload,
                mpi,
                ranks: if mpi == Mpi::None { 1 } else { 2 },
                with: Vec::new(),
                with_rank,
                knobs: trial.split(' ').map(str::to_owned).collect(),
            };
            let pnetcdf = workload.libraries.contains(&Library::Pnetcdf);
            if (mpi == Mpi::None && !workload.without_mpi) || (pnetcdf && mpi != Mpi::OpenMpi) {
                println!("{cell}: not run: not built for it");
                continue;
            }
            match judge(&launch, &scene) {
                Ok(wrong) if wrong.is_empty() => {
                    println!("{cell}: as expected");
                    ran += 1;
                }
                Err(error) if error.downcast_ref::<Missing>().is_some() => {
                    println!("{cell}: not run: {error:#}");
                }
                Err(error) if error.to_string().ends_with("without MPI") => {
                    println!("{cell}: not run: {error:#}");
                }
                Ok(wrong) => {
                    println!("{cell}: DIFFERS\n  {}", wrong.join("\n  "));
                    failed += 1;
                }
                Err(error) => {
                    println!("{cell}: {error:#}");
                    failed += 1;
                }
            }
        }
    }
    assert_eq!(failed, 0, "{failed} cells of {name} differ from what --expect says");
    assert!(ran > 0, "no cell of {name} could be run");
}

#[test]
fn flash() {
    judge_all("flash");
}

#[test]
fn hacc_io() {
    judge_all("hacc-io");
}

#[test]
fn chombo() {
    judge_all("chombo");
}

#[test]
fn openpmd() {
    judge_all("openpmd");
}

#[test]
fn qmcpack() {
    judge_all("qmcpack");
}

#[test]
fn amrex() {
    judge_all("amrex");
}

#[test]
fn pnetcdf_var() {
    judge_all("pnetcdf-var");
}

/// Compiles and runs `programs/hdf5.c` with one HDF5; none if that is not installed.
fn hdf5_program(flavour: &str) -> Option<(Job, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let scene = Scene::new(&format!("hdf5_{flavour}")).unwrap();
    let program = scene.expect().join("hdf5");
    let package = format!("hdf5-{flavour}");
    let flags = Command::new("pkg-config").args(["--cflags", "--libs", &package]).output().ok()?;
    if !flags.status.success() {
        println!("hdf5 {flavour}: not run: pkg-config knows no {package}");
        return None;
    }
    let flags = String::from_utf8(flags.stdout).unwrap();
    // The MPI's headers are the compiler wrapper's business; the program itself needs none.
    let compiler = match flavour {
        "mpich" => "mpicc.mpich",
        "openmpi" => "mpicc.openmpi",
        _ => "cc",
    };
    let mut compile = Command::new(compiler);
    compile
        .arg(root.join("programs/hdf5.c"))
        .arg("-o")
        .arg(&program)
        .args(flags.split_whitespace());
    let done = compile.output().ok()?;
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let run = |words: &[String]| {
        let mut command = Command::new("env");
        let done = command.args(words).arg(&program).current_dir(scene.work()).output().unwrap();
        assert!(done.status.success(), "{flavour}: {}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).unwrap()
    };
    assert_eq!(run(&[]), run(&environment(&scene)), "{flavour}");
    Some((
        Job::read(&scene.logs()).unwrap(),
        scene.work().canonicalize().unwrap().display().to_string(),
    ))
}

/// Counters of `programs/hdf5.c`, which stand beside its calls there.
fn check_hdf5(job: &Job, folder: &str) {
    let file = format!("{folder}/data.h5");
    let (set, grows) = (format!("{file}:/outer/inner/set"), format!("{file}:/grows"));
    assert_eq!(job.names(Module::H5f).collect::<Vec<_>>(), [&*file]);
    assert_eq!(job.names(Module::H5d).collect::<Vec<_>>(), [&*grows, &*set]);
    for (counter, value) in [("H5F_OPENS", 1), ("H5F_FLUSHES", 1), ("H5F_USE_MPIIO", 0)] {
        assert_eq!(job.counter(Module::H5f, &file, counter), value, "{counter}");
    }
    for (counter, value) in [
        ("H5D_OPENS", 3),
        ("H5D_READS", 5),
        ("H5D_WRITES", 3),
        ("H5D_FLUSHES", 0),
        ("H5D_BYTES_WRITTEN", 480 + 96 + 480),
        ("H5D_BYTES_READ", 104 + 16 + 480 + 480),
        ("H5D_RW_SWITCHES", 2),
        ("H5D_REGULAR_HYPERSLAB_SELECTS", 1),
        ("H5D_IRREGULAR_HYPERSLAB_SELECTS", 1),
        ("H5D_POINT_SELECTS", 1),
        ("H5D_DATASPACE_NDIMS", 2),
        ("H5D_DATASPACE_NPOINTS", 60),
        ("H5D_DATATYPE_SIZE", 8),
        ("H5D_CHUNK_SIZE_D1", 0),
        ("H5D_USE_DEPRECATED", 1),
        ("H5D_ACCESS1_ACCESS", 480),
        ("H5D_ACCESS1_COUNT", 4),
        ("H5D_ACCESS3_ACCESS", 96),
        ("H5D_ACCESS3_LENGTH_D4", 6),
        ("H5D_ACCESS3_LENGTH_D5", 2),
        ("H5D_ACCESS3_STRIDE_D4", 3),
        ("H5D_ACCESS3_STRIDE_D5", 2),
    ] {
        assert_eq!(job.counter(Module::H5d, &set, counter), value, "{counter}");
    }
    for (counter, value) in [
        ("H5D_OPENS", 1),
        ("H5D_WRITES", 2),
        ("H5D_READS", 2),
        ("H5D_BYTES_WRITTEN", 400 + 200),
        ("H5D_BYTES_READ", 600 + 200),
        ("H5D_FLUSHES", 1),
        ("H5D_CHUNK_SIZE_D1", 50),
        ("H5D_DATATYPE_SIZE", 4),
    ] {
        assert_eq!(job.counter(Module::H5d, &grows, counter), value, "{counter}");
    }
    check_metadata(job, &file);
    check_selections(job, &set);
    assert_eq!(job.dropped(), 0);
}

/// Attributes and groups, which only the segment has; and that every call is an event or a loss.
fn check_metadata(job: &Job, file: &str) {
    let view = job.segments().next().unwrap();
    let row = view.files().find(|row| row.name == file.as_bytes()).unwrap();
    let mine = |record: &netra_event::segment::Record<'_>| {
        record.module == u32::from(Module::H5f.code()) && record.file == row.index
    };
    let record = view.records().find(mine).unwrap();
    for (word, value) in [
        (h5f::ATTRIBUTE_CREATES, 1),
        (h5f::ATTRIBUTE_OPENS, 1),
        (h5f::ATTRIBUTE_READS, 2),
        (h5f::ATTRIBUTE_WRITES, 1),
        (h5f::ATTRIBUTE_CLOSES, 2),
        (h5f::ATTRIBUTE_DELETES, 1),
        (h5f::ATTRIBUTE_BYTES_READ, 24),
        (h5f::ATTRIBUTE_BYTES_WRITTEN, 12),
        (h5f::GROUP_CREATES, 2),
        (h5f::GROUP_CLOSES, 2),
    ] {
        assert_eq!(record.word(word), value, "word {word}");
    }
    let tallies = job.tallies(Layer::Hdf5).remove(&0).unwrap();
    for (function, calls, bytes) in [
        (Function::H5Fopen, 1, 0),
        (Function::H5Oopen, 1, 0),
        (Function::H5Oclose, 1, 0),
        (Function::H5IdecRef, 1, 0),
        (Function::H5Dread, 7, 1680),
        (Function::H5Dwrite, 4, 1456),
        (Function::H5DreadChunk, 1, 200),
        (Function::H5DsetExtent, 1, 0),
        (Function::H5Aread, 2, 24),
    ] {
        assert_eq!(tallies.get(&function), Some(&Tally { calls, bytes }), "{function}");
    }
    let failed = job.events().filter(|(_, event)| event.failed);
    let failed: Vec<_> = failed.filter_map(|(_, event)| event.function()).collect();
    assert_eq!(failed.iter().filter(|one| one.layer() == Layer::Hdf5).count(), 1, "{failed:?}");
}

/// The extensions of the data calls on one data set, in their order.
fn check_selections(job: &Job, set: &str) {
    let mut seen = Vec::new();
    for (view, event) in job.events() {
        let data = matches!(event.function(), Some(Function::H5Dread | Function::H5Dwrite));
        let (true, Some((kind, bytes))) = (data, view.extension(event.extension)) else { continue };
        let Some(Extension::Selections(mut selections)) = Extension::read(kind, bytes) else {
            panic!("kind {kind}");
        };
        let one = selections.next().unwrap();
        assert_eq!(selections.next(), None);
        if view.file(one.data_set).unwrap().name == set.as_bytes() {
            let numbers = [0, 1].map(|dimension| {
                (0..4).filter_map(|which| one.number(dimension, which)).collect::<Vec<u64>>()
            });
            assert_eq!((one.dimensions, one.element_bytes, one.collective), (2, 8, false));
            seen.push((one.shape, one.points, numbers));
        }
    }
    let all = || (Shape::All, 60, [vec![], vec![]]);
    assert_eq!(
        seen,
        [
            all(),
            (Shape::Regular, 12, [vec![1, 2, 2, 1], vec![0, 3, 3, 2]]),
            (Shape::Irregular, 13, [vec![0, 3], vec![0, 9]]),
            (Shape::Points, 2, [vec![0, 5], vec![1, 9]]),
            (Shape::None, 0, [vec![], vec![]]),
            all(),
            all(),
            all(),
        ]
    );
}

#[test]
fn every_kind_of_call_in_every_hdf5_of_the_system() {
    let mut ran = 0;
    for flavour in ["serial", "mpich", "openmpi"] {
        if let Some((job, folder)) = hdf5_program(flavour) {
            check_hdf5(&job, &folder);
            println!("hdf5 {flavour}: as expected");
            ran += 1;
        }
    }
    assert!(ran > 0, "no HDF5 is installed");
}

/// Two wheels in one process, each with its own HDF5; PyDarshan reads what netra wrote.
#[test]
fn h5py_and_netcdf4_in_one_process() {
    let Some(python) = std::env::var_os("NETRA_TEST_PYTHON") else {
        println!("h5py and netCDF4: not run: NETRA_TEST_PYTHON is not set");
        return;
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let scene = Scene::new("h5py_netcdf4").unwrap();
    let mut command = Command::new("env");
    command.args(environment(&scene)).arg(&python).arg(root.join("programs/wheels.py"));
    let done = command.current_dir(scene.work()).output().unwrap();
    let said = String::from_utf8_lossy(&done.stdout).into_owned();
    if done.status.code() == Some(77) {
        println!("h5py and netCDF4: not run: {said}");
        return;
    }
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let job = Job::read(&scene.logs()).unwrap();
    let folder = scene.work().canonicalize().unwrap().display().to_string();
    let (h5, nc) = (format!("{folder}/a.h5"), format!("{folder}/b.nc"));
    assert_eq!(job.names(Module::H5f).collect::<Vec<_>>(), [&*h5, &*nc]);
    let (set, temperature) = (format!("{h5}:/grp/dset"), format!("{nc}:/deep/temperature"));
    for (name, counter, value) in [
        (&set, "H5D_WRITES", 2),
        (&set, "H5D_BYTES_WRITTEN", 8000 + 800),
        (&set, "H5D_READS", 2),
        (&set, "H5D_BYTES_READ", 8000 + 40),
        (&set, "H5D_REGULAR_HYPERSLAB_SELECTS", 2),
        (&temperature, "H5D_BYTES_WRITTEN", 1600),
        (&temperature, "H5D_BYTES_READ", 1600),
        (&temperature, "H5D_DATASPACE_NDIMS", 2),
    ] {
        assert_eq!(job.counter(Module::H5d, name, counter), value, "{name} {counter}");
    }
    assert_eq!(job.counter(Module::H5f, &h5, "H5F_OPENS"), 2);
    assert_eq!(job.counter(Module::H5f, &nc, "H5F_OPENS"), 2);
    let unnamed = |name: &&str| name.contains("unnamed");
    assert_eq!(job.names(Module::H5d).filter(unnamed).count(), 0);
    assert_eq!(job.dropped(), 0);
    // The same numbers, as PyDarshan reads them.
    let read = "import darshan, glob, sys\n\
        total = 0\n\
        for path in glob.glob(sys.argv[1] + '/**/*.darshan', recursive=True):\n\
        \x20   report = darshan.DarshanReport(path, read_all=True)\n\
        \x20   if 'H5D' in report.records:\n\
        \x20       frame = report.records['H5D'].to_df()['counters']\n\
        \x20       total += int(frame['H5D_BYTES_WRITTEN'].sum())\n\
        print(total)";
    let judged = Command::new(&python).args(["-c", read]).arg(scene.logs()).output().unwrap();
    let total = String::from_utf8_lossy(&judged.stdout).trim().to_owned();
    let errors = String::from_utf8_lossy(&judged.stderr).into_owned();
    assert_eq!(total, job.total(Module::H5d, "H5D_BYTES_WRITTEN").to_string(), "{errors}");
}

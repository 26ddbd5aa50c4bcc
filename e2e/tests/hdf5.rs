//! HDF5 and PnetCDF under netra: programs with every kind of call in them, value by value; and the wheels of
//! h5py and netCDF4, each with an HDF5 of its own.
#![forbid(unsafe_code)]
#![expect(clippy::print_stdout, reason = "each cell is told in a line")]
#![expect(clippy::unwrap_used, reason = "tests may fail")]

use std::path::Path;
use std::process::Command;

use netra_e2e::{Job, Scene, Tally, Tool};
use netra_event::segment::Record;
use netra_event::segment::extension::{Extension, Shape};
use netra_event::{Event, Function, Layer, Module};

/// What netra's library needs to see, as words of `env`.
fn environment(scene: &Scene) -> Vec<String> {
    let tool = Tool::netra().unwrap();
    let settings = tool.environment(scene).into_iter();
    settings.map(|(key, value)| format!("{key}={}", value.display())).collect()
}

/// Compiles a program with a library that pkg-config knows, runs it without and with netra; none if the
/// library is not installed. Gives what was recorded and where it ran.
fn program(name: &str, package: &str, compiler: &str) -> Option<(Job, String)> {
    let flags = Command::new("pkg-config").args(["--cflags", "--libs", package]).output().ok()?;
    if !flags.status.success() {
        println!("{name} with {package}: not run: pkg-config does not know it");
        return None;
    }
    let flags = String::from_utf8(flags.stdout).unwrap();
    let flags: Vec<&str> = flags.split_whitespace().collect();
    run_program(name, package, compiler, &flags)
}

/// The same with the compiler's flags.
fn run_program(name: &str, package: &str, compiler: &str, flags: &[&str]) -> Option<(Job, String)> {
    let scene = Scene::new(&format!("{name}_{package}")).unwrap();
    let binary = scene.expect().join(name);
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("programs/{name}.c"));
    let mut compile = Command::new(compiler);
    let done = compile.arg(source).arg("-o").arg(&binary).args(flags).output().ok()?;
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let run = |words: &[String]| {
        let mut command = Command::new("env");
        let done = command.args(words).arg(&binary).current_dir(scene.work()).output().unwrap();
        assert!(done.status.success(), "{package}: {}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).unwrap()
    };
    assert_eq!(run(&[]), run(&environment(&scene)), "{package}");
    let folder = scene.work().canonicalize().unwrap().display().to_string();
    Some((Job::read(&scene.logs()).unwrap(), folder))
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
    let module = view.modules().find(|module| module.name == b"H5META").unwrap();
    let own = |record: &Record<'_>| record.module == module.code && record.file == row.index;
    let record = view.records().find(own).unwrap();
    for (counter, value) in [
        ("ATTRIBUTE_CREATES", 1),
        ("ATTRIBUTE_OPENS", 1),
        ("ATTRIBUTE_READS", 2),
        ("ATTRIBUTE_WRITES", 1),
        ("ATTRIBUTE_CLOSES", 2),
        ("ATTRIBUTE_DELETES", 1),
        ("ATTRIBUTE_BYTES_READ", 24),
        ("ATTRIBUTE_BYTES_WRITTEN", 12),
        ("GROUP_CREATES", 2),
        ("GROUP_OPENS", 0),
        ("GROUP_CLOSES", 2),
    ] {
        let word = module.counters().position(|name| name == counter.as_bytes()).unwrap();
        assert_eq!(record.word(word), value, "{counter}");
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
    // The MPI's headers are the compiler wrapper's business; the program itself needs none.
    for (package, compiler) in
        [("hdf5-serial", "cc"), ("hdf5-mpich", "mpicc.mpich"), ("hdf5-openmpi", "mpicc.openmpi")]
    {
        if let Some((job, folder)) = program("hdf5", package, compiler) {
            check_hdf5(&job, &folder);
            println!("{package}: as expected");
            ran += 1;
        }
    }
    assert!(ran > 0, "no HDF5 is installed");
}

/// Counters of `programs/pnetcdf.c`, whose comments say how many elements each call moves.
#[test]
fn every_kind_of_call_of_pnetcdf() {
    let Some((job, folder)) = program("pnetcdf", "pnetcdf", "mpicc.openmpi") else { return };
    let file = format!("{folder}/data.nc");
    let (field, series) = (format!("{file}:field"), format!("{file}:series"));
    for (counter, value) in [
        ("PNETCDF_FILE_CREATES", 1),
        ("PNETCDF_FILE_OPENS", 1),
        ("PNETCDF_FILE_REDEFS", 0),
        ("PNETCDF_FILE_INDEP_WAITS", 0),
        ("PNETCDF_FILE_COLL_WAITS", 1),
        ("PNETCDF_FILE_SYNCS", 1),
        ("PNETCDF_FILE_WAIT_FAILURES", 0),
    ] {
        assert_eq!(job.counter(Module::PnetcdfFile, &file, counter), value, "{counter}");
    }
    for (counter, value) in [
        ("OPENS", 2),
        ("INDEP_READS", 1),
        ("INDEP_WRITES", 1),
        ("COLL_READS", 5),
        ("COLL_WRITES", 8),
        ("NB_READS", 1),
        ("NB_WRITES", 3),
        ("BYTES_READ", 8 * (6 + 6 + 1 + 6 + 6 + 2)),
        ("BYTES_WRITTEN", 8 * (60 + 1 + 6 + 6 + 6 + 7 + 6 + 6 + 6 + 6 + 2 + 6)),
        ("RW_SWITCHES", 7),
        ("PUT_VAR", 1),
        ("PUT_VAR1", 1),
        ("PUT_VARA", 4),
        ("PUT_VARS", 1),
        ("PUT_VARM", 1),
        ("PUT_VARN", 1),
        ("GET_VAR1", 3),
        ("GET_VARA", 2),
        ("GET_VARS", 1),
        ("IPUT_VARA", 1),
        ("IPUT_VARN", 1),
        ("IGET_VARM", 1),
        ("BPUT_VARS", 1),
        ("ACCESS1_ACCESS", 48),
        ("ACCESS1_LENGTH_D1", 2),
        ("ACCESS1_LENGTH_D2", 3),
        ("ACCESS1_STRIDE_D1", 0),
        ("ACCESS1_COUNT", 7),
        ("ACCESS2_STRIDE_D2", 2),
        ("ACCESS2_COUNT", 5),
        ("NDIMS", 2),
        ("NPOINTS", 60),
        ("DATATYPE_SIZE", 8),
        ("IS_RECORD_VAR", 0),
    ] {
        let counter = format!("PNETCDF_VAR_{counter}");
        assert_eq!(job.counter(Module::PnetcdfVar, &field, &counter), value, "{counter}");
    }
    for (counter, value) in [
        ("PUT_VARA", 2),
        ("GET_VAR", 1),
        ("BYTES_WRITTEN", 80),
        ("BYTES_READ", 40),
        ("NPOINTS", 10),
        ("DATATYPE_SIZE", 2),
        ("IS_RECORD_VAR", 1),
    ] {
        let counter = format!("PNETCDF_VAR_{counter}");
        assert_eq!(job.counter(Module::PnetcdfVar, &series, &counter), value, "{counter}");
    }
    let failed = job.events().filter(|(_, event)| event.failed);
    let failed: Vec<_> = failed.filter_map(|(_, event)| event.function()).collect();
    assert!(failed.contains(&Function::NcOpen), "{failed:?}");
    assert_eq!(job.dropped(), 0);
}

/// Counters of `programs/hdf5_new.c`: functions that only newer versions have.
#[test]
fn several_data_sets_in_a_call_and_asynchronous_calls() {
    let Some(python) = std::env::var_os("NETRA_TEST_PYTHON") else {
        println!("hdf5_new: not run: NETRA_TEST_PYTHON is not set");
        return;
    };
    let find = "import glob, h5py, os\n\
        folder = os.path.join(os.path.dirname(h5py.__file__), '..', 'h5py.libs')\n\
        print(os.path.realpath(glob.glob(os.path.join(folder, 'libhdf5-*'))[0]))";
    let found = Command::new(python).args(["-c", find]).output().unwrap();
    if !found.status.success() {
        println!("hdf5_new: not run: {}", String::from_utf8_lossy(&found.stderr));
        return;
    }
    let library = String::from_utf8(found.stdout).unwrap();
    let library = library.trim();
    let folder = Path::new(library).parent().unwrap().display();
    let flags = [library, &format!("-Wl,-rpath,{folder}")];
    let (job, folder) = run_program("hdf5_new", "wheel", "cc", &flags).unwrap();
    let file = format!("{folder}/new.h5");
    let (one, two) = (format!("{file}:/group/one"), format!("{file}:/group/two"));
    assert_eq!(job.names(Module::H5d).collect::<Vec<_>>(), [&*one, &*two]);
    for (name, counter, value) in [
        (&one, "H5D_OPENS", 2),
        (&one, "H5D_WRITES", 2),
        (&one, "H5D_BYTES_WRITTEN", 800 + 800),
        (&one, "H5D_READS", 2),
        (&one, "H5D_BYTES_READ", 800 + 160),
        (&one, "H5D_DATASPACE_NPOINTS", 100),
        (&one, "H5D_DATATYPE_SIZE", 8),
        (&two, "H5D_WRITES", 1),
        (&two, "H5D_BYTES_WRITTEN", 80),
        (&two, "H5D_BYTES_READ", 80),
        (&two, "H5D_REGULAR_HYPERSLAB_SELECTS", 2),
        (&two, "H5D_DATATYPE_SIZE", 4),
    ] {
        assert_eq!(job.counter(Module::H5d, name, counter), value, "{name} {counter}");
    }
    assert_eq!(job.counter(Module::H5f, &file, "H5F_FLUSHES"), 1);
    // One event for both data sets, with a selection of each.
    let writes = |event: &Event| event.function() == Some(Function::H5DwriteMulti);
    let (view, event) = job.events().find(|(_, event)| writes(event)).unwrap();
    let (kind, bytes) = view.extension(event.extension).unwrap();
    let Some(Extension::Selections(selections)) = Extension::read(kind, bytes) else { panic!() };
    let selected: Vec<(Shape, u64)> = selections.map(|one| (one.shape, one.points)).collect();
    assert_eq!(selected, [(Shape::All, 100), (Shape::Regular, 20)]);
    assert_eq!((event.length, job.dropped()), (880, 0));
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

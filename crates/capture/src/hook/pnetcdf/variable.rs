//! PnetCDF variables: defined, looked up, and described.

use core::ffi::{CStr, c_char, c_int};

use netra_event::Loss;
use netra_event::segment::extension::DIMENSIONS;
use netra_event::segment::shard::pnetcdf_var as words;

use super::library::Library;
use super::{Recorded, file, hooks};
use crate::handle::{self, Described, Kind};
use crate::module::PNETCDF_VAR;
use crate::name;
use crate::settings::SETTINGS;

/// Bytes of a name at most (`NC_MAX_NAME`).
const LONGEST_NAME: usize = 256;

/// Bytes of an element by the number of its type, from `NC_BYTE` (1) to `NC_UINT64` (11).
fn element_bytes(kind: c_int) -> u32 {
    match kind {
        1 | 2 | 7 => 1,
        3 | 8 => 2,
        4 | 5 | 9 => 4,
        _ => 8,
    }
}

/// Asks the library what a variable is; `row` is its row among the files.
///
/// # Safety
/// The handles are the application's.
unsafe fn describe(library: &Library, file: c_int, variable: c_int, row: u32) -> Option<Described> {
    let (mut kind, mut rank, mut record) = (0, 0, -1);
    let mut dimensions = [0_i32; 1024];
    // SAFETY: numbers of ours; the library gives at most `NC_MAX_VAR_DIMS` (1,024) dimensions.
    unsafe {
        if library.variable_type()?(file, variable, &raw mut kind) != 0
            || library.variable_rank()?(file, variable, &raw mut rank) != 0
            || usize::try_from(rank).ok()? > dimensions.len()
            || library.variable_dimensions()?(file, variable, dimensions.as_mut_ptr()) != 0
        {
            return None;
        }
        library.record_dimension()?(file, &raw mut record);
    }
    let dimensions = dimensions.get(..usize::try_from(rank).ok()?)?;
    let grows = record >= 0 && dimensions.first() == Some(&record);
    let mut points = 1_u64;
    for &dimension in dimensions.iter().skip(usize::from(grows)) {
        // SAFETY: the dimension is the variable's.
        points = points.wrapping_mul(unsafe { length(library, file, dimension) }?);
    }
    Some(Described {
        kind: Kind::Variable,
        file: row,
        element_bytes: element_bytes(kind),
        points,
        dimensions: u8::try_from(rank).unwrap_or(u8::MAX),
        grows,
    })
}

/// The length of a dimension now.
///
/// # Safety
/// The handles are the application's.
unsafe fn length(library: &Library, file: c_int, dimension: c_int) -> Option<u64> {
    let mut length = 0_i64;
    // SAFETY: a number of ours; the caller vouches for the handles.
    let done = unsafe { library.dimension_length()?(file, dimension, &raw mut length) };
    u64::try_from(length).ok().filter(|_| done == 0)
}

/// Elements of a whole variable now: of all records, where it has them.
///
/// # Safety
/// The handles are the application's.
pub(super) unsafe fn points(library: &Library, file: c_int, variable: &Described) -> u64 {
    let mut record = -1;
    if !variable.grows {
        return variable.points;
    }
    // SAFETY: a number of ours; the caller vouches for the handles.
    let records = unsafe {
        let asked = library.record_dimension().map_or(-1, |ask| ask(file, &raw mut record));
        if asked == 0 { length(library, file, record) } else { None }
    };
    variable.points.wrapping_mul(records.unwrap_or(1))
}

/// The variable behind two handles. One that was not looked up by name is asked about.
///
/// # Safety
/// The handles were given to a real call that succeeded.
pub(super) unsafe fn known(recorded: &Recorded, file: c_int, variable: c_int) -> Option<Described> {
    let library = recorded.library;
    let key = library.variable_key(file, variable);
    let holding = file::known(recorded, file)?;
    // A handle of a file that was closed may have become another's.
    let known = handle::find(key).filter(|known| name::file_of(known.file) == holding);
    if known.is_some() {
        return known;
    }
    let mut text = [0_u8; LONGEST_NAME + 1];
    // SAFETY: the library writes a name of at most 256 bytes and a NUL.
    let named = unsafe { library.variable_name()?(file, variable, text.as_mut_ptr().cast()) };
    let text = CStr::from_bytes_until_nul(&text).ok().filter(|_| named == 0)?;
    let row = name::object(holding, text.to_bytes());
    // SAFETY: the caller vouches.
    let found = unsafe { describe(library, file, variable, row) }?;
    handle::insert(key, &found);
    Some(found)
}

/// Ends a definition or a look-up by name.
///
/// # Safety
/// The arguments are those that the real function took; `done` is what it returned.
unsafe fn opened(
    recorded: &Recorded,
    done: c_int,
    (file, name): (c_int, *const c_char),
    variable: *const c_int,
) {
    let holding = file::known(recorded, file).filter(|_| SETTINGS.records(&PNETCDF_VAR));
    let (Some(holding), false) = (holding, name.is_null()) else {
        return recorded.skip(Loss::Excluded);
    };
    // SAFETY: the caller vouches.
    let row = name::object(holding, unsafe { CStr::from_ptr(name) }.to_bytes());
    if done != 0 {
        return recorded.say(row, 0, done, 0);
    }
    let library = recorded.library;
    // SAFETY: the real function wrote it.
    let variable = unsafe { variable.read() };
    // SAFETY: the handles were just given out.
    let found = unsafe { describe(library, file, variable, row) }
        .unwrap_or(Described::plain(Kind::Variable, row));
    handle::insert(library.variable_key(file, variable), &found);
    recorded.with(&PNETCDF_VAR, row, |shard, ended| {
        shard.add::<{ words::OPENS }>(1);
        shard.span::<{ words::OPEN_START }, { words::OPEN_END }, { words::META_TIME }>(
            ended.start(),
            ended.end,
        );
        shard.set::<{ words::DIMENSIONS }>(u64::from(found.dimensions));
        shard.set::<{ words::POINTS }>(found.points);
        shard.set::<{ words::TYPE_SIZE }>(u64::from(found.element_bytes));
        shard.set::<{ words::IS_RECORD }>(u64::from(found.grows));
    });
    recorded.say(row, 0, 0, 0);
}

hooks! {
    fn define[NcDefVar](
        file: c_int, name: *const c_char, kind: c_int, rank: c_int, dimensions: *const c_int,
        variable: *mut c_int,
    ) -> c_int, |ended, done| opened(&ended, done, (file, name), variable);
    fn look_up[NcInqVarid](file: c_int, name: *const c_char, variable: *mut c_int) -> c_int,
        |ended, done| opened(&ended, done, (file, name), variable);
}

/// Extensions have room for as many dimensions; a variable may have more.
pub(super) const MOST: usize = DIMENSIONS;

//! Reading and writing PnetCDF variables. All data calls begin with a file and a variable, and then have
//! what their kind needs; every argument is a whole number or an address, so one body serves them all: it
//! passes on as many words as the longest of them takes. Those that a shorter call does not have are
//! whatever stands there, and nobody looks at them.
//!
//! A non-blocking call is counted when it is made, as Darshan does; the wait has an event of its own. A call
//! on several variables, which Darshan does not know, counts as one request of each.

use core::ffi::c_int;

use netra_event::segment::extension::{Head, SELECTIONS, Shape, Writer};
use netra_event::segment::shard::accesses::NUMBERS;
use netra_event::segment::shard::pnetcdf_var as words;
use netra_event::{Function, Loss};

use super::Recorded;
use super::library::Library;
use super::variable::{self, MOST};
use crate::extension;
use crate::flow::Flow;
use crate::got::{self, Family, Row, Taken};
use crate::handle::Described;
use crate::module::PNETCDF_VAR;
use crate::nest;
use crate::real;
use crate::settings::SETTINGS;

/// Arguments of the longest call.
const ARGUMENTS: usize = 10;
type Arguments = [usize; ARGUMENTS];
type Real = unsafe extern "C" fn(
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
) -> c_int;

/// What a call does.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Verb {
    Put,
    Get,
    Iput,
    Iget,
    Bput,
    /// Of several variables at once.
    Mput,
    Mget,
}

/// How a call says which elements it means, in the order of Darshan's counters.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Whole = 0,
    One = 1,
    Slab = 2,
    Strided = 3,
    Mapped = 4,
    Several = 5,
    Typed = 6,
}

/// A data call.
struct Shaped {
    function: Function,
    verb: Verb,
    kind: Kind,
    collective: bool,
}

impl Shaped {
    fn writes(&self) -> bool {
        !matches!(self.verb, Verb::Get | Verb::Iget | Verb::Mget)
    }

    /// Whether it takes lists of variables and of what it means of each.
    fn takes_lists(&self) -> bool {
        matches!(self.verb, Verb::Mput | Verb::Mget)
    }

    /// The place of its counter among those of the kinds.
    fn counter(&self) -> usize {
        let verb = match self.verb {
            Verb::Put | Verb::Mput => 0,
            Verb::Get | Verb::Mget => 7,
            Verb::Iput => 14,
            Verb::Iget => 20,
            Verb::Bput => 26,
        };
        (self.kind as usize).wrapping_add(verb)
    }

    /// The place of its counter among those of the modes.
    fn mode(&self) -> usize {
        let blocking = !matches!(self.verb, Verb::Iput | Verb::Iget | Verb::Bput);
        let mode = if !blocking {
            4
        } else if self.collective {
            2
        } else {
            0
        };
        usize::from(self.writes()).wrapping_add(mode)
    }
}

macro_rules! rows {
    ($($number:literal $name:ident = $function:ident $verb:ident $kind:ident $collective:literal;)*) => {
        static SHAPED: &[Shaped] = &[$(Shaped {
            function: Function::$function,
            verb: Verb::$verb,
            kind: Kind::$kind,
            collective: $collective,
        }),*];

        /// The data calls, each for all C types. A table.
        pub static FAMILY: Family = Family {
            mark: c"ncmpi_create",
            prefix: b"ncmpi_",
            rows: &[$(Row::new(stringify!($name), hook::<$number> as *const ())),*],
        };
    };
}

rows! {
    0 ncmpi_bput_var = NcBputVar Bput Whole false;
    1 ncmpi_bput_var1 = NcBputVar1 Bput One false;
    2 ncmpi_bput_vara = NcBputVara Bput Slab false;
    3 ncmpi_bput_varm = NcBputVarm Bput Mapped false;
    4 ncmpi_bput_varn = NcBputVarn Bput Several false;
    5 ncmpi_bput_vars = NcBputVars Bput Strided false;
    6 ncmpi_get_var = NcGetVar Get Whole false;
    7 ncmpi_get_var1 = NcGetVar1 Get One false;
    8 ncmpi_get_var1_all = NcGetVar1All Get One true;
    9 ncmpi_get_var_all = NcGetVarAll Get Whole true;
    10 ncmpi_get_vara = NcGetVara Get Slab false;
    11 ncmpi_get_vara_all = NcGetVaraAll Get Slab true;
    12 ncmpi_get_vard = NcGetVard Get Typed false;
    13 ncmpi_get_vard_all = NcGetVardAll Get Typed true;
    14 ncmpi_get_varm = NcGetVarm Get Mapped false;
    15 ncmpi_get_varm_all = NcGetVarmAll Get Mapped true;
    16 ncmpi_get_varn = NcGetVarn Get Several false;
    17 ncmpi_get_varn_all = NcGetVarnAll Get Several true;
    18 ncmpi_get_vars = NcGetVars Get Strided false;
    19 ncmpi_get_vars_all = NcGetVarsAll Get Strided true;
    20 ncmpi_iget_var = NcIgetVar Iget Whole false;
    21 ncmpi_iget_var1 = NcIgetVar1 Iget One false;
    22 ncmpi_iget_vara = NcIgetVara Iget Slab false;
    23 ncmpi_iget_varm = NcIgetVarm Iget Mapped false;
    24 ncmpi_iget_varn = NcIgetVarn Iget Several false;
    25 ncmpi_iget_vars = NcIgetVars Iget Strided false;
    26 ncmpi_iput_var = NcIputVar Iput Whole false;
    27 ncmpi_iput_var1 = NcIputVar1 Iput One false;
    28 ncmpi_iput_vara = NcIputVara Iput Slab false;
    29 ncmpi_iput_varm = NcIputVarm Iput Mapped false;
    30 ncmpi_iput_varn = NcIputVarn Iput Several false;
    31 ncmpi_iput_vars = NcIputVars Iput Strided false;
    32 ncmpi_mget_var = NcMgetVar Mget Whole false;
    33 ncmpi_mget_var1 = NcMgetVar1 Mget One false;
    34 ncmpi_mget_var1_all = NcMgetVar1All Mget One true;
    35 ncmpi_mget_var_all = NcMgetVarAll Mget Whole true;
    36 ncmpi_mget_vara = NcMgetVara Mget Slab false;
    37 ncmpi_mget_vara_all = NcMgetVaraAll Mget Slab true;
    38 ncmpi_mget_varm = NcMgetVarm Mget Mapped false;
    39 ncmpi_mget_varm_all = NcMgetVarmAll Mget Mapped true;
    40 ncmpi_mget_vars = NcMgetVars Mget Strided false;
    41 ncmpi_mget_vars_all = NcMgetVarsAll Mget Strided true;
    42 ncmpi_mput_var = NcMputVar Mput Whole false;
    43 ncmpi_mput_var1 = NcMputVar1 Mput One false;
    44 ncmpi_mput_var1_all = NcMputVar1All Mput One true;
    45 ncmpi_mput_var_all = NcMputVarAll Mput Whole true;
    46 ncmpi_mput_vara = NcMputVara Mput Slab false;
    47 ncmpi_mput_vara_all = NcMputVaraAll Mput Slab true;
    48 ncmpi_mput_varm = NcMputVarm Mput Mapped false;
    49 ncmpi_mput_varm_all = NcMputVarmAll Mput Mapped true;
    50 ncmpi_mput_vars = NcMputVars Mput Strided false;
    51 ncmpi_mput_vars_all = NcMputVarsAll Mput Strided true;
    52 ncmpi_put_var = NcPutVar Put Whole false;
    53 ncmpi_put_var1 = NcPutVar1 Put One false;
    54 ncmpi_put_var1_all = NcPutVar1All Put One true;
    55 ncmpi_put_var_all = NcPutVarAll Put Whole true;
    56 ncmpi_put_vara = NcPutVara Put Slab false;
    57 ncmpi_put_vara_all = NcPutVaraAll Put Slab true;
    58 ncmpi_put_vard = NcPutVard Put Typed false;
    59 ncmpi_put_vard_all = NcPutVardAll Put Typed true;
    60 ncmpi_put_varm = NcPutVarm Put Mapped false;
    61 ncmpi_put_varm_all = NcPutVarmAll Put Mapped true;
    62 ncmpi_put_varn = NcPutVarn Put Several false;
    63 ncmpi_put_varn_all = NcPutVarnAll Put Several true;
    64 ncmpi_put_vars = NcPutVars Put Strided false;
    65 ncmpi_put_vars_all = NcPutVarsAll Put Strided true;
}

/// The hook of one row.
unsafe extern "C" fn hook<const ROW: usize>(
    a: usize,
    b: usize,
    c: usize,
    d: usize,
    e: usize,
    f: usize,
    g: usize,
    h: usize,
    i: usize,
    j: usize,
) -> c_int {
    // SAFETY: a trampoline led here, from a slot that held a function of the row's name.
    unsafe { forward(ROW, got::taken(), [a, b, c, d, e, f, g, h, i, j]) }
}

/// Makes the call and records it.
///
/// # Safety
/// What was taken is the real function of the row, and the arguments are the caller's.
unsafe fn forward(row: usize, taken: Taken, arguments: Arguments) -> c_int {
    let [a, b, c, d, e, f, g, h, i, j] = arguments;
    // SAFETY: all its arguments are whole numbers and addresses, in this order; more than it has are
    // not looked at.
    let real: Real = unsafe { core::mem::transmute(taken.real) };
    // SAFETY: the caller's contract is the real function's.
    let call = || unsafe { real(a, b, c, d, e, f, g, h, i, j) };
    let Some(shaped) = SHAPED.get(row) else { return call() };
    let Some(outer) = nest::enter(shaped.function, taken) else { return call() };
    let done = call();
    if let Some(recorded) = Recorded::after(outer, taken.real, i64::from(done)) {
        // SAFETY: the arguments are those of the real call, which has returned.
        unsafe {
            if shaped.takes_lists() {
                moved_lists(&recorded, shaped, &arguments, done);
            } else {
                moved(&recorded, shaped, &arguments, done);
            }
        }
    }
    done
}

/// What a call selects of a variable. Rows of an array of the caller are null where a call has none.
struct Selected {
    shape: Shape,
    points: u64,
    start: *const i64,
    count: *const i64,
    stride: *const i64,
}

/// Ends a data call.
///
/// # Safety
/// The arguments are those that the real function took.
unsafe fn moved(recorded: &Recorded, shaped: &Shaped, arguments: &Arguments, done: c_int) {
    // SAFETY: the caller vouches.
    let Some(variable) = (unsafe { variable_of(recorded, arguments) }) else {
        return recorded.skip(Loss::Excluded);
    };
    if done != 0 {
        return recorded.say(variable.file, 0, done, 0);
    }
    // SAFETY: the caller vouches.
    let (selected, bytes) = unsafe { count(recorded, shaped, &variable, arguments, 1) };
    let mut writer = Writer::default();
    let head = Head {
        data_set: variable.file,
        shape: selected.shape,
        collective: shaped.collective,
        dimensions: usize::from(variable.dimensions).min(MOST),
        points: selected.points,
        element_bytes: variable.element_bytes,
    };
    // SAFETY: as above.
    writer.selection(&head, |dimension, which| unsafe { selected.number(dimension, which) });
    let extension = extension::put(recorded.thread, SELECTIONS, &writer);
    recorded.say(variable.file, bytes, 0, extension);
}

/// Ends a call on several variables: a request of each is counted, with its share of the time; the one event
/// is the file's.
///
/// # Safety
/// The arguments are those that the real function took.
unsafe fn moved_lists(recorded: &Recorded, shaped: &Shaped, arguments: &Arguments, done: c_int) {
    let Some(file) = super::file::known(recorded, arguments[0] as c_int) else {
        return recorded.skip(Loss::Excluded);
    };
    if done != 0 {
        return recorded.say(file, 0, done, 0);
    }
    let requests = usize::try_from(arguments[1] as c_int).unwrap_or(0);
    let mut bytes = 0_u64;
    for index in 0..requests {
        // SAFETY: the caller vouches; the real function took as many.
        unsafe {
            let own = request(shaped.kind, arguments, index);
            if let Some(variable) = variable_of(recorded, &own) {
                let (_, more) = count(recorded, shaped, &variable, &own, requests as u64);
                bytes = bytes.wrapping_add(more);
            }
        }
    }
    recorded.say(file, bytes, 0, 0);
}

/// One request among those of a call: the arguments of the same call on one variable.
///
/// # Safety
/// The arguments are those that the real function took, with more than `index` requests.
unsafe fn request(kind: Kind, arguments: &Arguments, index: usize) -> Arguments {
    let lists = match kind {
        Kind::Whole => 0,
        Kind::One => 1,
        Kind::Slab => 2,
        _ => 3,
    };
    let [file, _, variables, rest @ ..] = arguments;
    let mut own = [0; ARGUMENTS];
    own[0] = *file;
    let variables = core::ptr::with_exposed_provenance::<c_int>(*variables);
    // SAFETY: the caller vouches.
    own[1] = unsafe { variables.wrapping_add(index).read() }.cast_unsigned() as usize;
    for (to, list) in own.iter_mut().skip(2).zip(rest).take(lists) {
        let list = core::ptr::with_exposed_provenance::<usize>(*list);
        // SAFETY: a list of as many addresses, or none.
        *to = if list.is_null() { 0 } else { unsafe { list.wrapping_add(index).read() } };
    }
    own
}

/// The variable of a call, if it is recorded.
///
/// # Safety
/// The arguments are those that the real function took.
unsafe fn variable_of(recorded: &Recorded, arguments: &Arguments) -> Option<Described> {
    // C's ints are the low halves of their registers.
    let (file, id) = (arguments[0] as c_int, arguments[1] as c_int);
    // SAFETY: the caller vouches.
    unsafe { variable::known(recorded, file, id) }.filter(|_| SETTINGS.records(&PNETCDF_VAR))
}

/// Counts a request, one of so many that share the call's time; what it selected and moved.
///
/// # Safety
/// The arguments are those that the real function took.
unsafe fn count(
    recorded: &Recorded,
    shaped: &Shaped,
    variable: &Described,
    arguments: &Arguments,
    requests: u64,
) -> (Selected, u64) {
    // SAFETY: the caller vouches.
    let selected = unsafe { selected(recorded.library, shaped, variable, arguments) };
    let bytes = match shaped.kind {
        // SAFETY: the real function took the type.
        Kind::Typed => unsafe { type_bytes(arguments[2]) },
        _ => selected.points.wrapping_mul(u64::from(variable.element_bytes)),
    };
    // SAFETY: the rows are as long as the variable has dimensions.
    let access = unsafe { selected.access(variable, bytes) };
    recorded.with(&PNETCDF_VAR, variable.file, |shard, ended| {
        let took = ended.took().checked_div(requests).unwrap_or(0);
        let flow = Flow { bytes, start: ended.start(), end: ended.end, took };
        if shaped.writes() {
            shard.flow::<{ words::WRITE }>(&flow);
        } else {
            shard.flow::<{ words::READ }>(&flow);
        }
        let kind = if shaped.writes() { 2 } else { 1 };
        shard.switch::<{ words::LAST_KIND }, { words::RW_SWITCHES }>(kind);
        shard.count::<{ words::KINDS }>(shaped.counter());
        shard.count::<{ words::MODES }>(shaped.mode());
        shard.access::<{ words::ACCESSES }>(&access);
    });
    (selected, bytes)
}

/// The elements that a call means.
///
/// # Safety
/// The arguments are those that the real function took.
unsafe fn selected(
    library: &Library,
    shaped: &Shaped,
    variable: &Described,
    arguments: &Arguments,
) -> Selected {
    let row = |argument: usize| -> *const i64 {
        core::ptr::with_exposed_provenance(arguments.get(argument).copied().unwrap_or(0))
    };
    let none = core::ptr::null();
    let (shape, points, start, count, stride) = match shaped.kind {
        // SAFETY: the handle is the application's.
        Kind::Whole => unsafe {
            let points = variable::points(library, arguments[0] as c_int, variable);
            (Shape::All, points, none, none, none)
        },
        Kind::One => (Shape::Regular, 1, row(2), none, none),
        // SAFETY: the row is as long as the variable has dimensions.
        Kind::Slab => unsafe { (Shape::Regular, product(row(3), variable), row(2), row(3), none) },
        // SAFETY: as above.
        Kind::Strided | Kind::Mapped => unsafe {
            (Shape::Regular, product(row(3), variable), row(2), row(3), row(4))
        },
        // SAFETY: the real function took as many rows.
        Kind::Several => unsafe {
            let counts: *const *const i64 = row(4).cast();
            let mut points = 0_u64;
            for index in 0..(arguments[2] as c_int).max(0) as usize {
                let one = if counts.is_null() { none } else { counts.wrapping_add(index).read() };
                points = points.wrapping_add(product(one, variable));
            }
            (Shape::Irregular, points, none, none, none)
        },
        Kind::Typed => (Shape::Irregular, 0, none, none, none),
    };
    Selected { shape, points, start, count, stride }
}

/// The product of a row of counts; 1 where there is none, or no dimension.
///
/// # Safety
/// The row is null, or as long as the variable has dimensions.
unsafe fn product(row: *const i64, variable: &Described) -> u64 {
    if row.is_null() {
        return 1;
    }
    (0..usize::from(variable.dimensions)).fold(1, |product: u64, dimension| {
        // SAFETY: the caller vouches.
        product.wrapping_mul(unsafe { row.wrapping_add(dimension).read() }.cast_unsigned())
    })
}

impl Selected {
    /// A number of a dimension, as extensions count them: start, stride, count, block.
    ///
    /// # Safety
    /// The rows are null, or as long as the variable has dimensions.
    unsafe fn number(&self, dimension: usize, which: usize) -> u64 {
        let row = match which {
            0 => self.start,
            1 => self.stride,
            2 => self.count,
            _ => core::ptr::null(),
        };
        if row.is_null() {
            // A request without a row means the first element, each element, one element.
            return u64::from(which != 0 && self.shape == Shape::Regular);
        }
        // SAFETY: the caller vouches.
        unsafe { row.wrapping_add(dimension).read() }.cast_unsigned()
    }

    /// What Darshan tells accesses apart by: bytes, then counts and strides of the last five dimensions, the
    /// slowest first; only calls that have them.
    ///
    /// # Safety
    /// As for [`Selected::number`].
    unsafe fn access(&self, variable: &Described, bytes: u64) -> [u64; NUMBERS] {
        let mut access = [0; NUMBERS];
        access[0] = bytes;
        if self.count.is_null() {
            return access;
        }
        let dimensions = usize::from(variable.dimensions);
        let first = dimensions.saturating_sub(5);
        for (place, dimension) in (first..dimensions).enumerate() {
            if let Some(to) = access.get_mut(place.wrapping_add(1)) {
                // SAFETY: the caller vouches.
                *to = unsafe { self.number(dimension, 2) };
            }
            if let Some(to) = access.get_mut(place.wrapping_add(6))
                && !self.stride.is_null()
            {
                // SAFETY: the caller vouches.
                *to = unsafe { self.number(dimension, 1) };
            }
        }
        access
    }
}

/// Bytes of an MPI datatype, by whatever MPI there is.
///
/// # Safety
/// `datatype` is one that a real call took.
unsafe fn type_bytes(datatype: usize) -> u64 {
    let found = real::next(c"PMPI_Type_size");
    if found.is_null() {
        return 0;
    }
    // SAFETY: the function of every MPI takes a handle, in one register, and an address.
    let ask: unsafe extern "C" fn(usize, *mut c_int) -> c_int =
        unsafe { core::mem::transmute(found) };
    let mut bytes = 0;
    // SAFETY: a number of ours; the caller vouches for the type.
    let done = unsafe { ask(datatype, &raw mut bytes) };
    u64::try_from(bytes).ok().filter(|_| done == 0).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_has_its_counters() {
        let find = |name: &str| {
            let at = FAMILY.rows.iter().position(|row| row.name == name.as_bytes()).unwrap();
            let shaped = &SHAPED[at];
            assert_eq!(shaped.function.name(), name);
            (shaped.counter(), shaped.mode())
        };
        assert_eq!(find("ncmpi_put_var"), (0, 1));
        assert_eq!(find("ncmpi_put_vard_all"), (6, 3));
        assert_eq!(find("ncmpi_get_vara_all"), (9, 2));
        assert_eq!(find("ncmpi_get_varn"), (12, 0));
        assert_eq!(find("ncmpi_iput_vars"), (17, 5));
        assert_eq!(find("ncmpi_iget_var1"), (21, 4));
        assert_eq!(find("ncmpi_bput_varn"), (31, 5));
        assert_eq!(find("ncmpi_mput_vara_all"), (2, 3));
        assert_eq!(find("ncmpi_mget_varm"), (11, 0));
        for (row, shaped) in FAMILY.rows.iter().zip(SHAPED) {
            assert_eq!(row.name, shaped.function.name().as_bytes());
        }
    }

    #[test]
    fn a_request_is_what_its_place_in_the_lists_says() {
        let (ids, starts, counts) = ([4, 7], [[1_i64, 2], [3, 4]], [[5_i64, 6], [7, 8]]);
        let rows =
            |rows: &[[i64; 2]; 2]| rows.each_ref().map(|row| row.as_ptr().expose_provenance());
        let (starts, counts) = (rows(&starts), rows(&counts));
        let mut arguments = [0; ARGUMENTS];
        arguments[..5].copy_from_slice(&[
            9,
            2,
            ids.as_ptr().expose_provenance(),
            starts.as_ptr().expose_provenance(),
            counts.as_ptr().expose_provenance(),
        ]);
        // SAFETY: two variables, and a row of starts and of counts for each.
        let (slab, whole) =
            unsafe { (request(Kind::Slab, &arguments, 1), request(Kind::Whole, &arguments, 0)) };
        assert_eq!(slab[..5], [9, 7, starts[1], counts[1], 0]);
        assert_eq!(whole[..4], [9, 4, 0, 0]);
    }
}

//! Lustre layouts: the numbers of one component.

use super::Table;

/// The current version of this module's records.
pub const VERSION: u32 = 2;

/// Bytes in a stripe; −1 marks a component as unused.
pub const STRIPE_SIZE: usize = 0;
/// Storage targets of the component.
pub const STRIPE_COUNT: usize = 1;
/// 0 raid0, 2 on the metadata target, 4 overstriped, 8 foreign.
pub const STRIPE_PATTERN: usize = 2;
/// Bits, see [`FLAG`]; −1 where unknown.
pub const FLAGS: usize = 3;
/// First byte of the file that this component covers.
pub const EXT_START: usize = 4;
/// First byte after it; −1 for the end of the file.
pub const EXT_END: usize = 5;
/// Which copy this component belongs to.
pub const MIRROR_ID: usize = 6;

/// The names of the bits of [`FLAGS`], from the lowest.
pub const FLAG: [&str; 12] = [
    "stale",
    "prefrd",
    "prefwr",
    "offline",
    "init",
    "nosync",
    "extension",
    "parity",
    "compress",
    "partial",
    "nocompr",
    "neg",
];

/// What follows `LUSTRE_COMP<number>` in a counter's name.
pub const SUFFIX: [&str; 7] = [
    "_STRIPE_SIZE",
    "_STRIPE_COUNT",
    "_STRIPE_PATTERN",
    "_FLAGS",
    "_EXT_START",
    "_EXT_END",
    "_MIRROR_ID",
];

/// The numbers of a component.
pub const TABLE: Table = Table {
    int: &[
        "LUSTRE_COMP_STRIPE_SIZE",
        "LUSTRE_COMP_STRIPE_COUNT",
        "LUSTRE_COMP_STRIPE_PATTERN",
        "LUSTRE_COMP_FLAGS",
        "LUSTRE_COMP_EXT_START",
        "LUSTRE_COMP_EXT_END",
        "LUSTRE_COMP_MIRROR_ID",
    ],
    float: &[],
};

/// Version 1 knew one component a file.
pub const V1: Table = Table {
    int: &[
        "LUSTRE_OSTS",
        "LUSTRE_MDTS",
        "LUSTRE_STRIPE_OFFSET",
        "LUSTRE_STRIPE_SIZE",
        "LUSTRE_STRIPE_WIDTH",
    ],
    float: &[],
};

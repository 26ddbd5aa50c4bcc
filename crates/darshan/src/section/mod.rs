//! The netra section: what Darshan's format has no place for, behind the last region of the same
//! file. Darshan's tools do not see it; `docs/format/section.md` describes it.

pub mod layout;

//! What the fields of an event mean, which depends on the kind of call (`docs/format/event.md`), as columns that mean the same
//! in every row.

use netra_event::{Event, Function, Kind, NO_OFFSET};

/// An event's numbers by their meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Meaning {
    /// Where in the file.
    pub(crate) offset: Option<i64>,
    /// Bytes asked for.
    pub(crate) length: i64,
    /// Bytes moved.
    pub(crate) bytes: i64,
    /// What it gave, if that is something else.
    pub(crate) result: Option<i64>,
    /// What else was asked.
    pub(crate) argument: Option<i64>,
}

impl Meaning {
    /// Of an event.
    #[inline]
    pub(crate) fn of(event: &Event, kind: Option<Kind>) -> Meaning {
        let offset = (event.offset != NO_OFFSET).then_some(event.offset);
        let length = event.length.cast_signed();
        let gave = |number: i64| (!event.failed).then_some(number);
        match kind {
            Some(Kind::Read | Kind::Write) => {
                let bytes = if event.failed { 0 } else { event.result.max(0) };
                Meaning { offset, length, bytes, result: None, argument: None }
            }
            Some(Kind::Open | Kind::Duplicate | Kind::Process) => {
                Meaning { argument: offset, result: gave(length), ..Meaning::default() }
            }
            Some(Kind::Close) => Meaning { argument: Some(length), ..Meaning::default() },
            Some(Kind::Seek) => Meaning { offset, argument: Some(length), ..Meaning::default() },
            _ => {
                let result = gave(event.result).filter(|&result| result != length);
                Meaning { offset, length, bytes: 0, result, argument: None }
            }
        }
    }

    /// The other way: an event's offset, length and result. What a failed call would have given is not kept.
    pub(crate) fn fields(self, kind: Option<Kind>, error: Option<u32>) -> (i64, u64, i64) {
        let (offset, length, gave) = match kind {
            Some(Kind::Read | Kind::Write) => (self.offset, self.length, self.bytes),
            Some(Kind::Open | Kind::Duplicate | Kind::Process) => {
                let gave = self.result.unwrap_or(0);
                (self.argument, gave, gave)
            }
            Some(Kind::Close | Kind::Seek) => {
                let asked = self.argument.unwrap_or(0);
                (self.offset, asked, asked)
            }
            _ => (self.offset, self.length, self.result.unwrap_or(self.length)),
        };
        let result = error.map_or(gave, |error| -i64::from(error));
        (offset.unwrap_or(NO_OFFSET), length.cast_unsigned(), result)
    }
}

/// Layer, operation and function of a code, as columns name them; a code that this netra does not know is shown as a number.
pub(crate) fn names(code: u16) -> (&'static str, &'static str, String) {
    match Function::from_code(code) {
        Some(function) => {
            (function.layer().name(), function.kind().name(), function.name().to_owned())
        }
        None => {
            let layer = netra_event::Layer::of_code(code).map_or("UNKNOWN", |layer| layer.name());
            (layer, Kind::Other.name(), format!("function {code}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(function: Function, offset: i64, length: u64, result: i64) -> (Event, Option<Kind>) {
        let event = Event {
            start: 0,
            duration: 0,
            offset,
            length,
            result,
            file: 0,
            code: function.code(),
            failed: result < 0,
            site: 0,
            parent: 0,
            number: 0,
            extension: 0,
        };
        (event, Some(function.kind()))
    }

    #[track_caller]
    fn means(found: (Event, Option<Kind>), want: Meaning) {
        let (event, kind) = found;
        assert_eq!(Meaning::of(&event, kind), want);
        let error = event.failed.then(|| u32::try_from(-event.result).unwrap());
        assert_eq!(
            want.fields(kind, error),
            (event.offset, event.length, event.result),
            "and back"
        );
    }

    #[test]
    fn every_kind_of_call_means_something_else() {
        let nothing = Meaning::default();
        means(
            event(Function::Pwrite, 4096, 100, 60),
            Meaning { offset: Some(4096), length: 100, bytes: 60, ..nothing },
        );
        means(
            event(Function::Pwrite, 4096, 100, -28),
            Meaning { offset: Some(4096), length: 100, ..nothing },
        );
        means(
            event(Function::Open, 0o102, 7, 7),
            Meaning { argument: Some(0o102), result: Some(7), ..nothing },
        );
        means(event(Function::Open, 0, 0, -2), Meaning { argument: Some(0), ..nothing });
        means(event(Function::Close, -1, 7, 7), Meaning { argument: Some(7), ..nothing });
        means(
            event(Function::Lseek, 500, 2, 2),
            Meaning { offset: Some(500), argument: Some(2), ..nothing },
        );
        means(event(Function::Fsync, -1, 0, 0), nothing);
    }
}

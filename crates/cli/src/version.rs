//! What this program is, and which formats it reads and writes; and the same of the library.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use netra_darshan::record::header;
use netra_event::segment;

/// The program's number.
pub(crate) const PROGRAM: &str = env!("CARGO_PKG_VERSION");

/// What the library's file says in front of its version.
const MARK: &[u8] = b"netra: library ";
/// Bytes of the file that are looked at: many times what the library has.
const LONGEST: u64 = 16 << 20;
/// And behind it.
const END: &[u8] = b": ";

/// What `netra --version` says behind the name.
pub(crate) fn line() -> String {
    let commit = option_env!("NETRA_BUILD_COMMIT").map(|commit| format!(" ({commit})"));
    format!("{PROGRAM}{}, {}", commit.unwrap_or_default(), formats())
}

/// The formats that the program writes.
fn formats() -> String {
    let log = std::str::from_utf8(&header::VERSION).unwrap_or_default().trim_end_matches('\0');
    format!("logs {log}, segments {}, frames {}", segment::VERSION, netra_event::frame::VERSION)
}

/// What the library says of itself: `0.1.0, segments 1`.
pub(crate) fn of_library(path: &Path) -> Option<String> {
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(LONGEST).read_to_end(&mut bytes).ok()?;
    let marks = bytes.windows(MARK.len()).enumerate().filter(|(_, window)| *window == MARK);
    let mut behind = marks.filter_map(|(at, _)| bytes.get(at + MARK.len()..));
    let rest = behind.find(|rest| rest.first().is_some_and(u8::is_ascii_digit))?;
    let end = rest.windows(END.len()).position(|window| window == END)?;
    String::from_utf8(rest.get(..end)?.to_vec()).ok()
}

/// What a library says that fits this program.
pub(crate) fn fitting() -> String {
    format!("{PROGRAM}, segments {}", segment::VERSION)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_library_is_asked_what_it_is() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("library.so");
        fs::write(&path, b"\0ELF\xff netra: library 0.9.1, segments 4: recording process \0")
            .unwrap();
        assert_eq!(of_library(&path).as_deref(), Some("0.9.1, segments 4"));
        fs::write(&path, b"netra: library another: one").unwrap();
        assert_eq!(of_library(&path), None);
        assert!(line().starts_with(PROGRAM) && line().contains("logs 3.41, segments 1"));
    }
}

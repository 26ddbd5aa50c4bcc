//! What a recipient was told, in a file: a restart tells nothing twice. A line is added and made durable when something was
//! told; the file is written anew when half of it is old, and once a day, so that it knows which jobs are still there.
//! A file that cannot be used never keeps anybody from being told: what is known then lasts as long as this process.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use netra_show::live::{Recalled, Told};
use netra_stream::spool::{Folder, Storage as _};

/// Lines that may be old in any case.
const SPARE: usize = 1000;
/// Nanoseconds of a day.
const DAY: u64 = 86_400_000_000_000;
/// No file of ours is longer.
const LONGEST: u64 = 64 << 20;

/// A file, held by this process alone.
#[derive(Debug)]
pub(super) struct Memory {
    folder: Folder,
    path: PathBuf,
    name: String,
    lines: usize,
    /// When all of it was last written.
    written: u64,
    /// Whether a line can be added to what lies there.
    is_whole: bool,
    _lock: File,
}

/// What was found in a place.
#[derive(Debug)]
pub(super) enum Opened {
    /// What was told; where something was damaged, the words for it.
    Here(Memory, Told, Option<String>),
    /// Another process tells from there.
    Taken,
}

impl Memory {
    /// Opens what is known in a folder under a name, or begins. A damaged file is set aside; what can be read of it is known.
    pub(super) fn open(place: &Path, name: &str, now: u64) -> io::Result<Opened> {
        let folder = Folder::new(place, true)?;
        let lock = File::create(place.join(format!("{name}.lock")))?;
        match lock.try_lock() {
            Err(TryLockError::WouldBlock) => return Ok(Opened::Taken),
            // File systems without locks: nobody can say whether there is another one.
            Ok(()) | Err(TryLockError::Error(_)) => {}
        }
        let name = format!("{name}.told");
        let path = place.join(&name);
        let Recalled { told, lines, flaw } = read(&path, now)?;
        let flaw = flaw.map(|flaw| aside(&path, &flaw)).transpose()?;
        let written = 0;
        let memory = Memory { folder, path, name, lines, written, is_whole: false, _lock: lock };
        Ok(Opened::Here(memory, told, flaw))
    }

    /// Where it lies.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Adds the line of what was told last.
    pub(super) fn add(&mut self, line: &str, told: &Told, now: u64) -> io::Result<()> {
        let full = self.lines > SPARE.saturating_add(2 * told.count());
        // Whatever the reason why it cannot be added to, such as a file that somebody removed: all of it is known here.
        if !self.is_whole || full || self.append(line).is_err() {
            return self.rewrite(told, now);
        }
        self.lines = self.lines.saturating_add(1);
        Ok(())
    }

    /// Whether all of it is to be written again, for the times at which jobs were last there.
    pub(super) fn is_old(&self, now: u64) -> bool {
        now.abs_diff(self.written) >= DAY
    }

    /// Writes all of it.
    pub(super) fn rewrite(&mut self, told: &Told, now: u64) -> io::Result<()> {
        // However this ends, it is not tried again before tomorrow unless there is something to add.
        self.written = now;
        self.is_whole = false;
        self.folder.replace(&self.name, told.text().as_bytes())?;
        (self.is_whole, self.lines) = (true, told.count());
        Ok(())
    }

    fn append(&self, line: &str) -> io::Result<()> {
        let file = self.folder.open(&self.name)?;
        file.write_at(file.length()?, line.as_bytes())?;
        file.sync()
    }
}

fn read(path: &Path, now: u64) -> io::Result<Recalled> {
    let mut bytes = Vec::new();
    match File::open(path) {
        Ok(file) => _ = file.take(LONGEST).read_to_end(&mut bytes)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    let mut recalled = Told::read(&bytes, now);
    if bytes.len() as u64 == LONGEST {
        recalled.flaw.get_or_insert_with(|| "it is longer than netra lets it become".to_owned());
    }
    Ok(recalled)
}

/// Keeps a damaged file for whoever wants to look; one of them, the newest.
fn aside(path: &Path, flaw: &str) -> io::Result<String> {
    let to = path.with_extension("damaged");
    if to.exists() {
        fs::remove_file(&to)?;
    }
    // Under both names until it is written anew: whoever is killed before that finds it again.
    fs::hard_link(path, &to).or_else(|_| fs::rename(path, &to))?;
    let (from, to) = (path.display(), to.display());
    Ok(format!("{from}: {flaw}; it is now {to}, and what could not be read may be told again"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(place: &Path, now: u64) -> (Memory, Told, Option<String>) {
        match Memory::open(place, "command", now).unwrap() {
            Opened::Here(memory, told, flaw) => (memory, told, flaw),
            Opened::Taken => panic!("nobody else is here"),
        }
    }

    fn tell(memory: &mut Memory, told: &mut Told, job: &str, now: u64) {
        let line = told.insert(job, "small-writes", now);
        memory.add(&line, told, now).unwrap();
    }

    fn text(memory: &Memory) -> String {
        fs::read_to_string(memory.path()).unwrap()
    }

    #[test]
    fn what_was_told_is_known_to_the_next_one_and_torn_ends_are_mended() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("state/alerts");
        let (mut memory, mut told, flaw) = open(&folder, 1);
        assert_eq!((told.count(), flaw), (0, None));
        tell(&mut memory, &mut told, "a", 1);
        tell(&mut memory, &mut told, "b", 2);
        drop(memory);
        let (mut memory, mut known, flaw) = open(&folder, 3);
        assert_eq!((&known, flaw), (&told, None));
        let torn = format!("{}{{\"told_ns\":3,\"se", text(&memory));
        fs::write(memory.path(), torn).unwrap();
        drop(memory);
        (memory, known, _) = open(&folder, 4);
        assert_eq!(known, told);
        tell(&mut memory, &mut known, "c", 5);
        tell(&mut memory, &mut known, "d", 6);
        drop(memory);
        let (_, again, flaw) = open(&folder, 7);
        assert_eq!((again.count(), flaw), (4, None));
        assert_eq!(again, known);
    }

    #[test]
    fn a_damaged_file_is_named_and_set_aside_and_the_rest_is_known() {
        let place = tempfile::tempdir().unwrap();
        let (mut memory, mut told, _) = open(place.path(), 1);
        tell(&mut memory, &mut told, "a", 1);
        tell(&mut memory, &mut told, "b", 2);
        let damaged = text(&memory).replace("\"a\"", "\"a");
        fs::write(memory.path(), &damaged).unwrap();
        drop(memory);
        let (mut memory, mut known, flaw) = open(place.path(), 3);
        let flaw = flaw.expect("a word about it");
        assert!(
            flaw.contains("command.told: line 2") && flaw.contains("command.damaged"),
            "{flaw}"
        );
        assert!(known.contains("b", "small-writes") && known.count() == 1);
        let kept = fs::read_to_string(place.path().join("command.damaged")).unwrap();
        assert_eq!(kept, damaged);
        tell(&mut memory, &mut known, "c", 4);
        drop(memory);
        let (_, known, flaw) = open(place.path(), 5);
        assert_eq!((known.count(), flaw), (2, None));
    }

    #[test]
    fn a_place_has_one_holder_until_its_end() {
        let place = tempfile::tempdir().unwrap();
        let (memory, ..) = open(place.path(), 1);
        assert!(matches!(Memory::open(place.path(), "command", 1).unwrap(), Opened::Taken));
        assert!(matches!(Memory::open(place.path(), "url", 1).unwrap(), Opened::Here(..)));
        drop(memory);
        open(place.path(), 1);
    }

    #[test]
    fn a_file_that_was_removed_or_could_not_be_written_is_whole_again_with_the_next_line() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("alerts");
        let (mut memory, mut told, _) = open(&folder, 1);
        tell(&mut memory, &mut told, "a", 1);
        fs::remove_dir_all(&folder).unwrap();
        let line = told.insert("b", "small-writes", 2);
        assert!(memory.add(&line, &told, 2).is_err());
        fs::create_dir(&folder).unwrap();
        tell(&mut memory, &mut told, "c", 3);
        assert_eq!(text(&memory), told.text());
        assert_eq!(told.count(), 3);
    }

    #[test]
    fn a_file_stays_short_however_often_its_jobs_change() {
        let place = tempfile::tempdir().unwrap();
        let (mut memory, mut told, _) = open(place.path(), 1);
        // Each is gone for a week when the next one comes.
        for number in 0..SPARE as u64 + 20 {
            let now = (number + 1) * 8 * DAY;
            told.forget(now);
            let line = told.insert("job", &format!("rule-{number}"), now);
            // Syncing each of a thousand lines would take longer than this is worth.
            if number <= SPARE as u64 {
                memory.lines += 1;
                memory.is_whole = true;
            } else {
                memory.add(&line, &told, now).unwrap();
            }
        }
        assert!(text(&memory).lines().count() < 25, "{}", text(&memory));
        assert!(memory.is_old(0) && !memory.is_old(memory.written + DAY - 1));
    }
}

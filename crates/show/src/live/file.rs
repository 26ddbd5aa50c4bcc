//! The files of a job and what was done to each, as far as there is room: the rest is one row.

use std::collections::{BTreeMap, HashMap};

use super::step::{Cell, Way};

/// Files of a job that have a row of their own.
const MOST: usize = 20_000;
/// Where everything beyond them is counted.
const OTHERS: u32 = 0;

/// What was done to a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileUse {
    /// Its path.
    pub path: String,
    /// Where its file system is mounted, and of which kind it is: `/scratch (lustre)`; empty if that is
    /// not known.
    pub mount: String,
    /// By way, of the lowest layers.
    pub ways: [Cell; 4],
    /// Processes that used it.
    pub processes: u32,
}

impl FileUse {
    /// Nanoseconds in calls on it.
    #[must_use]
    pub fn nanos(&self) -> u64 {
        self.ways.iter().map(|cell| cell.nanos).fold(0, u64::saturating_add)
    }

    /// Its calls of a way.
    #[must_use]
    pub fn of(&self, way: Way) -> &Cell {
        &self.ways[way as usize]
    }
}

/// The files of a job.
#[derive(Debug, Clone)]
pub struct Files {
    rows: Vec<FileUse>,
    by_id: HashMap<u64, u32>,
}

impl Default for Files {
    fn default() -> Files {
        let others = FileUse { path: "other files".to_owned(), ..FileUse::default() };
        Files { rows: vec![others], by_id: HashMap::new() }
    }
}

impl Files {
    /// The row of a file that a process uses for the first time.
    pub fn enter(&mut self, id: u64, name: &[u8], mount: impl FnOnce() -> String) -> u32 {
        let row = match self.by_id.get(&id) {
            Some(&row) => row,
            None if self.rows.len() > MOST => OTHERS,
            None => {
                let row = u32::try_from(self.rows.len()).unwrap_or(OTHERS);
                let path = String::from_utf8_lossy(name).into_owned();
                self.rows.push(FileUse { path, mount: mount(), ..FileUse::default() });
                self.by_id.insert(id, row);
                row
            }
        };
        self.rows[row as usize].processes += 1;
        row
    }

    /// A call on a file.
    pub fn call(&mut self, row: u32, way: Way, call: Cell) {
        if let Some(file) = self.rows.get_mut(row as usize) {
            file.ways[way as usize].fold(&call);
        }
    }

    /// What was done to each file system, by way.
    #[must_use]
    pub fn by_mount(&self) -> BTreeMap<String, [Cell; 4]> {
        let mut all: BTreeMap<String, [Cell; 4]> = BTreeMap::new();
        for file in self.rows.iter().filter(|file| file.processes > 0) {
            let sums = all.entry(file.mount.clone()).or_default();
            sums.iter_mut().zip(&file.ways).for_each(|(sum, more)| sum.fold(more));
        }
        all
    }

    /// How many there are; those without a row of their own count as one.
    #[must_use]
    pub fn count(&self) -> usize {
        self.rows.iter().filter(|file| file.processes > 0).count()
    }

    /// Those that took most time.
    #[must_use]
    pub fn top(&self, most: usize) -> Vec<&FileUse> {
        let mut used: Vec<&FileUse> = self.rows.iter().filter(|file| file.processes > 0).collect();
        used.sort_by(|a, b| b.nanos().cmp(&a.nanos()).then_with(|| a.path.cmp(&b.path)));
        used.truncate(most);
        used
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_costliest_come_first_and_the_rest_is_one() {
        let mut files = Files::default();
        for id in 0..MOST as u64 + 10 {
            let row = files.enter(id, format!("/f{id}").as_bytes(), || format!("/{}", id % 2));
            files.call(row, Way::Read, Cell { calls: 1, bytes: 10, nanos: id });
        }
        assert_eq!(files.enter(3, b"/f3", String::new), 4);
        let systems = files.by_mount();
        let calls: Vec<u64> = systems.values().map(|ways| ways[0].calls).collect();
        // The others are on no file system that is known.
        assert_eq!(calls, [10, MOST as u64 / 2, MOST as u64 / 2]);
        let top = files.top(2);
        // The ten beyond the last row add up to more than any other.
        assert_eq!((top[0].path.as_str(), top[0].of(Way::Read).calls), ("other files", 10));
        assert_eq!(top[1].path, format!("/f{}", MOST - 1));
        assert_eq!(files.count(), MOST + 1);
    }
}

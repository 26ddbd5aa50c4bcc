//! The file that holds a data set, for logs whose records of data sets do not say it: those are named `file:data set`.

use std::collections::{BTreeMap, HashMap};

use netra_event::RecordId;

/// Files by their names; made when the first data set asks.
#[derive(Default)]
pub(super) struct Holders<'a> {
    by_name: HashMap<&'a str, RecordId>,
    /// What was found before: each rank has a record of every data set.
    found: BTreeMap<RecordId, RecordId>,
}

impl<'a> Holders<'a> {
    /// The file of a data set; number 0, which is no file, where none of the log's names begins its own.
    pub(super) fn of(
        &mut self,
        names: &'a BTreeMap<RecordId, String>,
        data_set: RecordId,
    ) -> RecordId {
        if let Some(file) = self.found.get(&data_set) {
            return *file;
        }
        let file = self.find(names, data_set);
        self.found.insert(data_set, file);
        file
    }

    fn find(&mut self, names: &'a BTreeMap<RecordId, String>, data_set: RecordId) -> RecordId {
        if self.by_name.is_empty() {
            self.by_name = names.iter().map(|(id, name)| (name.as_str(), *id)).collect();
        }
        let Some(name) = names.get(&data_set) else { return RecordId(0) };
        // Both parts may have colons in them.
        let files = name.match_indices(':').map(|(at, _)| &name[..at]);
        files.filter_map(|file| self.by_name.get(file)).next_back().copied().unwrap_or(RecordId(0))
    }
}

#[cfg(test)]
mod tests {
    use super::Holders;
    use netra_event::RecordId;
    use std::collections::BTreeMap;

    #[test]
    fn a_data_set_without_the_number_of_its_file_is_found_by_name() {
        let names = ["/gpfs/a:b.h5", "/gpfs/a:b.h5:/data/1/x", "/gpfs/c.h5:/x", "plain"];
        let names: BTreeMap<_, _> = (1..).map(RecordId).zip(names.map(str::to_owned)).collect();
        let mut holders = Holders::default();
        assert_eq!(holders.of(&names, RecordId(2)), RecordId(1));
        assert_eq!(holders.of(&names, RecordId(2)), RecordId(1));
        // The file is not in the log, the name has no colon, there is no name.
        for open in [3, 4, 5] {
            assert_eq!(holders.of(&names, RecordId(open)), RecordId(0));
        }
    }
}

//! The names of all logs together.

use crate::read::{Log, Names};
use crate::{Error, Result};
use netra_event::RecordId;
use std::collections::HashMap;

/// Takes the names out of the logs. Two names for one id are an error, an empty one is none.
pub(super) fn union(logs: &mut [Log]) -> Result<Names> {
    let mut all: Vec<Names> = Vec::with_capacity(logs.len().min(1024));
    let mut seen: HashMap<RecordId, Box<[u8]>> = HashMap::new();
    for log in logs {
        let names = log.take_names();
        let mut fresh = Vec::new();
        for (id, name) in names.iter() {
            match seen.get(&id) {
                Some(known) if name.is_empty() || **known == *name => {}
                Some(known) if known.is_empty() => fresh.push((id, name)),
                Some(known) => {
                    return Err(Error::NameConflict {
                        id: id.0,
                        first: String::from_utf8_lossy(known).into_owned(),
                        second: String::from_utf8_lossy(name).into_owned(),
                    });
                }
                None => fresh.push((id, name)),
            }
        }
        for &(id, name) in &fresh {
            seen.insert(id, name.into());
        }
        all.push(Names::collect(fresh));
    }
    Ok(Names::collect(all.iter().flat_map(Names::iter)))
}

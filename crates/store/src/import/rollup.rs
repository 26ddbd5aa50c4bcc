//! What events add up to: by second, and by function and file.

use std::collections::HashMap;

use super::row::EventRow;
use super::tables::{Tables, moment};
use crate::Result;
use crate::sums::Sums;
use netra_event::RecordId;

/// Whose calls: rank, node and program.
type Who = (i64, String, String);

/// Who it was by number; layer, operation and function; the file.
type Use = (usize, [String; 3], Option<RecordId>);

/// Roll-ups of the events of one job.
#[derive(Debug, Default)]
pub(super) struct RollUps {
    who: HashMap<Who, usize>,
    /// By second, layer, operation, file system and mount.
    seconds: HashMap<(usize, i64, [String; 4]), Sums>,
    /// By layer, operation, function, and the file.
    functions: HashMap<Use, (Sums, [Option<String>; 3])>,
}

impl RollUps {
    /// Takes an event in.
    pub(super) fn add(&mut self, event: &EventRow<'_>) {
        let next = self.who.len();
        let who = (event.rank.unwrap_or(-1), event.node.to_owned(), event.exe.to_owned());
        let who = *self.who.entry(who).or_insert(next);
        let text = |text: &str| text.to_owned();
        let kind = event.file.and_then(|file| file.kind);
        let mount = event.file.and_then(|file| file.mount);
        let key = [
            text(event.layer),
            text(event.op),
            text(kind.unwrap_or_default()),
            text(mount.unwrap_or_default()),
        ];
        let second = event.start.div_euclid(1_000_000_000);
        let sums = self.seconds.entry((who, second, key)).or_insert(Sums::NOTHING);
        add(sums, event);
        let key = [text(event.layer), text(event.op), text(event.function)];
        let file = event.file.map(|file| file.id);
        let sums = self.functions.entry((who, key, file)).or_insert_with(|| {
            let path = event.file.and_then(|file| file.file);
            (Sums::NOTHING, [path, kind, mount].map(|part| part.map(text)))
        });
        add(&mut sums.0, event);
    }

    /// Writes what there is, and begins anew.
    pub(super) fn take(&mut self, tables: &mut Tables) -> Result<()> {
        let mut who: Vec<(Who, usize)> = self.who.drain().collect();
        who.sort_by_key(|(_, number)| *number);
        let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        for ((number, second, [layer, op, kind, mount]), sums) in self.seconds.drain() {
            let Some(((rank, node, exe), _)) = who.get(number) else { continue };
            let sheet = tables.row_of("activity", Some(*rank), node, exe)?;
            sheet.put("t", moment(second.saturating_mul(1_000_000_000)));
            sheet.put("layer", &*layer).put("op", &*op);
            sheet.put("file_system", some(&kind).as_deref());
            sheet.put("mount", some(&mount).as_deref());
            sums.put(sheet);
            sheet.end_row()?;
        }
        for ((number, [layer, op, function], file), (sums, place)) in self.functions.drain() {
            let Some(((rank, node, exe), _)) = who.get(number) else { continue };
            let sheet = tables.row_of("functions", Some(*rank), node, exe)?;
            sheet.put("layer", &*layer).put("op", &*op).put("function", &*function);
            let [path, kind, mount] = &place;
            sheet.put("file_id", file.map(|id| id.0.cast_signed())).put("file", path.as_deref());
            sheet.put("file_system", kind.as_deref()).put("mount", mount.as_deref());
            sums.put(sheet);
            sheet.put("t", moment(sums.first)).put("last", moment(sums.last)).end_row()?;
        }
        Ok(())
    }
}

fn add(sums: &mut Sums, event: &EventRow<'_>) {
    sums.add(event.start, event.took, event.bytes, event.error.is_some());
}

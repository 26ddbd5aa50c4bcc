//! What the numbers in a process's events refer to, looked up once each.

use std::collections::HashMap;

use netra_event::segment::View;
use netra_event::segment::shard::h5d;
use netra_event::{Module, NO_FILE, NO_SITE};

use super::call::File;

/// The files and call sites of a segment.
#[derive(Debug)]
pub(super) struct Names<'a> {
    view: View<'a>,
    files: HashMap<u32, Option<File<'a>>>,
    /// Elements of data sets, by the index of their file; read when the first is asked for.
    elements: Option<HashMap<u32, u64>>,
}

impl<'a> Names<'a> {
    pub(super) fn new(view: View<'a>) -> Names<'a> {
        Names { view, files: HashMap::new(), elements: None }
    }

    pub(super) fn file(&mut self, index: u32) -> Option<File<'a>> {
        if index == NO_FILE {
            return None;
        }
        if let Some(&known) = self.files.get(&index) {
            return known;
        }
        let found = self.find(index);
        self.files.insert(index, found);
        found
    }

    fn find(&mut self, index: u32) -> Option<File<'a>> {
        let row = self.view.file(index)?;
        let parent = Some(row.parent).filter(|&parent| parent != NO_FILE);
        let within = parent.and_then(|parent| self.view.file(parent));
        let elements = within.and_then(|_| self.elements(index));
        let within = within.map(|parent| (parent.id, parent.name));
        Some(File { id: row.id, name: row.name, within, elements })
    }

    /// Elements of a data set, as its record has them.
    fn elements(&mut self, index: u32) -> Option<u64> {
        let view = self.view;
        let all = self.elements.get_or_insert_with(|| {
            let sets = view.records().filter(|row| row.module == u32::from(Module::H5d.code()));
            sets.map(|row| (row.file, row.word(h5d::POINTS))).filter(|row| row.1 > 0).collect()
        });
        all.get(&index).copied()
    }
}

/// Who called, in words: the object's path and the offset in it, as `addr2line` takes them.
#[derive(Debug, Default)]
pub(super) struct Sites {
    known: HashMap<u16, Option<String>>,
}

impl Sites {
    /// A site, if its object is known.
    pub(super) fn name(&mut self, view: &View<'_>, site: u16) -> Option<&str> {
        if site == NO_SITE {
            return None;
        }
        self.known.entry(site).or_insert_with(|| name(view, site)).as_deref()
    }

    /// Forgets sites that were not known, because they may be by now.
    pub(super) fn forget_unknown(&mut self) {
        self.known.retain(|_, name| name.is_some());
    }
}

fn name(view: &View<'_>, index: u16) -> Option<String> {
    let site = view.site(index)?;
    let number = site.object?;
    let object = view.objects().find(|object| object.index == number)?;
    let path = String::from_utf8_lossy(object.name);
    Some(format!("{path}+0x{:x}", site.address.wrapping_sub(object.base)))
}

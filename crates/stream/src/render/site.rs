//! Who called, in words: the object's path and the offset in it, as `addr2line` takes them.

use std::collections::HashMap;

use netra_event::NO_SITE;
use netra_event::segment::View;

/// The call sites of a segment, each put into words once.
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
}

fn name(view: &View<'_>, index: u16) -> Option<String> {
    let site = view.site(index)?;
    let number = site.object?;
    let object = view.objects().find(|object| object.index == number)?;
    let path = String::from_utf8_lossy(object.name);
    Some(format!("{path}+0x{:x}", site.address.wrapping_sub(object.base)))
}

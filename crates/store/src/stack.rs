//! Where calls come from, as rows name it: a call site in words, and the frames of its stack.

use netra_event::segment::{Object, View};

use crate::import::hex;
use crate::sheet::Sheet;

/// Frames of a stack that are kept.
const FRAMES: usize = 16;

/// A frame of a call site's stack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Frame<'a> {
    /// The site, as events name it.
    pub(crate) site: &'a str,
    /// 0 is the call itself.
    pub(crate) depth: i64,
    /// The executable or library.
    pub(crate) object: Option<&'a str>,
    /// Its build id, in hexadecimal digits.
    pub(crate) build_id: Option<String>,
    /// The address within it.
    pub(crate) address: i64,
}

impl Frame<'_> {
    /// The columns that are its own.
    pub(crate) fn put(&self, sheet: &mut Sheet) {
        sheet.put("site", self.site).put("depth", self.depth).put("object", self.object);
        sheet.put("build_id", self.build_id.as_deref()).put("address", self.address);
    }
}

/// A call site in words: object and offset, as addr2line takes them. Nothing while its object has not arrived.
pub(crate) fn name(view: &View<'_>, number: u16) -> Option<String> {
    let site = view.site(number)?;
    let Some(index) = site.object else { return Some(format!("?+0x{:x}", site.address)) };
    let object = view.objects().find(|object| object.index == index)?;
    let path = String::from_utf8_lossy(object.name);
    Some(format!("{path}+0x{:x}", site.address.wrapping_sub(object.base)))
}

/// Every frame of every call site, the innermost first.
pub(crate) fn frames<E>(
    view: &View<'_>,
    mut each: impl FnMut(&Frame<'_>) -> Result<(), E>,
) -> Result<(), E> {
    let named = |object: &Object<'_>| String::from_utf8_lossy(object.name).into_owned();
    let objects: Vec<(Object<'_>, String)> = view
        .objects()
        .map(|object| {
            let path = named(&object);
            (object, path)
        })
        .collect();
    for number in 1..=u16::MAX {
        let Some(site) = view.site(number) else { break };
        let Some(words) = name(view, number) else { continue };
        let mut stack: Vec<u64> = site.stack().take(FRAMES).collect();
        if stack.is_empty() {
            stack.push(site.address);
        }
        for (depth, &address) in (0..).zip(&stack) {
            let within =
                |(object, _): &&(Object<'_>, String)| (object.start..object.end).contains(&address);
            let object = objects.iter().find(within);
            let base = object.map_or(0, |(object, _)| object.base);
            each(&Frame {
                site: &words,
                depth,
                object: object.map(|(_, path)| path.as_str()),
                build_id: object.map(|(object, _)| hex(object.build_id)),
                address: address.wrapping_sub(base).cast_signed(),
            })?;
        }
    }
    Ok(())
}

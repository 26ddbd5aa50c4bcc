//! How drawn calls name files and places of the program: by numbers into two lists of the page.

use std::collections::{BTreeMap, HashMap};
use std::io::{Result, Write};

use netra_analyse::Job;
use netra_analyse::detail::{Detail, Origin};
use netra_event::RecordId;

use crate::Json;
use crate::member::list;

/// Places of a program in a page.
const LINES: usize = 10_000;
/// Numbers before the first line: not known, and several.
const BEFORE: u32 = 2;

/// Files and lines of a page, by the numbers that a job gives them.
pub(super) struct Known {
    /// By a file's number in the trace.
    files: Vec<u32>,
    /// What a file is that the page does not list.
    absent: u32,
    /// By a place's number in the job.
    lines: HashMap<u32, u32>,
    texts: Vec<String>,
}

impl Known {
    /// Of a job whose listed files have these numbers.
    pub(super) fn of(job: &Job, detail: &Detail, files: &BTreeMap<RecordId, u32>) -> Known {
        let absent = files.len() as u32;
        let traced = job.trace.files().iter();
        let traced = traced.map(|id| files.get(id).copied().unwrap_or(absent)).collect();
        let (lines, texts) = (HashMap::new(), Vec::new());
        let mut known = Known { files: traced, absent, lines, texts };
        let mut texts = HashMap::new();
        let marks = detail.marks.place.iter().copied();
        for origin in marks.chain(detail.opens.list.iter().map(|open| origin(open.place))) {
            if let Origin::One(place) = origin {
                known.add(place, job, &mut texts);
            }
        }
        known
    }

    /// Stacks that share the line which a developer can change share a number.
    fn add(&mut self, place: u32, job: &Job, texts: &mut HashMap<String, u32>) {
        if self.lines.contains_key(&place) || self.texts.len() == LINES {
            return;
        }
        let Some(frame) = job.places.get(place as usize).and_then(|place| place.frame()) else {
            return;
        };
        let next = BEFORE + self.texts.len() as u32;
        let text = frame.to_string();
        let number = *texts.entry(text.clone()).or_insert(next);
        if number == next {
            self.texts.push(text);
        }
        self.lines.insert(place, number);
    }

    /// Which of the page's files one of the trace's is; behind the last where it is not listed.
    pub(super) fn file(&self, at: u32) -> u32 {
        self.files.get(at as usize).copied().unwrap_or(self.absent)
    }

    /// 0 where nobody knows, 1 for several, else two more than the place in the list.
    pub(super) fn line(&self, origin: Origin) -> u32 {
        match origin {
            Origin::Unknown => 0,
            Origin::Several => 1,
            Origin::One(place) => self.lines.get(&place).copied().unwrap_or(0),
        }
    }

    /// The member `lines`.
    pub(super) fn write<W: Write>(&self, json: &mut Json<'_, W>) -> Result<()> {
        json.line()?;
        list(json, "lines", &self.texts, |json, text| json.text(text))
    }
}

/// A single call's.
pub(super) fn origin(place: Option<u32>) -> Origin {
    place.map_or(Origin::Unknown, Origin::One)
}

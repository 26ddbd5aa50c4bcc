//! Texts that many rows refer to: each is kept once, rows have its number.

use std::collections::HashMap;
use std::sync::Arc;

use datafusion::arrow::array::StringArray;

/// Texts by number.
#[derive(Debug, Default)]
pub(super) struct Texts {
    numbers: HashMap<Arc<str>, u32>,
    texts: Vec<Arc<str>>,
    array: Option<Arc<StringArray>>,
}

impl Texts {
    /// The number of a text.
    pub(super) fn number(&mut self, text: &str) -> u32 {
        if let Some(&number) = self.numbers.get(text) {
            return number;
        }
        // Four thousand million different texts do not fit in memory.
        let number = self.texts.len() as u32;
        let text: Arc<str> = text.into();
        self.texts.push(Arc::clone(&text));
        self.numbers.insert(text, number);
        self.array = None;
        number
    }

    /// The number of what should be text.
    pub(super) fn bytes(&mut self, bytes: &[u8]) -> u32 {
        match std::str::from_utf8(bytes) {
            Ok(text) => self.number(text),
            Err(_) => self.number(&String::from_utf8_lossy(bytes)),
        }
    }

    pub(super) fn get(&self, number: u32) -> &str {
        self.texts.get(number as usize).map_or("", |text| text)
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.texts.len()
    }

    /// All of them, in the order of their numbers.
    pub(super) fn array(&mut self) -> Arc<StringArray> {
        let texts = &self.texts;
        let make = || Arc::new(StringArray::from_iter_values(texts.iter().map(|text| &**text)));
        Arc::clone(self.array.get_or_insert_with(make))
    }
}

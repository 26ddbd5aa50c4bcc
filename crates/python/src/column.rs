//! A column that grows until it is part of a batch. Values go where Arrow wants them, and are not moved again.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::builder::NullBufferBuilder;
use arrow_array::types::{
    ArrowDictionaryKeyType, ArrowPrimitiveType, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, UInt64Type,
};
use arrow_array::{
    Array as _, ArrayRef, DictionaryArray, PrimitiveArray, StringArray, new_null_array,
};
use arrow_schema::ArrowError;

use crate::sheet::Kind;

/// A column of one of the kinds that our tables have.
pub(crate) enum Column {
    Int(Values<Int64Type>),
    Unsigned(Values<UInt64Type>),
    Float(Values<Float64Type>),
    Label(Labels),
}

impl Column {
    pub(crate) fn new(kind: Kind) -> Column {
        match kind {
            Kind::Int => Column::Int(Values::default()),
            Kind::Unsigned => Column::Unsigned(Values::default()),
            Kind::Float => Column::Float(Values::default()),
            Kind::Label => Column::Label(Labels::default()),
        }
    }

    /// Holes up to a number of rows.
    pub(crate) fn fill(&mut self, count: usize) {
        match self {
            Column::Int(values) => values.fill(count),
            Column::Unsigned(values) => values.fill(count),
            Column::Float(values) => values.fill(count),
            Column::Label(labels) => labels.fill(count),
        }
    }

    /// The rows so far; goes on empty. The numbers of labels are as short as their count allows if `narrow`.
    pub(crate) fn take(&mut self, narrow: bool) -> Result<ArrayRef, ArrowError> {
        Ok(match self {
            Column::Int(values) => Arc::new(values.take()),
            Column::Unsigned(values) => Arc::new(values.take()),
            Column::Float(values) => Arc::new(values.take()),
            Column::Label(labels) => labels.take(narrow)?,
        })
    }
}

/// Numbers, and where there is none.
pub(crate) struct Values<T: ArrowPrimitiveType> {
    rows: Vec<T::Native>,
    /// Holes before the first number: nothing is written down for them, because many columns have nothing else.
    before: usize,
    holes: NullBufferBuilder,
}

impl<T: ArrowPrimitiveType> Default for Values<T> {
    fn default() -> Values<T> {
        Values { rows: Vec::new(), before: 0, holes: NullBufferBuilder::new(0) }
    }
}

impl<T: ArrowPrimitiveType> Values<T> {
    /// Numbers for the next rows.
    pub(crate) fn extend(&mut self, values: impl Iterator<Item = T::Native>) {
        self.begin();
        let before = self.rows.len();
        self.rows.extend(values);
        self.holes.append_n_non_nulls(self.rows.len() - before);
    }

    /// Numbers for the next rows, some of which may have none.
    pub(crate) fn extend_some(&mut self, values: impl Iterator<Item = Option<T::Native>>) {
        self.begin();
        for value in values {
            self.holes.append(value.is_some());
            self.rows.push(value.unwrap_or_default());
        }
    }

    /// The first number after holes.
    fn begin(&mut self) {
        let holes = std::mem::take(&mut self.before);
        if holes > 0 {
            self.rows.resize(holes, T::Native::default());
            self.holes.append_n_nulls(holes);
        }
    }

    /// Rows so far, holes included.
    fn len(&self) -> usize {
        self.before + self.rows.len()
    }

    fn fill(&mut self, count: usize) {
        if self.rows.is_empty() {
            self.before = count;
        } else {
            let holes = count.saturating_sub(self.rows.len());
            // Even to be told of no holes makes the builder write all down.
            if holes > 0 {
                self.holes.append_n_nulls(holes);
                self.rows.resize(count, T::Native::default());
            }
        }
    }

    fn take(&mut self) -> PrimitiveArray<T> {
        let Values { rows, before, mut holes } = std::mem::take(self);
        if rows.is_empty() {
            // Zeroed by the system when it is looked at, which usually nobody does.
            return PrimitiveArray::from(new_null_array(&T::DATA_TYPE, before).to_data());
        }
        PrimitiveArray::new(rows.into(), holes.finish())
    }
}

/// Texts that repeat: each is kept once, and until the batch is made only how often it follows itself.
#[derive(Default)]
pub(crate) struct Labels {
    known: HashMap<String, i32>,
    texts: Vec<String>,
    /// The texts as they went out with the last batch.
    given: Option<Arc<StringArray>>,
    /// A text's place, or none, and for how many rows.
    runs: Vec<(Option<i32>, usize)>,
    rows: usize,
}

impl Labels {
    /// The same text in the next `count` rows.
    pub(crate) fn extend(&mut self, text: &[u8], count: usize) {
        let place = self.place(text);
        self.run(Some(place), count);
    }

    fn run(&mut self, place: Option<i32>, count: usize) {
        self.rows += count;
        match self.runs.last_mut() {
            Some((last, rows)) if *last == place => *rows += count,
            _ => self.runs.push((place, count)),
        }
    }

    fn fill(&mut self, count: usize) {
        let holes = count.saturating_sub(self.rows);
        if holes > 0 {
            self.run(None, holes);
        }
    }

    fn place(&mut self, text: &[u8]) -> i32 {
        // Names that differ only in what is no text are one text: pandas wants each category once.
        let text = String::from_utf8_lossy(text);
        if let Some(&place) = self.known.get(&*text) {
            return place;
        }
        let place = i32::try_from(self.texts.len()).unwrap_or(i32::MAX);
        self.texts.push(text.clone().into_owned());
        self.known.insert(text.into_owned(), place);
        place
    }

    /// What was seen stays: the same text keeps its number over all batches.
    fn take(&mut self, narrow: bool) -> Result<ArrayRef, ArrowError> {
        let count = self.texts.len();
        let texts = match self.given.take().filter(|texts| texts.len() == count) {
            Some(texts) => texts,
            None => Arc::new(StringArray::from_iter_values(&self.texts)),
        };
        self.given = Some(Arc::clone(&texts));
        if !narrow || count > usize::from(i16::MAX.cast_unsigned()) {
            self.numbered::<Int32Type>(texts, |place| place)
        } else if count > usize::from(i8::MAX.cast_unsigned()) {
            self.numbered::<Int16Type>(texts, |place| place as i16)
        } else {
            self.numbered::<Int8Type>(texts, |place| place as i8)
        }
    }

    fn numbered<T: ArrowDictionaryKeyType>(
        &mut self,
        texts: Arc<StringArray>,
        number: impl Fn(i32) -> T::Native,
    ) -> Result<ArrayRef, ArrowError> {
        let mut values = Values::<T>::default();
        values.rows.reserve_exact(std::mem::take(&mut self.rows));
        for (place, count) in self.runs.drain(..) {
            match place {
                Some(place) => values.extend(std::iter::repeat_n(number(place), count)),
                None => values.fill(values.len() + count),
            }
        }
        Ok(Arc::new(DictionaryArray::<T>::try_new(values.take(), texts)?))
    }
}

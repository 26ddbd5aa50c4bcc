//! Values as numbers: two rows of a column have the same value exactly when they have the same *word*.
//!
//! A number is its own word. A text of up to twelve bytes is stored as sixteen bytes, its length and itself, and these are its
//! word. Longer texts get one when they are first seen; rows that refer to the same bytes of the same batch need no second look.

use std::collections::HashMap;

use datafusion::arrow::array::{
    Array, ArrayRef, AsArray as _, BooleanArray, StringArray, StringViewArray, make_view,
};
use datafusion::arrow::buffer::NullBuffer;
use datafusion::arrow::datatypes::{
    DataType, Date32Type, Int16Type, Int32Type, Int64Type, TimeUnit, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType,
};

/// Nothing: no length of a text is so large, and no number has so many bits.
const NULL: u128 = u128::MAX;
/// The word of a listed text at which nobody has looked yet.
const UNKNOWN: u128 = u128::MAX - 1;
/// Texts of up to this length are stored where others have a reference.
const SHORT: u32 = 12;
/// Where a short text has its length, a word for a long one has this.
const LONG: u128 = 0xffff_fffe;

/// Whether values of this type have words.
pub(super) fn can_tell_apart(kind: &DataType) -> bool {
    use DataType::{Boolean, Date32, Int16, Int32, Int64, Timestamp, Utf8View};
    matches!(kind, Utf8View | Boolean | Date32 | Int16 | Int32 | Int64 | Timestamp(..))
}

/// Words of the long texts that were seen.
#[derive(Debug, Default)]
pub(super) struct Texts {
    words: HashMap<Box<str>, u128>,
    bytes: usize,
}

impl Texts {
    fn word(&mut self, text: &str) -> u128 {
        if let Some(&word) = self.words.get(text) {
            return word;
        }
        let word = ((self.words.len() as u128) << 32) | LONG;
        self.bytes += text.len() + size_of::<(Box<str>, u128)>();
        self.words.insert(text.into(), word);
        word
    }

    /// About what they take.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }
}

enum Values<'a> {
    /// The array, and words of its long texts by what the rows say.
    Text(&'a StringViewArray, HashMap<u128, u128>),
    /// References, the texts they refer to, and the words of those.
    Listed(&'a [i32], &'a StringArray, Vec<u128>),
    Flag(&'a BooleanArray),
    Short(&'a [i16]),
    Middle(&'a [i32]),
    Long(&'a [i64]),
}

/// A column of a batch that rows are grouped by.
pub(super) struct Column<'a> {
    values: Values<'a>,
    nulls: Option<&'a NullBuffer>,
}

impl Column<'_> {
    /// Looks at an array; `None` for types whose values have no words.
    pub(super) fn of(array: &ArrayRef) -> Option<Column<'_>> {
        use TimeUnit::{Microsecond, Millisecond, Nanosecond, Second};
        let values = match array.data_type() {
            DataType::Utf8View => Values::Text(array.as_string_view_opt()?, HashMap::new()),
            DataType::Dictionary(..) => {
                let array = array.as_dictionary_opt::<Int32Type>()?;
                let list = array.values().as_string_opt::<i32>()?;
                // A row would be null in another way then.
                if list.null_count() > 0 {
                    return None;
                }
                Values::Listed(array.keys().values(), list, vec![UNKNOWN; list.len()])
            }
            DataType::Boolean => Values::Flag(array.as_boolean_opt()?),
            DataType::Int16 => Values::Short(array.as_primitive_opt::<Int16Type>()?.values()),
            DataType::Int32 => Values::Middle(array.as_primitive_opt::<Int32Type>()?.values()),
            DataType::Date32 => Values::Middle(array.as_primitive_opt::<Date32Type>()?.values()),
            DataType::Int64 => Values::Long(array.as_primitive_opt::<Int64Type>()?.values()),
            DataType::Timestamp(unit, _) => Values::Long(match unit {
                Second => array.as_primitive_opt::<TimestampSecondType>()?.values(),
                Millisecond => array.as_primitive_opt::<TimestampMillisecondType>()?.values(),
                Microsecond => array.as_primitive_opt::<TimestampMicrosecondType>()?.values(),
                Nanosecond => array.as_primitive_opt::<TimestampNanosecondType>()?.values(),
            }),
            _ => return None,
        };
        // A batch without nulls may still carry their bits.
        let nulls = array.nulls().filter(|nulls| nulls.null_count() > 0);
        Some(Column { values, nulls })
    }

    /// Marks each row that may differ from the one before it; `changes[0]` is the second row.
    pub(super) fn mark_changes(&self, changes: &mut [bool]) {
        match &self.values {
            Values::Text(array, _) => mark(changes, array.views()),
            Values::Listed(places, ..) => mark(changes, places),
            Values::Short(values) => mark(changes, values),
            Values::Middle(values) => mark(changes, values),
            Values::Long(values) => mark(changes, values),
            Values::Flag(array) => {
                for (row, change) in changes.iter_mut().enumerate() {
                    *change |= array.value(row) != array.value(row + 1);
                }
            }
        }
        if let Some(nulls) = self.nulls {
            for (row, change) in changes.iter_mut().enumerate() {
                *change |= nulls.is_null(row) != nulls.is_null(row + 1);
            }
        }
    }

    /// The word of one row.
    pub(super) fn word(&mut self, row: usize, texts: &mut Texts) -> u128 {
        if self.nulls.is_some_and(|nulls| nulls.is_null(row)) {
            return NULL;
        }
        match &mut self.values {
            Values::Text(array, known) => text_word(array, row, known, texts),
            Values::Listed(places, list, words) => {
                let place = places[row] as usize;
                if words[place] == UNKNOWN {
                    words[place] = listed_word(list.value(place), texts);
                }
                words[place]
            }
            Values::Flag(array) => u128::from(array.value(row)),
            Values::Short(values) => number(values[row].into()),
            Values::Middle(values) => number(values[row].into()),
            Values::Long(values) => number(values[row]),
        }
    }

    /// Where all rows are references: these, and how many they may refer to.
    pub(super) fn places(&self) -> Option<(&[i32], usize)> {
        match (&self.values, self.nulls) {
            (Values::Listed(places, list, _), None) => Some((places, list.len())),
            _ => None,
        }
    }

    /// The words of all rows: those of short texts as they are, others in `room`.
    pub(super) fn words<'a>(
        &'a mut self,
        rows: usize,
        texts: &mut Texts,
        room: &'a mut Vec<u128>,
    ) -> &'a [u128] {
        if self.nulls.is_none()
            && let Values::Text(array, _) = self.values
            && array.views().iter().fold(0, |most, &view| most.max(view as u32)) <= SHORT
        {
            return array.views();
        }
        room.clear();
        match (&self.values, self.nulls) {
            (Values::Long(values), None) => room.extend(values.iter().copied().map(number)),
            _ => room.extend((0..rows).map(|row| self.word(row, texts))),
        }
        room
    }
}

fn number(value: i64) -> u128 {
    value.cast_unsigned().into()
}

fn mark<T: PartialEq>(changes: &mut [bool], values: &[T]) {
    for ((change, before), after) in changes.iter_mut().zip(values).zip(&values[1..]) {
        *change |= before != after;
    }
}

fn text_word(
    array: &StringViewArray,
    row: usize,
    known: &mut HashMap<u128, u128>,
    texts: &mut Texts,
) -> u128 {
    let view = array.views()[row];
    // The lowest four bytes are the length.
    if view as u32 <= SHORT {
        return view;
    }
    *known.entry(view).or_insert_with(|| texts.word(array.value(row)))
}

/// The word that the text has wherever it comes from.
fn listed_word(text: &str, texts: &mut Texts) -> u128 {
    if text.len() <= SHORT as usize { make_view(text.as_bytes(), 0, 0) } else { texts.word(text) }
}

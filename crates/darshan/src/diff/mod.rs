//! What differs between two logs, record by record and counter by counter.

mod field;

use crate::damage::Damage;
use crate::missing::Missing;
use crate::read::Log;
use field::fields;
use netra_event::{Module, Rank, RecordId};
use std::collections::HashMap;
use std::fmt;

/// A value of a record.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A whole number.
    Int(i64),
    /// A number that is an id or was counted unsigned.
    Unsigned(u64),
    /// A time or variance.
    Float(f64),
    /// Anything else.
    Text(String),
}

impl Value {
    /// As a number, where it is one.
    #[must_use]
    pub fn number(&self) -> Option<f64> {
        match self {
            Value::Int(value) => Some(*value as f64),
            Value::Unsigned(value) => Some(*value as f64),
            Value::Float(value) => Some(*value),
            Value::Text(_) => None,
        }
    }

    /// Equal, also where both are not a number.
    fn same(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Float(a), Value::Float(b)) => a == b || (a.is_nan() && b.is_nan()),
            _ => self == other,
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Int(value) => value.fmt(f),
            Value::Unsigned(value) => value.fmt(f),
            Value::Float(value) => write!(f, "{value:.6}"),
            Value::Text(value) => f.pad(value),
        }
    }
}

/// Which record something is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// The module.
    pub module: Module,
    /// The file, or what else the record is about.
    pub id: RecordId,
    /// The process, or all of them.
    pub rank: Rank,
}

/// A thing that differs.
#[derive(Debug, Clone, PartialEq)]
pub enum Difference {
    /// A value of a record that both logs have.
    Value {
        /// The record.
        key: Key,
        /// The counter.
        name: String,
        /// In the first log; nothing if it does not have it.
        a: Option<Value>,
        /// In the second log.
        b: Option<Value>,
    },
    /// A record that only the first log has.
    OnlyInA(Key),
    /// A record that only the second log has.
    OnlyInB(Key),
}

/// Hands every difference to `tell`, and gives back what is missing from either log. Records belong
/// together by module, id and rank; where there are several, in their order.
pub fn diff(a: &Log, b: &Log, tell: &mut dyn FnMut(Difference)) -> [Vec<Damage>; 2] {
    let (mut of_a, mut of_b) = (Missing::of(a), Missing::of(b));
    for &module in Module::ALL {
        let there = |log: &Log| log.header().region(module).extent.length > 0;
        if there(a) || there(b) {
            one_module((a, &mut of_a), (b, &mut of_b), module, tell);
        }
    }
    [of_a.all(), of_b.all()]
}

type Fields = Vec<(String, Value)>;

fn one_module(
    (a, of_a): (&Log, &mut Missing<'_>),
    (b, of_b): (&Log, &mut Missing<'_>),
    module: Module,
    tell: &mut dyn FnMut(Difference),
) {
    let mut waiting: HashMap<Key, Vec<Fields>> = HashMap::new();
    let mut order = Vec::new();
    let mut records = a.records(module);
    while let Some(record) = records.next_record() {
        let key = Key { module, id: record.id(), rank: record.rank() };
        waiting.entry(key).or_default().push(fields(module, record));
        order.push(key);
    }
    of_a.read(&records);
    // The first of several is taken first.
    waiting.values_mut().for_each(|several| several.reverse());
    let mut records = b.records(module);
    while let Some(record) = records.next_record() {
        let key = Key { module, id: record.id(), rank: record.rank() };
        match waiting.get_mut(&key).and_then(Vec::pop) {
            Some(before) => compare(key, before, fields(module, record), tell),
            None => tell(Difference::OnlyInB(key)),
        }
    }
    of_b.read(&records);
    for key in order {
        if waiting.get_mut(&key).and_then(Vec::pop).is_some() {
            tell(Difference::OnlyInA(key));
        }
    }
}

fn compare(key: Key, a: Fields, b: Fields, tell: &mut dyn FnMut(Difference)) {
    let (mut a, mut b) = (a.into_iter(), b.into_iter());
    loop {
        let (name, a, b) = match (a.next(), b.next()) {
            (None, None) => return,
            (Some((name, a)), None) => (name, Some(a), None),
            (None, Some((name, b))) => (name, None, Some(b)),
            (Some((name, a)), Some((_, b))) if !a.same(&b) => (name, Some(a), Some(b)),
            _ => continue,
        };
        tell(Difference::Value { key, name, a, b });
    }
}

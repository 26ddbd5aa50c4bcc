//! Where the caller's registers are, at one address of a function: the small program that call frame
//! information is, run up to that address.

use super::reader::Reader;
use super::table::Frame;
use super::{Memory, Registers};
use crate::arch::REGISTERS;

/// States that may be put aside at a time.
const DEPTH: usize = 4;
/// Instructions of a function and values of an expression that are looked at.
const LONGEST: usize = 4096;

/// How a register of the caller is found.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Rule {
    /// It is what it was.
    #[default]
    Same,
    /// It is lost.
    Undefined,
    /// It lies on the stack, this far from the frame's address.
    At(i64),
    /// It lies where the expression at this address says.
    Expression(u64),
}

/// The frame's address: what the stack pointer was before the call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Cfa {
    /// A register and a distance.
    Register(usize, i64),
    /// The value of the expression at this address.
    Expression(u64),
}

/// The rules at one address.
#[derive(Clone, Copy)]
pub(super) struct Row {
    pub(super) cfa: Cfa,
    pub(super) rules: [Rule; REGISTERS],
}

impl Frame {
    /// The rules at an address of the function.
    pub(super) fn row(&self, address: u64) -> Option<Row> {
        let mut machine = Machine {
            frame: self,
            row: Row { cfa: Cfa::Register(0, 0), rules: [Rule::Same; REGISTERS] },
            first: None,
            aside: [None; DEPTH],
            depth: 0,
            location: self.from,
        };
        let (shared, end) = self.shared;
        machine.run(shared, end, u64::MAX)?;
        machine.first = Some(machine.row);
        let (own, end) = self.own;
        machine.run(own, end, address)?;
        Some(machine.row)
    }

    /// The value of an expression: a register and a distance, what lies there, and so on.
    pub(super) fn evaluate(
        &self,
        at: u64,
        registers: &Registers,
        memory: &mut Memory,
    ) -> Option<u64> {
        const DEREFERENCE: u8 = 0x06;
        const ADD: u8 = 0x23;
        const REGISTER: u8 = 0x70;
        const REGISTER_LAST: u8 = 0x8f;
        let mut reader = self.own.0;
        reader.at = at;
        let bytes = reader.unsigned()?;
        let end = reader.at.checked_add(bytes)?;
        let mut value = None;
        while reader.at < end {
            value = Some(match reader.byte()? {
                operation @ REGISTER..=REGISTER_LAST if value.is_none() => {
                    let number = usize::from(operation.wrapping_sub(REGISTER));
                    registers.get(number)?.wrapping_add_signed(reader.signed()?)
                }
                DEREFERENCE => memory.word(value?)?,
                ADD => value?.wrapping_add(reader.unsigned()?),
                _ => return None,
            });
        }
        value
    }
}

struct Machine<'a> {
    frame: &'a Frame,
    row: Row,
    /// The rules that the shared instructions made, to which a register can be restored.
    first: Option<Row>,
    aside: [Option<Row>; DEPTH],
    depth: usize,
    location: u64,
}

impl Machine<'_> {
    /// Runs instructions up to an address.
    fn run(&mut self, mut reader: Reader, end: u64, address: u64) -> Option<()> {
        for _ in 0..LONGEST {
            if reader.at >= end {
                return Some(());
            }
            let instruction = reader.byte()?;
            // Three have their operand in their low bits.
            let low = instruction & 0x3f;
            let delta = match instruction {
                0x40..=0x7f => u64::from(low),
                0x02 => u64::from(reader.byte()?),
                0x03 => u64::from(reader.u16()?),
                0x04 => u64::from(reader.u32()?),
                0x80..=0xbf => {
                    let offset = self.factored(reader.unsigned()?)?;
                    self.set(u64::from(low), Rule::At(offset));
                    continue;
                }
                0xc0..=0xff => {
                    self.restore(u64::from(low));
                    continue;
                }
                other => {
                    self.other(other, &mut reader)?;
                    continue;
                }
            };
            let next = self.location.wrapping_add(delta.wrapping_mul(self.frame.code_unit));
            if next > address {
                return Some(());
            }
            self.location = next;
        }
        None
    }

    fn other(&mut self, instruction: u8, reader: &mut Reader) -> Option<()> {
        match instruction {
            0x00 | 0x2d => {}
            0x05 => {
                let number = reader.unsigned()?;
                let offset = self.factored(reader.unsigned()?)?;
                self.set(number, Rule::At(offset));
            }
            0x06 => self.restore(reader.unsigned()?),
            0x07 => self.set(reader.unsigned()?, Rule::Undefined),
            0x08 => self.set(reader.unsigned()?, Rule::Same),
            0x0a => {
                *self.aside.get_mut(self.depth)? = Some(self.row);
                self.depth = self.depth.wrapping_add(1);
            }
            0x0b => {
                self.depth = self.depth.checked_sub(1)?;
                self.row = (*self.aside.get(self.depth)?)?;
            }
            0x0c => {
                let number = usize::try_from(reader.unsigned()?).ok()?;
                self.row.cfa = Cfa::Register(number, reader.unsigned()?.cast_signed());
            }
            0x0d => {
                let Cfa::Register(_, offset) = self.row.cfa else { return None };
                let number = usize::try_from(reader.unsigned()?).ok()?;
                self.row.cfa = Cfa::Register(number, offset);
            }
            0x0e => {
                let Cfa::Register(number, _) = self.row.cfa else { return None };
                self.row.cfa = Cfa::Register(number, reader.unsigned()?.cast_signed());
            }
            0x0f => self.row.cfa = Cfa::Expression(Self::block(reader)?),
            0x10 => {
                let number = reader.unsigned()?;
                let at = Self::block(reader)?;
                self.set(number, Rule::Expression(at));
            }
            0x11 => {
                let number = reader.unsigned()?;
                let offset = reader.signed()?.checked_mul(self.frame.data_unit)?;
                self.set(number, Rule::At(offset));
            }
            0x2e => drop(reader.unsigned()?),
            // Nothing that compilers write for the code we meet; the stack ends here.
            _ => return None,
        }
        Some(())
    }

    /// Steps over an expression; where it begins.
    fn block(reader: &mut Reader) -> Option<u64> {
        let at = reader.at;
        let bytes = reader.unsigned()?;
        reader.skip(bytes)?;
        Some(at)
    }

    fn factored(&self, offset: u64) -> Option<i64> {
        offset.cast_signed().checked_mul(self.frame.data_unit)
    }

    /// Registers beyond those that are kept (vectors, flags) matter to nobody here.
    fn set(&mut self, number: u64, rule: Rule) {
        let place = usize::try_from(number).ok().and_then(|at| self.row.rules.get_mut(at));
        if let Some(place) = place {
            *place = rule;
        }
    }

    fn restore(&mut self, number: u64) {
        let at = usize::try_from(number).unwrap_or(usize::MAX);
        let rule = self.first.and_then(|row| row.rules.get(at).copied()).unwrap_or_default();
        self.set(number, rule);
    }
}

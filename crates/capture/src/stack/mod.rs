//! The stack of a call site, taken once, when the site is first seen.
//!
//! Optimised code keeps no frame pointers, so frames are found as debuggers find them: by the call frame
//! information (`.eh_frame`) that every object carries. We read it ourselves, because the unwinders that
//! there are allocate and wait for the loader's lock. Nothing here trusts what it reads: the stack is read
//! through the kernel, which refuses instead of sending a signal, and so are objects that may have been
//! unloaded; each return address has to lie in a known object, and each frame above the one before.
//! Where any of that fails, at a signal handler's frame, and after 16 frames, the stack ends.

mod reader;
mod rule;
mod table;

use netra_event::segment::Region;

use crate::arch::{self, REGISTERS};
use crate::arena::ARENA;
use crate::life;
use crate::object;
use crate::sys;

use rule::{Cfa, Rule};

/// Frames that are kept.
const FRAMES: usize = 16;
/// Frames that are looked at: our own lie before the call site.
const STEPS: usize = FRAMES + 12;

/// Registers of a frame, by their numbers in call frame information.
type Registers = [u64; REGISTERS];

/// Whether there is room to take a stack: a signal handler may run on an alternate stack that has next to none.
#[cold]
#[inline(never)]
#[must_use]
pub fn has_room() -> bool {
    /// More than twice what is needed.
    const NEEDED: usize = 8 << 10;
    let here = 0_u8;
    // Where the kernel may not be asked, nobody knows.
    let Ok(stack) = sys::alternate_stack() else { return false };
    let Some(bottom) = stack else { return true };
    (&raw const here).addr().saturating_sub(bottom) > NEEDED
}

/// Takes the stack of the calling thread from a return address outwards and writes it into the segment;
/// its first word there and its length, which is 0 where none could be taken.
#[cold]
#[inline(never)]
pub fn take(site: u64) -> (u32, u32) {
    let mut frames = [0_u64; FRAMES];
    let mut registers = [0; REGISTERS];
    let here = arch::registers(&mut registers);
    let count = walk(here, &mut registers, site, &mut frames);
    let Some(frames) = frames.get(..count).filter(|frames| !frames.is_empty()) else {
        return (0, 0);
    };
    let Some(at) = ARENA.take(Region::Stacks, (count as u64).wrapping_mul(8)) else {
        return (0, 0);
    };
    for (place, address) in (0_u64..).zip(frames) {
        let at = at.wrapping_add(place.wrapping_mul(8));
        // SAFETY: just taken, atomics only.
        let Some(word) = (unsafe { ARENA.at::<core::sync::atomic::AtomicU64>(Region::Stacks, at) })
        else {
            return (0, 0);
        };
        word.store(*address, core::sync::atomic::Ordering::Relaxed);
    }
    // Regions are far below 2^32 words, a stack has 16.
    ((at / 8) as u32, count as u32)
}

/// Walks from here outwards; fills in the frames from the call site on, and says how many.
fn walk(here: u64, registers: &mut Registers, site: u64, frames: &mut [u64; FRAMES]) -> usize {
    let stack = registers.get(arch::STACK_REGISTER).copied().unwrap_or(0);
    let mut memory = Memory { first: first_stack(stack), ..Memory::default() };
    let mut tables = table::Tables::default();
    let (mut address, mut count) = (here, 0_usize);
    for step in 0..STEPS {
        // A return address lies behind its call, perhaps at the start of the next function.
        let called = if step == 0 { address } else { address.wrapping_sub(1) };
        let Some(next) = up(called, registers, &mut memory, &mut tables) else { break };
        if object::search(next.wrapping_sub(1)) == 0 {
            break;
        }
        address = next;
        if count > 0 || address == site {
            let Some(place) = frames.get_mut(count) else { break };
            *place = address;
            count = count.wrapping_add(1);
        }
    }
    count
}

/// Goes to the caller's frame: changes the registers to what they were there, and gives the address
/// that is returned to.
fn up(
    address: u64,
    registers: &mut Registers,
    memory: &mut Memory,
    tables: &mut table::Tables,
) -> Option<u64> {
    let frame = tables.frame(address)?;
    if frame.is_signal {
        return None;
    }
    let row = frame.row(address)?;
    let stack = *registers.get(arch::STACK_REGISTER)?;
    let cfa = match row.cfa {
        Cfa::Register(number, offset) => registers.get(number)?.wrapping_add_signed(offset),
        Cfa::Expression(at) => frame.evaluate(at, registers, memory)?,
    };
    // The stack grows downwards: a caller's frame lies above.
    if cfa <= stack {
        return None;
    }
    let old = *registers;
    for ((number, rule), register) in row.rules.iter().enumerate().zip(registers.iter_mut()) {
        *register = match *rule {
            Rule::Same => *register,
            Rule::Undefined if number == frame.return_register => return None,
            Rule::Undefined => 0,
            Rule::At(offset) => memory.word(cfa.wrapping_add_signed(offset))?,
            Rule::Expression(at) => {
                let place = frame.evaluate(at, &old, memory)?;
                memory.word(place)?
            }
        };
    }
    *registers.get_mut(arch::STACK_REGISTER)? = cfa;
    let next = arch::return_address(*registers.get(frame.return_register)?);
    (next > 4096).then_some(next)
}

/// What is in use of the first thread's stack, if that is where we are: from the stack pointer to its end
/// it is all there. Nothing else is ever mapped that near below the end.
fn first_stack(pointer: u64) -> (u64, u64) {
    const NEAR: u64 = 1 << 20;
    let end = life::stack_end();
    if end.checked_sub(pointer).is_some_and(|bytes| bytes < NEAR) { (pointer, end) } else { (0, 0) }
}

/// A piece of the stack, copied by the kernel: neighbouring words are asked for once.
#[derive(Default)]
struct Memory {
    /// What can be read without asking.
    first: (u64, u64),
    from: u64,
    words: [u64; Self::WORDS],
    held: usize,
}

impl Memory {
    const WORDS: usize = 16;

    fn word(&mut self, at: u64) -> Option<u64> {
        if !at.is_multiple_of(8) {
            return None;
        }
        if at >= self.first.0 && at.checked_add(8)? <= self.first.1 {
            // SAFETY: between the stack pointer of now and the end of the first thread's stack.
            return Some(unsafe {
                core::ptr::with_exposed_provenance::<u64>(at as usize).read_volatile()
            });
        }
        if let Some(word) = self.near(at) {
            return Some(word);
        }
        self.from = at;
        self.held = 0;
        // The end of a stack may be nearer than a whole piece.
        for words in [Self::WORDS, 1] {
            let mut bytes = [0_u8; Self::WORDS * 8];
            let bytes = bytes.get_mut(..words.wrapping_mul(8))?;
            if sys::peek(at, bytes) {
                for (word, bytes) in self.words.iter_mut().zip(bytes.as_chunks::<8>().0) {
                    *word = u64::from_ne_bytes(*bytes);
                }
                self.held = words;
                return self.near(at);
            }
        }
        None
    }

    fn near(&self, at: u64) -> Option<u64> {
        let index = usize::try_from(at.checked_sub(self.from)? / 8).ok()?;
        self.words.get(..self.held)?.get(index).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_that_is_not_there_ends_the_walk() {
        let mut memory = Memory::default();
        assert_eq!(memory.word(8), None);
        assert_eq!(memory.word(3), None);
        let words = [7_u64, 9];
        assert_eq!(memory.word((&raw const words[0]).addr() as u64), Some(7));
        assert_eq!(memory.word((&raw const words[1]).addr() as u64), Some(9));
    }
}

//! What a seccomp filter says to a call, found out without making it: the filter is a program of the
//! kernel's classic BPF, of which the process gave us a copy when it installed it.
//!
//! A filter decides by the number of the call and by its arguments. Some look at the address of the
//! instruction as well, which is not known here: what depends on it is taken for forbidden.

/// An instruction, as the kernel's `struct sock_filter` has it.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(super) struct Instruction {
    code: u16,
    jump_true: u8,
    jump_false: u8,
    operand: u32,
}

const _: () = assert!(size_of::<Instruction>() == 8);

/// The longest program that the kernel takes.
pub(super) const LONGEST: usize = 4096;

/// What a filter says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The call is made.
    Allowed,
    /// The call is not made, and fails with this number.
    Fails(i32),
    /// Anything else: a signal, a tracer, a line in the system's log; or it is not known.
    Forbidden,
}

/// What a filter looks at, in 32-bit words: the number, the processor, the address, six arguments.
const WORDS: usize = 16;
const LENGTH: u32 = WORDS as u32 * 4;
/// The address of the instruction, which is not known.
const ADDRESS: core::ops::Range<usize> = 2..4;

#[cfg(target_arch = "x86_64")]
const PROCESSOR: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
const PROCESSOR: u32 = 0xc000_00b7;

/// Asks a filter. Without arguments, what depends on them is taken for forbidden.
pub(super) fn verdict(program: &[Instruction], number: i64, args: Option<&[usize; 6]>) -> Verdict {
    let words = words(number, args.unwrap_or(&[0; 6]));
    let known = if args.is_some() { WORDS } else { ADDRESS.start };
    let answer = run(program, words.get(..known).unwrap_or_default());
    match answer.map(|answer| (answer & 0xffff_0000, answer & 0xffff)) {
        Some((0x7fff_0000, _)) => Verdict::Allowed,
        // With number 0 the call is left out, and said to have worked.
        Some((0x0005_0000, errno @ 1..=4095)) => Verdict::Fails(errno as i32),
        _ => Verdict::Forbidden,
    }
}

fn words(number: i64, args: &[usize; 6]) -> [u32; WORDS] {
    let mut words = [0; WORDS];
    words[0] = number as u32;
    words[1] = PROCESSOR;
    for (pair, &argument) in words.as_chunks_mut::<2>().0.iter_mut().skip(2).zip(args) {
        // Both processors keep the lower half first.
        *pair = [argument as u32, (argument as u64 >> 32) as u32];
    }
    words
}

/// The machine: an accumulator, an index register and sixteen words.
#[derive(Default)]
struct Machine {
    accumulator: u32,
    index: u32,
    memory: [u32; 16],
}

/// Runs a program; none where it does what the kernel would not have taken, or looks at the address.
/// Jumps only lead forward, so every program ends.
fn run(program: &[Instruction], words: &[u32]) -> Option<u32> {
    let mut machine = Machine::default();
    let mut at = 0_usize;
    loop {
        let step = program.get(at)?;
        at = at.wrapping_add(1);
        let operand = step.operand;
        match step.code {
            // BPF_LD: a word of what is looked at, its length, a number, a word of the memory.
            0x20 => machine.accumulator = look(words, operand)?,
            0x80 => machine.accumulator = LENGTH,
            0x00 => machine.accumulator = operand,
            0x60 => machine.accumulator = *machine.memory.get(operand as usize)?,
            // BPF_LDX.
            0x81 => machine.index = LENGTH,
            0x01 => machine.index = operand,
            0x61 => machine.index = *machine.memory.get(operand as usize)?,
            // BPF_ST, BPF_STX.
            0x02 => *machine.memory.get_mut(operand as usize)? = machine.accumulator,
            0x03 => *machine.memory.get_mut(operand as usize)? = machine.index,
            // BPF_TAX, BPF_TXA.
            0x07 => machine.index = machine.accumulator,
            0x87 => machine.accumulator = machine.index,
            // BPF_RET.
            0x06 => return Some(operand),
            0x16 => return Some(machine.accumulator),
            // BPF_JA.
            0x05 => at = at.checked_add(operand as usize)?,
            code if code & 7 == 5 => {
                let other = if code & 8 == 0 { operand } else { machine.index };
                let holds = match code & 0xf0 {
                    0x10 => machine.accumulator == other,
                    0x20 => machine.accumulator > other,
                    0x30 => machine.accumulator >= other,
                    0x40 => machine.accumulator & other != 0,
                    _ => return None,
                };
                let jump = if holds { step.jump_true } else { step.jump_false };
                at = at.wrapping_add(usize::from(jump));
            }
            code if code & 7 == 4 => {
                let other = if code & 8 == 0 { operand } else { machine.index };
                machine.accumulator = calculate(code & 0xf0, machine.accumulator, other)?;
            }
            _ => return None,
        }
    }
}

fn look(words: &[u32], offset: u32) -> Option<u32> {
    let word = offset as usize / 4;
    if !offset.is_multiple_of(4) || ADDRESS.contains(&word) {
        return None;
    }
    words.get(word).copied()
}

/// BPF_ALU.
fn calculate(what: u16, one: u32, other: u32) -> Option<u32> {
    Some(match what {
        0x00 => one.wrapping_add(other),
        0x10 => one.wrapping_sub(other),
        0x20 => one.wrapping_mul(other),
        0x30 => one.checked_div(other)?,
        0x40 => one | other,
        0x50 => one & other,
        0x60 => one.checked_shl(other)?,
        0x70 => one.checked_shr(other)?,
        0x80 => one.wrapping_neg(),
        0xa0 => one ^ other,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALLOW: u32 = 0x7fff_0000;
    const KILL: u32 = 0x8000_0000;

    fn step(code: u16, jump_true: u8, jump_false: u8, operand: u32) -> Instruction {
        Instruction { code, jump_true, jump_false, operand }
    }

    #[track_caller]
    fn says(program: &[Instruction], number: i64, args: [usize; 6], want: Verdict) {
        assert_eq!(verdict(program, number, Some(&args)), want);
    }

    /// As libseccomp and hand-written filters have it: the processor, then one call after the other.
    #[test]
    fn a_list_of_calls_allows_those_and_no_other() {
        let program = [
            step(0x20, 0, 0, 4),
            step(0x15, 1, 0, PROCESSOR),
            step(0x06, 0, 0, KILL),
            step(0x20, 0, 0, 0),
            step(0x15, 3, 0, 1),
            step(0x15, 2, 0, 60),
            step(0x15, 0, 2, 2),
            step(0x06, 0, 0, 0x0005_0000 | 13),
            step(0x06, 0, 0, ALLOW),
            step(0x06, 0, 0, KILL),
        ];
        says(&program, 1, [0; 6], Verdict::Allowed);
        says(&program, 60, [0; 6], Verdict::Allowed);
        says(&program, 2, [0; 6], Verdict::Fails(13));
        says(&program, 3, [0; 6], Verdict::Forbidden);
    }

    /// The rights of `mmap`, as sshd looks at them; and the upper half of an argument.
    #[test]
    fn arguments_are_looked_at_in_halves() {
        let rights = [
            step(0x20, 0, 0, 16 + 8 * 2),
            step(0x54, 0, 0, !3),
            step(0x15, 0, 1, 0),
            step(0x06, 0, 0, ALLOW),
            step(0x06, 0, 0, KILL),
        ];
        says(&rights, 9, [0, 0, 3, 0, 0, 0], Verdict::Allowed);
        says(&rights, 9, [0, 0, 7, 0, 0, 0], Verdict::Forbidden);
        let upper = [
            step(0x20, 0, 0, 16 + 4),
            step(0x25, 0, 1, 6),
            step(0x06, 0, 0, ALLOW),
            step(0x06, 0, 0, KILL),
        ];
        says(&upper, 9, [7 << 32, 0, 0, 0, 0, 0], Verdict::Allowed);
        says(&upper, 9, [6 << 32, 0, 0, 0, 0, 0], Verdict::Forbidden);
        assert_eq!(verdict(&upper, 9, None), Verdict::Forbidden, "it depends");
        let never = [step(0x20, 0, 0, 0), step(0x06, 0, 0, ALLOW)];
        assert_eq!(verdict(&never, 9, None), Verdict::Allowed);
    }

    #[test]
    fn what_is_not_plainly_allowed_is_forbidden() {
        let forbidden = Verdict::Forbidden;
        says(&[], 1, [0; 6], forbidden);
        for answer in [0, 0x0003_0000, 0x0005_0000, 0x7fc0_0000, 0x7ff0_0000, 0x7ffc_0000] {
            says(&[step(0x06, 0, 0, answer)], 1, [0; 6], forbidden);
        }
        // The address of the instruction, the end of what is looked at, a division by nothing.
        for odd in [step(0x20, 0, 0, 8), step(0x20, 0, 0, 64), step(0x3c, 0, 0, 0)] {
            says(&[odd, step(0x06, 0, 0, ALLOW)], 1, [0; 6], forbidden);
        }
        says(&[step(0x05, 0, 0, u32::MAX), step(0x06, 0, 0, ALLOW)], 1, [0; 6], forbidden);
    }

    #[test]
    fn registers_and_memory_are_there() {
        let program = [
            step(0x00, 0, 0, 6),
            step(0x02, 0, 0, 15),
            step(0x01, 0, 0, 7),
            step(0x2c, 0, 0, 0),
            step(0x07, 0, 0, 0),
            step(0x60, 0, 0, 15),
            step(0x0c, 0, 0, 0),
            step(0x15, 0, 1, 48),
            step(0x06, 0, 0, ALLOW),
            step(0x06, 0, 0, KILL),
        ];
        says(&program, 1, [0; 6], Verdict::Allowed);
    }
}

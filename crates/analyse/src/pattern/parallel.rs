//! The same work on every element, on as many processors as there are. Results keep the order of
//! the elements, so that nothing depends on which was first.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Traced calls from which a step of a report is worth several threads: each costs as much as it saves on fewer, also
/// for the memory that it touches for the first time.
pub(crate) const MANY: usize = 1 << 18;

/// One result for each element, of which all together stand for so many calls.
pub(crate) fn map<T: Sync, R: Send>(
    all: &[T],
    calls: usize,
    work: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    let hands = thread::available_parallelism().map_or(1, usize::from).min(all.len());
    if hands < 2 || calls < MANY {
        return all.iter().map(work).collect();
    }
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, R)>> = Mutex::new(Vec::with_capacity(all.len()));
    thread::scope(|scope| {
        for _ in 0..hands {
            scope.spawn(|| {
                // Each takes the next element that nobody has.
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(element) = all.get(at) else { break };
                    let result = work(element);
                    done.lock().unwrap_or_else(PoisonError::into_inner).push((at, result));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|result| result.0);
    done.into_iter().map(|result| result.1).collect()
}

/// Two pieces of work, at the same time where that is worth a thread.
pub(crate) fn both<A: Send, B>(
    worth: bool,
    one: impl FnOnce() -> A + Send,
    other: impl FnOnce() -> B,
) -> (A, B) {
    if !worth {
        return (one(), other());
    }
    thread::scope(|scope| {
        let one = scope.spawn(one);
        let other = other();
        match one.join() {
            Ok(one) => (one, other),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::{both, map};

    #[test]
    fn two_pieces_of_work_are_both_done() {
        for worth in [false, true] {
            assert_eq!(both(worth, || 2 + 2, || "four"), (4, "four"));
        }
    }

    #[test]
    fn results_keep_the_order() {
        let numbers: Vec<u64> = (0..1000).collect();
        let squares: Vec<u64> = numbers.iter().map(|number| number * number).collect();
        for calls in [1000, 1 << 20] {
            assert_eq!(map(&numbers, calls, |number| number * number), squares);
        }
        assert_eq!(map(&[] as &[u64], 1 << 20, |number| *number), []);
    }
}

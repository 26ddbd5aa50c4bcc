//! The same work on every element, on as many processors as there are. Results keep the order of
//! the elements, so that nothing depends on which was first.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Elements below which one processor is enough.
const FEW: usize = 2;

/// One result for each element.
pub(crate) fn map<T: Sync, R: Send>(all: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let hands = thread::available_parallelism().map_or(1, usize::from).min(all.len());
    if hands < 2 || all.len() < FEW {
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

#[cfg(test)]
mod tests {
    use super::map;

    #[test]
    fn results_keep_the_order() {
        let numbers: Vec<u64> = (0..1000).collect();
        let squares: Vec<u64> = numbers.iter().map(|number| number * number).collect();
        assert_eq!(map(&numbers, |number| number * number), squares);
        assert_eq!(map(&[] as &[u64], |number| *number), []);
    }
}

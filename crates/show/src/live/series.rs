//! Values over time, one a step, never more than so many: a long job gets longer steps.
//!
//! Each step knows when it changed last, so that whoever was told everything up to a version is told
//! only what is new.

use std::collections::VecDeque;

/// What two neighbouring steps become when they are made one.
pub trait Fold: Default {
    /// Takes the other's part in.
    fn fold(&mut self, other: &Self);
}

/// Values over time.
#[derive(Debug, Clone)]
pub struct Series<T> {
    /// Seconds of a step.
    width: u64,
    /// The first step: its second, divided by the width.
    first: u64,
    steps: VecDeque<(u64, T)>,
    most: usize,
}

impl<T: Fold> Series<T> {
    /// At most so many steps.
    #[must_use]
    pub fn new(most: usize) -> Series<T> {
        Series::of_width(1, most)
    }

    /// At most so many steps, of so many seconds at least.
    #[must_use]
    pub fn of_width(width: u64, most: usize) -> Series<T> {
        Series { width: width.max(1), first: 0, steps: VecDeque::new(), most: most.max(2) }
    }

    /// Seconds of a step.
    #[must_use]
    pub fn width(&self) -> u64 {
        self.width
    }

    /// The value of the step in which this second lies, which changes now.
    pub fn at(&mut self, second: u64, version: u64) -> &mut T {
        if self.steps.is_empty() {
            self.first = second / self.width;
            self.steps.push_back((version, T::default()));
        }
        while self.span(second) > self.most as u64 {
            self.coarsen(version);
        }
        let step = second / self.width;
        while step < self.first {
            self.first -= 1;
            self.steps.push_front((version, T::default()));
        }
        let at = usize::try_from(step - self.first).unwrap_or(0);
        while self.steps.len() <= at {
            self.steps.push_back((version, T::default()));
        }
        let (changed, value) = &mut self.steps[at];
        *changed = version;
        value
    }

    /// How many steps there would be with this second among them.
    fn span(&self, second: u64) -> u64 {
        let step = second / self.width;
        let last = self.first + self.steps.len() as u64 - 1;
        last.max(step) - self.first.min(step) + 1
    }

    /// Makes two steps one; everybody has to be told everything again.
    fn coarsen(&mut self, version: u64) {
        let (first, width) = (self.first, self.width * 2);
        let mut steps: VecDeque<(u64, T)> = VecDeque::new();
        for (at, (_, value)) in self.steps.drain(..).enumerate() {
            let even = (first + at as u64).is_multiple_of(2);
            match steps.back_mut() {
                Some((_, last)) if !even => last.fold(&value),
                _ => steps.push_back((version, value)),
            }
        }
        (self.first, self.width, self.steps) = (first / 2, width, steps);
    }

    /// The steps that changed after a version, with the second at which each begins.
    pub fn since(&self, version: u64) -> impl Iterator<Item = (u64, &T)> {
        self.all()
            .filter(move |(_, changed, _)| *changed > version)
            .map(|(at, _, value)| (at, value))
    }

    /// Every step: its second and its value.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &T)> {
        self.all().map(|(at, _, value)| (at, value))
    }

    fn all(&self) -> impl Iterator<Item = (u64, u64, &T)> {
        let numbered = (self.first..).zip(&self.steps);
        numbered.map(|(step, (changed, value))| (step * self.width, *changed, value))
    }

    /// The value of a step, if there is one at this second.
    #[must_use]
    pub fn get(&self, second: u64) -> Option<&T> {
        let at = (second / self.width).checked_sub(self.first)?;
        self.steps.get(usize::try_from(at).ok()?).map(|(_, value)| value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Default, Clone, PartialEq)]
    struct Sum(u64);

    impl Fold for Sum {
        fn fold(&mut self, other: &Sum) {
            self.0 += other.0;
        }
    }

    fn all(series: &Series<Sum>) -> Vec<(u64, u64)> {
        series.iter().map(|(at, sum)| (at, sum.0)).collect()
    }

    #[test]
    fn steps_grow_on_both_sides_and_know_what_changed() {
        let mut series = Series::<Sum>::new(10);
        series.at(100, 1).0 += 1;
        series.at(102, 2).0 += 2;
        series.at(99, 3).0 += 4;
        assert_eq!(all(&series), [(99, 4), (100, 1), (101, 0), (102, 2)]);
        assert_eq!(series.since(2).map(|(at, sum)| (at, sum.0)).collect::<Vec<_>>(), [(99, 4)]);
        assert_eq!(series.get(102), Some(&Sum(2)));
        assert_eq!((series.get(98), series.get(103)), (None, None));
    }

    #[test]
    fn a_long_series_gets_longer_steps_and_loses_nothing() {
        let mut series = Series::<Sum>::new(4);
        for second in 1001..1041 {
            series.at(second, second).0 += 1;
        }
        assert_eq!(series.width(), 16);
        assert_eq!(all(&series), [(992, 7), (1008, 16), (1024, 16), (1040, 1)]);
        // A far moment is taken too, in longer steps still.
        series.at(0, 9).0 += 1;
        assert_eq!(all(&series).iter().map(|step| step.1).sum::<u64>(), 41);
        assert!(all(&series).len() <= 4);
    }
}

//! Rows of values in which few repeat for long, as the cells of a grid over time do: kept and written as runs, they
//! are a tenth of what they stand for.

/// Values, each with how often it repeats.
#[derive(Debug, Clone, PartialEq)]
pub struct Runs<T> {
    runs: Vec<(T, u16)>,
    len: usize,
}

impl<T> Default for Runs<T> {
    fn default() -> Runs<T> {
        Runs { runs: Vec::new(), len: 0 }
    }
}

impl<T: Copy + Default + PartialEq> Runs<T> {
    /// Values that are looked at together for the end of a run.
    const STRIDE: usize = 32;

    /// Adds values at the end.
    pub fn extend(&mut self, values: &[T]) {
        let mut rest = values;
        while let Some(&first) = rest.first() {
            let length = Self::first_run(rest, first);
            self.push(first, length);
            rest = &rest[length..];
        }
    }

    fn first_run(values: &[T], first: T) -> usize {
        let parts = values.chunks_exact(Self::STRIDE);
        // Without a way out of the inner loop, many values are compared at once.
        let same = |part: &&[T]| part.iter().fold(true, |same, value| same & (*value == first));
        let whole = parts.take_while(same).count() * Self::STRIDE;
        whole + values[whole..].iter().take_while(|value| **value == first).count()
    }

    /// Adds a value at the end, so many times.
    pub fn push(&mut self, value: T, times: usize) {
        self.len += times;
        let mut times = times;
        if let Some((_, length)) = self.runs.last_mut().filter(|(last, _)| *last == value) {
            let more = times.min(usize::from(u16::MAX - *length));
            *length += more as u16;
            times -= more;
        }
        while times > 0 {
            let most = times.min(usize::from(u16::MAX));
            self.runs.push((value, most as u16));
            times -= most;
        }
    }

    /// Makes it so long, with zeros.
    pub fn widen(&mut self, len: usize) {
        self.push(T::default(), len.saturating_sub(self.len));
    }

    /// Values with how often they repeat; one that repeats for very long stands there several times.
    #[must_use]
    pub fn runs(&self) -> &[(T, u16)] {
        &self.runs
    }

    /// Values in all.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// All values.
    #[must_use]
    pub fn values(&self) -> Vec<T> {
        let repeated = |&(value, times): &(T, u16)| std::iter::repeat_n(value, times.into());
        self.runs.iter().flat_map(repeated).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::Runs;

    #[test]
    fn equal_values_are_one_run_wherever_they_came_from() {
        let mut runs = Runs::default();
        runs.extend(&[1, 1, 2]);
        runs.extend(&[2; 70]);
        runs.push(3, 0);
        runs.widen(75);
        runs.extend(&[0, 4]);
        assert_eq!(runs.runs(), [(1, 2), (2, 71), (0, 3), (4, 1)]);
        assert_eq!((runs.len(), runs.is_empty()), (77, false));
        runs.widen(7);
        assert_eq!(runs.values(), [vec![1; 2], vec![2; 71], vec![0; 3], vec![4]].concat());
    }

    #[test]
    fn a_run_longer_than_its_length_can_say_is_several() {
        let mut runs = Runs::default();
        runs.push(7u8, 65_000);
        runs.push(7, 70_000);
        assert_eq!(runs.runs(), [(7, 65_535), (7, 65_535), (7, 3_930)]);
        assert_eq!(runs.values(), vec![7; 135_000]);
    }
}

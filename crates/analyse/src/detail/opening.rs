//! Opens and closes for drawing: of very many the longest, which are those that one looks for.

use crate::{Job, Opening};

/// Opens and closes of a job, in the order of time.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Openings {
    /// At most as many as were asked for.
    pub list: Vec<Opening>,
    /// How many there are.
    pub all: u64,
}

impl Openings {
    /// The longest opens and closes of a job.
    pub(super) fn of(job: &Job, most: usize) -> Openings {
        let mut list = job.opens.clone();
        if list.len() > most {
            list.sort_by(|a, b| (b.end - b.start).total_cmp(&(a.end - a.start)));
            list.truncate(most);
        }
        list.sort_by(|a, b| a.start.total_cmp(&b.start));
        Openings { list, all: job.opens.len() as u64 }
    }
}

#[cfg(test)]
mod tests {
    use super::Openings;
    use crate::{Job, Layer, Opening};

    #[test]
    fn of_too_many_the_longest_are_kept_in_the_order_of_time() {
        let mut job = Job::default();
        for (start, took) in [(3.0, 0.5), (1.0, 2.0), (2.0, 0.1)] {
            let (file, rank, layer, close) = (0, 0, Layer::Posix, false);
            let (end, place) = (start + took, None);
            job.opens.push(Opening { file, rank, layer, close, start, end, place });
        }
        let found = Openings::of(&job, 2);
        let starts: Vec<f64> = found.list.iter().map(|one| one.start).collect();
        assert_eq!((starts, found.all), (vec![1.0, 3.0], 3));
    }
}

//! Nodes over time: bytes and calls of all ranks of a host, in equal steps.

use std::collections::BTreeMap;

use super::Budget;
use super::span::Steps;
use crate::{Direction, Job, Layer};

/// What each node did.
#[derive(Debug, Clone, PartialEq)]
pub struct Nodes {
    /// Through what: POSIX where that was traced.
    pub layer: Layer,
    /// The hosts, by name.
    pub hosts: Vec<String>,
    /// Neighbouring hosts that share a row of the picture.
    pub per_row: usize,
    /// Steps of time.
    pub bins: usize,
    /// Bytes read, then written: row by row, step by step.
    pub bytes: [Vec<f32>; 2],
    /// Calls that began, the same way.
    pub calls: [Vec<f32>; 2],
}

impl Nodes {
    /// From traced calls of ranks whose host is known; `None` where there are none.
    pub(super) fn of(job: &Job, end: f64, budget: Budget) -> Option<Nodes> {
        if job.hosts.is_empty() || job.trace.is_empty() || end <= 0.0 || budget.rows == 0 {
            return None;
        }
        let mut hosts: Vec<String> = job.hosts.values().cloned().collect();
        hosts.sort();
        hosts.dedup();
        let place: BTreeMap<&str, usize> = hosts.iter().map(String::as_str).zip(0..).collect();
        let of: BTreeMap<u32, usize> = job
            .hosts
            .iter()
            .filter_map(|(rank, host)| Some((*rank, *place.get(host.as_str())?)))
            .collect();
        let layer = lowest(job)?;
        let per_row = hosts.len().div_ceil(budget.rows).max(1);
        let bins = (budget.bins / 4).max(1);
        let cells = hosts.len().div_ceil(per_row) * bins;
        let steps = Steps::new(end, bins);
        let mut bytes = [vec![0.0; cells], vec![0.0; cells]];
        let mut calls = bytes.clone();
        for row in job.trace.rows().filter(|row| row.layer == layer) {
            let Some(host) = of.get(&row.rank) else { continue };
            let (way, from) =
                (usize::from(row.direction == Direction::Write), host / per_row * bins);
            calls[way][from + steps.place(row.start)] += 1.0;
            let share = steps.share(row.start, row.end);
            share.add(&mut bytes[way][from..], row.length as f64);
        }
        Some(Nodes { layer, hosts, per_row, bins, bytes, calls })
    }
}

/// POSIX, which nearly every byte passes; else the lowest layer that was traced.
fn lowest(job: &Job) -> Option<Layer> {
    let order = [
        Layer::Posix,
        Layer::Mpiio,
        Layer::Stdio,
        Layer::Dfs,
        Layer::Daos,
        Layer::H5d,
        Layer::Pnetcdf,
    ];
    order.into_iter().find(|layer| job.trace.has(*layer))
}

#[cfg(test)]
mod tests {
    use super::super::{Budget, Detail};
    use crate::{Direction, Job, Layer, TraceRow};
    use netra_event::{RecordId, Seconds};

    #[test]
    fn ranks_of_one_host_add_up() {
        let mut job = Job { run_time: Seconds(4.0), nprocs: 3, ..Job::default() };
        let file = job.trace.file(RecordId(1));
        for (rank, host) in [(0, "b"), (1, "a"), (2, "b")] {
            job.hosts.insert(rank, host.into());
            let (layer, direction, offset, length) = (Layer::Posix, Direction::Read, 0, 100);
            let (start, end) = (1.0, 3.0);
            job.trace.push(TraceRow { file, rank, layer, direction, start, end, offset, length });
        }
        let budget = Budget { bins: 16, rows: 4, marks: 9, conflicts: 0 };
        let nodes = Detail::of(&job, budget).nodes.unwrap();
        assert_eq!((&nodes.hosts[..], nodes.per_row), (&["a".to_owned(), "b".into()][..], 1));
        assert_eq!(nodes.bytes[0], [0.0, 50.0, 50.0, 0.0, 0.0, 100.0, 100.0, 0.0]);
        assert_eq!(nodes.calls[0], [0.0, 1.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0]);
    }
}

//! Which number each process of a job has in its log.
//!
//! A rank of MPI keeps its number. Other processes (the launcher, what a script starts, an image
//! that was replaced) get those behind the ranks, in the order in which they began, so that no two
//! have the same. A process that counted nothing needs none, nor does a launcher or another process
//! beside the ranks that neither read nor wrote: its records stay in its segment.

use std::collections::BTreeMap;

use netra_event::{Nanos, Rank};

use crate::source::Piece;

/// The numbers of pieces, which are in the order of their start, and how many processes there are.
pub(super) fn number(pieces: &[Piece]) -> (Vec<Option<Rank>>, u32) {
    let mut numbers = vec![None; pieces.len()];
    let ranked = pieces.iter().any(|piece| piece.counted && piece.rank.is_some());
    let nobody = pieces.iter().all(|piece| !piece.counted);
    let counted = |piece: &Piece| match piece.rank {
        _ if ranked && piece.is_launcher() => false,
        None if ranked => piece.moved,
        _ => piece.counted || nobody,
    };
    // Of several images with one rank, as a script and what it starts leave them, the one that MPI
    // gave it to is the rank, else the one with most I/O; of equals the first.
    let mut best: BTreeMap<u32, (bool, bool, Nanos, usize)> = BTreeMap::new();
    for (at, piece) in pieces.iter().enumerate().filter(|(_, piece)| counted(piece)) {
        let Some(rank) = piece.rank else { continue };
        let weight = (piece.from_mpi, piece.moved, piece.io);
        let known = best.entry(rank).or_insert((weight.0, weight.1, weight.2, at));
        if (known.0, known.1, known.2) < weight {
            *known = (weight.0, weight.1, weight.2, at);
        }
    }
    for (&rank, &(.., at)) in &best {
        if let Some(number) = numbers.get_mut(at) {
            *number = Some(Rank(i64::from(rank)));
        }
    }
    let known = pieces.iter().filter_map(|piece| piece.nprocs).max().unwrap_or(0);
    let ranks = best.keys().map(|&rank| rank.saturating_add(1)).max().unwrap_or(0);
    let mut next = known.max(ranks);
    for (piece, number) in pieces.iter().zip(&mut numbers) {
        // What is not a rank and moved nothing beside ranks is left to its segment.
        if number.is_none() && counted(piece) && (piece.moved || !ranked) {
            *number = Some(Rank(i64::from(next)));
            next = next.saturating_add(1);
        }
    }
    (numbers, next.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{Kind, Life};

    #[track_caller]
    fn check(pieces: &[(Option<u32>, Option<u32>, bool)], want: &[Option<i64>], nprocs: u32) {
        let pieces: Vec<_> =
            pieces.iter().map(|&(rank, size, did)| (rank, size, did, did)).collect();
        check_moved(&pieces, want, nprocs);
    }

    /// Rank, number of ranks, whether it counted anything, whether it moved data.
    type Row = (Option<u32>, Option<u32>, bool, bool);

    #[track_caller]
    fn check_moved(pieces: &[Row], want: &[Option<i64>], nprocs: u32) {
        let pieces: Vec<Piece> = pieces.iter().map(piece).collect();
        let want: Vec<Option<Rank>> = want.iter().map(|number| number.map(Rank)).collect();
        assert_eq!(number(&pieces), (want, nprocs));
    }

    fn piece(&(rank, nprocs, counted, moved): &Row) -> Piece {
        Piece {
            path: "a".into(),
            kind: Kind::Segment,
            job: Vec::new(),
            job_id: 0,
            pid: 1,
            namespace: None,
            started: None,
            uid: 0,
            host: Vec::new(),
            command: Vec::new(),
            rank,
            from_mpi: false,
            nprocs,
            start: Nanos(0),
            recorded: Nanos(0),
            log: None,
            state: None,
            life: Life::Over,
            counted,
            moved,
            io: Nanos(u64::from(moved)),
            events: 0,
            dropped: Vec::new(),
            notes: Vec::new(),
            mapped: Vec::new(),
            flags: 0,
            kept: None,
        }
    }

    #[test]
    fn ranks_stay_and_others_follow_them() {
        let (ranked, plain) = (|rank| (Some(rank), Some(3), true), (None, None, true));
        check(
            &[plain, ranked(1), ranked(0), ranked(1), plain],
            &[Some(3), Some(1), Some(0), Some(4), Some(5)],
            6,
        );
    }

    #[test]
    fn a_launcher_that_moved_nothing_is_no_process_of_the_job() {
        let ranked = |rank| (Some(rank), Some(2), true);
        check(&[(None, None, false), ranked(0), ranked(1)], &[None, Some(0), Some(1)], 2);
    }

    #[test]
    fn a_launcher_that_moved_bytes_is_none_either() {
        let mut pieces = [(None, true), (Some(0), true), (Some(1), true), (None, true)]
            .map(|(rank, did)| piece(&(rank, Some(2), did, did)));
        pieces[0].command = b"/usr/bin/mpirun.openmpi -n 2 ./app".to_vec();
        pieces[3].command = b"./after out.dat".to_vec();
        let (numbers, nprocs) = number(&pieces);
        assert_eq!(numbers, [None, Some(Rank(0)), Some(Rank(1)), Some(Rank(2))]);
        assert_eq!(nprocs, 3);
    }

    #[test]
    fn who_mpi_gave_the_rank_to_is_the_rank() {
        // A script that wrote something and then became, or started, the program.
        let mut pieces = [(Some(0), true), (Some(0), true), (Some(1), true)]
            .map(|(rank, did)| piece(&(rank, Some(2), did, did)));
        pieces[1].from_mpi = true;
        pieces[2].from_mpi = true;
        let (numbers, nprocs) = number(&pieces);
        assert_eq!(numbers, [Some(Rank(2)), Some(Rank(0)), Some(Rank(1))]);
        assert_eq!(nprocs, 3);
    }

    #[test]
    fn the_image_that_moved_data_is_the_rank() {
        let (shell, program) = ((Some(0), Some(1), true, false), (Some(0), Some(1), true, true));
        check_moved(&[shell, program], &[None, Some(0)], 1);
        check_moved(&[program, shell, program], &[Some(0), None, Some(1)], 2);
        check_moved(&[shell, shell], &[Some(0), None], 1);
    }

    #[test]
    fn of_what_a_launcher_started_the_one_with_most_io_is_the_rank() {
        // A shim that read a file, and became or started the program.
        let mut pieces = [(Some(0), true), (Some(0), true), (Some(0), true)]
            .map(|(rank, did)| piece(&(rank, Some(1), did, did)));
        pieces[1].io = Nanos(1_000_000);
        let (numbers, nprocs) = number(&pieces);
        assert_eq!((numbers, nprocs), (vec![Some(Rank(1)), Some(Rank(0)), Some(Rank(2))], 3));
    }

    #[test]
    fn a_rank_that_never_came_keeps_its_place() {
        check(&[(Some(1), Some(4), true)], &[Some(1)], 4);
    }

    #[test]
    fn processes_without_mpi_are_counted_as_they_began() {
        check(
            &[(None, None, true), (None, None, false), (None, None, true)],
            &[Some(0), None, Some(1)],
            2,
        );
    }

    #[test]
    fn a_job_that_counted_nothing_still_has_a_process() {
        check(&[(None, None, false)], &[Some(0)], 1);
        check(&[], &[], 1);
    }
}

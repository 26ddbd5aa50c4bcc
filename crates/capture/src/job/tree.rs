//! Who tells whom: a binomial tree over the ranks, with rank 0 at the top.
//!
//! The ranks below and including rank `r` follow each other without a gap, so sums that are handed down the
//! tree in the order of children are sums in the order of ranks.

/// A rank's place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tree {
    pub(super) rank: u32,
    pub(super) size: u32,
}

/// The most children that a rank has.
pub(super) const CHILDREN: usize = 32;

impl Tree {
    /// The rank above; none above rank 0.
    pub(super) fn parent(self) -> Option<u32> {
        // Its number without the lowest bit.
        (self.rank != 0).then_some(self.rank & self.rank.wrapping_sub(1))
    }

    /// The ranks below, in ascending order: each one's own tree is twice as large as that before.
    pub(super) fn children(self) -> impl DoubleEndedIterator<Item = u32> {
        let Tree { rank, size } = self;
        let most = if rank == 0 { u32::BITS } else { rank.trailing_zeros() };
        let child = move |bit: u32| rank.checked_add(1_u32.checked_shl(bit)?);
        (0..most).filter_map(child).filter(move |&child| child < size)
    }

    /// Ranks in the tree below this one, with itself.
    pub(super) fn ranks(self) -> u64 {
        let below = if self.rank == 0 { self.size } else { 1 << self.rank.trailing_zeros() };
        u64::from(below.min(self.size.saturating_sub(self.rank)))
    }

    /// The place of another rank.
    pub(super) fn at(self, rank: u32) -> Tree {
        Tree { rank, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::Tree;

    #[test]
    fn every_rank_is_reached_once_and_in_order() {
        for size in [1, 2, 3, 4, 7, 8, 64, 100] {
            let mut order = Vec::new();
            let mut steps = Vec::new();
            walk(Tree { rank: 0, size }, 0, &mut order, &mut steps);
            assert_eq!(order, (0..size).collect::<Vec<u32>>(), "{size}");
            let deepest = steps.into_iter().max().unwrap();
            assert!(deepest <= size.next_power_of_two().trailing_zeros(), "{size}: {deepest}");
        }
    }

    fn walk(tree: Tree, step: u32, order: &mut Vec<u32>, steps: &mut Vec<u32>) {
        let before = order.len();
        order.push(tree.rank);
        steps.push(step);
        for child in tree.children() {
            assert_eq!(tree.at(child).parent(), Some(tree.rank));
            walk(tree.at(child), step + 1, order, steps);
        }
        assert_eq!((order.len() - before) as u64, tree.ranks());
    }
}

//! Who started whom, and a name for each process that is the same in every run: `0` is the command, `0.2`
//! the third process that it started, `0.2t1` that one's second thread beside its first.

use std::collections::BTreeMap;

/// A process's or thread's number in one run.
pub(crate) type Id = u32;

/// Starts of processes and threads, in the order in which each parent made them.
#[derive(Debug, Default)]
pub(crate) struct Family {
    children: BTreeMap<Id, Vec<(Id, bool)>>,
}

impl Family {
    /// Notes a start.
    pub(crate) fn started(&mut self, parent: Id, child: Id, is_thread: bool) {
        self.children.entry(parent).or_default().push((child, is_thread));
    }

    /// The processes that one started, threads apart.
    pub(crate) fn processes_of(&self, parent: Id) -> impl Iterator<Item = Id> {
        let children = self.children.get(&parent).into_iter().flatten();
        children.filter(|(_, is_thread)| !is_thread).map(|(child, _)| *child)
    }

    /// Whether one was started by another of the family.
    pub(crate) fn is_child(&self, id: Id) -> bool {
        self.children.values().flatten().any(|(child, _)| *child == id)
    }

    /// Everyone from `root` down with a name each.
    pub(crate) fn names(&self, root: Id) -> BTreeMap<Id, String> {
        let mut names = BTreeMap::new();
        let mut waiting = vec![(root, "0".to_owned())];
        while let Some((id, name)) = waiting.pop() {
            let (mut processes, mut threads) = (0, 0);
            for &(child, is_thread) in self.children.get(&id).into_iter().flatten() {
                let (mark, number) =
                    if is_thread { ('t', &mut threads) } else { ('.', &mut processes) };
                waiting.push((child, format!("{name}{mark}{number}")));
                *number += 1;
            }
            names.insert(id, name);
        }
        names
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_the_order_of_starts() {
        let mut family = Family::default();
        for (parent, child, thread) in
            [(7, 20, false), (7, 15, true), (7, 9, false), (9, 30, false)]
        {
            family.started(parent, child, thread);
        }
        let names = family.names(7);
        let names: Vec<_> = names.iter().map(|(id, name)| (*id, name.as_str())).collect();
        assert_eq!(names, [(7, "0"), (9, "0.1"), (15, "0t0"), (20, "0.0"), (30, "0.1.0")]);
        assert!(family.is_child(30) && !family.is_child(7));
    }
}

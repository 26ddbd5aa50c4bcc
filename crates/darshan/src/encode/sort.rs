//! Sorting inside an application.

/// Sorts in place. The library's sorts may panic when keys change under them, as those of a running
/// process can; this one then only leaves them unsorted.
pub fn heap_sort(places: &mut [u64], key: impl Fn(u64) -> u64) {
    let length = places.len();
    for root in (0..length / 2).rev() {
        sift(places, root, length, &key);
    }
    for end in (1..length).rev() {
        swap(places, 0, end);
        sift(places, 0, end, &key);
    }
}

fn swap(places: &mut [u64], one: usize, other: usize) {
    if let Ok([one, other]) = places.get_disjoint_mut([one, other]) {
        core::mem::swap(one, other);
    }
}

/// Lets the value at `root` sink until no child is larger.
fn sift(places: &mut [u64], mut root: usize, end: usize, key: &impl Fn(u64) -> u64) {
    let value = |places: &[u64], at: usize| places.get(at).map_or(0, |&place| key(place));
    loop {
        let left = root.saturating_mul(2).saturating_add(1);
        let right = left.saturating_add(1);
        if left >= end {
            return;
        }
        let larger = right < end && value(places, right) > value(places, left);
        let child = if larger { right } else { left };
        if value(places, child) <= value(places, root) {
            return;
        }
        swap(places, root, child);
        root = child;
    }
}

//! Does what a job feels go with what the system does? Two series over the same steps of time, and how
//! likely it is that they only happen to look alike.
//!
//! Values are compared by rank (Spearman), because a single stalled call must not decide. The system may
//! lead or follow by a few steps. Neighbouring steps are much alike, so there is less evidence in a series
//! than it has steps: the effective number of steps is taken from both series' own memory, and
//! everything that was asked besides counts against the answer (Bonferroni).

mod student;

/// Steps that must have both values.
pub const LEAST_STEPS: usize = 16;
/// A weaker relation is not worth a sentence.
pub const STRONG: f64 = 0.6;
/// A likelier chance is none that one should believe in.
pub const CHANCE: f64 = 0.01;

/// How two series go together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Correlation {
    /// From -1 to 1, by rank.
    pub value: f64,
    /// By how many steps the second series is ahead of the first; negative where it follows.
    pub lead: i64,
    /// How likely two series that have nothing to do with each other are as alike, with
    /// everything counted that was asked.
    pub chance: f64,
    /// Steps that had both values.
    pub steps: usize,
}

impl Correlation {
    /// Whether it is worth a sentence.
    #[must_use]
    pub fn is_strong(&self) -> bool {
        self.value.abs() >= STRONG && self.chance <= CHANCE
    }
}

/// Compares two series, the second shifted by up to `most` steps either way, as one of `questions` that
/// are asked at the same time. Nothing where there are too few steps, or one never changes.
#[must_use]
pub fn correlate(
    felt: &[Option<f64>],
    system: &[Option<f64>],
    most: usize,
    questions: usize,
) -> Option<Correlation> {
    let shifts = -(most as i64)..=most as i64;
    let asked = (2 * most + 1).saturating_mul(questions.max(1)) as f64;
    let mut best: Option<Correlation> = None;
    for lead in shifts {
        let Some((value, chance, steps)) = shifted(felt, system, lead) else { continue };
        let found = Correlation { value, lead, chance: (chance * asked).min(1.0), steps };
        // Of equals the one with the smaller shift.
        let better = best.is_none_or(|known| {
            (found.chance, found.lead.abs()) < (known.chance, known.lead.abs())
                || (found.chance == known.chance && found.value.abs() > known.value.abs())
        });
        if better {
            best = Some(found);
        }
    }
    best
}

/// Value, chance and steps at one shift.
fn shifted(felt: &[Option<f64>], system: &[Option<f64>], lead: i64) -> Option<(f64, f64, usize)> {
    let mut pairs = Vec::new();
    for (at, felt) in felt.iter().enumerate() {
        let other = usize::try_from(at as i64 - lead).ok().and_then(|other| system.get(other));
        if let (Some(felt), Some(Some(system))) = (felt, other) {
            pairs.push((*felt, *system));
        }
    }
    if pairs.len() < LEAST_STEPS {
        return None;
    }
    let first = ranks(pairs.iter().map(|pair| pair.0));
    let second = ranks(pairs.iter().map(|pair| pair.1));
    let value = product_moment(&first, &second)?;
    let memory = product_moment(&first[1..], &first[..first.len() - 1]).unwrap_or(0.0)
        * product_moment(&second[1..], &second[..second.len() - 1]).unwrap_or(0.0);
    let count = pairs.len() as f64;
    // Bretherton and others 1999; a negative product would claim more than was measured.
    let effective = count * (1.0 - memory.max(0.0)) / (1.0 + memory.max(0.0));
    let freedom = effective - 2.0;
    if freedom < 1.0 {
        return Some((value, 1.0, pairs.len()));
    }
    let rest = (1.0 - value * value).max(f64::EPSILON);
    let t = value * (freedom / rest).sqrt();
    Some((value, student::two_sided(t, freedom), pairs.len()))
}

/// The place of each value in the order of all; equal values share the mean of their places.
fn ranks(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let values: Vec<f64> = values.collect();
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut ranks = vec![0.0; values.len()];
    let mut at = 0;
    while at < order.len() {
        let same = order[at..].iter().take_while(|&&i| values[i] == values[order[at]]).count();
        let mean = at as f64 + (same as f64 - 1.0) / 2.0;
        for &i in &order[at..at + same.max(1)] {
            ranks[i] = mean;
        }
        at += same.max(1);
    }
    ranks
}

/// Pearson's coefficient; nothing where one of them never changes.
fn product_moment(a: &[f64], b: &[f64]) -> Option<f64> {
    let count = a.len() as f64;
    let (mean_a, mean_b) = (a.iter().sum::<f64>() / count, b.iter().sum::<f64>() / count);
    let (mut both, mut own, mut other) = (0.0, 0.0, 0.0);
    for (x, y) in a.iter().zip(b) {
        let (x, y) = (x - mean_a, y - mean_b);
        both += x * y;
        own += x * x;
        other += y * y;
    }
    (own > 0.0 && other > 0.0).then(|| (both / (own * other).sqrt()).clamp(-1.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers without any order, the same every time.
    fn noise(seed: u64, count: usize) -> Vec<f64> {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) as f64 / (1u64 << 53) as f64
        };
        (0..count).map(|_| next()).collect()
    }

    fn series(values: &[f64]) -> Vec<Option<f64>> {
        values.iter().map(|value| Some(*value)).collect()
    }

    #[test]
    fn a_hog_that_comes_and_goes_is_found_with_its_shift() {
        let on = |at: usize| f64::from(u8::from((at / 7).is_multiple_of(2)));
        let noise = [noise(3, 60), noise(4, 60)];
        let system: Vec<f64> = (0..60).map(|at| 100.0 * on(at) + noise[0][at]).collect();
        // What the job feels comes two steps later.
        let felt: Vec<f64> =
            (0..60).map(|at: usize| 5.0 * on(at.saturating_sub(2)) + noise[1][at]).collect();
        let found = correlate(&series(&felt), &series(&system), 3, 20).unwrap();
        assert_eq!((found.lead, found.steps), (2, 58));
        assert!(found.is_strong(), "{found:?}");
        assert!(found.value > 0.7, "{found:?}");
    }

    #[test]
    fn series_without_a_relation_are_not_strong() {
        for seed in 1..60 {
            let (a, b) = (noise(seed, 80), noise(seed + 100, 80));
            let found = correlate(&series(&a), &series(&b), 3, 20).unwrap();
            assert!(!found.is_strong(), "{seed}: {found:?}");
        }
    }

    /// Two lines that rise are as alike as can be, and say nothing: each is one piece of evidence.
    #[test]
    fn two_slow_drifts_are_no_evidence() {
        let (a, b): (Vec<f64>, Vec<f64>) = (0..40).map(|at| (at as f64, 3.0 * at as f64)).unzip();
        let found = correlate(&series(&a), &series(&b), 0, 1).unwrap();
        assert_eq!(found.value, 1.0);
        assert!(!found.is_strong(), "{found:?}");
    }

    #[test]
    fn one_outlier_decides_nothing() {
        let (mut a, mut b) = (noise(7, 50), noise(8, 50));
        (a[20], b[20]) = (1e9, 1e9);
        assert!(!correlate(&series(&a), &series(&b), 0, 1).unwrap().is_strong());
    }

    #[test]
    fn too_few_steps_and_flat_lines_give_nothing() {
        let flat = vec![Some(1.0); 40];
        assert_eq!(correlate(&flat, &series(&noise(1, 40)), 2, 1), None);
        assert_eq!(correlate(&series(&noise(2, 15)), &series(&noise(1, 15)), 0, 1), None);
        let mut holes = series(&noise(2, 40));
        holes.iter_mut().step_by(2).for_each(|value| *value = None);
        let found = correlate(&holes, &series(&noise(1, 40)), 0, 1).unwrap();
        assert_eq!(found.steps, 20);
    }

    #[test]
    fn equal_values_share_their_rank() {
        assert_eq!(ranks([5.0, 1.0, 5.0, 9.0].into_iter()), [1.5, 0.0, 1.5, 3.0]);
    }
}

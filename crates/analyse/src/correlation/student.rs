//! Student's distribution: how likely a value as large as this is by chance.

/// The chance of a value at least as far from zero as `t`, either way.
pub(super) fn two_sided(t: f64, freedom: f64) -> f64 {
    if t == 0.0 {
        return 1.0;
    }
    incomplete_beta(freedom / 2.0, 0.5, freedom / (freedom + t * t)).clamp(0.0, 1.0)
}

/// The regularised incomplete beta function, by its continued fraction.
fn incomplete_beta(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    let front =
        (ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (1.0 - x).ln()).exp();
    // The fraction converges quickly on one side of the mean; the other follows by symmetry.
    if x < (a + 1.0) / (a + b + 2.0) {
        front * fraction(a, b, x) / a
    } else {
        1.0 - front * fraction(b, a, 1.0 - x) / b
    }
}

/// Lentz's way to evaluate it; 200 terms are more than any argument here needs.
fn fraction(a: f64, b: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let kept = |value: f64| if value.abs() < TINY { TINY } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / kept(1.0 - (a + b) * x / (a + 1.0));
    let mut sum = d;
    for term in 1..200 {
        let m = f64::from(term);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        d = 1.0 / kept(1.0 + even * d);
        c = kept(1.0 + even / c);
        sum *= d * c;
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        d = 1.0 / kept(1.0 + odd * d);
        c = kept(1.0 + odd / c);
        let step = d * c;
        sum *= step;
        if (step - 1.0).abs() < 1e-12 {
            break;
        }
    }
    sum
}

/// The logarithm of the gamma function (Lanczos, g = 7), for positive arguments.
fn ln_gamma(x: f64) -> f64 {
    const TERMS: [f64; 8] = [
        676.520_368_121_885_1,
        -1_259.139_216_722_402_8,
        771.323_428_777_653_1,
        -176.615_029_162_140_6,
        12.507_343_278_686_905,
        -0.138_571_095_265_720_12,
        9.984_369_578_019_572e-6,
        1.505_632_735_149_311_6e-7,
    ];
    let x = x - 1.0;
    let mut sum = 0.999_999_999_999_809_9;
    for (at, term) in TERMS.iter().enumerate() {
        sum += term / (x + at as f64 + 1.0);
    }
    let t = x + 7.5;
    0.5 * (2.0 * std::f64::consts::PI).ln() + (x + 0.5) * t.ln() - t + sum.ln()
}

#[cfg(test)]
mod tests {
    use super::two_sided;

    /// Against tables of Student's distribution.
    #[test]
    fn chances_equal_the_tables() {
        for (t, freedom, chance) in [
            (12.706, 1.0, 0.05),
            (2.228, 10.0, 0.05),
            (3.169, 10.0, 0.01),
            (2.042, 30.0, 0.05),
            (3.646, 30.0, 0.001),
            (1.960, 1e6, 0.05),
        ] {
            let found = two_sided(t, freedom);
            assert!((found - chance).abs() < chance * 0.005, "{t} {freedom}: {found}");
        }
        assert_eq!(two_sided(0.0, 5.0), 1.0);
        assert!(two_sided(-2.228, 10.0) - two_sided(2.228, 10.0) == 0.0);
    }
}

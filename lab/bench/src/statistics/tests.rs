//! Compared with scipy 1.17 on the same samples: `median`, `median_abs_deviation`, `quantile_test`,
//! `mannwhitneyu`.

use super::*;

#[test]
fn summaries_agree_with_scipy() {
    let cases: [(&[f64], [f64; 4]); 3] = [
        (&[1.1092, 1.2795, 1.1042, 0.6764, 1.3121, 1.1433], [1.12625, 0.08765, 0.6764, 1.3121]),
        (
            &[0.8512, 1.1905, 1.1156, 1.0922, 1.0086, 1.1782, 0.8018, 0.9523, 0.8653],
            [1.0086, 0.1433, 0.8512, 1.1782],
        ),
        (
            &[
                1.1968, 1.012, 0.916, 0.7909, 0.9257, 1.0024, 0.9206, 1.4744, 1.3526, 0.4434, 0.5674, 0.9489,
                0.881, 1.0662, 1.0674, 1.8877, 0.7163, 0.8929, 1.8456, 1.2141,
            ],
            [0.97565, 0.1397, 0.8929, 1.1968],
        ),
    ];
    for (samples, expected) in cases {
        let Summary { count, median, mad, min, interval } = Summary::of(samples).unwrap();
        let (low, high) = interval.unwrap();
        for (found, expected) in [median, mad, low, high].into_iter().zip(expected) {
            assert!((found - expected).abs() < 1e-12, "{found} is not {expected}");
        }
        assert_eq!(count, samples.len());
        assert_eq!(min, samples.iter().copied().fold(f64::INFINITY, f64::min));
    }
}

#[test]
fn intervals_of_many_samples_agree_with_scipy() {
    for (count, expected) in
        [(101, (41.0, 61.0)), (1000, (469.0, 532.0)), (1500, (712.0, 789.0)), (5000, (2431.0, 2570.0))]
    {
        let samples: Vec<f64> = (1..=count).rev().map(f64::from).collect();
        assert_eq!(Summary::of(&samples).unwrap().interval, Some(expected), "{count} samples");
    }
}

#[test]
fn few_samples_have_no_interval() {
    assert_eq!(Summary::of(&[]), None);
    assert_eq!(Summary::of(&[1.0, f64::NAN]), None);
    assert_eq!(Summary::of(&[1.0; 5]).unwrap().interval, None);
    assert_eq!(Summary::of(&[1.0; 6]).unwrap().interval, Some((1.0, 1.0)));
    assert_eq!(Summary::of(&[2.0]).unwrap().median, 2.0);
    assert_eq!(Ratio::of(&[1.0; 3], &[2.0; 3]).unwrap().interval, None);
    assert_eq!(Ratio::of(&[], &[2.0]), None);
    assert_eq!(Ratio::of(&[0.0], &[2.0]), None);
}

#[test]
fn rank_sum_distributions_agree_with_scipy() {
    let cases = [
        (3, 4, 1, 0.05714285714285714),
        (5, 5, 2, 0.015873015873015872),
        (8, 7, 10, 0.020046620046620046),
        (20, 30, 200, 0.024064731658852433),
        (50, 50, 900, 0.0077619726153560255),
    ];
    for (first, second, u, expected) in cases {
        let found: f64 = rank_sum_distribution(first, second)[..=u].iter().sum();
        assert!((found - expected).abs() < 1e-12, "P(U <= {u}) of {first} and {second}: {found}");
    }
    let all: f64 = rank_sum_distribution(50, 37).iter().sum();
    assert!((all - 1.0).abs() < 1e-12);
}

#[test]
fn a_ratios_interval_agrees_with_scipys_test() {
    let base = [0.9685, 0.9093, 1.0007, 0.8937, 0.8965, 1.1568, 0.9947, 0.9946, 1.0525];
    let other =
        [0.785, 0.8002, 0.8543, 0.8422, 0.7291, 0.8899, 0.7718, 0.7367, 0.7482, 0.7874, 0.9634, 0.7279];
    let ratio = Ratio::of(&base, &other).unwrap();
    // The p-value of mannwhitneyu(base, r * other, method='exact') is 0.049 just outside of these, and 0.058
    // just inside.
    let (low, high) = ratio.interval.unwrap();
    assert!((low - 1.1384713375796178).abs() < 1e-12 && (high - 1.3366776733553467).abs() < 1e-12);
    assert!((ratio.ratio - 1.2318140162812607).abs() < 1e-12);
    assert_eq!(ratio.verdict(0.01), Verdict::Faster);
    assert_eq!(Ratio::of(&other, &base).unwrap().verdict(0.01), Verdict::Slower);
    assert_eq!(ratio.verdict(0.5), Verdict::NoDifference);
}

#[test]
fn exact_and_normal_distributions_agree_at_the_limit() {
    let (exact, normal) = (outer_rank_sum(50, 50).unwrap(), outer_rank_sum(50, 51).unwrap());
    assert!(normal > exact && normal < exact + 40, "{exact}, {normal}");
}

#[test]
fn a_geometric_means_interval_has_the_means_of_the_rows_ends() {
    let ratio = |ratio, low, high| Ratio { ratio, interval: Some((low, high)) };
    let mean = GeometricMean::of(&[ratio(2.0, 1.0, 3.0), ratio(8.0, 4.0, 12.0)]).unwrap();
    let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a} is not {b}");
    close(mean.ratio.ratio, 4.0);
    let (low, high) = mean.ratio.interval.unwrap();
    close(low, 2.0);
    close(high, 6.0);
    assert_eq!((mean.rows, mean.least, mean.greatest), (2, 2.0, 8.0));
    // The mean of one row is the row, and repetitions of the row do not narrow the interval.
    let one = GeometricMean::of(&[ratio(2.0, 1.0, 4.0)]).unwrap();
    let same = GeometricMean::of(&[ratio(2.0, 1.0, 4.0); 100]).unwrap();
    close(one.ratio.interval.unwrap().0, 1.0);
    close(same.ratio.interval.unwrap().1, 4.0);
    // A row without an interval leaves the mean without one.
    let unsure = GeometricMean::of(&[ratio(2.0, 1.0, 3.0), Ratio { ratio: 8.0, interval: None }]).unwrap();
    assert_eq!(unsure.ratio.interval, None);
    assert_eq!(unsure.ratio.verdict(0.01), Verdict::Unsure);
    assert_eq!(GeometricMean::of(&[]), None);
}

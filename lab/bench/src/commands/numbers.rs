//! Formatting of numbers.

/// A time with three digits: `1.23 ms`.
pub(super) fn time(seconds: f64) -> String {
    let units = [(1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns")];
    let (unit, name) = units.into_iter().find(|(unit, _)| seconds >= *unit).unwrap_or((1e-9, "ns"));
    format!("{} {name}", three_digits(seconds / unit))
}

/// A count or a rate with three digits: `4.02 M`.
pub(super) fn scaled(number: f64) -> String {
    let units = [(1e15, " P"), (1e12, " T"), (1e9, " G"), (1e6, " M"), (1e3, " k")];
    let (unit, name) = units.into_iter().find(|(unit, _)| number >= *unit).unwrap_or((1.0, ""));
    format!("{}{name}", three_digits(number / unit))
}

/// A number rounded to three digits; all digits before the point are kept.
pub(super) fn three_digits(number: f64) -> String {
    let decimals = match number.abs() {
        number if number >= 99.95 => 0,
        number if number >= 9.995 => 1,
        _ => 2,
    };
    format!("{number:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_fit_the_numbers() {
        let times = [(12.34, "12.3 s"), (0.001234, "1.23 ms"), (0.9996, "1000 ms"), (4e-10, "0.40 ns")];
        for (seconds, text) in times {
            assert_eq!(time(seconds), text);
        }
        let numbers = [(4_021_000.0, "4.02 M"), (999.0, "999"), (1500.0, "1.50 k"), (2.5e9, "2.50 G")];
        for (number, text) in numbers {
            assert_eq!(scaled(number), text);
        }
    }
}

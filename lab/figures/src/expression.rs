//! Expressions over records: `plonk[chain-2e14.plonk.zkey, snarkjs].wall_median_s * 1000 : 2`.
//!
//! An operand is a number, `record[conditions].column`, `min(...)` or `max(...)`; `+ - * /` and parentheses combine them. A
//! reference to several rows may only be the operand of `min` or `max`. The rounding follows a colon: `3` for three
//! significant digits (digits before the point are never dropped), `.2` for two after the point. Without it, integers are
//! printed in full and other numbers with three significant digits.

use crate::records::Records;

/// The text for `source`: a rounded number, or the field itself if it is not a number.
pub(crate) fn evaluate(source: &str, records: &Records) -> Result<String, String> {
    let mut parser = Parser { rest: source, records };
    let value = parser.sum()?;
    let rounding = match parser.rest.trim() {
        "" => "",
        rest => rest.strip_prefix(':').ok_or_else(|| format!("{source}: {rest} is left over"))?.trim(),
    };
    match value {
        Value::Text(text) => Ok(text),
        value => {
            round(value.number()?, rounding).ok_or_else(|| format!("{source}: unknown rounding {rounding}"))
        }
    }
}

/// `source` without spaces and rounding: equal for two ways to write the same figure.
pub(crate) fn normalised(source: &str) -> String {
    let expression = source.rsplit_once(':').map_or(source, |(expression, _)| expression);
    let mut normalised = String::new();
    for (at, character) in expression.char_indices() {
        // Spaces within a condition are significant, those around it are not.
        let between_words =
            |characters: &str| characters.trim().ends_with(|c: char| c.is_alphanumeric() || c == '^');
        let next = expression[at..].trim_start().chars().next().unwrap_or(' ');
        if !character.is_whitespace() {
            normalised.push(character);
        } else if between_words(&normalised) && (next.is_alphanumeric()) && !normalised.ends_with(' ') {
            normalised.push(' ');
        }
    }
    normalised
}

/// The value of an operand.
enum Value {
    /// Numbers of one or several rows.
    Numbers(Vec<f64>),
    /// A field of one row that is not a number.
    Text(String),
}

impl Value {
    fn number(self) -> Result<f64, String> {
        match self {
            Self::Numbers(numbers) if numbers.len() == 1 && numbers[0].is_finite() => Ok(numbers[0]),
            Self::Numbers(numbers) if numbers.len() == 1 => Err("a division by zero".to_string()),
            Self::Numbers(numbers) => Err(format!("{} rows where one is expected", numbers.len())),
            Self::Text(text) => Err(format!("{text:?} is no number")),
        }
    }
}

struct Parser<'a> {
    rest: &'a str,
    records: &'a Records,
}

impl<'a> Parser<'a> {
    /// Consumes `token` if it is next.
    fn take(&mut self, token: char) -> bool {
        self.rest = self.rest.trim_start();
        let rest = self.rest.strip_prefix(token);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn expect(&mut self, token: char) -> Result<(), String> {
        if self.take(token) { Ok(()) } else { Err(format!("{token} expected before {:?}", self.rest)) }
    }

    /// Consumes characters as long as they satisfy `condition`.
    fn take_while(&mut self, condition: impl Fn(char) -> bool) -> &'a str {
        self.rest = self.rest.trim_start();
        let (taken, rest) = self.rest.split_at(self.rest.find(|c| !condition(c)).unwrap_or(self.rest.len()));
        self.rest = rest;
        taken
    }

    fn sum(&mut self) -> Result<Value, String> {
        let mut value = self.product()?;
        loop {
            value = Value::Numbers(vec![if self.take('+') {
                value.number()? + self.product()?.number()?
            } else if self.take('-') {
                value.number()? - self.product()?.number()?
            } else {
                return Ok(value);
            }]);
        }
    }

    fn product(&mut self) -> Result<Value, String> {
        let mut value = self.operand()?;
        loop {
            value = Value::Numbers(vec![if self.take('*') {
                value.number()? * self.operand()?.number()?
            } else if self.take('/') {
                value.number()? / self.operand()?.number()?
            } else {
                return Ok(value);
            }]);
        }
    }

    fn operand(&mut self) -> Result<Value, String> {
        if self.take('(') {
            let value = self.sum()?;
            self.expect(')')?;
            return Ok(value);
        }
        let word = self.take_while(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.');
        if word.starts_with(|c: char| c.is_ascii_digit()) {
            let number = word.parse().map_err(|_| format!("{word} is no number"))?;
            return Ok(Value::Numbers(vec![number]));
        }
        if word == "min" || word == "max" {
            return Ok(Value::Numbers(vec![self.extreme(word == "min")?]));
        }
        if word.is_empty() {
            return Err(format!("a figure expected before {:?}", self.rest));
        }
        self.field(word)
    }

    /// Parses the arguments of `min` or `max`; returns the least or largest of all their numbers.
    fn extreme(&mut self, least: bool) -> Result<f64, String> {
        self.expect('(')?;
        let mut all = Vec::new();
        loop {
            match self.sum()? {
                Value::Numbers(numbers) => all.extend(numbers),
                Value::Text(text) => return Err(format!("{text:?} is no number")),
            }
            if !self.take(',') {
                self.expect(')')?;
                return Ok(all
                    .into_iter()
                    .reduce(if least { f64::min } else { f64::max })
                    .unwrap_or(f64::NAN));
            }
        }
    }

    /// Parses `[conditions].column` after a record's name.
    fn field(&mut self, record: &str) -> Result<Value, String> {
        self.expect('[')?;
        let conditions: Vec<&str> = self.take_while(|c| c != ']').split(',').map(str::trim).collect();
        self.expect(']')?;
        self.expect('.')?;
        let column = self.take_while(|c| c.is_ascii_alphanumeric() || c == '_');
        let mut fields = self.records.fields(record, &conditions, column)?;
        let numbers: Result<_, _> = fields.iter().map(|field| field.parse()).collect();
        match numbers {
            Ok(numbers) => Ok(Value::Numbers(numbers)),
            Err(_) if fields.len() == 1 && !fields[0].is_empty() => Ok(Value::Text(fields.remove(0))),
            Err(_) => Err(format!(
                "{column} of {record}.csv [{}]: not a number in every row",
                conditions.join(", ")
            )),
        }
    }
}

/// `value`, rounded according to `rounding`, with commas between thousands.
fn round(value: f64, rounding: &str) -> Option<String> {
    let decimals = match (rounding, rounding.strip_prefix('.')) {
        ("", _) if value.fract() == 0.0 => 0,
        ("", _) => return round(value, "3"),
        (_, Some(decimals)) => decimals.parse().ok()?,
        (_, None) => {
            let digits: i32 = rounding.parse().ok().filter(|digits| (1..=15).contains(digits))?;
            // The exponent of the rounded number: 9.96 to two digits is 10.
            let scientific = format!("{:.*e}", digits as usize - 1, value);
            let exponent: i32 = scientific.split_once('e')?.1.parse().ok()?;
            usize::try_from(digits - 1 - exponent).unwrap_or(0)
        }
    };
    let text = format!("{value:.decimals$}");
    let (whole, fraction) = text.split_at(text.find('.').unwrap_or(text.len()));
    let mut grouped = String::new();
    for (at, digit) in whole.char_indices() {
        let left = whole.len() - at;
        if left % 3 == 0 && grouped.ends_with(|c: char| c.is_ascii_digit()) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    Some(grouped + fraction)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECORD: &str = "benchmark,implementation,threads,median_ms,against\n\
        hash by 1,blst,1,1.6,\n\
        hash by 1,adx,1,0.8,blst\n\
        hash by 8,adx,1,0.4,blst\n\
        hash by 8,adx,2,0.25,1 thread\n";

    fn all(sources: &[&str]) -> Vec<Result<String, String>> {
        let folder =
            std::env::temp_dir().join(format!("proofmill-figures-{}-{}", std::process::id(), sources.len()));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("hash.csv"), RECORD).unwrap();
        let records = Records::new(folder.clone());
        let results = sources.iter().map(|source| evaluate(source, &records)).collect();
        std::fs::remove_dir_all(folder).unwrap();
        results
    }

    #[test]
    fn values() {
        let cases = [
            ("hash[hash by 1, adx].median_ms", "0.800"),
            ("hash[hash by 1, blst].median_ms / hash[hash by 1,adx].median_ms:.1", "2.0"),
            ("hash[hash by 8, adx, 2].median_ms * 1000 : 3", "250"),
            ("hash[hash by 8, threads=2].median_ms:1", "0.2"),
            ("min(hash[*, adx].median_ms):.2", "0.25"),
            ("max(hash[*, adx].median_ms, 3 - 2 * 1):.0", "1"),
            ("(1 + 2) * 3 / 4 : 2", "2.2"),
            ("hash[hash by 1, adx].against", "blst"),
            ("1e6", "1,000,000"),
        ];
        let results = all(&cases.map(|(source, _)| source));
        for ((source, expected), result) in cases.iter().zip(results) {
            assert_eq!(result.as_deref(), Ok(*expected), "{source}");
        }
    }

    #[test]
    fn refusals() {
        let cases = [
            ("hash[hash by 8, adx].median_ms", "2 rows"),
            ("hash[hash by 2].median_ms", "no row"),
            ("hash[hash by 1, blst].median", "no column median"),
            ("hash[hash by 1, blst].against", "not a number"),
            ("hash[hash by 1, adx].against * 2", "no number"),
            ("none[a].b", "none.csv"),
            ("hash[hash by 1, adx].median_ms: x", "unknown rounding"),
            ("hash[hash by 1, adx].median_ms 3", "left over"),
            ("1 +", "figure expected"),
            ("1 / 0", "division by zero"),
            ("(1", ") expected"),
        ];
        let results = all(&cases.map(|(source, _)| source));
        for ((source, expected), result) in cases.iter().zip(results) {
            let error = result.expect_err(source);
            assert!(error.contains(expected), "{source}: {error}");
        }
    }

    #[test]
    fn rounding() {
        for (value, rounding, expected) in [
            (58.672, "2", "59"),
            (9.96, "2", "10"),
            (0.0996, "2", "0.10"),
            (2245.4, "3", "2,245"),
            (22.0, "", "22"),
            (22.46, "", "22.5"),
            (2428600.0, "3", "2,428,600"),
            (123456.7, ".1", "123,456.7"),
            (999.96, ".1", "1,000.0"),
            (100.0, ".0", "100"),
            (-1234.0, "3", "-1,234"),
        ] {
            assert_eq!(round(value, rounding).as_deref(), Some(expected));
        }
        assert_eq!(round(1.0, "0"), None);
    }

    #[test]
    fn spellings_of_one_figure() {
        let one = "hash[hash by 1,adx].median_ms*2";
        assert_eq!(normalised("hash[ hash by  1, adx ].median_ms * 2 : 3"), one);
        assert_eq!(normalised(one), one);
        assert_ne!(normalised("hash[hash by 11, adx].median_ms * 2"), one);
    }
}

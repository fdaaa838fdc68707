//! Rows of the CSV files in `lab/records`.

use std::{cell::RefCell, collections::HashMap, path::PathBuf, rc::Rc};

/// A record: one CSV file.
struct Record {
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
}

/// All records of a folder, each read on first use.
pub(crate) struct Records {
    folder: PathBuf,
    read: RefCell<HashMap<String, Rc<Record>>>,
}

impl Records {
    pub(crate) fn new(folder: PathBuf) -> Self {
        Self { folder, read: RefCell::default() }
    }

    /// The record with this name, which has no extension.
    fn record(&self, name: &str) -> Result<Rc<Record>, String> {
        if let Some(record) = self.read.borrow().get(name) {
            return Ok(record.clone());
        }
        let read = || {
            let mut reader = csv::Reader::from_path(self.folder.join(format!("{name}.csv")))?;
            let columns = reader.headers()?.iter().map(String::from).collect();
            let rows = reader.records().map(|row| Ok(row?.iter().map(String::from).collect()));
            Ok(Record { columns, rows: rows.collect::<Result<_, csv::Error>>()? })
        };
        let record = Rc::new(read().map_err(|error: csv::Error| format!("{name}.csv: {error}"))?);
        self.read.borrow_mut().insert(name.to_string(), record.clone());
        Ok(record)
    }

    /// The fields in `column` of the rows that meet all conditions; at least one.
    ///
    /// A condition is `column=value`, or only a value: that of the first column, the second, and so on. `*` in a value
    /// matches any text.
    pub(crate) fn fields(
        &self,
        name: &str,
        conditions: &[&str],
        column: &str,
    ) -> Result<Vec<String>, String> {
        let record = self.record(name)?;
        let index = |column: &str| {
            let columns = record.columns.join(", ");
            let found = record.columns.iter().position(|known| known == column);
            found.ok_or_else(|| format!("{name}.csv has no column {column}; it has {columns}"))
        };
        let mut wanted = Vec::new();
        for (position, condition) in conditions.iter().enumerate() {
            wanted.push(match condition.split_once('=') {
                Some((column, value)) => (index(column.trim())?, value.trim()),
                None if position < record.columns.len() => (position, *condition),
                None => return Err(format!("{name}.csv has no more columns for {condition}")),
            });
        }
        let column = index(column)?;
        let fits = |row: &&Vec<String>| wanted.iter().all(|&(column, value)| matches(value, &row[column]));
        let fields: Vec<String> = record.rows.iter().filter(fits).map(|row| row[column].clone()).collect();
        if fields.is_empty() {
            return Err(format!("{name}.csv has no row [{}]", conditions.join(", ")));
        }
        Ok(fields)
    }
}

/// Whether `text` matches `pattern`, in which each `*` matches any text.
fn matches(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((before, after)) => text.strip_prefix(before).is_some_and(|rest| {
            rest.char_indices().map(|(at, _)| &rest[at..]).chain([""]).any(|rest| matches(after, rest))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        for (pattern, text, expected) in [
            ("a", "a", true),
            ("a", "ab", false),
            ("*", "", true),
            ("a*", "abc", true),
            ("*c", "abc", true),
            ("a*c*e", "abcde", true),
            ("a*c*e", "abde", false),
            ("a*", "ba", false),
        ] {
            assert_eq!(matches(pattern, text), expected, "{pattern} {text}");
        }
    }
}

//! Tables of text.

/// Aligns lines of cells in columns; columns of numbers are right-aligned. The first line is the heading.
pub(super) fn table(lines: &[Vec<String>]) -> String {
    let columns = lines.iter().map(Vec::len).max().unwrap_or_default();
    let cell = |line: &[String], column: usize| line.get(column).cloned().unwrap_or_default();
    let width =
        |column| lines.iter().map(|line| cell(line, column).chars().count()).max().unwrap_or_default();
    let number = |column| {
        let mut cells = lines.iter().skip(1).map(|line| cell(line, column));
        cells.all(|cell| {
            cell.is_empty() || cell.starts_with(|c: char| c.is_ascii_digit()) && !cell.contains('-')
        })
    };
    let shapes: Vec<(usize, bool)> = (0..columns).map(|column| (width(column), number(column))).collect();
    let mut text = String::new();
    for line in lines {
        let mut row = String::new();
        for (column, (width, number)) in shapes.iter().enumerate() {
            let cell = cell(line, column);
            row += &if *number { format!("{cell:>width$}  ") } else { format!("{cell:<width$}  ") };
        }
        text += row.trim_end();
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::table;

    #[test]
    fn columns_are_aligned() {
        let lines = [["name", "time", "word"], ["a", "10 s", "x"], ["much", "9 s", ""]];
        let lines = lines.map(|line| line.map(str::to_owned).to_vec());
        assert_eq!(table(&lines), "name  time  word\na     10 s  x\nmuch   9 s\n");
    }
}

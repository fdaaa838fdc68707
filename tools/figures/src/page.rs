//! Markers in a page of Markdown, and what stands between them.
//!
//! A figure in a line: `<!-- figure EXPRESSION -->59<!-- / -->`. A block, of which the opening marker holds the template:
//!
//! ```text
//! <!-- figures
//! | sum of | ms |
//! |---|---|
//! each | $1 points | {msm[msm BN254 G1 $1, avx512ifma, 1].median_ms} |
//!   2^14
//!   2^16
//! -->
//!
//! | sum of | ms |
//! ...
//!
//! <!-- / -->
//! ```
//!
//! A line that begins with `each` stands for one line per indented line after it, whose parts, separated by semicolons, take the
//! places of `$1`, `$2`, ...; then each `{EXPRESSION}` is replaced by its text.

use crate::{
    expression::{evaluate, normalised},
    records::Records,
};

const END: &str = "<!-- / -->";

/// An expression and the number of the line that its marker begins on.
pub(crate) struct Figure {
    pub(crate) expression: String,
    pub(crate) line: usize,
}

/// A page with its figures as the records have them.
pub(crate) struct Page {
    pub(crate) text: String,
    pub(crate) figures: Vec<Figure>,
}

/// `text` with all figures written anew, or the number of the line that is wrong, and why.
pub(crate) fn render(text: &str, records: &Records) -> Result<Page, (usize, String)> {
    let mut page = Page { text: String::new(), figures: Vec::new() };
    let mut rest = text;
    while let Some(start) = rest.find("<!-- figure") {
        let (before, marker) = rest.split_at(start);
        page.text += before;
        let line = 1 + text[..text.len() - marker.len()].matches('\n').count();
        let wrong = |problem: &str| (line, problem.to_string());
        let (opening, after) = marker.split_once("-->").ok_or(wrong("a marker without `-->`"))?;
        let (old, after) = after.split_once(END).ok_or(wrong("a marker without `<!-- / -->` after it"))?;
        if old.contains("<!--") {
            return Err(wrong("another marker before the `<!-- / -->` of this one"));
        }
        let figures = &mut page.figures;
        let mut figure = |expression: &str| {
            figures.push(Figure { expression: normalised(expression), line });
            evaluate(expression, records).map_err(|problem| (line, problem))
        };
        let new = if let Some(expression) = opening.strip_prefix("<!-- figure ") {
            // Markdown takes such a line for HTML and shows the rest of it as it stands.
            if before.rsplit('\n').next().unwrap_or("").trim_matches([' ', '>', '*', '-']).is_empty() {
                return Err(wrong("a line of Markdown cannot begin with a comment; put a word before it"));
            }
            figure(expression.trim())?
        } else if let Some(template) = opening.strip_prefix("<!-- figures\n") {
            format!("\n\n{}\n", block(template, &mut figure, line)?)
        } else {
            return Err(wrong(
                "`<!-- figure EXPRESSION -->`, or `<!-- figures` and a template from the next line on",
            ));
        };
        page.text += &[opening, "-->", &new, END].concat();
        rest = after;
    }
    page.text += rest;
    Ok(page)
}

/// The lines that a template stands for.
fn block(
    template: &str,
    figure: &mut impl FnMut(&str) -> Result<String, (usize, String)>,
    line: usize,
) -> Result<String, (usize, String)> {
    let mut text = String::new();
    let mut lines = template.lines().peekable();
    while let Some(pattern) = lines.next() {
        let Some(pattern) = pattern.strip_prefix("each ") else {
            text += &fill(pattern, figure, line)?;
            text.push('\n');
            continue;
        };
        while let Some(values) = lines.next_if(|line| line.starts_with(' ')) {
            let mut row = pattern.to_string();
            for (number, value) in values.split(';').enumerate() {
                row = row.replace(&format!("${}", number + 1), value.trim());
            }
            if row.contains('$') {
                return Err((line, format!("{values:?} has too few parts for {pattern:?}")));
            }
            text += &fill(&row, figure, line)?;
            text.push('\n');
        }
    }
    Ok(text)
}

/// `text` with each `{EXPRESSION}` replaced.
fn fill(
    text: &str,
    figure: &mut impl FnMut(&str) -> Result<String, (usize, String)>,
    line: usize,
) -> Result<String, (usize, String)> {
    let mut filled = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        let (expression, after) =
            after.split_once('}').ok_or_else(|| (line, format!("a brace without its other in {text:?}")))?;
        filled += before;
        filled += &figure(expression)?;
        rest = after;
    }
    Ok(filled + rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(text: &str) -> Result<String, (usize, String)> {
        let name = format!("proofmill-figures-{}-{:p}", std::process::id(), text.as_ptr());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("a.csv"), "size,level,ms\n2^1,x,1.234\n2^2,x,5\n2^2,y,7\n").unwrap();
        let page = render(text, &Records::new(folder.clone()));
        std::fs::remove_dir_all(folder).unwrap();
        page.map(|page| page.text)
    }

    #[test]
    fn figures_in_a_line() {
        let line = "| 2^1 | <!-- figure a[2^1].ms -->?<!-- / --> ms | <!-- figure a[2^2, y].ms:1 -->old<!-- / --> |\n";
        assert_eq!(rendered(line), Ok(line.replace("?", "1.23").replace("old", "7")));
        assert_eq!(rendered("no <!-- figures, a comment\n").unwrap_err().0, 1);
        assert_eq!(
            rendered("no figure <!-- a comment -->\n"),
            Ok("no figure <!-- a comment -->\n".to_string())
        );
    }

    #[test]
    fn blocks() {
        let template = "a\n\n<!-- figures\n| | `x` |\n|---|---|\neach | $2 | {a[$1, x].ms:2} ms, `$1` |\n  2^1; one\n  2^2; two\n| y | {a[2^2, y].ms:.0} |\n-->";
        let table =
            "\n\n| | `x` |\n|---|---|\n| one | 1.2 ms, `2^1` |\n| two | 5.0 ms, `2^2` |\n| y | 7 |\n\n";
        let expected = [template, table, END, "\nb\n"].concat();
        assert_eq!(rendered(&[template, "\nold\n", END, "\nb\n"].concat()), Ok(expected.clone()));
        assert_eq!(rendered(&expected), Ok(expected));
    }

    #[test]
    fn broken_markers_have_a_line() {
        for (text, line, problem) in [
            ("a\nb <!-- figure a[2^1].ms -->1\n", 2, "without `<!-- / -->`"),
            ("b <!-- figure a[2^1].ms ->1\n", 1, "without `-->`"),
            ("b <!-- figure a[2^1].ms -->1 <!-- figure a[2^2].ms -->1<!-- / -->\n", 1, "another marker"),
            ("\n\n* <!-- figure a[2^1].ms -->1<!-- / -->\n", 3, "cannot begin with a comment"),
            ("<!-- figures\neach $1 $2\n  1\n-->\n<!-- / -->\n", 1, "too few parts"),
            ("<!-- figures\n{a[2^1].ms\n-->\n<!-- / -->\n", 1, "a brace"),
            ("b <!-- figure a[2^2].ms -->1<!-- / -->\n", 1, "2 rows"),
        ] {
            let (at, error) = rendered(text).expect_err(text);
            assert_eq!(at, line, "{text}");
            assert!(error.contains(problem), "{text}: {error}");
        }
    }
}

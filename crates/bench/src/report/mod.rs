//! One self-contained HTML page about runs: style, script, chart library and data are in the file, and it asks no network.
//!
//! The page's security policy names the digests of its two scripts and of its style, so that no text of a run, whatever it
//! holds, becomes code; data travel as JSON whose `<`, `>` and `&` are escaped. Every statistic on the page is computed here,
//! by [`crate::statistics`]; the script only divides and multiplies by what the reader chooses (watts, dollars).

mod data;
mod verdict;

pub use verdict::{Answer, Certainty, Metric, Question};

use crate::{definition::Family, model::Projection, record::Run};
use base64::{Engine, prelude::BASE64_STANDARD};
use sha2::{Digest, Sha256};

const TEMPLATE: &str = include_str!("template.html");
const STYLE: &str = include_str!("style.css");
/// Unmodified from its npm package; `.ci/report.sh` compares.
const CHART_LIBRARY: &str = include_str!("chart.js/chart.umd.min.js");
/// In the order in which they run.
const SCRIPT: [&str; 9] = [
    include_str!("script/text.js"),
    include_str!("script/rows.js"),
    include_str!("script/table.js"),
    include_str!("script/chart.js"),
    include_str!("script/family.js"),
    include_str!("script/machines.js"),
    include_str!("script/model.js"),
    include_str!("script/verdict.js"),
    include_str!("script/page.js"),
];

/// What a page is about.
#[derive(Clone, Copy, Debug)]
pub struct Page<'a> {
    /// In the order in which they are to be shown.
    pub runs: &'a [Run],
    /// Headings and inputs of the families; those that are missing here are shown under their names.
    pub families: &'a [Family],
    /// Index of the run that others are compared with at first; the first one if there is no such run.
    pub baseline: usize,
    /// What the model says, a section each.
    pub projections: &'a [Projection],
}

/// The page of `runs` without more headings than they bring themselves: see [`Page::html`].
pub fn page(runs: &[Run]) -> String {
    Page { runs, families: &[], baseline: 0, projections: &[] }.html()
}

impl<'a> Page<'a> {
    /// What the page says at its top: which of the machines, or which level of a single one, proves fastest and cheapest.
    pub fn answer(&self) -> Answer {
        data::answer(self)
    }

    /// A family's heading.
    fn title(&self, family: &'a str) -> &'a str {
        let defined = self.families.iter().find(|defined| defined.name == family);
        defined.map_or(family, |defined| &defined.title)
    }

    /// The whole HTML, the same bytes for the same runs.
    pub fn html(&self) -> String {
        // Developer tools would look for the map beside the page.
        let library =
            CHART_LIBRARY.rsplit_once("//# sourceMappingURL").map_or(CHART_LIBRARY, |(code, _)| code);
        let script = format!("\"use strict\";\n{}", SCRIPT.concat());
        let data = embed(&data::Data::new(self));
        let policy = format!(
            "default-src 'none'; script-src {} {}; style-src {}; img-src data:; base-uri 'none'; form-action 'none'",
            source(library),
            source(&script),
            source(STYLE),
        );
        fill(
            TEMPLATE,
            &[
                ("policy", &policy),
                ("style", STYLE),
                ("data", &data),
                ("library", library),
                ("script", &script),
            ],
        )
    }
}

/// An inline element's digest as a content security policy writes it.
fn source(text: &str) -> String {
    format!("'sha256-{}'", BASE64_STANDARD.encode(Sha256::digest(text)))
}

/// JSON that may stand within a `script` element: no character that HTML or an older JavaScript would read in another way.
fn embed(data: &impl serde::Serialize) -> String {
    let json = serde_json::to_string(data).expect("the page's data have text for keys");
    // Outside of strings JSON has none of these.
    json.replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('&', "\\u0026")
        .replace('\u{2028}', "\\u2028")
        .replace('\u{2029}', "\\u2029")
}

/// Puts values for `{{name}}`, in one pass: what is filled in is not looked at again.
fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let mut filled =
        String::with_capacity(template.len() + values.iter().map(|(_, value)| value.len()).sum::<usize>());
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        let (name, after) = after.split_once("}}").expect("the template's braces are closed");
        let value = values.iter().find(|(known, _)| *known == name).expect("the template's names are known");
        filled.push_str(before);
        filled.push_str(value.1);
        rest = after;
    }
    filled.push_str(rest);
    filled
}

#[cfg(test)]
mod tests;

//! One self-contained HTML page about runs: it contains style, script, chart library and data, and makes no
//! network requests.
//!
//! The page's content security policy lists the digests of its two scripts and of its style, so that no text
//! of a run can become code. The data are JSON in which `<`, `>` and `&` are escaped. All statistics are
//! computed here, by [`crate::statistics`]; the script only multiplies and divides by values that the reader
//! chooses (watts, dollars).

mod data;
mod pipelines;
mod verdict;

pub use verdict::{Certainty, Metric, ReportAnswer, ReportQuestion};

use crate::{definition::Family, model::Projection, record::BenchRun};
use base64::{Engine, prelude::BASE64_STANDARD};
use proofmill_pipeline::explore::Exploration;
use sha2::{Digest, Sha256};

const TEMPLATE: &str = include_str!("template.html");
const STYLE: &str = include_str!("style.css");
/// The file of the npm package, unmodified; `.ci/report.sh` compares them.
const CHART_LIBRARY: &str = include_str!("chart.js/chart.umd.min.js");
/// The parts of the script, in order of execution.
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

/// The contents of a page.
#[derive(Clone, Copy, Debug)]
pub struct ReportPage<'a> {
    /// The runs, in the order in which they are shown.
    pub runs: &'a [BenchRun],
    /// Headings and inputs of families; families that are missing here are shown by name.
    pub families: &'a [Family],
    /// Index of the run that others are compared with when the page opens; the first run if the index is out
    /// of range.
    pub baseline: usize,
    /// The model's projections, one section each.
    pub projections: &'a [Projection],
    /// Explorations of pipelines of small processors.
    pub pipelines: &'a [Exploration],
}

/// The page of `runs` without definitions and projections: see [`ReportPage::html`].
pub fn page(runs: &[BenchRun]) -> String {
    ReportPage { runs, families: &[], baseline: 0, projections: &[], pipelines: &[] }.html()
}

impl<'a> ReportPage<'a> {
    /// The answer at the top of the page: the machine, or the level of a single machine, that proves fastest
    /// and at the lowest cost.
    pub fn answer(&self) -> ReportAnswer {
        data::answer(self)
    }

    /// A family's heading.
    fn title(&self, family: &'a str) -> &'a str {
        let defined = self.families.iter().find(|defined| defined.name == family);
        defined.map_or(family, |defined| &defined.title)
    }

    /// The HTML; the same bytes for the same runs.
    pub fn html(&self) -> String {
        // Developer tools would request the source map.
        let library =
            CHART_LIBRARY.rsplit_once("//# sourceMappingURL").map_or(CHART_LIBRARY, |(code, _)| code);
        let script = format!("\"use strict\";\n{}", SCRIPT.concat());
        let data = embed(&data::PageData::new(self));
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
                ("pipelines", &pipelines::section(self.pipelines)),
                ("data", &data),
                ("library", library),
                ("script", &script),
            ],
        )
    }
}

/// An inline element's digest in the syntax of a content security policy.
fn source(text: &str) -> String {
    format!("'sha256-{}'", BASE64_STANDARD.encode(Sha256::digest(text)))
}

/// JSON for a `script` element: without characters that HTML or older versions of JavaScript would interpret
/// differently.
fn embed(data: &impl serde::Serialize) -> String {
    let json = serde_json::to_string(data).expect("the page's data have text for keys");
    // In JSON, these characters occur in strings only.
    json.replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('&', "\\u0026")
        .replace('\u{2028}', "\\u2028")
        .replace('\u{2029}', "\\u2029")
}

/// Replaces each `{{name}}` by its value, in one pass: values are not searched for names.
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

//! Explorations of pipelines of small processors, as a section of the page: a chart and tables. All of it is static, without a script.

use proofmill_pipeline::{
    explore::{Exploration, ExplorationTable, Found},
    pictures::{Escaped, throughput},
};
use std::fmt::Write as _;

/// The section; empty without explorations.
pub(super) fn section(explorations: &[Exploration]) -> String {
    if explorations.is_empty() {
        return String::new();
    }
    let mut html = String::from(
        "<section id=\"pipelines\" aria-labelledby=\"pipelines-heading\">\n<h2 id=\"pipelines-heading\">Pipelines of small processors</h2>\n\
         <p>Simulated, not measured: by <code>proofmill pipeline explore</code>.</p>\n",
    );
    for exploration in explorations {
        let title = format!("{} on {}", exploration.formula, exploration.device);
        let chart = throughput(exploration, &[]);
        // Writing to a string cannot fail.
        let _ = writeln!(html, "<h3>{}</h3>\n<figure>{chart}</figure>", Escaped(&title));
        exploration.tables.iter().for_each(|inner| table(&mut html, inner));
    }
    html + "</section>\n"
}

fn table(html: &mut String, table: &ExplorationTable) {
    // Writing to a string cannot fail.
    let _ = write!(
        html,
        "<details><summary>{}</summary><table><thead><tr><th></th><th>from</th><th>tiles</th><th>pipelines</th>\
         <th>results a second</th><th>latency, us</th><th>joules a million</th><th>dollars a million</th><th>limited by</th></tr></thead><tbody>",
        Escaped(&table.title)
    );
    for row in &table.rows {
        let _ = write!(html, "<tr><th>{}</th><td>{}</td>", Escaped(&row.label), row.supply.name());
        let _ = match &row.found {
            Found::Refused { refused } => write!(html, "<td colspan=\"7\">{}</td>", Escaped(refused)),
            Found::Answer(answer) => {
                let [least, most] = answer.joules_per_million;
                let dollars =
                    answer.dollars_per_million.map(|[least, most]| format!("{least:.1e} to {most:.1e}"));
                write!(
                    html,
                    "<td>{}</td><td>{}</td><td>{:.4e}</td><td>{:.1}</td><td>{least:.2} to {most:.2}</td><td>{}</td><td>{}</td>",
                    answer.tiles,
                    answer.pipelines,
                    answer.per_second,
                    answer.latency * 1e6,
                    dollars.unwrap_or_default(),
                    Escaped(&answer.limit)
                )
            }
        };
        html.push_str("</tr>");
    }
    html.push_str("</tbody></table></details>\n");
}

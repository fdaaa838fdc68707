use super::{CHART_LIBRARY, SCRIPT, STYLE, TEMPLATE, data::PageData, embed, fill, page, source};
use crate::record::{BenchRun, Clock, Figures, MachineFacts, Measurement, Noise, RowKey, RowOutcome, Suite};
use jiff::Timestamp;
use serde_json::{Value, json};

fn figures(seconds: &[f64]) -> RowOutcome {
    RowOutcome::Measured(Figures {
        seconds: seconds.to_vec(),
        clock: Clock::Cpu,
        amount: 100.0,
        unit: "points".to_owned(),
        answer: None,
        cycles: None,
        instructions: None,
        phases: vec![],
        peak_memory: None,
        bytes_out: None,
        watts: None,
    })
}

fn measurement(implementation: &str, threads: u32, outcome: RowOutcome) -> Measurement {
    let row = RowKey {
        suite: Suite::Kernel,
        family: "msm".to_owned(),
        benchmark: "bn254".to_owned(),
        size: Some(1024),
        implementation: implementation.to_owned(),
        threads,
    };
    Measurement { row, version: None, ended: Timestamp::UNIX_EPOCH, outcome }
}

fn run(label: &str, measurements: Vec<Measurement>) -> BenchRun {
    BenchRun {
        id: "0".repeat(32),
        label: label.to_owned(),
        began: Timestamp::UNIX_EPOCH,
        ended: None,
        command: vec![],
        version: "0.1.0".to_owned(),
        machine: MachineFacts { threads: 4, ..MachineFacts::default() },
        noise: Noise::default(),
        power_source: None,
        price: None,
        measurements,
    }
}

fn data(runs: &[BenchRun]) -> Value {
    serde_json::to_value(PageData::new(&super::ReportPage {
        runs,
        families: &[],
        baseline: 0,
        projections: &[],
        pipelines: &[],
    }))
    .unwrap()
}

/// The text of the data element.
fn embedded(html: &str) -> &str {
    let (_, rest) = html.split_once("id=\"data\">").unwrap();
    rest.split_once("</script>").unwrap().0
}

#[test]
fn hostile_text_stays_data() {
    let hostile = "</script><img src=x onerror=alert(1)><!-- \u{2028} & {{script}} \"'";
    let html = page(&[run(
        hostile,
        vec![measurement(hostile, 1, RowOutcome::Failed { reason: hostile.to_owned() })],
    )]);
    assert!(!html.contains("<img"));
    let data = embedded(&html);
    assert!(!data.contains(['<', '>', '&', '\u{2028}']));
    let data: Value = serde_json::from_str(data).unwrap();
    assert_eq!(data["runs"][0]["name"], hostile);
    assert_eq!(data["rows"][0]["note"], hostile);
    assert_eq!(data["rows"][0]["implementation"], hostile);
}

#[test]
fn escapes_are_json() {
    assert_eq!(embed(&json!({"a": "<b>&\u{2029}"})), r#"{"a":"\u003cb\u003e\u0026\u2029"}"#);
}

#[test]
fn values_are_not_searched_for_names() {
    assert_eq!(fill("a{{x}}b{{y}}c{{x}}", &[("x", "{{y}}"), ("y", "2")]), "a{{y}}b2c{{y}}");
}

#[test]
fn assets_do_not_end_their_elements() {
    assert!(SCRIPT.iter().chain([&CHART_LIBRARY]).all(|code| !code.to_lowercase().contains("</script")));
    assert!(SCRIPT.iter().chain([&CHART_LIBRARY]).all(|code| !code.contains("<!--")));
    assert!(!STYLE.to_lowercase().contains("</style"));
}

#[test]
fn the_policy_names_every_inline_element() {
    // SHA-256 of the empty string, in base64.
    assert_eq!(source(""), "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='");
    let html = page(&[]);
    let policy =
        html.split_once("Content-Security-Policy\" content=\"").unwrap().1.split_once('"').unwrap().0;
    assert!(!policy.contains("unsafe"));
    for (open, close) in [("<script>", "</script>"), ("<style>", "</style>")] {
        let elements: Vec<_> =
            html.split(open).skip(1).map(|rest| rest.split_once(close).unwrap().0).collect();
        assert!(!elements.is_empty());
        assert!(elements.iter().all(|element| policy.contains(&source(element))), "{open}");
    }
}

#[test]
fn there_are_no_network_requests() {
    for (name, text) in
        [("template", TEMPLATE), ("style", STYLE)].into_iter().chain(SCRIPT.map(|code| ("script", code)))
    {
        for address in ["http:", "https:", "//cdn", "url(", "@import", "src="] {
            assert!(!text.contains(address), "{name} has {address}");
        }
    }
    assert!(!page(&[]).contains("sourceMappingURL"));
}

#[test]
fn rows_have_the_statistics_of_their_samples() {
    let samples = [5.0, 1.0, 4.0, 2.0, 3.0, 6.0];
    let data = data(&[run("a", vec![measurement("portable", 1, figures(&samples))])]);
    let seconds = &data["rows"][0]["figures"]["seconds"];
    assert_eq!(seconds["median"], 3.5);
    assert_eq!(seconds["mad"], 1.5);
    assert_eq!(seconds["min"], 1.0);
    assert_eq!(seconds["interval"], json!([1.0, 6.0]));
    assert_eq!(seconds["count"], 6);
}

#[test]
fn unusable_figures_are_failures() {
    for samples in [&[][..], &[0.0], &[-1.0], &[f64::NAN], &[f64::INFINITY]] {
        let data = data(&[run("a", vec![measurement("portable", 1, figures(samples))])]);
        assert_eq!(data["rows"][0]["status"], "failed", "{samples:?}");
        assert!(data["rows"][0].get("figures").is_none());
        assert_eq!(data["comparisons"], json!([]));
    }
}

#[test]
fn rows_have_ratios_to_comparable_rows() {
    let rows = vec![
        measurement("portable", 1, figures(&[8.0])),
        measurement("avx2", 1, figures(&[2.0])),
        measurement("avx2", 4, figures(&[0.5])),
        measurement("arkworks", 1, figures(&[6.0])),
    ];
    let data = data(&[run("a", rows)]);
    let of = |row: usize, key: &str| data["rows"][row]["figures"][key].clone();
    assert!(of(0, "over_level").is_null());
    assert_eq!(of(1, "over_level"), json!({"implementation": "portable", "ratio": 4.0, "interval": null}));
    assert_eq!(of(2, "over_one_thread")["ratio"], 4.0);
    assert!(of(2, "over_level").is_null());
    assert_eq!(of(3, "ours_over_it"), json!({"implementation": "avx2", "ratio": 3.0, "interval": null}));
    assert_eq!(of(3, "over_level")["implementation"], "portable");
    assert_eq!(data["rows"][3]["ours"], false);
    assert_eq!(data["rows"][1]["ours"], true);
}

#[test]
fn machines_are_compared_by_their_fastest_levels() {
    let slow = run(
        "slow",
        vec![measurement("portable", 1, figures(&[8.0])), measurement("portable", 4, figures(&[3.0]))],
    );
    let fast = run(
        "fast",
        vec![
            measurement("portable", 1, figures(&[7.0])),
            measurement("avx2", 1, figures(&[2.0])),
            measurement("arkworks", 1, figures(&[1.0])),
        ],
    );
    let data = data(&[slow, fast]);
    let comparisons = data["comparisons"].as_array().unwrap();
    assert_eq!(comparisons.len(), 2);
    assert_eq!(comparisons[0]["threads"], "one");
    assert_eq!(comparisons[0]["rows"], json!([0, 3]));
    assert_eq!(comparisons[0]["ratios"][0][1]["ratio"], 4.0);
    assert_eq!(comparisons[0]["ratios"][1][0]["ratio"], 0.25);
    assert_eq!(comparisons[1]["threads"], "all");
    assert_eq!(comparisons[1]["rows"], json!([1, null]));
    assert!(comparisons[1]["ratios"][0][1].is_null());
}

#[test]
fn ratios_of_many_samples_use_some() {
    let many = |seconds: f64| figures(&vec![seconds; 100_000]);
    let rows = vec![measurement("portable", 1, many(3.0)), measurement("avx2", 1, many(1.5))];
    let data = data(&[run("a", rows)]);
    assert_eq!(data["rows"][1]["figures"]["over_level"]["ratio"], 2.0);
    assert_eq!(data["rows"][1]["figures"]["seconds"]["count"], 100_000);
}

#[test]
fn the_last_measurement_of_a_row_is_shown() {
    let rows = vec![measurement("avx2", 1, figures(&[8.0])), measurement("avx2", 1, figures(&[2.0]))];
    let data = data(&[run("a", rows)]);
    assert_eq!(data["rows"].as_array().unwrap().len(), 1);
    assert_eq!(data["rows"][0]["figures"]["seconds"]["median"], 2.0);
}

#[test]
fn runs_with_the_same_label_get_distinct_names() {
    let data = data(&[run("a", vec![]), run("a", vec![]), run(" ", vec![])]);
    let names: Vec<_> = (0..3).map(|at| data["runs"][at]["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["a (1)", "a (2)", "run 3"]);
}

#[test]
fn a_page_is_the_same_for_the_same_runs() {
    let runs = [run("a", vec![measurement("avx2", 1, figures(&[8.0]))])];
    assert_eq!(page(&runs), page(&runs));
}

#[test]
fn explorations_of_pipelines_are_a_section() {
    let answer = json!({
        "tiles": 3, "pipelines": 2, "per_second": 1.5e6, "latency": 2e-6, "limit": "node <a>",
        "joules_per_million": [1.0, 2.0], "dollars_per_million": null,
    });
    let row = |label: &str, number: f64, more: Value| {
        let mut row = json!({ "label": label, "number": number, "supply": "fabric" });
        row.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        row
    };
    let refused = json!({ "refused": "no room & no tiles" });
    let exploration = json!({
        "formula": "sum<b>", "device": "chip",
        "tables": [{ "title": "pipelines", "rows": [row("1", 1.0, answer), row("2", 2.0, refused)] }],
    });
    let exploration = serde_json::from_value(exploration).unwrap();
    let with = |pipelines: &[_]| {
        super::ReportPage { runs: &[], families: &[], baseline: 0, projections: &[], pipelines }.html()
    };
    assert!(!with(&[]).contains("Pipelines of small processors"));
    let html = with(&[exploration]);
    for text in [
        "<h3>sum&lt;b&gt; on chip</h3>",
        "node &lt;a&gt;",
        "no room &amp; no tiles",
        "1.5000e6",
        "2.0",
        "<svg",
    ] {
        assert!(html.contains(text), "{text}");
    }
    assert!(!html.contains("sum<b>") && !html.contains("style=\""));
}

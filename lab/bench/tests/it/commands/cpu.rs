//! `cpu`: gains from CPU features.

use crate::commands::folder;
use serde_json::Value;

#[test]
fn cpu_measures_gains_from_features() {
    let folder = folder();
    let report: Value = serde_json::from_str(&folder.run("cpu --json").succeeded().stdout).unwrap();
    let measured = &report["result"]["measured"];
    let operations = measured["operations"].as_array().unwrap();
    assert!(
        operations.iter().any(|row| row["operation"] == "SHA-256 of 32 B" && row["kernel"] == "portable")
    );
    for row in operations {
        assert!(row["nanoseconds"].as_f64().unwrap() > 0.0 && row["ratio"].as_f64().unwrap() > 0.0, "{row}");
    }
    for feature in measured["features"].as_array().unwrap() {
        // A gain requires the feature.
        assert!(feature["gain"].is_null() || feature["present"] == true, "{feature}");
        assert!(!feature["came_with"].as_str().unwrap().is_empty(), "{feature}");
    }
    let text = folder.run("cpu").succeeded().stdout;
    assert!(text.contains("ops/s") && text.contains("cycles"), "{text}");
}

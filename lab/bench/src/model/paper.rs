//! The paper's own inputs, which give its figure 8: `lab/data/arm_sve_paper.toml`.

use super::{ModelQuestion, Projection, Subject};
use crate::BenchError;
use proofmill_cost::price;
use serde::Deserialize;

const INPUTS: &str = include_str!("../../../../lab/data/arm_sve_paper.toml");

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Inputs {
    title: String,
    unit: String,
    source: String,
    gigahertz: Vec<f64>,
    vector_bits: Vec<u32>,
    function: String,
    #[serde(rename = "base")]
    bases: Vec<Input>,
    #[serde(rename = "reference")]
    references: Vec<Input>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    name: String,
    gigahertz: f64,
    vector_bits: u32,
    #[serde(default)]
    implementation: String,
    time: [f64; 2],
    #[serde(default)]
    instance: Option<String>,
    source: String,
}

/// The paper's prediction. If `question` has no frequencies or lengths of vectors, the paper's are used.
///
/// # Errors
/// The errors of [`Projection::new`].
pub fn paper(question: &ModelQuestion) -> Result<Projection, BenchError> {
    let inputs: Inputs = toml::from_str(INPUTS).map_err(|error| BenchError::Malformed {
        path: "lab/data/arm_sve_paper.toml".into(),
        problem: error.to_string().split_whitespace().collect::<Vec<_>>().join(" "),
    })?;
    let instances = price::instances();
    let subject = |input: Input| {
        let instance = instances.iter().find(|instance| Some(&instance.name) == input.instance.as_ref());
        Subject {
            name: input.name,
            hertz: input.gigahertz * 1e9,
            vector_bits: input.vector_bits,
            implementation: input.implementation,
            function: Some(inputs.function.clone()),
            time: input.time,
            cycles: None,
            instructions: None,
            dollars_per_hour: instance
                .and_then(|instance| instance.price.as_ref())
                .map(|price| price.dollars_per_hour),
            cycles_from_time: false,
            source: input.source,
        }
    };
    let mut question = question.clone();
    if question.hertz.is_empty() {
        question.hertz = inputs.gigahertz.iter().map(|gigahertz| gigahertz * 1e9).collect();
    }
    if question.vector_bits.is_empty() {
        question.vector_bits.clone_from(&inputs.vector_bits);
    }
    let bases = inputs.bases.into_iter().map(subject).collect();
    let references = inputs.references.into_iter().map(subject).collect();
    Projection::new([&inputs.title, &inputs.source, &inputs.unit], bases, references, &question)
}

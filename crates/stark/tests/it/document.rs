//! AIRs as JSON: what is read again is what was written, and everything else is refused.

use proofmill_field::goldilocks::Goldilocks;
use proofmill_stark::{
    AirDocument, Constraints, DocumentError,
    air::{Air, Preprocessed, Row},
};
use serde_json::{Value, json};

/// Reads each kind of value, next rows of all matrices that have them, and constants that a float would round.
struct Everything;

const LARGEST: u64 = 0xffff_ffff_0000_0000;

impl Air for Everything {
    fn columns(&self) -> usize {
        3
    }
    fn public_values(&self) -> usize {
        1
    }
    fn preprocessed(&self) -> Option<Preprocessed> {
        Some(Preprocessed { columns: 2, values: (0..8).map(|i| Goldilocks::new(LARGEST - i)).collect() })
    }
    fn periodic_columns(&self) -> Vec<Vec<Goldilocks>> {
        vec![vec![Goldilocks::new(5), Goldilocks::new(LARGEST)]]
    }
    fn constrain(&self, row: Row) {
        let product = row.column(0) * row.column(1) * row.column(2);
        (product - row.next(0) + Goldilocks::new(LARGEST).into()).must_vanish();
        (row.is_first() * (row.column(2) - row.public_value(0))).must_vanish();
        (row.is_last() * row.preprocessed(1) - row.next_preprocessed(0)).must_vanish();
        (row.is_transition() * row.periodic(0)).must_vanish();
    }
}

fn document() -> (AirDocument, Constraints) {
    let constraints = Constraints::new(&Everything).expect("constraints");
    (AirDocument::new(&constraints, Everything.preprocessed().as_ref()), constraints)
}

#[test]
fn an_air_is_read_as_it_was_written() {
    let (document, constraints) = document();
    let text = document.text();
    let read = AirDocument::parse(text.as_bytes()).expect("a document");
    let again = read.constraints().expect("constraints");
    let preprocessed = read.preprocessed().expect("columns").expect("two");
    assert_eq!(AirDocument::new(&again, Some(&preprocessed)).text(), text);
    assert_eq!(preprocessed.values, Everything.preprocessed().expect("two").values);
    assert_eq!(again.shape(2), constraints.shape(2));
    assert_eq!((again.columns(), again.public_values(), again.degree()), (3, 1, constraints.degree()));
    // The same values of all constraints on some inputs.
    let values = |constraints: &Constraints| {
        let input = |input| Goldilocks::new(format!("{input:?}").bytes().map(u64::from).sum());
        constraints.graph().evaluate(|constant| constant, input)
    };
    assert_eq!(values(&again), values(&constraints));
}

#[test]
fn malformed_airs_are_refused_with_their_place() {
    let valid: Value = serde_json::from_str(&document().0.text()).expect("JSON");
    let changes: [(&str, Value, &str); 21] = [
        ("/format", json!("proofmill merkle opening"), "format: expected \"proofmill air\""),
        ("/version", json!(2), "version: expected 1, found 2"),
        ("/columns", json!(0), "AIR: expected a trace with columns"),
        ("/columns", json!(2), "AIR: constraints read trace column 2"),
        ("/columns", json!(u64::MAX), "AIR: expected at most 2^30 columns"),
        ("/columns", json!(-1), "invalid value"),
        ("/publicValues", json!(0), "AIR: constraints read public value 0, of 0"),
        ("/preprocessed", json!([]), "AIR: constraints read preprocessed column"),
        ("/preprocessed/1", json!(["1"]), "preprocessed[1]: expected 4 values"),
        (
            "/preprocessed/0/3",
            json!("18446744069414584321"),
            "preprocessed[0][3]: expected the decimal digits",
        ),
        ("/periodic", json!([]), "AIR: constraints read periodic column"),
        ("/periodic/0", json!(["1", "2", "3"]), "AIR: periodic column 0: expected a power of two"),
        ("/periodic/0", json!([]), "AIR: periodic column 0: expected a power of two"),
        ("/periodic/0/0", json!("05"), "periodic[0][0]: expected the decimal digits"),
        ("/opensNext", json!([false, true]), "AIR: constraints read column 0 of a next row"),
        ("/nodes/0", json!({ "add": [0, 0] }), "nodes[0]: expected the index of an earlier node, found 0"),
        ("/nodes/3", json!({ "mul": [2, 3] }), "nodes[3]: expected the index of an earlier node, found 3"),
        ("/nodes/0", json!({ "constant": "-1" }), "nodes[0]: expected the decimal digits"),
        ("/nodes/0", json!({ "divide": [0, 0] }), "unknown variant"),
        ("/nodes/0", json!({ "periodic": u32::MAX }), "AIR: constraints read periodic column"),
        ("/constraints/0", json!(1000), "constraints[0]: expected the index of an earlier node, found 1000"),
    ];
    let verdict = |value: &Value| -> Result<(), DocumentError> {
        let document = AirDocument::parse(value.to_string().as_bytes())?;
        document.constraints()?;
        document.preprocessed()?;
        Ok(())
    };
    verdict(&valid).expect("a document");
    for (place, new, expected) in changes {
        let mut changed = valid.clone();
        *changed.pointer_mut(place).expect("a place") = new.clone();
        let message = verdict(&changed).expect_err(place).to_string();
        assert!(message.contains(expected), "{place} = {new}: {message}");
    }
    let text = document().0.text();
    for end in 0..text.len() - 2 {
        assert!(
            matches!(AirDocument::parse(&text.as_bytes()[..end]), Err(DocumentError::Json(_))),
            "{end} bytes"
        );
    }
}

#[test]
fn degrees_are_limited() {
    // Each node is the square of the one before.
    let squares: Vec<_> = (0..40_u32).map(|index| json!({ "mul": [index, index] })).collect();
    let nodes = [vec![json!({ "column": 0 })], squares].concat();
    let document = json!({
        "format": "proofmill air", "version": 1, "columns": 1, "publicValues": 0,
        "opensNext": [false, false], "nodes": nodes, "constraints": [40],
    });
    let document = AirDocument::parse(document.to_string().as_bytes()).expect("a document");
    let message = document.constraints().expect_err("2^40").to_string();
    assert_eq!(message, "AIR: expected constraints of degree at most 65536, found 4294967295");
}

//! The formulas that pipelines compute, recorded from the curves' own.

use crate::graph::{Graph, record};
use proofmill_curve::formulas::{added_xyzz, doubled, doubled_xyzz, xyzz_plus_affine};

/// The names of the formulas.
pub const NAMES: &[&str] =
    &["xyzz-plus-affine", "xyzz-plus-xyzz", "xyzz-double", "jacobian-double", "butterfly"];

/// A formula's graph.
pub fn graph(name: &str) -> Option<Graph> {
    let graph = match name {
        "xyzz-plus-affine" => record(
            name,
            ["X1", "Y1", "ZZ1", "ZZZ1", "X2", "Y2"],
            ["X3", "Y3", "ZZ3", "ZZZ3"],
            |[x1, y1, zz1, zzz1, x2, y2]| xyzz_plus_affine([x1, y1, zz1, zzz1], [x2, y2]).sum(),
        ),
        "xyzz-plus-xyzz" => record(
            name,
            ["X1", "Y1", "ZZ1", "ZZZ1", "X2", "Y2", "ZZ2", "ZZZ2"],
            ["X3", "Y3", "ZZ3", "ZZZ3"],
            |[x1, y1, zz1, zzz1, x2, y2, zz2, zzz2]| {
                added_xyzz([x1, y1, zz1, zzz1], [x2, y2, zz2, zzz2]).sum()
            },
        ),
        "xyzz-double" => record(name, ["X", "Y", "ZZ", "ZZZ"], ["X3", "Y3", "ZZ3", "ZZZ3"], doubled_xyzz),
        "jacobian-double" => record(name, ["X", "Y", "Z"], ["X3", "Y3", "Z3"], doubled),
        "butterfly" => record(name, ["A", "B", "W"], ["C", "D"], |[a, b, w]| {
            let turned = b * w;
            [a + turned, a - turned]
        }),
        _ => return None,
    };
    Some(graph)
}

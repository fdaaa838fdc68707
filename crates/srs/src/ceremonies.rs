//! Public ceremonies whose powers are recognised by their points.

use proofmill_curve::{
    Affine,
    bn254::{G1, G2},
};
use proofmill_field::bn254::{Fq, Fq2};

/// The file `powersOfTau28_hez_final.ptau` and its smaller variants, from the Perpetual Powers of Tau, which snarkjs's README
/// recommends.
const HERMEZ: &str = "powersOfTau28_hez_final";

/// Aztec's Ignition ceremony of 2020.
const IGNITION: &str = "Ignition";

/// alpha in G1 of [`HERMEZ`], x and y; in the verification keys of the circuits that use it.
const HERMEZ_ALPHA: [&str; 2] = [
    "20491192805390485299153009773594534940189261866228447918068658471970481763042",
    "9383485363053290200918347156157836566562967994039712273449902621266178545958",
];

/// tau in G2 of each ceremony, x then y, the coefficient of 1 first; from the keys of PLONK verifiers on Ethereum.
const TAU: [(&str, [&str; 4]); 2] = [
    (
        HERMEZ,
        [
            "21831381940315734285607113342023901060522397560371972897001948545212302161822",
            "17231025384763736816414546592865244497437017442647097510447326538965263639101",
            "2388026358213174446665280700919698872609886601280537296205114254867301080648",
            "11507326595632554467052522095592665270651932854513688777769618397986436103170",
        ],
    ),
    (
        IGNITION,
        [
            "496075682290949347282619629729389528669750910289829251317610107342504362928",
            "17212635814319756364507010169094758005397460366678210664966334781961899574209",
            "15828724851114720558251891430452666121603726704878231219287131634746610441813",
            "2255182984359105691812395885056400739448730162863181907784180250290003009508",
        ],
    ),
];

/// The ceremony with this alpha in G1, if it is known.
pub fn ceremony_of_alpha(alpha: &Affine<G1>) -> Option<&'static str> {
    let [x, y] = HERMEZ_ALPHA.map(coordinate);
    (*alpha == Affine { x, y }).then_some(HERMEZ)
}

/// The ceremony with this tau in G2, if it is known.
pub fn ceremony_of_tau(tau: &Affine<G2>) -> Option<&'static str> {
    let mut known = TAU.into_iter().map(|(name, coordinates)| {
        let [x0, x1, y0, y1] = coordinates.map(coordinate);
        (name, Affine { x: Fq2 { c0: x0, c1: x1 }, y: Fq2 { c0: y0, c1: y1 } })
    });
    known.find(|(_, point)| point == tau).map(|(name, _)| name)
}

fn coordinate(decimal: &str) -> Fq {
    decimal.parse().unwrap_or_default()
}

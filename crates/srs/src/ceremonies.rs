//! Public ceremonies whose powers are recognised by their points.

use proofmill_curve::{
    Affine,
    bn254::{G1, G2},
};
use proofmill_field::bn254::{Fq, Fq2};

/// A ceremony, and its points as decimal coordinates.
struct Ceremony {
    name: &'static str,
    /// alpha in G1, x and y; `None` for a ceremony without it.
    alpha: Option<[&'static str; 2]>,
    /// tau in G2, x then y, the coefficient of 1 first.
    tau: [&'static str; 4],
}

const CEREMONIES: [Ceremony; 3] = [
    // The file `powersOfTau28_hez_final.ptau` and its smaller variants, from the Perpetual Powers of Tau,
    // which snarkjs's README recommends. alpha is in the verification keys of the circuits that use it, tau in those of PLONK on Ethereum.
    Ceremony {
        name: "powersOfTau28_hez_final",
        alpha: Some([
            "20491192805390485299153009773594534940189261866228447918068658471970481763042",
            "9383485363053290200918347156157836566562967994039712273449902621266178545958",
        ]),
        tau: [
            "21831381940315734285607113342023901060522397560371972897001948545212302161822",
            "17231025384763736816414546592865244497437017442647097510447326538965263639101",
            "2388026358213174446665280700919698872609886601280537296205114254867301080648",
            "11507326595632554467052522095592665270651932854513688777769618397986436103170",
        ],
    },
    // The files `ppot_0080_*.ptau` of the Perpetual Powers of Tau, https://github.com/privacy-scaling-explorations/perpetualpowersoftau.
    // alpha is in the keys of Semaphore 4 (npm, @zk-kit/semaphore-artifacts 4.13.0) and in one that https://github.com/wienerlabs/square
    // made from a file with the published hash; tau in the verifier that https://github.com/alexbabits/pip made from `ppot_0080_14.ptau`.
    // That they belong together is shown by a key of Semaphore: with its points H_i, e(X, 1) = e(Z, tau) for Z = -2 sum H_i and X = -2 sum
    // w^(2i+1) H_i, where w is a root of unity of twice the domain's size.
    Ceremony {
        name: "Perpetual Powers of Tau, contribution 80 (ppot_0080)",
        alpha: Some([
            "16428432848801857252194528405604668803277877773566238944394625302971855135431",
            "16846502678714586896801519656441059708016666274385668027902869494772365009666",
        ]),
        tau: [
            "18253511544609001572866960948873128266198935669250718031100637619547827597184",
            "10764647077472957448033591885865458661573660819003350325268673957890498500987",
            "19756181390911900613508142947142748782977087973617411469215564659012323409872",
            "15207030507740967976352749097256929091435606784526748170016829002013506957017",
        ],
    },
    // Aztec's ceremony of 2020; tau is in the keys of PLONK verifiers on Ethereum.
    Ceremony {
        name: "Ignition",
        alpha: None,
        tau: [
            "496075682290949347282619629729389528669750910289829251317610107342504362928",
            "17212635814319756364507010169094758005397460366678210664966334781961899574209",
            "15828724851114720558251891430452666121603726704878231219287131634746610441813",
            "2255182984359105691812395885056400739448730162863181907784180250290003009508",
        ],
    },
];

/// The ceremony with this alpha in G1, if it is known. A key with this alpha need not have the ceremony's tau.
pub fn ceremony_of_alpha(alpha: &Affine<G1>) -> Option<&'static str> {
    let has_alpha = |ceremony: &Ceremony| {
        let known = ceremony.alpha.map(|coordinates| coordinates.map(coordinate));
        known.is_some_and(|[x, y]| *alpha == Affine { x, y })
    };
    CEREMONIES.into_iter().find(has_alpha).map(|ceremony| ceremony.name)
}

/// The ceremony with this tau in G2, if it is known.
pub fn ceremony_of_tau(tau: &Affine<G2>) -> Option<&'static str> {
    let has_tau = |ceremony: &Ceremony| {
        let [x0, x1, y0, y1] = ceremony.tau.map(coordinate);
        *tau == Affine { x: Fq2 { c0: x0, c1: x1 }, y: Fq2 { c0: y0, c1: y1 } }
    };
    CEREMONIES.into_iter().find(has_tau).map(|ceremony| ceremony.name)
}

fn coordinate(decimal: &str) -> Fq {
    decimal.parse().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_in_their_groups() {
        for Ceremony { name, alpha, tau } in CEREMONIES {
            let [x0, x1, y0, y1] = tau.map(coordinate);
            let tau = Affine::<G2> { x: Fq2 { c0: x0, c1: x1 }, y: Fq2 { c0: y0, c1: y1 } };
            assert!(tau.is_on_curve() && tau.is_in_subgroup() && !tau.is_infinity(), "{name}");
            assert_eq!(ceremony_of_tau(&tau), Some(name));
            if let Some([x, y]) = alpha.map(|alpha| alpha.map(coordinate)) {
                let alpha = Affine::<G1> { x, y };
                assert!(alpha.is_on_curve() && !alpha.is_infinity(), "{name}");
                assert_eq!(ceremony_of_alpha(&alpha), Some(name));
            }
        }
    }
}

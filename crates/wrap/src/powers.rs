//! Elements of the protocol's domains, and their powers, from the bits of their indices by lookups.

use crate::{
    residue::{Residue, WORD},
    tree::{index_value, number},
};
use proofmill_field::{Algebra, Field, Invert, bn254::Fr, goldilocks::Goldilocks};
use proofmill_plonk::{Bit, Circuit};
use proofmill_stark::protocol::{SHIFT, coset, inverses};

/// A list of elements.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Elements {
    /// The elements of the subgroups in bit-reversed order.
    Subgroup,
    /// The inverses of the elements of the subgroups.
    Inverses,
}

impl Elements {
    fn name(self) -> &'static str {
        match self {
            Self::Subgroup => "elements",
            Self::Inverses => "inverses",
        }
    }

    /// The elements by their indices.
    fn list(self) -> impl Fn(usize) -> Goldilocks {
        let (elements, scale) = match self {
            Self::Subgroup => (coset(), SHIFT.invert_vartime().unwrap_or_default()),
            Self::Inverses => (inverses(), Goldilocks::ONE),
        };
        move |index| elements.element(index) * scale
    }
}

/// Looks elements up in tables; their indices have at most `table_bits` bits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PowerLookup {
    pub(crate) table_bits: usize,
}

impl PowerLookup {
    /// The element at the index with these bits, lowest first, above `skip` bits that are zero; below 2^64.
    pub(crate) fn element(self, circuit: &mut Circuit, of: Elements, bits: &[Bit], skip: usize) -> Residue {
        let mut product = Residue::constant(Goldilocks::ONE);
        for (skip, bits) in (skip..).step_by(self.table_bits).zip(bits.chunks(self.table_bits)) {
            let [element, _] = lookup(circuit, of, bits, skip, 1);
            product = product.mul(circuit, &element);
        }
        product.reduced(circuit)
    }

    /// The element's powers from 1 on, one fewer than `count`, all below 2^64. An index with few bits takes a lookup for two powers, others
    /// a product.
    pub(crate) fn powers(
        self,
        circuit: &mut Circuit,
        of: Elements,
        bits: &[Bit],
        skip: usize,
        count: usize,
    ) -> Vec<Residue> {
        let mut looked_up: Vec<Option<Residue>> = vec![None; count];
        if (1..=self.table_bits).contains(&bits.len()) {
            for exponent in (0..).map(|log| 1 << log).take_while(|exponent| *exponent < count) {
                let powers = lookup(circuit, of, bits, skip, exponent);
                for (exponent, power) in [exponent, 3 * exponent].into_iter().zip(powers) {
                    if let Some(place) = looked_up.get_mut(exponent) {
                        *place = Some(power);
                    }
                }
            }
        }
        let mut powers: Vec<Residue> = Vec::new();
        for (exponent, power) in looked_up.into_iter().enumerate().skip(1) {
            // What no lookup gave is a product of two lower powers.
            let half = exponent.next_power_of_two() / 2;
            let power = power.unwrap_or_else(|| match half {
                0 => self.element(circuit, of, bits, skip),
                _ => powers[half - 1].mul(circuit, &powers[exponent - half - 1]).reduced(circuit),
            });
            powers.push(power);
        }
        powers
    }
}

/// The element at the index with these bits to the power `exponent`, and to three times that: one lookup.
fn lookup(circuit: &mut Circuit, of: Elements, bits: &[Bit], skip: usize, exponent: usize) -> [Residue; 2] {
    let elements = of.list();
    let entry = |index: usize| {
        let power = elements(index << skip).pow_vartime(&[exponent as u64]);
        [power, power * power * power].map(|power| Fr::from(power.to_canonical()))
    };
    let name = format!("{} {skip}+{}^{exponent}", of.name(), bits.len());
    let table = circuit.table(&name, || {
        let row = |index| {
            let [power, cube] = entry(index);
            [Fr::from(index as u64), power, cube]
        };
        (0..1_usize << bits.len()).map(row).collect()
    });
    let index = number(circuit, bits);
    let [power, cube] = entry(index_value(circuit, bits)).map(|power| circuit.witness(power));
    circuit.lookup(table, [index, power, cube], [Fr::ZERO; 3]);
    [power, cube].map(|power| Residue::of(power, WORD))
}

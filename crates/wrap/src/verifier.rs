//! The verifier of the protocol, step by step as [`proofmill_stark::verify`].

use crate::{
    Inner, Statement,
    challenger::Challenger,
    constraints::{self, Opened},
    element::{Cubic, CubicElement, DEGREE},
    fri,
    powers::{Elements, PowerLookup},
    residue::{Residue, WORD, canonical},
    tree::{OpenedRow, element, index_value},
};
use proofmill_cpu::Level;
use proofmill_field::goldilocks::Goldilocks;
use proofmill_hash::{Digest, PoseidonBn254Sponge};
use proofmill_plonk::{Bit, Circuit, Variable};
use proofmill_stark::{
    OpenedRows, OpenedValues, OpeningProof, Parameters,
    protocol::{self, SHIFT, generator},
};

/// Adds a verifier of one proof, whose public values become public inputs.
pub(crate) fn verify(
    circuit: &mut Circuit,
    level: Level,
    statement: &Statement,
    domain: PowerLookup,
    inner: &Inner<'_>,
) {
    let Statement { constraints, parameters, log_rows, .. } = statement;
    let (log_rows, proof) = (*log_rows, inner.proof);
    let descriptions = protocol::descriptions::<DEGREE>(constraints, parameters, log_rows);
    let public_values = publish(circuit, inner.public_values);

    // The transcript of `proofmill_stark::verify`: the same messages in the same order.
    let mut challenger = Challenger::new(circuit);
    challenger.observe_constants(circuit, &descriptions.statement);
    let trace_cap = challenger.observe_cap(circuit, &proof.trace);
    // The statement has this commitment: constants of the circuit, which no prover chooses.
    let preprocessed_cap = statement.preprocessed.as_ref().map(|cap| {
        let cap: Vec<_> = cap.iter().map(|digest| circuit.constant(element(digest))).collect();
        cap.iter().for_each(|digest| challenger.observe_digest(circuit, *digest));
        cap
    });
    for value in &public_values {
        let word = value.variable(circuit);
        challenger.observe(circuit, word);
    }
    let alpha = challenger.sample(circuit);
    let quotient_cap = challenger.observe_cap(circuit, &proof.quotient);
    challenger.work(circuit, parameters.grinding.out_of_domain, proof.out_of_domain_work);
    let zeta = challenger.sample(circuit);
    // Domains and queries are in the base field: no denominator below is zero.
    assert_not_in_base_field(circuit, &zeta);

    challenger.observe_constants(circuit, &descriptions.opening);
    let opened = challenger.observe_opened(circuit, &proof.opened);
    // At zeta, constraints on the opened values are what the quotient says.
    constraints::assert_hold(circuit, constraints, log_rows, &public_values, &opened, &alpha, &zeta);

    // Opening argument: powers of one challenge combine all columns.
    challenger.work(circuit, parameters.grinding.batching, proof.opening.batching_work);
    let combination = Combination::new(circuit, &mut challenger, &opened, zeta, log_rows);

    challenger.observe_constants(circuit, &descriptions.fri);
    let queries = Queries::new(circuit, level, statement, domain, &proof.opening, &mut challenger);
    // The rows of queries are in the trees of trace, quotient and preprocessed columns.
    let rows_of_queries = queries.rows(circuit, &[Some(trace_cap), Some(quotient_cap), preprocessed_cap]);
    // DEEP: the quotients at each query, computed from the rows, are what FRI folds.
    let mut values: Vec<CubicElement> = Vec::new();
    for (query, index) in queries.indices.iter().enumerate() {
        let rows: Vec<&OpenedRow> = rows_of_queries.iter().map(|rows| &rows[query]).collect();
        values.push(combination.at(circuit, domain, index, &rows));
    }
    queries.fold(circuit, values);
}

/// The public values as public inputs.
fn publish(circuit: &mut Circuit, public_values: &[Goldilocks]) -> Vec<Residue> {
    public_values
        .iter()
        .map(|value| {
            let word = canonical(circuit, *value);
            circuit.publish(word);
            Residue::of(word, WORD)
        })
        .collect()
}

/// Constrains a challenge, with coordinates below p, not to be in the base field: then it is in no domain, and no query.
pub(crate) fn assert_not_in_base_field(circuit: &mut Circuit, challenge: &CubicElement) {
    let [_, second, third] = challenge.0.each_ref().map(|coordinate| coordinate.variable(circuit));
    // Both are below 2^64, so that their sum is 0 only if both are.
    let sum = circuit.add(second, third);
    circuit.inverse(sum);
}

impl Challenger {
    fn observe_cap(&mut self, circuit: &mut Circuit, cap: &[Digest]) -> Vec<Variable> {
        let cap: Vec<_> = cap.iter().map(|digest| circuit.witness(element(digest))).collect();
        cap.iter().for_each(|digest| self.observe_digest(circuit, *digest));
        cap
    }

    fn observe_elements(&mut self, circuit: &mut Circuit, elements: &[Cubic]) -> Vec<CubicElement> {
        let observe = |element: &Cubic| {
            CubicElement(element.0.map(|coordinate| {
                let word = canonical(circuit, coordinate);
                self.observe(circuit, word);
                Residue::of(word, WORD)
            }))
        };
        elements.iter().map(observe).collect()
    }

    /// Takes the values at zeta.
    fn observe_opened(&mut self, circuit: &mut Circuit, opened: &OpenedValues<DEGREE>) -> Opened {
        let quotient = opened.quotient.as_flattened();
        let [trace, next, quotient, preprocessed, next_preprocessed] =
            [&opened.trace, &opened.next, quotient, &opened.preprocessed, &opened.next_preprocessed]
                .map(|values| self.observe_elements(circuit, values));
        Opened { trace, next, preprocessed, next_preprocessed, quotient }
    }

    /// Takes a proof of work, where one is asked for.
    fn work(&mut self, circuit: &mut Circuit, bits: u32, witness: Goldilocks) {
        if bits > 0 {
            let witness = canonical(circuit, witness);
            self.check_work(circuit, bits, witness);
        }
    }
}

/// The claims about opened values, combined by the powers of one challenge.
struct Combination {
    /// Powers from 1 on: the factors of columns.
    powers: Vec<CubicElement>,
    /// zeta, and the next row's point.
    points: [CubicElement; 2],
    /// For each commitment and each of its points: the point's index, and the value and the factor of the columns'
    /// combination.
    claims: Vec<Vec<(usize, CubicElement, CubicElement)>>,
}

impl Combination {
    fn new(
        circuit: &mut Circuit,
        challenger: &mut Challenger,
        opened: &Opened,
        zeta: CubicElement,
        log_rows: u32,
    ) -> Self {
        let alpha = challenger.sample(circuit);
        let commitments = [
            vec![&opened.trace, &opened.next],
            vec![&opened.quotient],
            vec![&opened.preprocessed, &opened.next_preprocessed],
        ];
        let widest = commitments.iter().map(|points| points[0].len()).max().unwrap_or(0);
        // One more, to go from one point's columns to the next's.
        let mut powers = vec![CubicElement::one()];
        for i in 0..widest {
            let power = powers[i].mul(circuit, &alpha);
            powers.push(power.factor(circuit));
        }
        let mut factor = CubicElement::one();
        let mut claims = Vec::new();
        for points in commitments {
            let mut of_commitment = Vec::new();
            for (point, values) in points.into_iter().enumerate().filter(|(_, values)| !values.is_empty()) {
                let combined = CubicElement::zero().add_products(circuit, values.iter().zip(&powers));
                let value = combined.mul(circuit, &factor).factor(circuit);
                of_commitment.push((point, value, factor.clone()));
                factor = factor.mul(circuit, &powers[values.len()]).factor(circuit);
            }
            claims.push(of_commitment);
        }
        let next = zeta.scale(circuit, generator(log_rows)).factor(circuit);
        Self { powers, points: [zeta, next], claims }
    }

    /// The sum of quotients at a query from its rows of all commitments.
    fn at(
        &self,
        circuit: &mut Circuit,
        domain: PowerLookup,
        index: &[Bit],
        rows: &[&OpenedRow],
    ) -> CubicElement {
        circuit.gadget("quotients of a query", |circuit| {
            let x =
                domain.element(circuit, Elements::Subgroup, index, 0).scale(circuit, SHIFT).reduced(circuit);
            let mut sums: [Option<CubicElement>; 2] = [None, None];
            for (row, claims) in rows.iter().zip(&self.claims) {
                let combined = CubicElement::zero().add_scaled(circuit, self.powers.iter().zip(&row.words));
                let combined = combined.factor(circuit);
                for (point, value, factor) in claims {
                    let product = combined.mul(circuit, factor);
                    let difference = value.sub(circuit, &product);
                    let sum = sums[*point].take().unwrap_or_else(CubicElement::zero);
                    sums[*point] = Some(sum.add(circuit, &difference));
                }
            }
            let mut value = CubicElement::zero();
            for (point, sum) in self.points.iter().zip(sums) {
                if let Some(sum) = sum {
                    let distance = point.sub(circuit, &CubicElement::of_base(x.clone())).factor(circuit);
                    let quotient = sum.quotient(circuit, &distance);
                    value = value.add(circuit, &quotient);
                }
            }
            value
        })
    }
}

/// The queries of FRI, after all challenges.
struct Queries<'a> {
    level: Level,
    parameters: &'a Parameters,
    log_rows: u32,
    log_height: u32,
    domain: PowerLookup,
    opening: &'a OpeningProof<DEGREE>,
    /// For each round, the commitment and the powers of the challenge.
    rounds: Vec<(Vec<Variable>, Vec<CubicElement>)>,
    polynomial: Vec<CubicElement>,
    indices: Vec<Vec<Bit>>,
}

/// A commitment to rows.
struct Tree<'a> {
    cap: &'a [Variable],
    log_height: u32,
    columns: usize,
}

impl<'a> Queries<'a> {
    /// The commit phase of FRI, then the draws of the query phase.
    fn new(
        circuit: &mut Circuit,
        level: Level,
        statement: &'a Statement,
        domain: PowerLookup,
        opening: &'a OpeningProof<DEGREE>,
        challenger: &mut Challenger,
    ) -> Self {
        let Statement { parameters, log_rows, .. } = statement;
        let queries = parameters.queries as usize;
        // FRI commit phase: each challenge follows its commitment.
        let mut rounds = Vec::new();
        for round in &opening.rounds {
            let cap = challenger.observe_cap(circuit, &round.commitment);
            challenger.work(circuit, parameters.grinding.commit, round.work);
            let beta = challenger.sample(circuit);
            rounds.push((cap, fri::powers_of_challenge(circuit, &beta, round.others.len() / queries + 1)));
        }
        // FRI query phase: indices follow the final polynomial.
        let polynomial = challenger.observe_elements(circuit, &opening.final_polynomial);
        challenger.work(circuit, parameters.grinding.query, opening.query_work);
        let (log_rows, log_height) = (*log_rows, log_rows + parameters.log_blowup);
        let indices = (0..parameters.queries).map(|_| challenger.sample_bits(circuit, log_height)).collect();
        Self { level, parameters, log_rows, log_height, domain, opening, rounds, polynomial, indices }
    }

    /// The rows of queries in the trees with these caps.
    fn rows(&self, circuit: &mut Circuit, caps: &[Option<Vec<Variable>>]) -> Vec<Vec<OpenedRow>> {
        let whole: Vec<&[Bit]> = self.indices.iter().map(Vec::as_slice).collect();
        let mut rows_of_queries: Vec<Vec<OpenedRow>> = Vec::new();
        for (cap, opened) in caps.iter().flatten().zip(&self.opening.rows) {
            let columns = opened.values.len() / self.indices.len();
            let rows: Vec<_> =
                opened.values.chunks(columns).map(|row| OpenedRow::witness(circuit, row)).collect();
            let tree = Tree { cap, log_height: self.log_height, columns };
            self.assert_in_tree(circuit, &tree, &whole, opened, &rows);
            rows_of_queries.push(rows);
        }
        rows_of_queries
    }

    /// Constrains rows, whose values and siblings are in `opened`, to be in a tree.
    fn assert_in_tree(
        &self,
        circuit: &mut Circuit,
        tree: &Tree<'_>,
        indices: &[&[Bit]],
        opened: &OpenedRows,
        rows: &[OpenedRow],
    ) {
        let (level, parameters) = (self.level, self.parameters);
        let Tree { cap, log_height, columns } = *tree;
        let numbers: Vec<_> = indices.iter().map(|index| index_value(circuit, index)).collect();
        // A blank or wrong proof may have no paths: any siblings give a circuit of the same size.
        let paths =
            protocol::paths(level, &PoseidonBn254Sponge, parameters, log_height, columns, &numbers, opened)
                .unwrap_or_default();
        let length = (log_height - parameters.log_cap(log_height)) as usize;
        for (query, (index, row)) in indices.iter().zip(rows).enumerate() {
            let mut path = paths.get(query).cloned().unwrap_or_default();
            path.resize(length, Digest::default());
            row.assert_in_tree(circuit, index, &path, cap);
        }
    }

    /// Folds the values of queries round by round; each round drops the lowest bits of the indices.
    fn fold(&self, circuit: &mut Circuit, mut values: Vec<CubicElement>) {
        let (mut height, mut folded) = (self.log_height, 0);
        for ((round, (cap, betas)), log_arity) in
            self.opening.rounds.iter().zip(&self.rounds).zip(self.parameters.log_arities(self.log_rows))
        {
            let (arity, start) = (1_usize << log_arity, folded);
            folded += log_arity as usize;
            height -= log_arity;
            let mut rows = Vec::new();
            let others = round.others.chunks(arity - 1);
            for ((value, index), others) in values.iter_mut().zip(&self.indices).zip(others) {
                let (place, index) = index[start..].split_at(log_arity as usize);
                *value = value.reduced(circuit);
                let row = fri::row(circuit, value, index_value(circuit, place), others);
                *value = fri::fold(circuit, self.domain, &row, value, place, index, betas);
                rows.push(row);
            }
            let left: Vec<&[Bit]> = self.indices.iter().map(|index| &index[folded..]).collect();
            let words = rows.iter().flat_map(|row| &row.words).map(|word| word.value(circuit));
            let opened = OpenedRows { values: words.collect(), siblings: round.siblings.clone() };
            let tree = Tree { cap, log_height: height, columns: DEGREE * arity };
            self.assert_in_tree(circuit, &tree, &left, &opened, &rows);
        }
        for (value, index) in values.iter().zip(&self.indices) {
            fri::assert_final(circuit, self.domain, value, &index[folded..], &self.polynomial);
        }
    }
}

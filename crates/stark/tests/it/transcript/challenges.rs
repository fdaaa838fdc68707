//! Every message changes all later challenges and no earlier one.

use crate::{
    sequence::Sequence,
    transcript::recorder::{Event, Recorded, challenges, recorded, replayed},
};
use proofmill_cpu::Level;
use proofmill_field::{
    Field,
    goldilocks::{Extension, Goldilocks},
};
use proofmill_hash::{DIGEST, Digest, Keccak, Poseidon2, PoseidonBn254Sponge, Sponge};
use proofmill_stark::{
    Constraints, Grinding, OpenedValues, OpeningProof, Parameters, PreprocessedKey, Proof, Round, StarkHash,
    TableValues, Tables, TablesKey, TablesProof, TablesVerifyingKey,
    air::{Air, Bus, Preprocessed, Row},
    prove, prove_tables, verify, verify_tables,
};

/// The degree of the extension that challenges are drawn from.
const D: usize = 2;

/// Two rounds of FRI, the first of arity 4, and every kind of work.
const PARAMETERS: Parameters = Parameters {
    extension: D as u32,
    log_blowup: 1,
    log_arity: 2,
    log_final_length: 1,
    queries: 3,
    cap_height: 1,
    grinding: Grinding { lookups: 2, out_of_domain: 1, batching: 2, commit: 1, query: 3 },
    ..Parameters::PROVEN_100
};

/// Changes of a part of a proof, in the order of the protocol's messages: the number of challenges before it, and the change.
struct Changes<P>(Vec<(usize, Change<P>)>);

type Change<P> = Box<dyn Fn(&mut P)>;

/// A number of bits.
type Bits = fn(&mut Grinding) -> &mut u32;

impl<P: Clone + PartialEq> Changes<P> {
    /// Makes each change by itself, and compares the challenges with those of the honest proof.
    fn all_count(&self, proof: &P, honest: &[u64], challenges_of: impl Fn(&P) -> Vec<u64>) {
        for (number, (before, change)) in self.0.iter().enumerate() {
            let mut changed = proof.clone();
            change(&mut changed);
            assert!(changed != *proof);
            assert_from(*before, honest, &challenges_of(&changed), &format!("change {number}"));
        }
    }
}

impl<P: 'static> Changes<P> {
    fn add(&mut self, before: usize, change: impl Fn(&mut P) + 'static) {
        self.0.push((before, Box::new(change)));
    }

    fn word(&mut self, before: usize, word: impl Fn(&mut P) -> &mut Goldilocks + 'static) {
        self.add(before, move |proof| *word(proof) += Goldilocks::ONE);
    }

    /// Changes each coordinate of each of `count` elements.
    fn elements(
        &mut self,
        before: usize,
        count: usize,
        element: impl Fn(&mut P, usize) -> &mut Extension<Goldilocks, D> + Clone + 'static,
    ) {
        for (index, coordinate) in (0..count).flat_map(|index| (0..D).map(move |i| (index, i))) {
            let element = element.clone();
            self.word(before, move |proof| &mut element(proof, index).0[coordinate]);
        }
    }

    /// Changes each element of each of `count` digests.
    fn digests(
        &mut self,
        before: usize,
        count: usize,
        cap: impl Fn(&mut P) -> &mut Vec<Digest> + Clone + 'static,
    ) {
        for (index, word) in (0..count).flat_map(|index| (0..DIGEST).map(move |i| (index, i))) {
            let cap = cap.clone();
            self.add(before, move |proof| cap(proof)[index].0[word] ^= 1);
        }
    }

    /// Changes all opened values, of which there are as many as in `found`.
    fn opened(
        &mut self,
        before: usize,
        found: &OpenedValues<D>,
        opened: impl Fn(&mut P) -> &mut OpenedValues<D> + Copy + 'static,
    ) {
        // By all names, so that none is forgotten.
        let OpenedValues { trace, next, preprocessed, next_preprocessed, quotient, beside_quotient, random } =
            found;
        self.elements(before, trace.len(), move |proof, i| &mut opened(proof).trace[i]);
        self.elements(before, next.len(), move |proof, i| &mut opened(proof).next[i]);
        self.elements(before, preprocessed.len(), move |proof, i| &mut opened(proof).preprocessed[i]);
        let next_preprocessed = next_preprocessed.len();
        self.elements(before, next_preprocessed, move |proof, i| &mut opened(proof).next_preprocessed[i]);
        let quotient = D * quotient.len();
        self.elements(before, quotient, move |proof, i| &mut opened(proof).quotient[i / D][i % D]);
        let beside_quotient = beside_quotient.len();
        self.elements(before, beside_quotient, move |proof, i| &mut opened(proof).beside_quotient[i]);
        self.elements(before, random.len(), move |proof, i| &mut opened(proof).random[i]);
    }

    /// Changes all of an opening argument, whose first challenge has `before` others before it.
    fn opening(
        &mut self,
        before: usize,
        found: &OpeningProof<D>,
        opening: impl Fn(&mut P) -> &mut OpeningProof<D> + Copy + 'static,
    ) {
        let OpeningProof { batching_work: _, rounds, final_polynomial, query_work: _, rows } = found;
        let queries = before + D * (1 + rounds.len());
        let end = queries + PARAMETERS.queries as usize;
        self.word(before, move |proof| &mut opening(proof).batching_work);
        for (index, round) in rounds.iter().enumerate() {
            let Round { commitment, work: _, others, salts, siblings } = round;
            let fold = before + D * (1 + index);
            self.digests(fold, commitment.len(), move |proof| &mut opening(proof).rounds[index].commitment);
            self.word(fold, move |proof| &mut opening(proof).rounds[index].work);
            self.elements(end, others.len(), move |proof, i| &mut opening(proof).rounds[index].others[i]);
            for salt in 0..salts.len() {
                self.word(end, move |proof| &mut opening(proof).rounds[index].salts[salt]);
            }
            self.digests(end, siblings.len(), move |proof| &mut opening(proof).rounds[index].siblings);
        }
        self.elements(queries, final_polynomial.len(), move |proof, i| {
            &mut opening(proof).final_polynomial[i]
        });
        self.word(queries, move |proof| &mut opening(proof).query_work);
        for (index, rows) in rows.iter().enumerate() {
            for value in 0..rows.values.len() {
                self.word(end, move |proof| &mut opening(proof).rows[index].values[value]);
            }
            self.digests(end, rows.siblings.len(), move |proof| &mut opening(proof).rows[index].siblings);
        }
    }
}

/// Asserts that challenges differ from the one on that has so many before it, and no earlier one.
#[track_caller]
fn assert_from(before: usize, honest: &[u64], changed: &[u64], what: &str) {
    assert_eq!(honest.len(), changed.len(), "{what}");
    for (index, (honest, changed)) in honest.iter().zip(changed).enumerate() {
        assert_eq!(
            honest != changed,
            index >= before,
            "{what}: challenge {index}, expected from {before} on"
        );
    }
}

/// Changes each word that was taken, and compares the challenges.
fn every_word_counts(hash: Recorded, events: &[Event]) {
    let honest = challenges(events);
    assert_eq!(replayed(hash, events), honest);
    let mut words = 0;
    for (at, event) in events.iter().enumerate() {
        let mut changed = events.to_vec();
        match &mut changed[at] {
            Event::Word(word) | Event::Work(_, word) => *word += Goldilocks::ONE,
            Event::Digest(digest) => digest.0[0] ^= 1,
            Event::Challenge(_) | Event::Index(_) => continue,
        }
        words += 1;
        let before = challenges(&events[..at]).len();
        assert_from(before, &honest, &replayed(hash, &changed), &format!("event {at}, {event:?}"));
    }
    assert!(words > 60, "{words} words");
}

/// A proof of one trace, with all that the verifier knows.
struct One {
    hash: Recorded,
    parameters: Parameters,
    air: Sequence,
    constraints: Constraints,
    cap: Vec<Digest>,
    log_rows: u32,
    public_values: Vec<Goldilocks>,
    proof: Proof<D>,
}

impl One {
    fn new(hash: &'static dyn StarkHash, parameters: Parameters, rows: usize) -> Self {
        let (level, hash, air) = (Level::best(), Recorded(hash), Sequence { rows });
        let constraints = Constraints::new(&air).expect("constraints");
        let (trace, public_values) = air.trace();
        let columns = air.preprocessed().expect("columns");
        let key = PreprocessedKey::new(level, &hash, &parameters, columns).expect("a key");
        let (proof, events) = recorded(|| {
            prove(level.into(), &hash, &parameters, &constraints, Some(&key), trace, &public_values)
                .expect("a proof")
        });
        // The prover verifies its proof: both have the same transcript.
        let (of_prover, of_verifier) = events.split_at(events.len() / 2);
        assert_eq!(of_prover, of_verifier);
        every_word_counts(hash, of_verifier);
        let (cap, log_rows) = key.commitment();
        Self { hash, parameters, air, constraints, cap: cap.to_vec(), log_rows, public_values, proof }
    }

    /// The verifier's challenges, whatever the verdict is.
    fn challenges(&self) -> Vec<u64> {
        self.challenges_of(&self.proof)
    }

    fn challenges_of(&self, proof: &Proof<D>) -> Vec<u64> {
        let Self { hash, parameters, constraints, cap, log_rows, public_values, .. } = self;
        let key = Some((&cap[..], *log_rows));
        let (_, events) =
            recorded(|| verify(Level::best(), hash, parameters, constraints, key, public_values, proof));
        challenges(&events)
    }

    fn every_message_counts(self) {
        let honest = self.challenges();
        let Proof { log_rows: _, trace, quotient, random, out_of_domain_work: _, opened, opening } =
            &self.proof;
        let rounds = opening.rounds.len();
        assert_eq!(honest.len(), D * (3 + rounds) + self.parameters.queries as usize);
        let (alpha, zeta, batching) = (0, D, 2 * D);
        let mut changes = Changes::<Proof<D>>(Vec::new());
        changes.digests(alpha, trace.len(), |proof| &mut proof.trace);
        changes.digests(zeta, quotient.len(), |proof| &mut proof.quotient);
        changes.digests(zeta, random.len(), |proof| &mut proof.random);
        changes.word(zeta, |proof| &mut proof.out_of_domain_work);
        changes.opened(batching, opened, |proof| &mut proof.opened);
        changes.opening(batching, opening, |proof| &mut proof.opening);
        changes.all_count(&self.proof, &honest, |proof| self.challenges_of(proof));
        self.the_statement_counts(&honest);
    }

    /// What is not in the proof.
    fn the_statement_counts(mut self, honest: &[u64]) {
        for index in 0..self.public_values.len() {
            self.public_values[index] += Goldilocks::ONE;
            assert_from(0, honest, &self.challenges(), "a public value");
            self.public_values[index] -= Goldilocks::ONE;
        }
        for (index, word) in (0..self.cap.len()).flat_map(|index| (0..DIGEST).map(move |i| (index, i))) {
            self.cap[index].0[word] ^= 1;
            assert_from(0, honest, &self.challenges(), "the commitment to preprocessed columns");
            self.cap[index].0[word] ^= 1;
        }
        let grinding: [(usize, Bits); 4] = [
            (0, |grinding| &mut grinding.out_of_domain),
            (2 * D, |grinding| &mut grinding.batching),
            (3 * D, |grinding| &mut grinding.commit),
            (3 * D, |grinding| &mut grinding.query),
        ];
        for (before, bits) in grinding {
            *bits(&mut self.parameters.grinding) += 1;
            assert_from(before, honest, &self.challenges(), "bits of a proof of work");
            *bits(&mut self.parameters.grinding) -= 1;
        }
        assert_eq!(self.challenges(), honest);
        let constraints = self.constraints.clone();
        for constant in 0..2 {
            let mut periodic = constraints.periodic().to_vec();
            periodic[0][constant] += Goldilocks::ONE;
            self.constraints = Constraints::from_graph(
                constraints.graph().clone(),
                self.air.columns(),
                constraints.preprocessed(),
                constraints.public_values(),
                periodic,
                [true, false],
            )
            .expect("constraints");
            assert_from(0, honest, &self.challenges(), "a constant of the AIR");
        }
    }
}

#[test]
fn every_message_of_a_proof_changes_all_later_challenges_and_no_earlier_one() {
    One::new(&Keccak, PARAMETERS, 16).every_message_counts();
    One::new(&Sponge(Poseidon2::<8>), PARAMETERS, 16).every_message_counts();
}

#[test]
fn every_message_of_a_proof_over_bn254_does() {
    One::new(&PoseidonBn254Sponge, PARAMETERS, 16).every_message_counts();
}

#[test]
fn every_message_of_a_blinded_proof_does() {
    One::new(&Keccak, PARAMETERS.blinded(), 32).every_message_counts();
    One::new(&Sponge(Poseidon2::<12>), PARAMETERS.blinded(), 32).every_message_counts();
}

const SQUARES: Bus<'_> = Bus("squares");

/// Offers the squares of 0 to 7 in preprocessed columns; the trace has how often each is looked up.
struct Squares;

impl Air for Squares {
    fn columns(&self) -> usize {
        1
    }

    fn preprocessed(&self) -> Option<Preprocessed> {
        let row = |i: u64| [i, i * i].map(Goldilocks::new);
        Some(Preprocessed { columns: 2, values: (0..8).flat_map(row).collect() })
    }

    fn constrain(&self, row: Row) {
        SQUARES.offer(&[row.preprocessed(0), row.preprocessed(1)], row.column(0));
    }
}

/// Looks up a pair in each row, the first of which is public; the distance between rows is a constant.
struct Pairs {
    distance: u64,
}

impl Air for Pairs {
    fn columns(&self) -> usize {
        3
    }

    fn public_values(&self) -> usize {
        2
    }

    fn constrain(&self, row: Row) {
        let pair = [row.column(0), row.column(1)];
        for (index, value) in pair.into_iter().enumerate() {
            (row.is_first() * (value - row.public_value(index))).must_vanish();
        }
        let next = row.column(2) + Goldilocks::new(self.distance).into();
        (row.is_transition() * (row.next(2) - next)).must_vanish();
        SQUARES.look_up(&pair, Goldilocks::ONE, 1);
    }
}

/// A proof of several tables, with all that the verifier knows.
struct Several {
    hash: Recorded,
    tables: Tables,
    key: TablesVerifyingKey,
    public_values: [Vec<Goldilocks>; 3],
    proof: TablesProof<D>,
}

/// A table of squares, one of 16 rows that looks them up, and one without lookups.
fn tables(distance: u64) -> Tables {
    let airs: [&dyn Air; 3] = [&Squares, &Pairs { distance }, &proofmill_stark::airs::Fibonacci];
    Tables::new(airs.map(|air| Constraints::new(air).expect("constraints")).into()).expect("tables")
}

impl Several {
    fn new(hash: &'static dyn StarkHash) -> Self {
        let (level, hash, tables) = (Level::best(), Recorded(hash), tables(3));
        let pair = |row: u64| [row % 5, (row % 5).pow(2), 3 * row].map(Goldilocks::new);
        let pairs: Vec<_> = (0..16).flat_map(pair).collect();
        let counts = [4, 3, 3, 3, 3, 0, 0, 0].map(Goldilocks::new);
        let fibonacci = proofmill_stark::airs::Fibonacci.trace(2, [1, 2].map(Goldilocks::new));
        let public_values = [vec![], pairs[..2].to_vec(), fibonacci.public_values];
        let preprocessed = vec![Squares.preprocessed(), None, None];
        let key = TablesKey::new(level, &hash, &PARAMETERS, &tables, preprocessed)
            .expect("a key")
            .expect("columns");
        let traces = [counts.to_vec().into(), pairs.into(), fibonacci.trace.into()];
        let (proof, events) = recorded(|| {
            let public_values = public_values.each_ref().map(Vec::as_slice);
            prove_tables(level.into(), &hash, &PARAMETERS, &tables, Some(&key), &traces, &public_values)
                .expect("a proof")
        });
        let (of_prover, of_verifier) = events.split_at(events.len() / 2);
        assert_eq!(of_prover, of_verifier);
        every_word_counts(hash, of_verifier);
        Self { hash, tables, key: key.verifying_key(), public_values, proof }
    }

    fn challenges(&self) -> Vec<u64> {
        self.challenges_of(&self.proof)
    }

    fn challenges_of(&self, proof: &TablesProof<D>) -> Vec<u64> {
        let Self { hash, tables, key, public_values, .. } = self;
        let public_values = public_values.each_ref().map(Vec::as_slice);
        let (_, events) = recorded(|| {
            verify_tables(Level::best(), hash, &PARAMETERS, tables, Some(key), &public_values, proof)
        });
        challenges(&events)
    }

    fn every_message_counts(self) {
        let honest = self.challenges();
        let TablesProof {
            log_rows: _,
            traces,
            lookup_work: _,
            lookups,
            totals,
            quotients,
            random: _,
            out_of_domain_work: _,
            opened,
            opening,
        } = &self.proof;
        let [of_lookups, alpha, zeta, batching] = [0, 2 * D, 3 * D, 4 * D];
        assert_eq!(honest.len(), D * (5 + opening.rounds.len()) + PARAMETERS.queries as usize);
        let mut changes = Changes::<TablesProof<D>>(Vec::new());
        changes.digests(of_lookups, traces.len(), |proof| &mut proof.traces);
        changes.word(of_lookups, |proof| &mut proof.lookup_work);
        changes.digests(alpha, lookups.len(), |proof| &mut proof.lookups);
        changes.elements(alpha, totals.len(), |proof, i| &mut proof.totals[i]);
        changes.digests(zeta, quotients.len(), |proof| &mut proof.quotients);
        changes.word(zeta, |proof| &mut proof.out_of_domain_work);
        for (table, TableValues { columns, lookups, next_lookups }) in opened.iter().enumerate() {
            changes.opened(batching, columns, move |proof| &mut proof.opened[table].columns);
            changes.elements(batching, lookups.len(), move |proof, i| &mut proof.opened[table].lookups[i]);
            let next = next_lookups.len();
            changes.elements(batching, next, move |proof, i| &mut proof.opened[table].next_lookups[i]);
        }
        changes.opening(batching, opening, |proof| &mut proof.opening);
        changes.all_count(&self.proof, &honest, |proof| self.challenges_of(proof));
        self.the_statement_counts(&honest);
    }

    fn the_statement_counts(mut self, honest: &[u64]) {
        for (table, index) in [(1, 0), (1, 1), (2, 0), (2, 1), (2, 2)] {
            self.public_values[table][index] += Goldilocks::ONE;
            assert_from(0, honest, &self.challenges(), "a public value");
            self.public_values[table][index] -= Goldilocks::ONE;
        }
        for (index, word) in (0..self.key.cap.len()).flat_map(|i| (0..DIGEST).map(move |j| (i, j))) {
            self.key.cap[index].0[word] ^= 1;
            assert_from(0, honest, &self.challenges(), "the commitment to preprocessed columns");
            self.key.cap[index].0[word] ^= 1;
        }
        assert_eq!(self.challenges(), honest);
        self.tables = tables(4);
        assert_from(0, honest, &self.challenges(), "a constant of an AIR");
    }
}

#[test]
fn every_message_of_a_proof_of_tables_does() {
    Several::new(&Keccak).every_message_counts();
    Several::new(&Sponge(Poseidon2::<8>)).every_message_counts();
    Several::new(&PoseidonBn254Sponge).every_message_counts();
}

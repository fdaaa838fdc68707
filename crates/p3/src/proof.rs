//! Proofs of Plonky3 and ours.
//!
//! Both consist of the same values. Plonky3 has a list for each query and for each matrix of it. We have one list for all, whose parts
//! follow from the shape of the statement. A conversion therefore checks all lengths: where one differs, it gives an error, and nothing is
//! left out. A proof that is converted back is the same as before.
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use crate::elements::{element, ours, theirs, value};
use p3_batch_stark::{BatchCommitments, BatchOpenedValues, BatchProof, proof::OpenedValuesWithLookups};
use p3_commit::{ExtensionMmcs, Mmcs, Pcs, PolynomialSpace};
use p3_field::{
    ExtensionField, PrimeField64,
    extension::{BinomialExtensionField, CubicTrinomialExtensionField},
};
use p3_fri::{BatchMultiOpening, CommitPhaseMultiStep, FriProof};
use p3_goldilocks::Goldilocks;
use p3_lookup::LookupTerminal;
use p3_merkle_tree::PrunedMerklePaths;
use p3_symmetric::MerkleCap;
use p3_uni_stark::{Com, Commitments, Domain, OpenedValues, PreprocessedOpenedValues, StarkGenericConfig};
use proofmill_field::goldilocks::Extension;
use proofmill_hash::{DIGEST, Digest};
use proofmill_stark::{OpenedRows, OpeningProof, Proof, Round, SALT, TableValues, TablesProof, VerifyError};

type Element = proofmill_field::goldilocks::Goldilocks;

/// A configuration of Plonky3 whose proofs are proofs of [`proofmill_stark`] with challenges in the extension of degree `D`.
///
/// Such a configuration is over Goldilocks. It has trees of `MerkleTreeMmcs` with digests of four words and `TwoAdicFriPcs`, or trees of
/// `MerkleTreeHidingMmcs` with salts of four elements and `HidingFriPcs`. Its challenges are in `BinomialExtensionField<Goldilocks, 2>` or
/// `CubicTrinomialExtensionField<Goldilocks>`. The caller has to know the hash: a type of Plonky3 does not tell the constants of its
/// permutation.
pub trait Configuration<const D: usize>: StarkGenericConfig {
    /// Whether proofs are blinded.
    const BLINDED: bool;

    /// The digests of a commitment.
    fn digests(commitment: &Com<Self>) -> Vec<Digest>;

    /// [`from_plonky3`].
    ///
    /// # Errors
    /// As [`from_plonky3`].
    fn from_plonky3(proof: &p3_uni_stark::Proof<Self>) -> Result<Proof<D>, VerifyError>;

    /// [`to_plonky3`].
    ///
    /// # Errors
    /// As [`to_plonky3`].
    fn to_plonky3(proof: &Proof<D>) -> Result<p3_uni_stark::Proof<Self>, VerifyError>;

    /// [`batch_from_plonky3`].
    ///
    /// # Errors
    /// As [`batch_from_plonky3`].
    fn batch_from_plonky3(proof: &BatchProof<Self>) -> Result<TablesProof<D>, VerifyError>;

    /// [`batch_to_plonky3`].
    ///
    /// # Errors
    /// As [`batch_to_plonky3`].
    fn batch_to_plonky3(proof: &TablesProof<D>) -> Result<BatchProof<Self>, VerifyError>;
}

/// The field of challenges that is our extension of degree `D`.
pub trait Challenge<const D: usize>: ExtensionField<Goldilocks> {}

impl Challenge<2> for BinomialExtensionField<Goldilocks, 2> {}
impl Challenge<3> for CubicTrinomialExtensionField<Goldilocks> {}

/// The words of digests in Plonky3's trees: elements, or integers of 64 bits.
pub trait Word: Copy {
    /// The integer.
    fn to_integer(self) -> u64;

    /// The word of an integer.
    fn from_integer(integer: u64) -> Self;
}

impl Word for Goldilocks {
    fn to_integer(self) -> u64 {
        self.as_canonical_u64()
    }

    fn from_integer(integer: u64) -> Self {
        Self::new(integer)
    }
}

impl Word for u64 {
    fn to_integer(self) -> u64 {
        self
    }

    fn from_integer(integer: u64) -> Self {
        integer
    }
}

type Cap<W> = MerkleCap<Goldilocks, [W; DIGEST]>;
type Siblings<W> = PrunedMerklePaths<W, DIGEST>;
type Opening<C, M> =
    FriProof<C, ExtensionMmcs<Goldilocks, C, M>, Goldilocks, Vec<BatchMultiOpening<Goldilocks, M>>>;
/// The opening of a round of FRI.
type Step<C, M> = CommitPhaseMultiStep<C, ExtensionMmcs<Goldilocks, C, M>>;
/// The commitments of the rounds of FRI, and their openings.
type Steps<W, C, M> = (Vec<Cap<W>>, Vec<Step<C, M>>);
/// Values of each commitment, matrix and point.
type Values<C> = p3_commit::OpenedValues<C>;
/// The salt of each query and matrix.
type Salts = Vec<Vec<Vec<Goldilocks>>>;

/// The digests that lead from opened rows to a commitment of Plonky3, and the salts of the rows.
pub trait Paths<W: Word> {
    /// The salts of the rows, if they have some, and digests.
    fn parts(&self) -> (Option<&Salts>, &Siblings<W>);

    /// The opposite of [`parts`](Self::parts). Missing salts are an empty list.
    fn from_parts(salts: Salts, siblings: Siblings<W>) -> Self;
}

impl<W: Word> Paths<W> for Siblings<W> {
    fn parts(&self) -> (Option<&Salts>, &Self) {
        (None, self)
    }

    fn from_parts(_: Salts, siblings: Self) -> Self {
        siblings
    }
}

impl<W: Word> Paths<W> for (Salts, Siblings<W>) {
    fn parts(&self) -> (Option<&Salts>, &Siblings<W>) {
        (Some(&self.0), &self.1)
    }

    fn from_parts(salts: Salts, siblings: Siblings<W>) -> Self {
        (salts, siblings)
    }
}

/// An opening proof of Plonky3, of `TwoAdicFriPcs` or `HidingFriPcs`.
pub trait Openings<W: Word, C: Challenge<D>, const D: usize>: Sized {
    /// The trees.
    type Trees: Mmcs<Goldilocks, Commitment = Cap<W>, MultiProof: Paths<W>>;

    /// Whether the opening proof is one of `HidingFriPcs`.
    const BLINDED: bool;

    /// The values of random columns, if there are some, and the proof of FRI.
    fn parts(&self) -> (Option<&Values<C>>, &Opening<C, Self::Trees>);

    /// The opposite of [`parts`](Self::parts). Missing values are an empty list.
    fn from_parts(random: Values<C>, opening: Opening<C, Self::Trees>) -> Self;
}

impl<W, C, M, const D: usize> Openings<W, C, D> for Opening<C, M>
where
    W: Word,
    C: Challenge<D>,
    M: Mmcs<Goldilocks, Commitment = Cap<W>, MultiProof: Paths<W>>,
{
    type Trees = M;

    const BLINDED: bool = false;

    fn parts(&self) -> (Option<&Values<C>>, &Self) {
        (None, self)
    }

    fn from_parts(_: Values<C>, opening: Self) -> Self {
        opening
    }
}

impl<W, C, M, const D: usize> Openings<W, C, D> for (Values<C>, Opening<C, M>)
where
    W: Word,
    C: Challenge<D>,
    M: Mmcs<Goldilocks, Commitment = Cap<W>, MultiProof: Paths<W>>,
{
    type Trees = M;

    const BLINDED: bool = true;

    fn parts(&self) -> (Option<&Values<C>>, &Opening<C, M>) {
        (Some(&self.0), &self.1)
    }

    fn from_parts(random: Values<C>, opening: Opening<C, M>) -> Self {
        (random, opening)
    }
}

/// Our proof with the same values as a proof of Plonky3.
///
/// Elements whose words are not below p are reduced, as Plonky3's verifier reduces them. Provers of Plonky3 leave them in proofs in memory,
/// and its encodings reduce them or refuse them.
///
/// # Errors
/// [`VerifyError::Malformed`] if a list is not as long as other lists of the proof make it, and for lists that are present but empty.
pub fn from_plonky3<SC, const D: usize>(proof: &p3_uni_stark::Proof<SC>) -> Result<Proof<D>, VerifyError>
where
    SC: Configuration<D>,
{
    SC::from_plonky3(proof)
}

/// Plonky3's proof with the same values as a proof of ours.
///
/// # Errors
/// [`VerifyError::Malformed`] for proofs that [`proofmill_stark::verify`] refuses because of a length.
pub fn to_plonky3<SC, const D: usize>(proof: &Proof<D>) -> Result<p3_uni_stark::Proof<SC>, VerifyError>
where
    SC: Configuration<D>,
{
    SC::to_plonky3(proof)
}

/// Our proof with the same values as a proof of Plonky3 of several tables.
///
/// # Errors
/// As [`from_plonky3`].
pub fn batch_from_plonky3<SC, const D: usize>(proof: &BatchProof<SC>) -> Result<TablesProof<D>, VerifyError>
where
    SC: Configuration<D>,
{
    SC::batch_from_plonky3(proof)
}

/// Plonky3's proof with the same values as a proof of ours of several tables.
///
/// # Errors
/// [`VerifyError::Malformed`] for proofs that [`proofmill_stark::verify_tables`] refuses because of a length.
pub fn batch_to_plonky3<SC, const D: usize>(proof: &TablesProof<D>) -> Result<BatchProof<SC>, VerifyError>
where
    SC: Configuration<D>,
{
    SC::batch_to_plonky3(proof)
}

impl<SC, W, const D: usize> Configuration<D> for SC
where
    W: Word,
    SC: StarkGenericConfig<Challenge: Challenge<D>>,
    Domain<SC>: PolynomialSpace<Val = Goldilocks>,
    SC::Pcs: Pcs<SC::Challenge, SC::Challenger, Commitment = Cap<W>, Proof: Openings<W, SC::Challenge, D>>,
{
    const BLINDED: bool = <Proofs<SC> as Openings<W, SC::Challenge, D>>::BLINDED;

    fn digests(commitment: &Com<Self>) -> Vec<Digest> {
        digests(commitment.roots())
    }

    fn from_plonky3(proof: &p3_uni_stark::Proof<Self>) -> Result<Proof<D>, VerifyError> {
        // By all fields, so that none is forgotten.
        let p3_uni_stark::Proof { commitments, opened_values, opening_proof, degree_bits, ood_pow_witness } =
            proof;
        let Commitments { trace, quotient_chunks, random } = commitments;
        let columns = values_from_plonky3(opened_values)?;
        let mut tables = vec![TableValues { columns, lookups: Vec::new(), next_lookups: Vec::new() }];
        let opening = opening_from_plonky3(&mut tables, opening_proof)?;
        let opened = tables.remove(0).columns;
        Ok(Proof {
            log_rows: log_rows_from_plonky3(*degree_bits, Self::BLINDED)?,
            trace: digests(trace.roots()),
            quotient: digests(quotient_chunks.roots()),
            random: random_from_plonky3(random.as_ref(), Self::BLINDED)?,
            out_of_domain_work: element(*ood_pow_witness),
            opened,
            opening,
        })
    }

    fn to_plonky3(proof: &Proof<D>) -> Result<p3_uni_stark::Proof<Self>, VerifyError> {
        let Proof { log_rows, trace, quotient, random, out_of_domain_work, opened, opening } = proof;
        let columns = opened.clone();
        let tables = [TableValues { columns, lookups: Vec::new(), next_lookups: Vec::new() }];
        let (opened, opening_proof) = opening_to_plonky3::<W, _, Proofs<SC>, D>(&tables, opening)?;
        let opened = opened.first().map_or(Err(no_values()), |opened| values_to_plonky3(&opened.columns));
        Ok(p3_uni_stark::Proof {
            commitments: Commitments {
                trace: cap(trace)?,
                quotient_chunks: cap(quotient)?,
                random: random_to_plonky3(random, Self::BLINDED)?,
            },
            opened_values: opened?,
            opening_proof,
            degree_bits: *log_rows as usize + usize::from(Self::BLINDED),
            ood_pow_witness: value(*out_of_domain_work),
        })
    }

    fn batch_from_plonky3(proof: &BatchProof<Self>) -> Result<TablesProof<D>, VerifyError> {
        let BatchProof {
            commitments,
            opened_values,
            opening_proof,
            lookup_terminals,
            degree_bits,
            lookup_pow_witness,
            ood_pow_witness,
        } = proof;
        let BatchCommitments { main, permutation, quotient_chunks, random } = commitments;
        let BatchOpenedValues { instances } = opened_values;
        VerifyError::check_length("sums of tables", instances.len(), lookup_terminals.len())?;
        let (mut opened, mut totals) = (Vec::with_capacity(instances.len()), Vec::new());
        for (OpenedValuesWithLookups { base_opened_values, permutation_local, permutation_next }, terminal) in
            instances.iter().zip(lookup_terminals)
        {
            let there = usize::from(!permutation_local.is_empty());
            VerifyError::check_length("sums of a table's lookups", there, terminal.iter().len())?;
            totals.extend(terminal.iter().map(|LookupTerminal(total)| ours(*total)));
            opened.push(TableValues {
                columns: values_from_plonky3(base_opened_values)?,
                lookups: all_ours(permutation_local),
                next_lookups: all_ours(permutation_next),
            });
        }
        let lookups = permutation.as_ref().map_or(Vec::new(), |cap| digests(cap.roots()));
        let there = usize::from(!totals.is_empty());
        VerifyError::check_length("commitments to lookups", there, permutation.iter().len())?;
        VerifyError::check_length("proofs of work before lookups", there, lookup_pow_witness.iter().len())?;
        let opening = opening_from_plonky3(&mut opened, opening_proof)?;
        Ok(TablesProof {
            log_rows: degree_bits
                .iter()
                .map(|bits| log_rows_from_plonky3(*bits, Self::BLINDED))
                .collect::<Result<_, _>>()?,
            traces: digests(main.roots()),
            lookup_work: lookup_pow_witness.map_or_else(Element::default, element),
            lookups,
            totals,
            quotients: digests(quotient_chunks.roots()),
            random: random_from_plonky3(random.as_ref(), Self::BLINDED)?,
            out_of_domain_work: element(*ood_pow_witness),
            opened,
            opening,
        })
    }

    fn batch_to_plonky3(proof: &TablesProof<D>) -> Result<BatchProof<Self>, VerifyError> {
        let TablesProof {
            log_rows,
            traces,
            lookup_work,
            lookups,
            totals,
            quotients,
            random,
            out_of_domain_work,
            opened,
            opening,
        } = proof;
        let with_lookups = opened.iter().filter(|values| !values.lookups.is_empty()).count();
        VerifyError::check_length("sums of lookups", with_lookups, totals.len())?;
        let (opened, opening_proof) = opening_to_plonky3::<W, _, Proofs<SC>, D>(opened, opening)?;
        let mut rest = totals.iter();
        let (mut instances, mut lookup_terminals) = (Vec::with_capacity(opened.len()), Vec::new());
        for TableValues { columns, lookups, next_lookups } in &opened {
            let total = if lookups.is_empty() { None } else { rest.next() };
            lookup_terminals.push(total.map(|total| LookupTerminal(theirs(*total))));
            instances.push(OpenedValuesWithLookups {
                base_opened_values: values_to_plonky3(columns)?,
                permutation_local: all_theirs(lookups),
                permutation_next: all_theirs(next_lookups),
            });
        }
        Ok(BatchProof {
            commitments: BatchCommitments {
                main: cap(traces)?,
                permutation: if with_lookups == 0 { None } else { Some(cap(lookups)?) },
                quotient_chunks: cap(quotients)?,
                random: random_to_plonky3(random, Self::BLINDED)?,
            },
            opened_values: BatchOpenedValues { instances },
            opening_proof,
            lookup_terminals,
            degree_bits: log_rows
                .iter()
                .map(|log_rows| *log_rows as usize + usize::from(Self::BLINDED))
                .collect(),
            lookup_pow_witness: (with_lookups > 0).then(|| value(*lookup_work)),
            ood_pow_witness: value(*out_of_domain_work),
        })
    }
}

type Proofs<SC> = <<SC as StarkGenericConfig>::Pcs as Pcs<
    <SC as StarkGenericConfig>::Challenge,
    <SC as StarkGenericConfig>::Challenger,
>>::Proof;

fn no_values() -> VerifyError {
    VerifyError::Malformed { what: "tables with opened values", expected: 1, found: 0 }
}

fn random_from_plonky3<W: Word>(random: Option<&Cap<W>>, blinded: bool) -> Result<Vec<Digest>, VerifyError> {
    VerifyError::check_length("commitments to random values", blinded.into(), random.iter().len())?;
    Ok(random.map_or(Vec::new(), |cap| digests(cap.roots())))
}

fn random_to_plonky3<W: Word>(random: &[Digest], blinded: bool) -> Result<Option<Cap<W>>, VerifyError> {
    let there = usize::from(!random.is_empty());
    VerifyError::check_length("commitments to random values", blinded.into(), there)?;
    if blinded { cap(random).map(Some) } else { Ok(None) }
}

/// The base-2 logarithm of the number of rows, from that of the number of committed rows.
pub(crate) fn log_rows_from_plonky3(degree_bits: usize, blinded: bool) -> Result<u32, VerifyError> {
    let log_rows = degree_bits.checked_sub(blinded.into()).and_then(|bits| u32::try_from(bits).ok());
    log_rows.ok_or(VerifyError::Malformed {
        what: "logarithm of the number of rows",
        expected: Element::TWO_ADICITY as usize,
        found: degree_bits,
    })
}

/// Checks that a list that is present has values: an empty list stands for a missing one.
fn expect_some<T>(what: &'static str, list: &[T]) -> Result<(), VerifyError> {
    VerifyError::check_length(what, list.len().max(1), list.len())
}

fn digests<W: Word>(words: &[[W; DIGEST]]) -> Vec<Digest> {
    words.iter().map(|words| Digest(words.map(W::to_integer))).collect()
}

fn words<W: Word>(digests: &[Digest]) -> Vec<[W; DIGEST]> {
    digests.iter().map(|digest| digest.0.map(W::from_integer)).collect()
}

/// Plonky3's cap, which has a power of two of digests.
fn cap<W: Word>(digests: &[Digest]) -> Result<Cap<W>, VerifyError> {
    VerifyError::check_length("digests of a commitment", digests.len().next_power_of_two(), digests.len())?;
    Ok(MerkleCap::new(words(digests)))
}

fn all_ours<C: Challenge<D>, const D: usize>(values: &[C]) -> Vec<Extension<Element, D>> {
    values.iter().map(|value| ours(*value)).collect()
}

fn all_theirs<C: Challenge<D>, const D: usize>(values: &[Extension<Element, D>]) -> Vec<C> {
    values.iter().map(|value| theirs(*value)).collect()
}

/// The values of a list that may be missing.
fn some_ours<C: Challenge<D>, const D: usize>(
    what: &'static str,
    values: Option<&[C]>,
) -> Result<Vec<Extension<Element, D>>, VerifyError> {
    values.map_or(Ok(()), |values| expect_some(what, values))?;
    Ok(all_ours(values.unwrap_or_default()))
}

/// The values, if there are some.
fn some_theirs<C: Challenge<D>, const D: usize>(values: &[Extension<Element, D>]) -> Option<Vec<C>> {
    (!values.is_empty()).then(|| all_theirs(values))
}

fn values_from_plonky3<C: Challenge<D>, const D: usize>(
    opened: &OpenedValues<C>,
) -> Result<proofmill_stark::OpenedValues<D>, VerifyError> {
    let OpenedValues { trace_local, trace_next, preprocessed, quotient_chunks, random } = opened;
    let chunk = |values: &Vec<C>| {
        let wrong_length = VerifyError::Malformed {
            what: "values of a polynomial of the quotient",
            expected: D,
            found: values.len(),
        };
        all_ours(values).try_into().map_err(|_| wrong_length)
    };
    let (local, next) = match preprocessed {
        Some(PreprocessedOpenedValues { local, next }) => (Some(local.as_slice()), next.as_deref()),
        None => (None, None),
    };
    Ok(proofmill_stark::OpenedValues {
        trace: some_ours("values of the trace", Some(trace_local))?,
        next: some_ours("values of the next row", trace_next.as_deref())?,
        preprocessed: some_ours("values of preprocessed columns", local)?,
        next_preprocessed: some_ours("values of the next row's preprocessed columns", next)?,
        quotient: quotient_chunks.iter().map(chunk).collect::<Result<_, _>>()?,
        beside_quotient: Vec::new(),
        random: some_ours("values of random polynomials", random.as_deref())?,
    })
}

fn values_to_plonky3<C: Challenge<D>, const D: usize>(
    opened: &proofmill_stark::OpenedValues<D>,
) -> Result<OpenedValues<C>, VerifyError> {
    let proofmill_stark::OpenedValues {
        trace,
        next,
        preprocessed,
        next_preprocessed,
        quotient,
        beside_quotient: _,
        random,
    } = opened;
    expect_some("values of the trace", trace)?;
    if !next_preprocessed.is_empty() {
        expect_some("values of preprocessed columns", preprocessed)?;
    }
    Ok(OpenedValues {
        trace_local: all_theirs(trace),
        trace_next: some_theirs(next),
        preprocessed: some_theirs(preprocessed)
            .map(|local| PreprocessedOpenedValues { local, next: some_theirs(next_preprocessed) }),
        quotient_chunks: quotient.iter().map(|chunk| all_theirs(chunk)).collect(),
        random: some_theirs(random),
    })
}

/// The widths of the matrices of each commitment: random polynomials, traces, polynomials of quotients, preprocessed columns, columns of
/// lookups.
fn widths<const D: usize>(opened: &[TableValues<D>]) -> Vec<Vec<usize>> {
    let there = |widths: Vec<usize>| widths.into_iter().filter(|width| *width > 0).collect::<Vec<_>>();
    let of_columns = |width: fn(&proofmill_stark::OpenedValues<D>) -> usize| {
        there(opened.iter().map(|values| width(&values.columns)).collect())
    };
    let random = random_columns(opened);
    let chunks = opened.iter().map(|values| values.columns.quotient.len()).sum();
    let of_traces = opened.iter().map(|values| values.columns.trace.len()).collect();
    let of_random = of_columns(|columns| columns.random.len());
    let preprocessed = of_columns(|columns| columns.preprocessed.len());
    let lookups = there(opened.iter().map(|values| values.lookups.len()).collect());
    let optional = |widths: Vec<usize>| (!widths.is_empty()).then_some(widths);
    let always = [of_traces, vec![D + random; chunks]];
    let widths = optional(of_random).into_iter().chain(always);
    widths.chain([preprocessed, lookups].into_iter().filter_map(optional)).collect()
}

/// The number of random columns beside each matrix.
fn random_columns<const D: usize>(opened: &[TableValues<D>]) -> usize {
    opened.first().map_or(0, |values| values.columns.random.len().saturating_sub(D))
}

/// Appends the values of random columns, which Plonky3 has in lists of their own.
fn append_random<C: Challenge<D>, const D: usize>(opened: &mut [TableValues<D>], random: &Values<C>) {
    let mut lists = random.iter().flatten().flatten();
    let mut append =
        |values: &mut Vec<_>| values.extend(all_ours(lists.next().map_or(&[][..], Vec::as_slice)));
    opened.iter_mut().for_each(|table| append(&mut table.columns.random));
    for table in opened.iter_mut() {
        append(&mut table.columns.trace);
        if !table.columns.next.is_empty() {
            append(&mut table.columns.next);
        }
    }
    for table in opened.iter_mut() {
        (0..table.columns.quotient.len()).for_each(|_| append(&mut table.columns.beside_quotient));
    }
    for table in opened.iter_mut() {
        let fixed = [&mut table.columns.preprocessed, &mut table.columns.next_preprocessed];
        fixed.into_iter().filter(|values| !values.is_empty()).for_each(&mut append);
    }
    for table in opened.iter_mut().filter(|table| !table.lookups.is_empty()) {
        append(&mut table.lookups);
        append(&mut table.next_lookups);
    }
}

/// Removes the values of random columns, and returns them.
fn split_random<C: Challenge<D>, const D: usize>(opened: &mut [TableValues<D>]) -> Values<C> {
    let random = random_columns(opened);
    if random == 0 {
        return Vec::new();
    }
    let split = |values: &mut Vec<_>| all_theirs(&values.split_off(values.len().saturating_sub(random)));
    let split_all = |values: [&mut Vec<_>; 2]| {
        values.into_iter().filter(|values| !values.is_empty()).map(split).collect::<Vec<_>>()
    };
    let mut rounds: Values<C> =
        vec![opened.iter_mut().map(|table| vec![split(&mut table.columns.random)]).collect()];
    rounds.push(
        opened
            .iter_mut()
            .map(|table| split_all([&mut table.columns.trace, &mut table.columns.next]))
            .collect(),
    );
    let beside = |table: &TableValues<D>| {
        table
            .columns
            .beside_quotient
            .chunks(random)
            .map(|values| vec![all_theirs(values)])
            .collect::<Vec<_>>()
    };
    rounds.push(opened.iter().flat_map(beside).collect());
    let fixed = opened.iter().map(|table| [&table.columns.preprocessed, &table.columns.next_preprocessed]);
    let fixed =
        fixed.map(|values| vec![Vec::new(); values.iter().filter(|values| !values.is_empty()).count()]);
    let fixed = fixed.filter(|points| !points.is_empty()).collect();
    let lookups = opened.iter_mut().filter(|table| !table.lookups.is_empty());
    let lookups = lookups.map(|table| split_all([&mut table.lookups, &mut table.next_lookups])).collect();
    rounds.extend([fixed, lookups].into_iter().filter(|round: &Vec<_>| !round.is_empty()));
    rounds
}

/// Our opening proof from Plonky3's. Appends the values of random columns to the values that were opened.
fn opening_from_plonky3<W, C, O, const D: usize>(
    opened: &mut [TableValues<D>],
    proof: &O,
) -> Result<OpeningProof<D>, VerifyError>
where
    W: Word,
    C: Challenge<D>,
    O: Openings<W, C, D>,
{
    let (random, opening) = proof.parts();
    if let Some(random) = random {
        append_random(opened, random);
        if split_random::<C, D>(&mut opened.to_vec()) != *random {
            return Err(VerifyError::Rejected(
                "values of random columns are not in lists of the right lengths",
            ));
        }
    }
    let FriProof {
        batch_pow_witness,
        commit_phase_commits,
        commit_pow_witnesses,
        input_openings,
        commit_phase_openings,
        final_poly,
        query_pow_witness,
    } = opening;
    let widths = widths(opened);
    VerifyError::check_length("opened commitments", widths.len(), input_openings.len())?;
    let queries = input_openings.first().map_or(0, |opening| opening.opened_values.len());
    let rows = rows_from_plonky3::<W, O::Trees>(input_openings, &widths, queries)?;
    let rounds = rounds_from_plonky3::<W, C, O::Trees, D>(
        commit_phase_commits,
        commit_pow_witnesses,
        commit_phase_openings,
        queries,
    )?;
    Ok(OpeningProof {
        batching_work: element(*batch_pow_witness),
        rounds,
        final_polynomial: all_ours(final_poly),
        query_work: element(*query_pow_witness),
        rows,
    })
}

/// The opened rows of each commitment, whose matrices have these widths.
fn rows_from_plonky3<W, M>(
    openings: &[BatchMultiOpening<Goldilocks, M>],
    widths: &[Vec<usize>],
    queries: usize,
) -> Result<Vec<OpenedRows>, VerifyError>
where
    W: Word,
    M: Mmcs<Goldilocks, Commitment = Cap<W>, MultiProof: Paths<W>>,
{
    let mut rows = Vec::with_capacity(widths.len());
    for (BatchMultiOpening { opened_values, opening_proof }, widths) in openings.iter().zip(widths) {
        VerifyError::check_length("opened rows of a commitment", queries, opened_values.len())?;
        let (salts, PrunedMerklePaths { sibling_hashes }) = opening_proof.parts();
        let salts = salts_of(salts, queries, widths.len())?;
        let mut values = Vec::new();
        for (row, salts) in opened_values.iter().zip(salts) {
            VerifyError::check_length("matrices of an opened row", widths.len(), row.len())?;
            for ((part, width), salt) in row.iter().zip(widths).zip(salts) {
                VerifyError::check_length("values of an opened row", *width, part.len())?;
                values.extend(part.iter().chain(salt).map(|value| element(*value)));
            }
        }
        rows.push(OpenedRows { values, siblings: digests(sibling_hashes) });
    }
    Ok(rows)
}

/// The rounds of FRI from their commitments, proofs of work and openings.
fn rounds_from_plonky3<W, C, M, const D: usize>(
    commitments: &[Cap<W>],
    works: &[Goldilocks],
    openings: &[Step<C, M>],
    queries: usize,
) -> Result<Vec<Round<D>>, VerifyError>
where
    W: Word,
    C: Challenge<D>,
    M: Mmcs<Goldilocks, Commitment = Cap<W>, MultiProof: Paths<W>>,
{
    let count = commitments.len();
    VerifyError::check_length("proofs of work in rounds of FRI", count, works.len())?;
    VerifyError::check_length("openings of rounds of FRI", count, openings.len())?;
    let mut rounds = Vec::with_capacity(count);
    for ((commitment, work), CommitPhaseMultiStep { sibling_values, opening_proof }) in
        commitments.iter().zip(works).zip(openings)
    {
        VerifyError::check_length("opened rows of a round of FRI", queries, sibling_values.len())?;
        let others = sibling_values.first().map_or(0, Vec::len);
        sibling_values.iter().try_for_each(|row| {
            VerifyError::check_length("values of a row of a round of FRI", others, row.len())
        })?;
        let (salts, PrunedMerklePaths { sibling_hashes }) = opening_proof.parts();
        let salts = salts_of(salts, queries, 1)?;
        rounds.push(Round {
            commitment: digests(commitment.roots()),
            work: element(*work),
            others: sibling_values.iter().flatten().map(|value| ours(*value)).collect(),
            salts: salts.into_iter().flatten().flatten().map(|value| element(*value)).collect(),
            siblings: digests(sibling_hashes),
        });
    }
    Ok(rounds)
}

/// The salt of each query and matrix; empty ones if there is no blinding.
fn salts_of(
    salts: Option<&Salts>,
    queries: usize,
    matrices: usize,
) -> Result<Vec<Vec<&[Goldilocks]>>, VerifyError> {
    let Some(salts) = salts else { return Ok(vec![vec![&[]; matrices]; queries]) };
    VerifyError::check_length("salts of opened rows", queries, salts.len())?;
    let of_query = |salts: &'_ Vec<Vec<Goldilocks>>| {
        VerifyError::check_length("salts of an opened row", matrices, salts.len())
    };
    salts.iter().try_for_each(of_query)?;
    let of_row = |salt: &Vec<Goldilocks>| VerifyError::check_length("values of a salt", SALT, salt.len());
    salts.iter().flatten().try_for_each(of_row)?;
    Ok(salts.iter().map(|salts| salts.iter().map(Vec::as_slice).collect()).collect())
}

/// Splits values into as many lists of equal lengths as there are queries.
fn split<'a, T>(
    what: &'static str,
    values: &'a [T],
    queries: usize,
) -> Result<impl Iterator<Item = &'a [T]>, VerifyError> {
    let length = values.len().checked_div(queries).unwrap_or(0);
    VerifyError::check_length(what, length * queries, values.len())?;
    Ok((0..queries).map(move |query| values.get(query * length..(query + 1) * length).unwrap_or_default()))
}

/// The opened values without the values of random columns, and Plonky3's opening proof from ours.
fn opening_to_plonky3<W, C, O, const D: usize>(
    opened: &[TableValues<D>],
    opening: &OpeningProof<D>,
) -> Result<(Vec<TableValues<D>>, O), VerifyError>
where
    W: Word,
    C: Challenge<D>,
    O: Openings<W, C, D>,
{
    let OpeningProof { batching_work, rounds, final_polynomial, query_work, rows } = opening;
    let widths = widths(opened);
    let salt = if O::BLINDED { SALT } else { 0 };
    VerifyError::check_length("opened commitments", widths.len(), rows.len())?;
    let of_first = rows.first().map_or(0, |rows| rows.values.len());
    let width = |widths: &[usize]| widths.iter().map(|width| width + salt).sum();
    let queries = of_first.checked_div(widths.first().map_or(0, |widths| width(widths))).unwrap_or(0);
    let mut input_openings = Vec::with_capacity(rows.len());
    for (OpenedRows { values, siblings }, widths) in rows.iter().zip(&widths) {
        let (mut opened_values, mut salts) = (Vec::with_capacity(queries), Vec::new());
        for mut row in split("values of opened rows", values, queries)? {
            VerifyError::check_length("values of an opened row", width(widths), row.len())?;
            let mut take = |count: usize| {
                let (part, rest) = row.split_at_checked(count).unwrap_or((row, &[]));
                row = rest;
                part.iter().map(|element| value(*element)).collect::<Vec<_>>()
            };
            let parts: Vec<_> = widths.iter().map(|width| (take(*width), take(salt))).collect();
            let (parts, of_row): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
            opened_values.push(parts);
            salts.push(of_row);
        }
        let siblings = PrunedMerklePaths { sibling_hashes: words(siblings) };
        input_openings
            .push(BatchMultiOpening { opened_values, opening_proof: Paths::from_parts(salts, siblings) });
    }
    let (commit_phase_commits, commit_phase_openings) =
        rounds_to_plonky3::<W, C, O::Trees, D>(rounds, queries, salt)?;
    let opening = FriProof {
        batch_pow_witness: value(*batching_work),
        commit_phase_commits,
        commit_pow_witnesses: rounds.iter().map(|round| value(round.work)).collect(),
        input_openings,
        commit_phase_openings,
        final_poly: all_theirs(final_polynomial),
        query_pow_witness: value(*query_work),
    };
    let mut opened = opened.to_vec();
    let random = split_random(&mut opened);
    Ok((opened, O::from_parts(random, opening)))
}

/// The commitments of the rounds of FRI, and their openings.
fn rounds_to_plonky3<W, C, M, const D: usize>(
    rounds: &[Round<D>],
    queries: usize,
    salt: usize,
) -> Result<Steps<W, C, M>, VerifyError>
where
    W: Word,
    C: Challenge<D>,
    M: Mmcs<Goldilocks, Commitment = Cap<W>, MultiProof: Paths<W>>,
{
    let mut commitments = Vec::with_capacity(rounds.len());
    let mut openings: Vec<Step<C, M>> = Vec::with_capacity(rounds.len());
    for Round { commitment, work: _, others, salts, siblings } in rounds {
        VerifyError::check_length("values of salts in a round of FRI", queries * salt, salts.len())?;
        let salts = split("values of salts in a round of FRI", salts, queries)?;
        let salts = salts.map(|salt| vec![salt.iter().map(|element| value(*element)).collect()]).collect();
        commitments.push(cap(commitment)?);
        let siblings = PrunedMerklePaths { sibling_hashes: words(siblings) };
        openings.push(CommitPhaseMultiStep {
            sibling_values: split("values of a round of FRI", others, queries)?.map(all_theirs).collect(),
            opening_proof: Paths::from_parts(salts, siblings),
        });
    }
    Ok((commitments, openings))
}

//! Prime fields: products and sums of many elements in lanes, inverses with Montgomery's trick, and a chain
//! of dependent products.

use super::{
    adaptor::{KernelEntry, KernelFunctions, KernelLevels},
    encoding::encoded,
    inputs::elements,
};
use proofmill_cpu::{Level, Token};
use proofmill_field::{
    Backend, Engine, Field, Fp, LANES, Lanes, Packable, Prime, Vector, batch_invert_vartime, bls12_381,
    bn254, dispatch,
};
use rayon::prelude::*;

pub(crate) fn table() -> Vec<KernelEntry> {
    [
        of_field::<bn254::FrParams>("bn254-fr"),
        of_field::<bn254::FqParams>("bn254-fq"),
        of_field::<bls12_381::FrParams>("bls12-381-fr"),
        of_field::<bls12_381::FqParams>("bls12-381-fq"),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn of_field<P: Prime>(name: &str) -> [KernelEntry; 4] {
    [
        bulk::<P>(&format!("{name}-product"), product, |right, level| bring_in_form(level, right)),
        bulk::<P>(&format!("{name}-sum"), sum, |_, _| ()),
        inverses::<P>(&format!("{name}-inverse")),
        chain::<P>(&format!("{name}-chain")),
    ]
}

/// Elements per parallel task.
const CHUNK: usize = 1 << 11;

/// An operation on two columns at a level, with the results in a third column.
type Operation<P> = fn(Level, &[Fp<P>], &[Fp<P>], &mut [Fp<P>]);

/// The right operands, prepared for the level, and the results.
struct Columns<P: Prime> {
    right: Vec<Fp<P>>,
    results: Vec<Fp<P>>,
}

/// `size` operations in full groups of lanes.
fn bulk<P: Prime>(name: &str, operation: Operation<P>, prepare: fn(&mut [Fp<P>], Level)) -> KernelEntry {
    KernelFunctions::new(
        |rng, size| match size.is_multiple_of(LANES) {
            true => Ok([elements::<P>(rng, size), elements(rng, size)]),
            false => Err(format!("expected a multiple of {LANES}")),
        },
        move |[left, right], level| {
            let mut right = right.clone();
            prepare(&mut right, level);
            Ok(Columns { right, results: vec![Fp::ZERO; left.len()] })
        },
        move |[left, _], Columns { right, results }, level, _| {
            let operands = left.par_chunks(CHUNK).zip(right.par_chunks(CHUNK));
            let tasks = operands.zip(results.par_chunks_mut(CHUNK));
            tasks.for_each(|((left, right), results)| operation(level, left, right, results));
            Ok(())
        },
        |columns| encoded(&columns.results[..]),
    )
    .entry(format!("field/{name}"), KernelLevels::PrimeFields)
}

/// Lanes and memory may use different Montgomery constants. If one operand is scaled once by their ratio,
/// products need no conversion.
fn bring_in_form<P: Prime>(level: Level, elements: &mut [Fp<P>]) {
    dispatch!(level, engine => engine.run(#[inline(always)] || convert(engine, elements)));
}

#[inline(always)]
fn convert<E: Engine, P: Prime>(engine: E, elements: &mut [Fp<P>]) {
    for group in elements.as_chunks_mut::<LANES>().0 {
        E::Packed::<P>::load(engine, group).store_scaled(group);
    }
}

fn product<P: Prime>(level: Level, left: &[Fp<P>], right: &[Fp<P>], results: &mut [Fp<P>]) {
    dispatch!(level, engine => engine.run(#[inline(always)] || multiply(engine, left, right, results)));
}

#[inline(always)]
fn multiply<E: Engine, P: Prime>(engine: E, left: &[Fp<P>], right: &[Fp<P>], results: &mut [Fp<P>]) {
    let operands = left.as_chunks::<LANES>().0.iter().zip(right.as_chunks::<LANES>().0);
    for ((left, right), result) in operands.zip(results.as_chunks_mut::<LANES>().0) {
        let [left, right] = [left, right].map(
            #[inline(always)]
            |group| lanes(engine, group),
        );
        (left * right).store_scaled(result);
    }
}

fn sum<P: Prime>(level: Level, left: &[Fp<P>], right: &[Fp<P>], results: &mut [Fp<P>]) {
    dispatch!(level, engine => engine.run(#[inline(always)] || add(engine, left, right, results)));
}

#[inline(always)]
fn add<E: Engine, P: Prime>(engine: E, left: &[Fp<P>], right: &[Fp<P>], results: &mut [Fp<P>]) {
    let operands = left.as_chunks::<LANES>().0.iter().zip(right.as_chunks::<LANES>().0);
    for ((left, right), result) in operands.zip(results.as_chunks_mut::<LANES>().0) {
        (lanes(engine, left) + lanes(engine, right)).store_scaled(result);
    }
}

#[inline(always)]
fn lanes<E: Engine, P: Prime>(engine: E, group: &[Fp<P>; LANES]) -> E::Packed<P> {
    E::Packed::<P>::load_bits(engine, Fp::as_limbs(group))
}

/// Inverses of `size` elements, with one inversion per task.
fn inverses<P: Prime>(name: &str) -> KernelEntry {
    KernelFunctions::new(
        |rng, size| Ok(elements::<P>(rng, size)),
        |elements, _| Ok(elements.clone()),
        |_, elements, level, _| {
            elements.par_chunks_mut(CHUNK).for_each(|elements| {
                dispatch!(level, engine => batch_invert_vartime(Fp::slice_with_backend_mut(engine.backend(), elements)));
            });
            Ok(())
        },
        |elements| encoded(&elements[..]),
    )
    .restarted(|elements, inverses| inverses.copy_from_slice(elements))
    .entry(format!("field/{name}"), KernelLevels::PrimeFieldScalars)
}

/// The product of `size` elements in order: each multiplication depends on the previous one.
fn chain<P: Prime>(name: &str) -> KernelEntry {
    KernelFunctions::new(
        |rng, size| Ok(elements::<P>(rng, size)),
        |_, _| Ok(Fp::<P>::ONE),
        |elements, product, level, _| {
            *product = dispatch!(level, engine => multiply_all(engine.backend(), elements));
            Ok(())
        },
        encoded,
    )
    .entry(format!("field/{name}"), KernelLevels::PrimeFieldScalars)
}

fn multiply_all<P: Prime, B: Backend>(backend: B, elements: &[Fp<P>]) -> Fp<P> {
    let elements = Fp::slice_with_backend(backend, elements).iter();
    elements.fold(Fp::ONE.with_backend(backend), |product, element| product * *element).portable()
}

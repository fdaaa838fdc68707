//! Permutations of 65,536 states: Poseidon and Poseidon2.

use crate::{LEVEL, Selection, elements, field::plonky2_elements, packed};
use boojum::{field::goldilocks::GoldilocksField as BoojumElement, implementations::poseidon2::State};
use p3_field::{Field, PackedValue, PrimeField64};
use p3_goldilocks::{
    Goldilocks, default_goldilocks_poseidon2_8, default_goldilocks_poseidon2_12,
    poseidon1::{default_goldilocks_poseidon1_8, default_goldilocks_poseidon1_12},
};
use p3_symmetric::Permutation;
use plonky2::hash::poseidon::{Poseidon, SPONGE_WIDTH};
use crate::records::Records;
use rayon::prelude::*;

type Packing = <Goldilocks as Field>::Packing;

/// States permuted in one run.
const STATES: usize = 1 << 16;

pub(crate) fn measure(records: &mut Records, selection: &Selection, threads: usize) {
    let name = format!("{STATES} poseidon 12");
    plonky3(records, selection, threads, &name, &default_goldilocks_poseidon1_12());
    if selection.has(&name) {
        let mut states: Vec<_> = plonky2_elements(STATES * SPONGE_WIDTH)
            .chunks_exact(SPONGE_WIDTH)
            .map(|state| <[_; SPONGE_WIDTH]>::try_from(state).expect("a state"))
            .collect();
        records.record(&name, "plonky2-scalar", threads, None, || {
            states.par_iter_mut().for_each(|state| *state = Poseidon::poseidon(*state));
        });
    }
    let name = format!("{STATES} poseidon 8");
    plonky3(records, selection, threads, &name, &default_goldilocks_poseidon1_8());
    let name = format!("{STATES} poseidon2 8");
    plonky3(records, selection, threads, &name, &default_goldilocks_poseidon2_8());
    let name = format!("{STATES} poseidon2 12");
    plonky3(records, selection, threads, &name, &default_goldilocks_poseidon2_12());
    if selection.has(&name) {
        let mut states: Vec<State> = elements(STATES * State::STATE_WIDTH)
            .chunks_exact(State::STATE_WIDTH)
            .map(|state| {
                std::array::from_fn(|i| BoojumElement::from_nonreduced_u64(state[i].as_canonical_u64()))
            })
            .map(State::from_field_array)
            .collect();
        records.record(&name, &packed("boojum"), threads, None, || {
            states.par_iter_mut().for_each(State::poseidon2_permutation);
        });
    }
}

/// Plonky3's permutation, of states in the lanes of vectors, and of single states.
fn plonky3<const WIDTH: usize>(
    records: &mut Records,
    selection: &Selection,
    threads: usize,
    name: &str,
    permutation: &(impl Permutation<[Packing; WIDTH]> + Permutation<[Goldilocks; WIDTH]>),
) {
    if !selection.has(name) {
        return;
    }
    let input = elements(STATES * WIDTH);
    let mut states: Vec<[Packing; WIDTH]> = (0..STATES / Packing::WIDTH)
        .map(|i| {
            std::array::from_fn(|j| Packing::from_fn(|lane| input[(i * Packing::WIDTH + lane) * WIDTH + j]))
        })
        .collect();
    records.record(name, &packed("plonky3"), threads, None, || {
        states.par_iter_mut().for_each(|state| permutation.permute_mut(state));
    });
    if LEVEL == "scalar" {
        return;
    }
    let mut states: Vec<[Goldilocks; WIDTH]> =
        input.chunks_exact(WIDTH).map(|state| state.try_into().expect("a state")).collect();
    records.record(name, "plonky3-scalar", threads, None, || {
        states.par_iter_mut().for_each(|state| permutation.permute_mut(state));
    });
}

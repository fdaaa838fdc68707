//! The functions that take time, compiled in this crate for each curve. Generic functions would be compiled in the crates that call them, and some of
//! those are optimised for size.

use crate::{
    graph::{
        Tape, ValueSource,
        evaluate::{Stop, evaluate},
    },
    input::Inputs,
    machine::{self, CircuitTrace, Module, Reason, Way},
    wasm::{EventObserver, Limits},
};
use proofmill_circom::{CircomCurve, PairingCurve, ScalarPrime, over_curve};
use proofmill_field::Fp;
use std::{
    any::{Any, TypeId},
    marker::PhantomData,
};
use zeroize::Zeroizing;

/// Functions over a curve's scalar field, without the field's type.
trait Calculates: Sync {
    fn decode(&self, wasm: &[u8], limits: Limits) -> Result<Module, Reason>;
    fn calculate(
        &self,
        module: &Module,
        inputs: &dyn Any,
        limits: Limits,
        observer: &dyn Any,
    ) -> Box<dyn Any>;
    fn trace(&self, module: &Module, sample: &dyn Any, limits: Limits, most_nodes: usize) -> Box<dyn Any>;
    fn evaluate(
        &self,
        tape: &Tape,
        constants: &dyn Any,
        inputs: &dyn Any,
        wanted: &[&[ValueSource]],
    ) -> Box<dyn Any>;
}

struct Over<P>(PhantomData<P>);

impl<P: ScalarPrime> Calculates for Over<P> {
    fn decode(&self, wasm: &[u8], limits: Limits) -> Result<Module, Reason> {
        machine::decode::<P>(wasm, limits)
    }

    fn calculate(
        &self,
        module: &Module,
        inputs: &dyn Any,
        limits: Limits,
        observer: &dyn Any,
    ) -> Box<dyn Any> {
        let arguments = inputs.downcast_ref().zip(observer.downcast_ref());
        Box::new(arguments.map_or(
            Err(Way::Field),
            |(inputs, observer): (&Inputs<P>, &Option<EventObserver<P>>)| {
                machine::calculate(module, inputs, limits, observer.as_ref())
            },
        ))
    }

    fn trace(&self, module: &Module, sample: &dyn Any, limits: Limits, most_nodes: usize) -> Box<dyn Any> {
        let sample: Option<&Inputs<P>> = sample.downcast_ref();
        Box::new(
            sample.map_or(Err(Way::Field), |sample| CircuitTrace::new(module, sample, limits, most_nodes)),
        )
    }

    fn evaluate(
        &self,
        tape: &Tape,
        constants: &dyn Any,
        inputs: &dyn Any,
        wanted: &[&[ValueSource]],
    ) -> Box<dyn Any> {
        let arguments = constants.downcast_ref().zip(inputs.downcast_ref());
        Box::new(arguments.map_or(
            Err(Stop::Malformed),
            |(constants, inputs): (&Vec<Fp<P>>, &Zeroizing<Vec<Fp<P>>>)| {
                evaluate(tape, constants, inputs, wanted)
            },
        ))
    }
}

/// Never inlined: the functions that it refers to would be compiled in the caller's crate.
#[inline(never)]
fn over(curve: PairingCurve) -> &'static dyn Calculates {
    over_curve!(curve, C => &Over::<<C as CircomCurve>::ScalarPrime>(PhantomData))
}

fn of<P: ScalarPrime>() -> &'static dyn Calculates {
    let is = |curve: &PairingCurve| over_curve!(*curve, C => TypeId::of::<P>() == TypeId::of::<<C as CircomCurve>::ScalarPrime>());
    over([PairingCurve::Bn254, PairingCurve::Bls12_381].into_iter().find(is).unwrap_or(PairingCurve::Bn254))
}

/// [`machine::decode`].
pub(crate) fn decode<P: ScalarPrime>(wasm: &[u8], limits: Limits) -> Result<Module, Reason> {
    of::<P>().decode(wasm, limits)
}

/// [`machine::calculate`].
pub(crate) fn calculate<P: ScalarPrime>(
    module: &Module,
    inputs: &Inputs<P>,
    limits: Limits,
    observer: &Option<EventObserver<P>>,
) -> Result<Zeroizing<Vec<Fp<P>>>, Way> {
    let result = of::<P>().calculate(module, inputs, limits, observer);
    result.downcast().map_or(Err(Way::Field), |result| *result)
}

/// [`CircuitTrace::new`].
pub(crate) fn trace<P: ScalarPrime>(
    module: &Module,
    sample: &Inputs<P>,
    limits: Limits,
    most_nodes: usize,
) -> Result<CircuitTrace<P>, Way> {
    of::<P>().trace(module, sample, limits, most_nodes).downcast().map_or(Err(Way::Field), |result| *result)
}

/// [`evaluate`].
#[expect(clippy::ptr_arg, reason = "only types of known size can be asked for")]
pub(crate) fn evaluated<P: ScalarPrime>(
    tape: &Tape,
    constants: &Vec<Fp<P>>,
    inputs: &Zeroizing<Vec<Fp<P>>>,
    wanted: &[&[ValueSource]],
) -> Result<Zeroizing<Vec<Fp<P>>>, Stop> {
    let result = of::<P>().evaluate(tape, constants, inputs, wanted);
    result.downcast().map_or(Err(Stop::Malformed), |result| *result)
}

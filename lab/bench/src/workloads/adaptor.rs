//! Adapts a kernel's functions to the bench's workloads.

use super::inputs::{Rng, rng};
use proofmill_bench::PreparedWorkload;
use proofmill_console::cpu::of_scalars;
use proofmill_cpu::Level;
use proofmill_sha256::Kernels;
use std::{any::Any, sync::Arc};

/// Reports the start of a phase.
pub(crate) type Begin<'a> = &'a mut dyn FnMut(&'static str);

/// The levels at which a kernel differs.
#[derive(Clone, Copy)]
pub(crate) enum KernelLevels {
    /// Only portable: the kernel is the same at all levels.
    Portable,
    /// The levels of the big prime fields.
    PrimeFields,
    /// The levels of the big prime fields at which scalar arithmetic differs.
    PrimeFieldScalars,
    /// The levels of Goldilocks.
    Goldilocks,
    /// The levels of SHA-256 for one message.
    Sha256,
    /// The levels of SHA-256 for many messages.
    Sha256Many,
}

impl KernelLevels {
    /// The levels that this CPU supports, slowest first.
    pub(crate) fn available(self) -> Vec<Level> {
        let distinct = |name: fn(Kernels) -> [&'static str; 2]| {
            let mut levels = Level::available();
            levels.dedup_by_key(|level| name(Kernels::at(*level)));
            levels
        };
        match self {
            Self::Portable => Level::available().into_iter().take(1).collect(),
            Self::PrimeFields => proofmill_field::prime_field_levels(),
            Self::PrimeFieldScalars => {
                let levels = proofmill_field::prime_field_levels().into_iter();
                levels.filter(|level| of_scalars(*level) == *level).collect()
            }
            Self::Goldilocks => proofmill_field::goldilocks_levels(),
            Self::Sha256 => distinct(|kernels| [kernels.single_name(); 2]),
            Self::Sha256Many => distinct(|kernels| [kernels.single_name(), kernels.name()]),
        }
    }
}

type Make<I> = Box<dyn Fn(&mut Rng, usize) -> Result<I, String> + Send + Sync>;
type Start<I, S> = Box<dyn Fn(&I, Level) -> Result<S, String> + Send + Sync>;
type Run<I, S> = Box<dyn Fn(&I, &mut S, Level, Begin<'_>) -> Result<(), String> + Send + Sync>;
type Restart<I, S> = Box<dyn Fn(&I, &mut S) + Send + Sync>;
type Bytes<T> = Box<dyn Fn(&T) -> Vec<u8> + Send + Sync>;

/// A kernel as functions. A generator and a size give an input `I`. The input and a level give a state `S`
/// that holds keys and results. A run computes the results in the state.
pub(crate) struct KernelFunctions<I, S> {
    make: Make<I>,
    start: Start<I, S>,
    run: Run<I, S>,
    restart: Restart<I, S>,
    output: Bytes<S>,
    input: Option<Bytes<I>>,
}

impl<I: Send + Sync + 'static, S: Send + 'static> KernelFunctions<I, S> {
    /// A kernel without `restart` and without an input for peers.
    pub(crate) fn new(
        make: impl Fn(&mut Rng, usize) -> Result<I, String> + Send + Sync + 'static,
        start: impl Fn(&I, Level) -> Result<S, String> + Send + Sync + 'static,
        run: impl Fn(&I, &mut S, Level, Begin<'_>) -> Result<(), String> + Send + Sync + 'static,
        output: impl Fn(&S) -> Vec<u8> + Send + Sync + 'static,
    ) -> Self {
        Self {
            make: Box::new(make),
            start: Box::new(start),
            run: Box::new(run),
            restart: Box::new(|_, _| ()),
            output: Box::new(output),
            input: None,
        }
    }

    /// Adds the function that restores the input of work in place.
    pub(crate) fn restarted(mut self, restart: impl Fn(&I, &mut S) + Send + Sync + 'static) -> Self {
        self.restart = Box::new(restart);
        self
    }

    /// Adds the function that encodes the input for peers.
    pub(crate) fn for_peers(mut self, input: impl Fn(&I) -> Vec<u8> + Send + Sync + 'static) -> Self {
        self.input = Some(Box::new(input));
        self
    }

    /// A table entry for the kernel.
    pub(crate) fn entry(self, name: impl Into<String>, levels: KernelLevels) -> KernelEntry {
        KernelEntry { name: name.into().leak(), levels, kernel: Box::new(Arc::new(self)) }
    }
}

/// A kernel in the table.
pub(crate) struct KernelEntry {
    /// `family/benchmark`.
    pub(crate) name: &'static str,
    pub(crate) levels: KernelLevels,
    kernel: Box<dyn AnyKernel>,
}

impl KernelEntry {
    pub(crate) fn prepare(
        &self,
        size: u64,
        level: Level,
        kept: &mut Option<KeptInput>,
    ) -> Result<Box<dyn PreparedWorkload>, String> {
        self.kernel.prepare(self.name, size, level, kept)
    }

    pub(crate) fn input(&self, size: u64, kept: &mut Option<KeptInput>) -> Result<Vec<u8>, String> {
        self.kernel.input(self.name, size, kept)
    }
}

/// The last input, and the kernel and size that it is for.
pub(crate) struct KeptInput {
    name: &'static str,
    size: u64,
    input: Arc<dyn Any + Send + Sync>,
}

/// A kernel with erased types.
trait AnyKernel: Send + Sync {
    fn prepare(
        &self,
        name: &'static str,
        size: u64,
        level: Level,
        kept: &mut Option<KeptInput>,
    ) -> Result<Box<dyn PreparedWorkload>, String>;
    fn input(&self, name: &'static str, size: u64, kept: &mut Option<KeptInput>) -> Result<Vec<u8>, String>;
}

impl<I: Send + Sync + 'static, S: Send + 'static> KernelFunctions<I, S> {
    /// The kept input if it is the right one; otherwise a new one, which is kept.
    fn made(&self, name: &'static str, size: u64, kept: &mut Option<KeptInput>) -> Result<Arc<I>, String> {
        let same = kept.as_ref().filter(|kept| (kept.name, kept.size) == (name, size));
        if let Some(input) = same.and_then(|kept| kept.input.clone().downcast().ok()) {
            return Ok(input);
        }
        // Freed first, so that only one input is in memory.
        *kept = None;
        let count = usize::try_from(size).map_err(|_| "too large for this machine".to_owned())?;
        let input = Arc::new((self.make)(&mut rng(name, size), count)?);
        *kept = Some(KeptInput { name, size, input: input.clone() });
        Ok(input)
    }
}

impl<I: Send + Sync + 'static, S: Send + 'static> AnyKernel for Arc<KernelFunctions<I, S>> {
    fn prepare(
        &self,
        name: &'static str,
        size: u64,
        level: Level,
        kept: &mut Option<KeptInput>,
    ) -> Result<Box<dyn PreparedWorkload>, String> {
        let input = self.made(name, size, kept)?;
        let state = (self.start)(&input, level)?;
        Ok(Box::new(Prepared { kernel: self.clone(), input, state, level }))
    }

    fn input(&self, name: &'static str, size: u64, kept: &mut Option<KeptInput>) -> Result<Vec<u8>, String> {
        let Some(bytes) = &self.input else { return Err("no peer runs it".to_owned()) };
        Ok(bytes(&*self.made(name, size, kept)?))
    }
}

/// A kernel with an input and a state, at a level.
struct Prepared<I, S> {
    kernel: Arc<KernelFunctions<I, S>>,
    input: Arc<I>,
    state: S,
    level: Level,
}

impl<I: Send + Sync, S: Send> PreparedWorkload for Prepared<I, S> {
    fn run(&mut self, begin: &mut dyn FnMut(&'static str)) -> Result<(), String> {
        (self.kernel.run)(&self.input, &mut self.state, self.level, begin)
    }

    fn restart(&mut self) {
        (self.kernel.restart)(&self.input, &mut self.state);
    }

    fn output(&self) -> Vec<u8> {
        (self.kernel.output)(&self.state)
    }
}

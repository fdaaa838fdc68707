//! The combination of all constraints divided by the polynomial that vanishes on the trace's domain.

use crate::{
    StarkError,
    air::{Evaluation, SELECTORS, constraints::Constraints, rows_of_task},
    domain::{coset_shift, domain, generator, reverse},
    trace::tiled::Tiled,
};
use proofmill_cpu::Level;
use proofmill_field::{
    Algebra, Field, Invert, batch_invert_vartime,
    goldilocks::{Extension, ExtensionField, Goldilocks},
};
use proofmill_memory::Pages;
use proofmill_ntt::goldilocks::Order;
use proofmill_run::parallel;
use std::iter::successors;

/// The inputs of a quotient that are the same for all rows.
pub(crate) struct Quotient<'a, const D: usize> {
    pub(crate) constraints: &'a Constraints,
    /// The public values, then the scalars of lookups.
    pub(crate) scalars: &'a [Goldilocks],
    /// The factor of each constraint in the combination.
    pub(crate) factors: Vec<Extension<Goldilocks, D>>,
    pub(crate) log_rows: u32,
    /// The base-2 logarithm of the number of polynomials into which the quotient is split.
    pub(crate) log_chunks: u32,
}

/// One power of a challenge for each constraint, in descending order: the last factor is 1.
pub(crate) fn factors<const D: usize>(
    count: usize,
    alpha: Extension<Goldilocks, D>,
) -> Vec<Extension<Goldilocks, D>>
where
    Extension<Goldilocks, D>: ExtensionField<D>,
{
    let powers = successors(Some(Extension::ONE), |power| Some(*power * alpha));
    let mut powers: Vec<_> = powers.take(count).collect();
    // The order of Horner's rule: a verifier can fold one constraint after the other.
    powers.reverse();
    powers
}

impl<const D: usize> Quotient<'_, D>
where
    Extension<Goldilocks, D>: ExtensionField<D>,
{
    /// The quotient on coset `chunk` of the trace's domain, in natural order. `read(row, words)` writes the values of the trace, of the
    /// preprocessed columns and of lookups in a row of that coset.
    pub(crate) fn on_coset(
        &self,
        level: Level,
        chunk: usize,
        read: impl Fn(usize, &mut [u64]) + Sync,
    ) -> Vec<Extension<Goldilocks, D>> {
        let rows = 1_usize << self.log_rows;
        let mut quotient = vec![Extension([Goldilocks::ZERO; D]); rows];
        let coset = self.coset(level, chunk);
        coset.rows(level, &mut quotient, |place| place & (rows - 1), |_, row, words| read(row, words));
        quotient
    }

    /// As [`on_coset`](Self::on_coset), from the tiles of a trace. `read` writes the values of the other matrices.
    pub(crate) fn on_tiles(
        &self,
        level: Level,
        chunk: usize,
        tiled: &mut Tiled,
        read: impl Fn(usize, &mut [u64]) + Sync,
    ) -> Result<Vec<Extension<Goldilocks, D>>, StarkError> {
        let (rows, columns, stride) = (1_usize << self.log_rows, self.constraints.columns, tiled.columns());
        let log_tile_rows = tiled.log_tile_rows();
        let tile_rows = 1 << log_tile_rows;
        // With blinding, the coset of the polynomials has the rows of two cosets of the trace in turn.
        let tiles = rows >> log_tile_rows;
        let step = tiled.tiles() / tiles;
        let cosets = (1 << self.log_chunks) / step;
        let number = move |tile: usize| chunk / cosets + step * (tile % tiles);
        let coset = self.coset(level, chunk);
        tiled.go_to(level, self.shift(chunk % cosets))?;
        // A tile has the rows `tile + tiles k`; the row after each is in the next tile. A run's last tile only serves as next rows: its own
        // results are dropped. With it, a run has 1/4 of the tiles.
        let run = (tiled.tiles_at_a_time() - 1).max(1);
        let mut values: Vec<_> = (0..=run).map(|_| Pages::new(tiled.tile_len())).collect();
        let mut quotient = vec![Extension([Goldilocks::ZERO; D]); rows];
        let mut sums = vec![Extension([Goldilocks::ZERO; D]); (run + 1) * tile_rows];
        tiled.each_tile(level, [(number(0), &mut *values[run])].into_iter())?;
        for first in (0..tiles).step_by(run) {
            let run = run.min(tiles - first);
            let last = values.len() - 1;
            values.swap(0, last);
            let numbers = (first + 1..).map(number);
            tiled.each_tile(level, numbers.zip(values[1..=run].iter_mut().map(|values| &mut **values)))?;
            let row = |place: usize| (first + place % (run + 1) + place / (run + 1) * tiles) & (rows - 1);
            let sums = &mut sums[..(run + 1) * tile_rows];
            coset.rows(level, sums, row, |place, row, words| {
                let tile = &values[place % (run + 1)];
                let at = reverse(row / tiles, log_tile_rows) * stride;
                let (trace, others) = words.split_at_mut(columns);
                trace.copy_from_slice(Goldilocks::as_words(&tile[at..][..columns]));
                read(row, others);
            });
            for (place, sum) in sums.iter().enumerate().filter(|(place, _)| place % (run + 1) < run) {
                quotient[row(place)] = *sum;
            }
            // The next run begins with the tile that this one ended with.
            values.swap(run, last);
        }
        Ok(quotient)
    }

    fn coset(&self, level: Level, chunk: usize) -> Coset<'_, D> {
        let Self { constraints, log_rows, .. } = self;
        let Constraints { columns, preprocessed, lookup_columns, ref periodic, .. } = **constraints;
        let widths = [columns, preprocessed, lookup_columns, SELECTORS + periodic.len()];
        let (shift, root) = (self.shift(chunk), generator(*log_rows));
        Coset {
            evaluation: Evaluation::new(&constraints.program, &widths, self.scalars, &self.factors),
            periodic: periodic.iter().map(|column| self.periodic(level, column, shift)).collect(),
            given: columns + preprocessed + lookup_columns,
            shift,
            root,
            last: root.invert_vartime().expect("a root is not zero"),
            vanishing: shift.pow_vartime(&[1 << log_rows]) - Goldilocks::ONE,
        }
    }

    /// The shift of a coset.
    pub(crate) fn shift(&self, chunk: usize) -> Goldilocks {
        coset_shift(self.log_rows, self.log_chunks, chunk)
    }

    /// A periodic column on a coset: it is a polynomial in a power of x.
    fn periodic(&self, level: Level, column: &[Goldilocks], shift: Goldilocks) -> Vec<Goldilocks> {
        // A column that is longer than the trace has no meaning; it was refused.
        let repeats = (1_usize << self.log_rows) / column.len();
        let domain = domain(column.len().ilog2());
        let mut values = column.to_vec();
        // In `y = x^repeats` the degree is below the period; the shift becomes `shift^repeats`.
        domain.intt(level, &mut values, Order::Natural);
        domain.coset_ntt(level, &mut values, shift.pow_vartime(&[repeats as u64]), Order::Natural);
        values
    }
}

/// The inputs that all rows of one coset have in common.
struct Coset<'a, const D: usize> {
    evaluation: Evaluation<'a, D>,
    periodic: Vec<Vec<Goldilocks>>,
    /// The number of values of a row that `read` writes.
    given: usize,
    shift: Goldilocks,
    /// The generator of the trace's domain, and the last element of that domain.
    root: Goldilocks,
    last: Goldilocks,
    /// The value, constant on this coset, of the polynomial that vanishes on the trace's domain.
    vanishing: Goldilocks,
}

impl<const D: usize> Coset<'_, D>
where
    Extension<Goldilocks, D>: ExtensionField<D>,
{
    /// Writes the quotient to the places of `quotient`. `row` gives the row of a place. The row of the next place is taken as its next row.
    /// `read(place, row, words)` writes the first `given` values of a row.
    fn rows(
        &self,
        level: Level,
        quotient: &mut [Extension<Goldilocks, D>],
        row: impl Fn(usize) -> usize + Sync,
        read: impl Fn(usize, usize, &mut [u64]) + Sync,
    ) {
        // `x^n - 1` is constant on a coset of the domain: one inverse serves all rows.
        let scale = self.vanishing.invert_vartime().expect("the coset is not the trace's domain");
        let task = rows_of_task(quotient.len());
        let tasks = (0..).step_by(task).zip(quotient.chunks_mut(task));
        parallel::for_each(tasks, |(first, sums)| {
            let places = first..=first + sums.len();
            let selectors = self.selectors(places.map(&row));
            self.evaluation.run(level, first, sums, |place, words| {
                let row = row(place);
                let (matrices, words) = words.split_at_mut(self.given);
                read(place, row, matrices);
                let values = selectors[place - first].into_iter();
                let values =
                    values.chain(self.periodic.iter().map(|column| column[row & (column.len() - 1)]));
                words.iter_mut().zip(values).for_each(|(word, value)| *word = value.to_canonical());
            });
            sums.iter_mut().for_each(|sum| *sum = sum.scale(scale));
        });
    }

    /// The selectors of rows: of the first row, of the last one, and of transitions.
    fn selectors(&self, rows: impl Iterator<Item = usize>) -> Vec<[Goldilocks; SELECTORS]> {
        let Self { shift, root, last, vanishing, .. } = *self;
        // `(x^n - 1) / (x - 1)` for the first row, `(x^n - 1) / (x - last)` for the last, and for
        // transitions `x - last`: Plonky3's selectors, which are not scaled to 1.
        // As `last` is `1 / root`, `root (x - last)` is `root x - 1`, the next row's first denominator: one inverse serves both.
        // Most rows follow each other: `x - 1` for each row, and for the row after those that follow each other.
        let mut denominators = Vec::new();
        let (mut of_rows, mut next, mut element) = (Vec::new(), 0, shift);
        for row in rows {
            if row != next {
                if !of_rows.is_empty() {
                    denominators.push(element - Goldilocks::ONE);
                }
                element = shift * root.pow_vartime(&[row as u64]);
            }
            of_rows.push((denominators.len(), element - last));
            denominators.push(element - Goldilocks::ONE);
            (next, element) = (row + 1, element * root);
        }
        denominators.push(element - Goldilocks::ONE);
        batch_invert_vartime(&mut denominators);
        let to_last = vanishing * root;
        let of_row = |(place, transition): (usize, Goldilocks)| {
            [vanishing * denominators[place], to_last * denominators[place + 1], transition]
        };
        of_rows.into_iter().map(of_row).collect()
    }
}

/// The values at a point of the [selectors](SELECTORS) and of the vanishing polynomial; `None` if the point is in the trace's domain.
pub(crate) fn selectors_at<const D: usize>(
    log_rows: u32,
    point: Extension<Goldilocks, D>,
) -> Option<([Extension<Goldilocks, D>; SELECTORS], Extension<Goldilocks, D>)>
where
    Extension<Goldilocks, D>: ExtensionField<D>,
{
    let vanishing = point.pow_vartime(&[1 << log_rows]) - Extension::ONE;
    let last = generator(log_rows).invert_vartime()?;
    let transition = point - Extension::from_base(last);
    let first = (point - Extension::ONE).invert_vartime()?;
    let selectors = [vanishing * first, vanishing * transition.invert_vartime()?, transition];
    // In the domain the vanishing polynomial is zero: opened values do not determine the quotient there.
    (!vanishing.is_zero()).then_some((selectors, vanishing))
}

//! The quotient of an AIR's constraints.

use crate::{
    constraints::Captured,
    elements::{self, element, ours, value},
};
use p3_commit::{LagrangeSelectors, PeriodicLdeTable};
use p3_field::{ExtensionField, PrimeField64};
use p3_goldilocks::Goldilocks;
use p3_matrix::{Matrix, dense::RowMajorMatrix};
use proofmill_cpu::Level;
use proofmill_field::goldilocks::{Extension, Goldilocks as Element};
use proofmill_run::parallel;
use proofmill_stark::air::{Evaluation, SELECTORS, rows_of_task};

/// The values that constraints read, on the domain of the quotient in natural order.
pub(crate) struct Rows<'a, M> {
    pub(crate) main: &'a M,
    pub(crate) preprocessed: Option<&'a M>,
    pub(crate) lookups: Option<&'a M>,
    pub(crate) selectors: LagrangeSelectors<Vec<Goldilocks>>,
    pub(crate) periodic: PeriodicLdeTable<Goldilocks>,
    pub(crate) periodic_columns: usize,
    /// The number of rows from a row to the next row of the trace.
    pub(crate) step: usize,
}

impl<M: Matrix<Goldilocks>> Rows<'_, M> {
    /// The combination of all constraints by powers of `alpha`, divided by the vanishing polynomial of the trace's domain. The last
    /// constraint's power is 1. There is a column for each coordinate.
    ///
    /// # Panics
    /// If challenges have more than five coordinates.
    pub(crate) fn quotient<C: ExtensionField<Goldilocks>>(
        &self,
        constraints: &Captured,
        scalars: &[Goldilocks],
        alpha: C,
    ) -> RowMajorMatrix<Goldilocks> {
        let quotient = match C::DIMENSION {
            1 => self.of_dimension::<_, 1>(constraints, scalars, alpha),
            2 => self.of_dimension::<_, 2>(constraints, scalars, alpha),
            3 => self.of_dimension::<_, 3>(constraints, scalars, alpha),
            4 => self.of_dimension::<_, 4>(constraints, scalars, alpha),
            5 => self.of_dimension::<_, 5>(constraints, scalars, alpha),
            dimension => panic!("challenges of dimension {dimension}: at most 5"),
        };
        RowMajorMatrix::new_col(quotient).flatten_to_base()
    }

    fn of_dimension<C: ExtensionField<Goldilocks>, const N: usize>(
        &self,
        constraints: &Captured,
        scalars: &[Goldilocks],
        alpha: C,
    ) -> Vec<C> {
        let mut powers = alpha.powers().collect_n(constraints.count);
        powers.reverse();
        let factor = |(index, coordinate): &(usize, usize)| {
            let basis = C::ith_basis_element(*coordinate).expect("a coordinate of the extension");
            ours(powers[*index] * basis)
        };
        let factors: Vec<Extension<Element, N>> = constraints.parts.iter().map(factor).collect();
        let scalars: Vec<_> = scalars.iter().map(|value| element(*value)).collect();
        let width = |matrix: Option<&M>| matrix.map_or(0, Matrix::width);
        let widths = [
            self.main.width(),
            width(self.preprocessed),
            width(self.lookups),
            SELECTORS + self.periodic_columns,
        ];
        let evaluation = Evaluation::new(&constraints.program, &widths, &scalars, &factors);

        // Each coset of the trace's domain, whose rows follow each other.
        let (height, level) = (self.main.height(), Level::best());
        let rows = height / self.step;
        let task = rows_of_task(rows);
        let tasks = (0..self.step).flat_map(|coset| (0..rows).step_by(task).map(move |first| (coset, first)));
        let parts = parallel::map(tasks, |(coset, first)| {
            let mut sums = vec![Extension([Element::default(); N]); task.min(rows - first)];
            evaluation.run(level, first, &mut sums, |row, words| {
                self.read((coset + self.step * row) % height, words);
            });
            (coset, first, sums)
        });
        let mut quotient = vec![C::ZERO; height];
        for (coset, first, sums) in parts {
            for (row, sum) in (first..).zip(sums) {
                let row = coset + self.step * row;
                let sum = C::from_basis_coefficients_fn(|i| value(sum.0[i]));
                quotient[row] = sum * self.selectors.inv_vanishing[row];
            }
        }
        quotient
    }

    /// Writes all values of a row.
    fn read(&self, row: usize, words: &mut [u64]) {
        let mut rest = words;
        let mut next = |width: usize| rest.split_off_mut(..width).expect("words for all columns");
        copy(self.main, row, next(self.main.width()));
        for matrix in self.preprocessed.into_iter().chain(self.lookups) {
            copy(matrix, row, next(matrix.width()));
        }
        let LagrangeSelectors { is_first_row, is_last_row, is_transition, .. } = &self.selectors;
        let selectors = [is_first_row[row], is_last_row[row], is_transition[row]];
        let periodic = (0..self.periodic_columns).map(|column| *self.periodic.get(row, column));
        let of_row = next(SELECTORS + self.periodic_columns);
        for (word, value) in of_row.iter_mut().zip(selectors.into_iter().chain(periodic)) {
            *word = value.as_canonical_u64();
        }
    }
}

fn copy(matrix: &impl Matrix<Goldilocks>, row: usize, words: &mut [u64]) {
    words.copy_from_slice(elements::words(&matrix.row_slice(row).expect("a row of the matrix")));
}

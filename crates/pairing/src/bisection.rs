//! The search for wrong equations among many, by a check that says whether all of some equations hold.

/// The indices of the wrong equations, in ascending order. `hold` says whether all equations of a slice hold; it is asked for halves of
/// slices that do not, so that few wrong equations need few checks. No equation is wrong if `hold` accepts all of them at once.
pub fn find_wrong<T>(equations: &[T], hold: impl Fn(&[T]) -> bool) -> Vec<usize> {
    let mut wrong = Vec::new();
    bisect(0, equations, &hold, &mut wrong);
    wrong
}

/// Collects the indices of wrong equations; `start` is the index of the first equation.
fn bisect<T>(start: usize, equations: &[T], hold: &impl Fn(&[T]) -> bool, wrong: &mut Vec<usize>) {
    if !equations.is_empty() && !hold(equations) {
        bisect_wrong(start, equations, hold, wrong);
    }
}

/// [`bisect`] for equations if at least one is known to be wrong.
fn bisect_wrong<T>(start: usize, equations: &[T], hold: &impl Fn(&[T]) -> bool, wrong: &mut Vec<usize>) {
    if equations.len() == 1 {
        wrong.push(start);
        return;
    }
    let (left, right) = equations.split_at(equations.len() / 2);
    let (before, middle) = (wrong.len(), start + left.len());
    bisect(start, left, hold, wrong);
    if wrong.len() == before {
        // The left half holds, so the right half has a wrong equation.
        bisect_wrong(middle, right, hold, wrong);
    } else {
        bisect(middle, right, hold, wrong);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn every_set_of_wrong_equations_is_found() {
        for count in 0..9u32 {
            for wrong in 0..1u32 << count {
                let equations: Vec<bool> = (0..count).map(|i| wrong >> i & 1 == 0).collect();
                let expected: Vec<usize> = (0..equations.len()).filter(|index| !equations[*index]).collect();
                assert_eq!(
                    find_wrong(&equations, |equations| equations.iter().all(|holds| *holds)),
                    expected
                );
            }
        }
    }

    #[test]
    fn one_wrong_equation_of_many_needs_few_checks() {
        for at in 0..64 {
            let checks = Cell::new(0);
            let hold = |equations: &[usize]| {
                checks.set(checks.get() + 1);
                !equations.contains(&at)
            };
            assert_eq!(find_wrong(&(0..64).collect::<Vec<_>>(), hold), [at]);
            assert!(checks.get() <= 13, "{} checks", checks.get());
        }
    }
}

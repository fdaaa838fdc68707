//! Loops over independent items on the threads of the ambient rayon pool.
//!
//! rayon compiles its recursion for each closure, about 6 KB of code and tables. Here it is compiled once, for indices and a
//! closure behind a reference. An item should be worth a microsecond or more, such as a chunk of a slice; each is a task.
//!
//! ```
//! let squares = proofmill_run::parallel::map(0..5_u64, |number| number * number);
//! assert_eq!(squares, [0, 1, 4, 9, 16]);
//! ```

#![forbid(unsafe_code)]

use rayon::prelude::*;
use std::{
    ops::Range,
    sync::{Mutex, PoisonError},
};

/// The number of threads of the ambient pool.
pub fn threads() -> usize {
    rayon::current_num_threads()
}

/// Calls `body` for each item, in any order. If calls panic, one of the panics is resumed on the calling thread.
pub fn for_each<T: Send>(items: impl IntoIterator<Item = T>, body: impl Fn(T) + Sync) {
    let items: Vec<_> = items.into_iter().map(|item| Mutex::new(Some(item))).collect();
    for_each_index(items.len(), &|index| {
        let item = items[index].lock().unwrap_or_else(PoisonError::into_inner).take();
        body(item.expect("each index is visited once"));
    });
}

/// The result of `body` for each item, in the order of the items. Panics as in [`for_each`].
pub fn map<T: Send, R: Send>(items: impl IntoIterator<Item = T>, body: impl Fn(T) -> R + Sync) -> Vec<R> {
    let items: Vec<T> = items.into_iter().collect();
    let mut results = Vec::new();
    results.resize_with(items.len(), || None);
    for_each(items.into_iter().zip(&mut results), |(item, result)| *result = Some(body(item)));
    results.into_iter().map(|result| result.expect("each item has a result")).collect()
}

/// Consecutive ranges of `step` indices below `len`; the last may be shorter.
///
/// # Panics
/// If `step` is zero.
pub fn ranges(len: usize, step: usize) -> impl Iterator<Item = Range<usize>> {
    (0..len).step_by(step).map(move |start| start..len.min(start.saturating_add(step)))
}

/// Not generic, so that it is compiled once.
fn for_each_index(count: usize, body: &(dyn Fn(usize) + Sync)) {
    match count {
        // The pool would only cost time.
        0 | 1 => (0..count).for_each(body),
        _ => (0..count).into_par_iter().with_max_len(1).for_each(body),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{
        panic::{AssertUnwindSafe, catch_unwind},
        sync::atomic::{AtomicUsize, Ordering},
    };

    fn in_pools(body: impl Fn() + Sync) {
        for threads in [1, 2, 5] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            pool.install(|| {
                assert_eq!(super::threads(), threads);
                body();
            });
        }
    }

    #[test]
    fn results_are_in_the_order_of_items() {
        in_pools(|| {
            for len in [0, 1, 2, 100, 1001] {
                let expected: Vec<_> = (0..len).map(|item| item * item).collect();
                assert_eq!(map(0..len, |item| item * item), expected);
            }
        });
    }

    #[test]
    fn each_item_is_visited_once_and_may_be_a_mutable_part() {
        in_pools(|| {
            let mut values = vec![0; 1000];
            for_each(values.chunks_mut(7).zip(0..), |(values, chunk)| {
                values.iter_mut().for_each(|value| *value += chunk);
            });
            assert!(values.iter().enumerate().all(|(i, value)| *value == i / 7));
        });
    }

    #[test]
    fn items_run_in_parallel_and_panics_are_resumed() {
        // Two tasks that wait for each other end only if both run at a time.
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().expect("threads");
        let barrier = std::sync::Barrier::new(2);
        pool.install(|| for_each(0..2, |_| _ = barrier.wait()));
        let visited = AtomicUsize::new(0);
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            pool.install(|| {
                for_each(0..100, |item| {
                    visited.fetch_add(1, Ordering::Relaxed);
                    assert_ne!(item, 50, "the item");
                });
            });
        }));
        assert!(panicked.is_err() && visited.into_inner() > 0);
    }

    #[test]
    fn ranges_cover_all_indices() {
        assert_eq!(ranges(10, 4).collect::<Vec<_>>(), [0..4, 4..8, 8..10]);
        assert_eq!(ranges(8, 4).collect::<Vec<_>>(), [0..4, 4..8]);
        assert_eq!(ranges(0, 4).count(), 0);
        assert_eq!(ranges(3, usize::MAX).next(), Some(0..3));
        assert_eq!(ranges(3, usize::MAX).count(), 1);
    }
}

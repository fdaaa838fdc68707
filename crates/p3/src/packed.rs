//! Packed values as words.

use p3_field::PackedValue;

/// The most values whose words fit a buffer on the stack: 25 words of 32 states.
const MOST: usize = 25 * 32;

/// Runs a function on the words of all values, element by element, and writes them back.
pub(crate) fn with_words<T: PackedValue, const WIDTH: usize>(
    state: &mut [T; WIDTH],
    to_word: impl Fn(T::Value) -> u64,
    from_word: impl Fn(u64) -> T::Value,
    run: impl FnOnce(&mut [u64]),
) {
    let mut single = [0; WIDTH];
    let mut many;
    let mut large;
    let words: &mut [u64] = match WIDTH * T::WIDTH {
        len if len == WIDTH => &mut single,
        len if len <= MOST => {
            many = [0; MOST];
            &mut many[..len]
        }
        len => {
            large = vec![0; len];
            &mut large
        }
    };
    for (words, element) in words.chunks_exact_mut(T::WIDTH).zip(state.iter()) {
        words.iter_mut().zip(element.as_slice()).for_each(|(word, value)| *word = to_word(*value));
    }
    run(words);
    for (words, element) in words.chunks_exact(T::WIDTH).zip(state) {
        element.as_slice_mut().iter_mut().zip(words).for_each(|(value, word)| *value = from_word(*word));
    }
}

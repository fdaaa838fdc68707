//! A mutation that changes a count in the header of a container together with the sections that grow with it. Changes of single bytes
//! are refused by the first comparison of a length, and never reach what is behind it.

use libfuzzer_sys::fuzzer_mutate;
use proofmill_circom::BinFile;

/// libFuzzer's mutation, or in one case of four that of this module.
pub fn mutate(data: &mut [u8], size: usize, max_size: usize, seed: u32) -> usize {
    if seed.is_multiple_of(4)
        && let Some(changed) = data.get(..size).and_then(|bytes| change(bytes, seed / 4))
        && changed.len() <= max_size
    {
        data[..changed.len()].copy_from_slice(&changed);
        return changed.len();
    }
    fuzzer_mutate(data, size, max_size)
}

/// The container with one count changed; `None` for other bytes, or if there is no count.
fn change(bytes: &[u8], seed: u32) -> Option<Vec<u8>> {
    let file = BinFile::from_bytes("seed", bytes.to_vec()).ok()?;
    // Bits of the seed that decide, lowest first.
    let mut bits = seed.wrapping_mul(0x9e37_79b9);
    let mut choose = |among: usize| {
        let chosen = bits as usize % among.max(1);
        bits = (bits / among.max(1) as u32).wrapping_mul(0x85eb_ca6b).rotate_left(13);
        chosen
    };
    let count_at = |at: usize| {
        let count = u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?);
        (1..=1 << 12).contains(&count).then_some(count as usize)
    };
    // The header is section 1 or 2 in every kind of file.
    let headers = file.sections().iter().filter(|section| section.id <= 2);
    let places: Vec<usize> = headers.flat_map(|section| section.range.clone().step_by(4)).collect();
    let counts: Vec<usize> = places.into_iter().filter(|at| count_at(*at).is_some()).collect();
    let at = *counts.get(choose(counts.len()))?;
    let old = count_at(at)?;
    let new = [old - 1, old + 1, old / 2, 2 * old, choose(8)][choose(5)];
    let mut changed = bytes.get(..12)?.to_vec();
    for section in file.sections() {
        let mut content = bytes.get(section.range.clone())?.to_vec();
        if section.range.contains(&at) {
            content[at - section.range.start..][..4].copy_from_slice(&(new as u32).to_le_bytes());
        } else if let Some(length) = resized(content.len(), old, new)
            && choose(8) != 0
        {
            content.resize(length, 0);
        }
        changed.extend(section.id.to_le_bytes());
        changed.extend((content.len() as u64).to_le_bytes());
        changed.extend(content);
    }
    Some(changed)
}

/// The length of a section of `new` elements in place of `old`, with up to 18 elements of 64 bytes more, as of powers of tau.
fn resized(length: usize, old: usize, new: usize) -> Option<usize> {
    let more = [0, 64, 6 * 64, 18 * 64].into_iter();
    let mut elements = more.filter(|more| *more <= length).map(|more| (more, length - more));
    let (more, elements) = elements.find(|(_, length)| *length > 0 && length.is_multiple_of(4 * old))?;
    Some(more + elements / old * new)
}

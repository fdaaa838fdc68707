//! Large blocks of memory for a whole program: on huge pages, and used again.
//!
//! A prover's vectors are megabytes each and live for milliseconds. On pages of 4 KiB the first use of each page costs about as
//! much as computing what is put there; on huge pages, kept for the next vector of the size, it costs next to nothing.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    ptr,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};

/// The system's allocator, but that blocks from 2 MiB on lie on huge pages where Linux has them on request, and that freed ones
/// are kept for blocks of the same size, both from 32 MiB of such blocks on. For `#[global_allocator]`.
///
/// Before the system is asked for a new block, as much of what is kept is handed back: the program never has more memory than
/// it once used at a time.
#[derive(Debug)]
pub struct LargeBlocks;

impl LargeBlocks {
    /// Bytes of the smallest large block.
    pub(crate) const LEAST: usize = HUGE;
}

/// Bytes of a huge page.
const HUGE: usize = 1 << 21;

/// What lengths of blocks are multiples of, and so of every page size that Linux has.
const STEP: usize = 1 << 16;

/// Most blocks that are kept.
const MOST: usize = 256;

/// Below so many bytes of large blocks at a time, huge pages and keeping blocks gain less than they waste.
const WORTHWHILE: usize = 32 << 20;

/// A block's address and length.
type Block = (usize, usize);

/// The freed blocks, the first freed first.
struct Kept {
    blocks: [Block; MOST],
    count: usize,
}

static KEPT: Mutex<Kept> = Mutex::new(Kept { blocks: [(0, 0); MOST], count: 0 });

/// Bytes of all blocks that there are, kept or in use.
static MAPPED: AtomicUsize = AtomicUsize::new(0);

impl Kept {
    /// A block of this length, the last freed; if there is none, the system has back what makes room for a new one.
    fn take(&mut self, length: usize) -> Option<usize> {
        let found = self.blocks[..self.count].iter().rposition(|(_, kept)| *kept == length);
        if found.is_none() {
            self.release(length);
        }
        found.map(|index| self.remove(index).0)
    }

    /// Keeps a block; gives it back if that is not worthwhile or there is no room.
    fn put(&mut self, block: Block) -> Option<Block> {
        if MAPPED.load(Relaxed) < WORTHWHILE || self.count == MOST {
            return Some(block);
        }
        self.blocks[self.count] = block;
        self.count += 1;
        None
    }

    fn remove(&mut self, index: usize) -> Block {
        let block = self.blocks[index];
        self.blocks.copy_within(index + 1..self.count, index);
        self.count -= 1;
        block
    }

    /// Hands blocks of together this many bytes, or all, back to the system.
    fn release(&mut self, bytes: usize) {
        let mut released = 0;
        while released < bytes && self.count > 0 {
            let (address, length) = self.remove(0);
            hand_back(address, length);
            released += length;
        }
    }
}

fn kept() -> std::sync::MutexGuard<'static, Kept> {
    KEPT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Hands what [`LargeBlocks`] keeps back to the system: before memory is measured, or left unused for long.
pub fn release_kept_memory() {
    kept().release(usize::MAX);
}

/// Has the allocator hand large blocks back to the system as soon as they are freed, where it would rather keep
/// them (glibc learns to from the first large block freed). For the start of a program whose peak memory counts.
pub fn return_freed_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: sets parameters of glibc's, before there is another thread or at worst beside one.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, 3 << 15);
        // Small blocks are few: one heap for all threads.
        libc::mallopt(libc::M_ARENA_MAX, 1);
    }
}

/// The length of the large block of a layout; `None` if it gets no such block. Vectors of a power of two of elements and of a
/// few more share a length.
fn block_length(layout: &Layout) -> Option<usize> {
    let large = layout.size() >= LargeBlocks::LEAST && layout.align() <= HUGE && cfg!(target_os = "linux");
    large.then(|| layout.size().checked_add(2 * STEP).map(|most| most & !(STEP - 1))).flatten()
}

// SAFETY: blocks are mapped memory of at least the layout's size, aligned to `HUGE`, each handed out once until it comes back;
// whether a layout has such a block depends on the layout alone. All other calls go to the system's allocator.
unsafe impl GlobalAlloc for LargeBlocks {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let Some(length) = block_length(&layout) else {
            // SAFETY: the caller's promise.
            return unsafe { System.alloc(layout) };
        };
        match kept().take(length) {
            Some(address) => ptr::with_exposed_provenance_mut(address),
            None => map(length),
        }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        let Some(length) = block_length(&layout) else {
            // SAFETY: the caller's promise.
            return unsafe { System.alloc_zeroed(layout) };
        };
        let taken = kept().take(length);
        let Some(address) = taken else {
            // Fresh memory is zero.
            return map(length);
        };
        let block: *mut u8 = ptr::with_exposed_provenance_mut(address);
        // SAFETY: a block of at least the size.
        unsafe { block.write_bytes(0, layout.size()) };
        block
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        let Some(length) = block_length(&layout) else {
            // SAFETY: the caller's promise: it came from there, since the layout decides.
            return unsafe { System.dealloc(block, layout) };
        };
        let refused = kept().put((block.expose_provenance(), length));
        if let Some((address, length)) = refused {
            hand_back(address, length);
        }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // SAFETY: the caller promises that the size, rounded up, does not overflow.
        let new_layout = unsafe { Layout::from_size_align_unchecked(new_size, layout.align()) };
        match (block_length(&layout), block_length(&new_layout)) {
            // SAFETY: the caller's promise.
            (None, None) => unsafe { System.realloc(block, layout, new_size) },
            (Some(length), Some(new_length)) => resize(block, length, new_length),
            // SAFETY: the caller's promise; both blocks have the smaller size, and they are different.
            _ => unsafe {
                let new_block = self.alloc(new_layout);
                if !new_block.is_null() {
                    new_block.copy_from_nonoverlapping(block, layout.size().min(new_size));
                    self.dealloc(block, layout);
                }
                new_block
            },
        }
    }
}

/// Fresh zeros, aligned to huge pages; null if there are none.
#[cfg(target_os = "linux")]
fn map(length: usize) -> *mut u8 {
    let Some(most) = length.checked_add(HUGE) else { return ptr::null_mut() };
    // SAFETY: asks for memory at no place in particular.
    let start = unsafe {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        libc::mmap(ptr::null_mut(), most, access, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0)
    };
    if start == libc::MAP_FAILED {
        return ptr::null_mut();
    }
    let before = start.align_offset(HUGE);
    let block = start.wrapping_byte_add(before);
    unmap(start.expose_provenance(), before);
    unmap(block.expose_provenance() + length, most - before - length);
    if MAPPED.fetch_add(length, Relaxed) + length >= WORTHWHILE {
        // SAFETY: the block is mapped. It is advice: small pages are slower, nothing else.
        unsafe { libc::madvise(block, length, libc::MADV_HUGEPAGE) };
    }
    block.cast()
}

/// Hands a block, or its end, back to the system.
fn hand_back(address: usize, length: usize) {
    unmap(address, length);
    MAPPED.fetch_sub(length, Relaxed);
}

#[cfg(target_os = "linux")]
fn unmap(address: usize, length: usize) {
    if length > 0 {
        // SAFETY: it is called with what is mapped and nobody uses, page by page.
        unsafe { libc::munmap(ptr::with_exposed_provenance_mut(address), length) };
    }
}

/// Moves a block's pages where there is room for its new length; null, and the block as it was, if there is none.
#[cfg(target_os = "linux")]
fn resize(block: *mut u8, length: usize, new_length: usize) -> *mut u8 {
    if new_length <= length {
        hand_back(block.expose_provenance() + new_length, length - new_length);
        return block;
    }
    kept().release(new_length - length);
    let place = map(new_length);
    if place.is_null() {
        return place;
    }
    let flags = libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED;
    // SAFETY: the block is the caller's, and the place was mapped for it; what was there has not been used.
    let moved = unsafe { libc::mremap(block.cast(), length, new_length, flags, place) };
    if moved == libc::MAP_FAILED {
        hand_back(place.expose_provenance(), new_length);
        return ptr::null_mut();
    }
    MAPPED.fetch_sub(length, Relaxed);
    moved.cast()
}

#[cfg(not(target_os = "linux"))]
fn map(_: usize) -> *mut u8 {
    ptr::null_mut()
}

#[cfg(not(target_os = "linux"))]
fn unmap(_: usize, _: usize) {}

#[cfg(not(target_os = "linux"))]
fn resize(_: *mut u8, _: usize, _: usize) -> *mut u8 {
    ptr::null_mut()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    fn layout(size: usize) -> Layout {
        Layout::from_size_align(size, 64).expect("a size that rounds up")
    }

    /// The numbers of the pages, one at the beginning of each.
    fn number(block: *mut u8, size: usize) {
        for (number, offset) in (0..size).step_by(4096).enumerate() {
            // SAFETY: within the block.
            unsafe { block.add(offset).cast::<u64>().write(number as u64) };
        }
    }

    fn assert_numbered(block: *mut u8, size: usize) {
        for (number, offset) in (0..size).step_by(4096).enumerate() {
            // SAFETY: within the block.
            assert_eq!(unsafe { block.add(offset).cast::<u64>().read() }, number as u64);
        }
    }

    #[test]
    fn only_large_blocks_have_a_length_and_near_sizes_share_it() {
        assert_eq!(block_length(&layout(HUGE - 1)), None);
        let length = block_length(&layout(4 * HUGE)).expect("large");
        assert!(length >= 4 * HUGE && length.is_multiple_of(STEP));
        assert_eq!(block_length(&layout(4 * HUGE + 96)), Some(length));
        for size in [HUGE, HUGE + 1, HUGE + STEP - 1, HUGE + STEP, 12_345_678] {
            assert!(block_length(&layout(size)).expect("large") >= size);
        }
    }

    /// One test, since what is kept belongs to all threads.
    #[test]
    fn blocks_are_aligned_zero_when_asked_for_used_again_and_keep_their_contents_when_resized() {
        let (size, near) = (5 * HUGE, 5 * HUGE + 96);
        // SAFETY: every block is used within its layout and freed once with it.
        unsafe {
            // Untouched, it takes no memory.
            let worthwhile = LargeBlocks.alloc(layout(WORTHWHILE));
            let first = LargeBlocks.alloc(layout(size));
            assert_eq!(first.addr() % HUGE, 0);
            number(first, size);
            LargeBlocks.dealloc(first, layout(size));
            let again = LargeBlocks.alloc_zeroed(layout(near));
            assert_eq!(again, first, "the block of the size is used again");
            assert!((0..near).all(|offset| again.add(offset).read() == 0));

            number(again, near);
            let mut block = again;
            let mut held = near;
            // Within the length, beyond it, back, to a small block and up again.
            for size in [5 * HUGE + STEP / 2, 9 * HUGE + 5, 3 * HUGE, 4096 * 3, 4 * HUGE] {
                block = LargeBlocks.realloc(block, layout(held), size);
                assert_numbered(block, held.min(size));
                number(block, size);
                held = size;
            }
            LargeBlocks.dealloc(block, layout(held));
            release_kept_memory();
            assert_eq!(kept().count, 0);
            let other = LargeBlocks.alloc_zeroed(layout(size));
            assert!((0..size).step_by(512).all(|offset| other.add(offset).read() == 0));
            LargeBlocks.dealloc(other, layout(size));
            // More than is kept goes back.
            let blocks: Vec<_> = (0..MOST + 3).map(|_| LargeBlocks.alloc(layout(HUGE))).collect();
            for block in blocks {
                LargeBlocks.dealloc(block, layout(HUGE));
            }
            assert!((1..=MOST).contains(&kept().count));
            LargeBlocks.dealloc(worthwhile, layout(WORTHWHILE));
            release_kept_memory();
            let small = LargeBlocks.alloc(layout(size));
            LargeBlocks.dealloc(small, layout(size));
            assert_eq!(kept().count, 0, "not worthwhile");
        }
    }

    #[test]
    fn more_than_there_is_gives_null() {
        // SAFETY: nothing is used.
        assert!(unsafe { LargeBlocks.alloc(layout(1 << 60)) }.is_null());
    }
}

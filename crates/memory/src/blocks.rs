//! A global allocator that places large blocks on huge pages and reuses them.
//!
//! A prover's vectors are megabytes each and live for milliseconds. On pages of 4 KiB the page faults of a new vector cost
//! about as much as computing its elements; on huge pages, kept for the next vector of the same length, they cost almost
//! nothing.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    mem::MaybeUninit,
    ptr,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};

/// The system's allocator, except for blocks of 2 MiB and more on Linux: these lie on huge pages if the kernel grants them on
/// request (`madvise`), and freed ones are kept for blocks of the same length. Both begin when a program has 32 MiB of such
/// blocks. For `#[global_allocator]`.
///
/// Before a new block is mapped, kept blocks of the same total length are returned to the operating system: the program never
/// holds more memory than its peak use.
#[derive(Debug)]
pub struct LargeBlocks;

impl LargeBlocks {
    /// Bytes of the smallest large block.
    pub(crate) const LEAST: usize = HUGE;
}

/// Bytes of a huge page.
const HUGE: usize = 1 << 21;

/// Lengths of blocks are multiples of this, and so of every page size of Linux.
const STEP: usize = 1 << 16;

/// The most blocks that are kept.
const MOST: usize = 256;

/// The least bytes of large blocks for which huge pages and kept blocks gain more than they waste.
const WORTHWHILE: usize = 32 << 20;

/// A block's address and length.
type Block = (usize, usize);

/// The freed blocks, oldest first.
struct Kept {
    blocks: [Block; MOST],
    count: usize,
}

static KEPT: Mutex<Kept> = Mutex::new(Kept { blocks: [(0, 0); MOST], count: 0 });

/// Bytes of all large blocks, kept or in use.
static MAPPED: AtomicUsize = AtomicUsize::new(0);

impl Kept {
    /// The block of this length that was freed last. If there is none, releases blocks to make room for a new one.
    fn take(&mut self, length: usize) -> Option<usize> {
        let found = self.blocks[..self.count].iter().rposition(|(_, kept)| *kept == length);
        if found.is_none() {
            self.release(length);
        }
        found.map(|index| self.remove(index).0)
    }

    /// Keeps a block, or returns it if keeping is not worthwhile or there is no room.
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

    /// Releases blocks of at least `bytes` in total, or all, to the operating system.
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

/// Releases the blocks that [`LargeBlocks`] keeps to the operating system, for example before memory is measured or before a
/// long pause.
pub fn release_kept_memory() {
    kept().release(usize::MAX);
}

/// Makes glibc release large blocks to the operating system as soon as they are freed; by default it starts to keep them after
/// the first one. To be called at the start of a program whose peak memory matters; without effect on other C libraries.
pub fn return_freed_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: `mallopt` takes no pointers. It sets integers under the allocator's lock; a thread that allocates meanwhile sees
    // the old or the new value.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, 3 << 15);
        // Small blocks are few, so one heap serves all threads.
        libc::mallopt(libc::M_ARENA_MAX, 1);
    }
}

/// Makes glibc keep up to this many freed bytes of blocks that are smaller than those of [`LargeBlocks`]. This is for programs that
/// repeat their work: page faults are a tenth of the time of a proof of 2^14 constraints. Undoes [`return_freed_memory`] for such
/// blocks.
pub fn keep_freed_memory(bytes: i32) {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: as in `return_freed_memory`.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, HUGE as i32);
        libc::mallopt(libc::M_TRIM_THRESHOLD, bytes);
    }
    #[cfg(not(all(target_os = "linux", target_env = "gnu")))]
    let _ = bytes;
}

/// Asks the kernel for huge pages where new elements of a long vector will be.
pub fn advise_huge_pages<T>(room: &mut [MaybeUninit<T>]) {
    #[cfg(target_os = "linux")]
    if size_of_val(room) >= WORTHWHILE {
        let start = room.as_mut_ptr().cast::<libc::c_void>();
        let before = start.align_offset(HUGE);
        let length = (size_of_val(room) - before) & !(HUGE - 1);
        // SAFETY: the range is within the slice. MADV_HUGEPAGE does not change its contents, and if refused, pages stay small.
        unsafe { libc::madvise(start.wrapping_byte_add(before), length, libc::MADV_HUGEPAGE) };
    }
    #[cfg(not(target_os = "linux"))]
    let _ = room;
}

/// The length of the large block for a layout; `None` for layouts that the system's allocator serves. Vectors of 2^k elements
/// and of a few more get the same length.
fn block_length(layout: &Layout) -> Option<usize> {
    let large = layout.size() >= LargeBlocks::LEAST && layout.align() <= HUGE && cfg!(target_os = "linux");
    large.then(|| layout.size().checked_add(2 * STEP).map(|most| most & !(STEP - 1))).flatten()
}

// SAFETY: a large block is mapped memory of at least the layout's size, aligned to `HUGE`, and belongs to one allocation until
// it is freed. Whether a layout gets such a block depends only on the layout, so `dealloc` and `realloc` know where a block
// came from. All other calls go to the system's allocator.
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
            // Newly mapped memory is zero.
            return map(length);
        };
        let block: *mut u8 = ptr::with_exposed_provenance_mut(address);
        // SAFETY: the block is mapped, at least `layout.size()` long, and no longer used by anyone else.
        unsafe { block.write_bytes(0, layout.size()) };
        block
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        let Some(length) = block_length(&layout) else {
            // SAFETY: the caller's promise; the block came from `System`, since only the layout decides.
            return unsafe { System.dealloc(block, layout) };
        };
        let refused = kept().put((block.expose_provenance(), length));
        if let Some((address, length)) = refused {
            hand_back(address, length);
        }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // SAFETY: the alignment is a layout's; the caller promises that the size, rounded up to it, does not exceed
        // `isize::MAX`.
        let new_layout = unsafe { Layout::from_size_align_unchecked(new_size, layout.align()) };
        match (block_length(&layout), block_length(&new_layout)) {
            // SAFETY: the caller's promise.
            (None, None) => unsafe { System.realloc(block, layout, new_size) },
            (Some(length), Some(new_length)) => resize(block, length, new_length),
            // SAFETY: the caller promises that `block` has `layout`; both blocks have at least the smaller size, and a new
            // block does not overlap one in use.
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

/// Maps zeroed memory, aligned to huge pages; null if there is none.
#[cfg(target_os = "linux")]
fn map(length: usize) -> *mut u8 {
    let Some(most) = length.checked_add(HUGE) else { return ptr::null_mut() };
    // SAFETY: an anonymous mapping at an address that the kernel chooses overlaps no other.
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
        // SAFETY: the range was mapped above. MADV_HUGEPAGE does not change its contents, and if refused, pages stay small.
        unsafe { libc::madvise(block, length, libc::MADV_HUGEPAGE) };
    }
    block.cast()
}

/// Unmaps a block, or its end.
fn hand_back(address: usize, length: usize) {
    unmap(address, length);
    MAPPED.fetch_sub(length, Relaxed);
}

#[cfg(target_os = "linux")]
fn unmap(address: usize, length: usize) {
    if length > 0 {
        // SAFETY: callers pass whole pages of a mapping of this module that nobody uses any more.
        unsafe { libc::munmap(ptr::with_exposed_provenance_mut(address), length) };
    }
}

/// Gives a block a new length, by moving its pages if it grows. Returns null, and leaves the block as it was, if there is no
/// memory.
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
    // SAFETY: the caller owns the block, which is `length` long; `place` was mapped above with `new_length`, is unused, and
    // does not overlap the block.
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

    /// Writes each page's number at its beginning.
    fn number(block: *mut u8, size: usize) {
        for (number, offset) in (0..size).step_by(4096).enumerate() {
            // SAFETY: `offset` is a multiple of 4096 below `size`; `size` is one too, or the block is large and at least `STEP`
            // longer.
            unsafe { block.add(offset).cast::<u64>().write(number as u64) };
        }
    }

    fn assert_numbered(block: *mut u8, size: usize) {
        for (number, offset) in (0..size).step_by(4096).enumerate() {
            // SAFETY: `offset` is a multiple of 4096 below `size`; `size` is one too, or the block is large and at least `STEP`
            // longer.
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

    /// One test, since kept blocks are shared by all threads.
    #[test]
    fn blocks_are_aligned_zero_when_asked_for_used_again_and_keep_their_contents_when_resized() {
        let (size, near) = (5 * HUGE, 5 * HUGE + 96);
        // SAFETY: every block is used within its layout and freed once, with that layout.
        unsafe {
            // Takes no memory, since it is never written to.
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
            // Within the length, beyond it, shrunk, to a small block, and to a large one again.
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
            // Blocks beyond the limit are unmapped.
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
        // SAFETY: the layout is not empty, and the pointer is not used.
        assert!(unsafe { LargeBlocks.alloc(layout(1 << 60)) }.is_null());
    }
}

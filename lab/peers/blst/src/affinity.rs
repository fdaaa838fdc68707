//! Limits blst's threads: blst always starts as many threads as there are CPUs that the calling thread may
//! use.

use std::mem;

/// Restricts this thread and the threads that it starts to `threads` of its CPUs. Must be called before blst
/// starts threads.
///
/// # Errors
/// Fewer CPUs than `threads`.
pub(crate) fn restrict_to(threads: usize) -> Result<(), String> {
    // SAFETY: a bit set, for which zero bytes are valid.
    let [mut allowed, mut kept]: [libc::cpu_set_t; 2] = unsafe { mem::zeroed() };
    // SAFETY: the pointer is to a set of the given size.
    let known = unsafe { libc::sched_getaffinity(0, size_of_val(&allowed), &raw mut allowed) };
    let mut left = threads;
    for cpu in 0..libc::CPU_SETSIZE as usize {
        // SAFETY: the CPU's number is below the set's size.
        if left > 0 && unsafe { libc::CPU_ISSET(cpu, &allowed) } {
            // SAFETY: as before.
            unsafe { libc::CPU_SET(cpu, &mut kept) };
            left -= 1;
        }
    }
    // SAFETY: as for `sched_getaffinity`.
    if known != 0
        || left > 0
        || unsafe { libc::sched_setaffinity(0, size_of_val(&kept), &raw const kept) } != 0
    {
        return Err(format!("blst takes as many threads as there are CPUs, and there are no {threads}"));
    }
    Ok(())
}

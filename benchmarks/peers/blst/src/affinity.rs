//! How many threads blst starts: as many as there are CPUs that the calling thread may run on, whatever the caller wants.

use std::mem;

/// Keeps this thread, and those that it will start, to `threads` of its CPUs; to be called before blst starts its own.
///
/// # Errors
/// If it has fewer.
pub(crate) fn restrict_to(threads: usize) -> Result<(), String> {
    // SAFETY: a set of bits, of which none set is valid.
    let [mut allowed, mut kept]: [libc::cpu_set_t; 2] = unsafe { mem::zeroed() };
    // SAFETY: the pointer is to a set of the size that is given.
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
    // SAFETY: as of `sched_getaffinity`.
    if known != 0
        || left > 0
        || unsafe { libc::sched_setaffinity(0, size_of_val(&kept), &raw const kept) } != 0
    {
        return Err(format!("blst takes as many threads as there are CPUs, and there are no {threads}"));
    }
    Ok(())
}

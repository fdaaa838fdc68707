//! What the process has in memory, as Linux says it.

use std::fs;

/// Bytes in memory now; `None` where the system does not say.
pub fn resident() -> Option<u64> {
    status("VmRSS:")
}

/// Most bytes in memory at a time, since the start or the last [`forget_peak`]; mapped files are counted too.
pub fn peak() -> Option<u64> {
    status("VmHWM:")
}

/// Begins to look for the peak anew. Nothing happens where the system cannot do it, and the peak stays that of before.
pub fn forget_peak() {
    // 5 is proc_pid_clear_refs(5)'s word for it.
    drop(fs::write("/proc/self/clear_refs", "5"));
}

fn status(field: &str) -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(field))?;
    line.trim().strip_suffix(" kB")?.parse::<u64>().ok().map(|kilobytes| 1024 * kilobytes)
}

//! Memory of the machine and its use by the process, as Linux reports them.

use std::fs;

/// Bytes of resident memory now; `None` if the system does not report it.
pub fn resident() -> Option<u64> {
    status("VmRSS:")
}

/// The peak of resident memory in bytes since the start or the last [`forget_peak`], mapped files included; `None` if the
/// system does not report it.
pub fn peak() -> Option<u64> {
    status("VmHWM:")
}

/// Resets the peak to the present use. If the system does not support it, the peak stays as it was.
pub fn forget_peak() {
    // 5 resets the peak: proc_pid_clear_refs(5).
    drop(fs::write("/proc/self/clear_refs", "5"));
}

/// Bytes of memory of the machine; `None` if the system does not report it.
pub fn of_the_machine() -> Option<u64> {
    kilobytes("/proc/meminfo", "MemTotal:")
}

fn status(field: &str) -> Option<u64> {
    kilobytes("/proc/self/status", field)
}

fn kilobytes(file: &str, field: &str) -> Option<u64> {
    let text = fs::read_to_string(file).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(field))?;
    line.trim().strip_suffix(" kB")?.parse::<u64>().ok().map(|kilobytes| 1024 * kilobytes)
}

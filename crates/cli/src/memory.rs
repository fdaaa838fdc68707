//! How much memory this process has used.

/// The most bytes that were resident at once, mapped files included; `None` where the system does not say.
pub(crate) fn peak_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

/// Lets the peak begin anew with what is resident now, where the system can.
pub(crate) fn reset_peak() {
    // Linux: proc_pid_clear_refs(5). Without it peaks are those since the process began.
    drop(std::fs::write("/proc/self/clear_refs", "5"));
}

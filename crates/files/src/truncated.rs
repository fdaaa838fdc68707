//! Mapped files that another program truncates.

use std::sync::atomic::{AtomicBool, Ordering};

static TRUNCATED: AtomicBool = AtomicBool::new(false);

/// Whether this process is ending because a mapped file was truncated; see [`end_when_a_map_is_truncated`].
pub fn map_was_truncated() -> bool {
    TRUNCATED.load(Ordering::SeqCst)
}

/// From now on, a read of a mapped file that another program has truncated ends this process: it prints a line to standard
/// error and sends itself SIGTERM. The handler of SIGTERM then finds that [`map_was_truncated`]. Without this call, SIGBUS
/// kills the process silently. For programs with a handler of SIGTERM that ends the process. Linux only; no effect elsewhere.
pub fn end_when_a_map_is_truncated() {
    #[cfg(target_os = "linux")]
    {
        let handler: extern "C" fn(libc::c_int) = on_bus_error;
        // SAFETY: a zeroed `sigaction` is valid: no flags, an empty mask. The handler only calls functions that are
        // async-signal-safe.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = handler as libc::sighandler_t;
            // It fails only for invalid arguments.
            libc::sigaction(libc::SIGBUS, &raw const action, std::ptr::null_mut());
        }
    }
}

#[cfg(target_os = "linux")]
extern "C" fn on_bus_error(_: libc::c_int) {
    const MESSAGE: &[u8] =
        b"error: another program truncated an input file while it was read: run the command again\n";
    // Only the first thread that finds out reports it.
    if !TRUNCATED.swap(true, Ordering::SeqCst) {
        // SAFETY: these are async-signal-safe, and the message is valid for its length.
        unsafe {
            libc::write(libc::STDERR_FILENO, MESSAGE.as_ptr().cast(), MESSAGE.len());
            libc::kill(libc::getpid(), libc::SIGTERM);
        }
    }
    loop {
        // SAFETY: it takes no arguments. The read cannot be repeated, so this thread waits for the end of the process.
        unsafe { libc::pause() };
    }
}

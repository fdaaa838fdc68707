//! Signals: the first SIGTERM or SIGINT drains, the second ends at once.

use super::failure::CommandFailure;
use tokio::{
    signal::unix::{Signal, SignalKind, signal},
    sync::watch,
};

/// Becomes true at the first signal to end.
pub(super) fn draining() -> Result<watch::Receiver<bool>, CommandFailure> {
    let (sender, receiver) = watch::channel(false);
    let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    tokio::spawn(async move {
        any(&mut terminate, &mut interrupt).await;
        tracing::info!("draining; another signal ends at once");
        // The process ends in any case, whether systemd is told or not.
        drop(sd_notify::notify(&[sd_notify::NotifyState::Stopping]));
        sender.send_replace(true);
        any(&mut terminate, &mut interrupt).await;
        std::process::exit(130);
    });
    Ok(receiver)
}

async fn any(terminate: &mut Signal, interrupt: &mut Signal) {
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
}

/// SIGHUP, which asks for certificates to be read again.
pub(super) fn hang_up() -> Result<Signal, CommandFailure> {
    Ok(signal(SignalKind::hangup())?)
}

//! Opens stores and objects by their URLs.

use super::{data::DataFolder, failure::CommandFailure};
use proofmill_server::{
    objects::{self, Objects},
    store::Store,
};
use std::{io, path::PathBuf, sync::Arc};

/// The store at a URL, or in a file in the data directory.
pub(super) fn store(url: Option<&str>, data: &DataFolder) -> Result<Store, CommandFailure> {
    let own = data.place("store.sqlite");
    Ok(Store::open(url.unwrap_or(&own.to_string_lossy()))?)
}

/// The objects at a URL, or in a folder in the data directory, and the folder for staging.
pub(super) fn objects(
    url: Option<&str>,
    data: &DataFolder,
) -> Result<(Arc<dyn Objects>, PathBuf), CommandFailure> {
    let own = data.place("objects");
    let place = url.map_or_else(|| own.to_string_lossy().into_owned(), str::to_owned);
    let place =
        place.strip_prefix("file:").map(|path| path.strip_prefix("//").unwrap_or(path)).unwrap_or(&place);
    let opened = objects::open(place).map_err(|error| match error.kind() {
        // The error names the place without a secret in it.
        io::ErrorKind::InvalidInput => CommandFailure::Input(format!("--objects: {error}")),
        _ => CommandFailure::Input(format!("--objects: {place}: {error}")),
    })?;
    // Staged files are moved by renaming, so staging has to be on the same file system.
    let staging =
        if place.contains("://") { data.place("staging") } else { PathBuf::from(place).join("staging") };
    Ok((opened, staging))
}

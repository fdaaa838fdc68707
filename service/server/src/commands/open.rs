//! Opens stores and objects by their URLs.

use super::{data::Data, failure::Failure};
use proofmill_server::{
    objects::{self, Objects},
    store::Store,
};
use std::{io, path::PathBuf, sync::Arc};

/// The store at a URL, or in a file in the data directory.
pub(super) fn store(url: Option<&str>, data: &Data) -> Result<Store, Failure> {
    let own = data.place("store.sqlite");
    Ok(Store::open(url.unwrap_or(&own.to_string_lossy()))?)
}

/// The objects at a URL, or in a folder in the data directory, and the folder for staging.
pub(super) fn objects(url: Option<&str>, data: &Data) -> Result<(Arc<dyn Objects>, PathBuf), Failure> {
    let own = data.place("objects");
    let place = url.map_or_else(|| own.to_string_lossy().into_owned(), str::to_owned);
    let place =
        place.strip_prefix("file:").map(|path| path.strip_prefix("//").unwrap_or(path)).unwrap_or(&place);
    let opened = objects::open(place).map_err(|error| match error.kind() {
        // It names the place, but for a secret in it.
        io::ErrorKind::InvalidInput => Failure::Input(format!("--objects: {error}")),
        _ => Failure::Input(format!("--objects: {place}: {error}")),
    })?;
    // Files move by a new name, so staging has to be on the same file system.
    let staging =
        if place.contains("://") { data.place("staging") } else { PathBuf::from(place).join("staging") };
    Ok((opened, staging))
}

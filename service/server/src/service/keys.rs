//! The service's keys: added, named and opened.

use super::{Service, ServiceError, is_digest, key_name};
use crate::{
    access::{Identity, Scope},
    names::check_name,
    objects::{ObjectReader, Staged},
    store::KeyRecord,
};
use std::io;

impl Service {
    /// Adds a key file, whose digest the caller has computed, to the keys of a token.
    ///
    /// # Errors
    /// [`ServiceError::Invalid`] for a file that is no key, or a bad name;
    /// [`StoreError::Stored`](crate::store::StoreError::Stored) beyond the token's limits.
    pub async fn add_key(
        &self,
        identity: &Identity,
        digest: String,
        name: Option<String>,
        file: Staged,
    ) -> Result<KeyRecord, ServiceError> {
        identity.require(Scope::Keys)?;
        name.as_deref().map_or(Ok(()), |name| check_name("key", name))?;
        let bytes = file.path().metadata()?.len();
        self.check_room_for_key(identity, &digest, bytes).await?;
        let facts = self.0.inspector.inspect(file.path()).await?;
        // The search for orphans waits: the file is stored before the key names it.
        let _arrives = self.0.arrivals.read().await;
        self.0.objects.put(&key_name(&digest), file).await?;
        self.store_key(KeyRecord { digest, owner: identity.token.clone(), name, bytes, facts, created_at: 0 })
            .await
    }

    /// Refuses a key of so many bytes for which the token has no room.
    ///
    /// # Errors
    /// [`StoreError::Stored`](crate::store::StoreError::Stored).
    pub async fn check_room_for_key(
        &self,
        identity: &Identity,
        digest: &str,
        bytes: u64,
    ) -> Result<(), ServiceError> {
        let (owner, limits) = (identity.token.clone(), self.0.rules.limits);
        Ok(self.0.store.check_room_for_key(owner, digest.to_owned(), bytes, limits).await?)
    }

    /// Gives a name to a key of the token. Without one, the key keeps that which it has.
    ///
    /// # Errors
    /// [`ServiceError::Invalid`] for a bad name, [`StoreError::NotFound`](crate::store::StoreError::NotFound) for a key that the token does not have.
    pub async fn name_key(
        &self,
        identity: &Identity,
        digest: String,
        name: Option<String>,
    ) -> Result<KeyRecord, ServiceError> {
        identity.require(Scope::Keys)?;
        name.as_deref().map_or(Ok(()), |name| check_name("key", name))?;
        // If the key is removed meanwhile, its file stays until it is named again.
        let _arrives = self.0.arrivals.read().await;
        let key = self.0.store.key(identity.token.clone(), digest).await?;
        self.store_key(KeyRecord { name, ..key }).await
    }

    async fn store_key(&self, key: KeyRecord) -> Result<KeyRecord, ServiceError> {
        let (owner, digest) = (key.owner.clone(), key.digest.clone());
        self.0.store.add_key(key, self.0.rules.limits).await?;
        Ok(self.0.store.key(owner, digest).await?)
    }

    /// The content of a key's file, and its length in bytes.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotFound`] if there is none.
    pub async fn open_key(&self, digest: &str) -> io::Result<(u64, ObjectReader)> {
        if !is_digest(digest) {
            return Err(io::ErrorKind::NotFound.into());
        }
        self.0.objects.get(&key_name(digest)).await
    }
}

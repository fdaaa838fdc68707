//! Keys and programs that are open, for the tasks that follow.

use super::{
    fault::{FileNames, TaskFault},
    inspect::{inspect, open_program},
    lru_cache::{CacheBounds, LruCache},
    replies::Replies,
};
use proofmill::{AnyProvingKey, AnyVerifyingKey, circom::WitnessCalculator, stark::Constraints};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};

/// The purpose for which a key is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// A proving key, to prove.
    Prove,
    /// Any key, to verify.
    Verify,
    /// A program, to calculate witnesses.
    Calculate,
    /// An AIR.
    Air,
}

/// An open key.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "there are few")]
pub(super) enum KeyContent {
    Proving(AnyProvingKey),
    Verifying(AnyVerifyingKey),
    Program(WitnessCalculator),
    Air(Constraints),
}

/// An open key and the path that its errors name.
#[derive(Debug)]
pub(super) struct OpenKey {
    path: PathBuf,
    pub(super) key: KeyContent,
}

/// The keys that stay open, by digest and use.
pub(super) struct OpenKeys(LruCache<(String, Use), OpenKey>);

impl OpenKeys {
    pub(super) fn new(bounds: CacheBounds) -> Self {
        Self(LruCache::new(bounds))
    }

    /// Closes all keys.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// A key that is open, or is opened now. `name` stands for it in messages.
    pub(super) fn open(
        &mut self,
        digest: &str,
        (usage, name): (Use, &'static str),
        paths: &BTreeMap<String, PathBuf>,
        (names, replies): (&mut FileNames, &Replies),
    ) -> Result<Arc<OpenKey>, TaskFault> {
        let place = (digest.to_owned(), usage);
        if let Some(open) = self.0.get(&place) {
            names.call(&open.path, name);
            return Ok(open);
        }
        let path = paths.get(digest);
        let path = path.ok_or_else(|| TaskFault::Input(format!("{name}: its file is not in the request")))?;
        names.call(path, name);
        replies.begin(if usage == Use::Calculate { "open program" } else { "open key" });
        let (key, bytes) = open(path, usage)?;
        Ok(self.0.put(place, OpenKey { path: path.clone(), key }, bytes))
    }
}

/// The memory of a verifying key without its public signals, and of each public signal, in bytes.
const VERIFYING: (u64, u64) = (1 << 14, 200);

/// Opens a key, and bounds the memory that it takes while it is open.
fn open(path: &Path, usage: Use) -> Result<(KeyContent, u64), TaskFault> {
    Ok(match usage {
        Use::Prove => (KeyContent::Proving(AnyProvingKey::open(path)?), inspect(path)?.bound.kept),
        Use::Verify => {
            let key = AnyVerifyingKey::open(path)?;
            let bytes = VERIFYING.0.saturating_add(VERIFYING.1.saturating_mul(key.public_signals() as u64));
            (KeyContent::Verifying(key), bytes)
        }
        Use::Calculate => {
            let (program, bound) = open_program(path)?;
            (KeyContent::Program(program), bound.kept)
        }
        Use::Air => (KeyContent::Air(Constraints::open(path)?), inspect(path)?.bound.kept),
    })
}

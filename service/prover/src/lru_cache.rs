//! A cache of values that stay open between requests, bounded in number and bytes. The least recently used one is dropped
//! first.

use std::sync::Arc;

/// The bounds of a cache.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CacheBounds {
    /// The most values.
    pub(crate) count: usize,
    /// The most bytes of all values together.
    pub(crate) bytes: u64,
}

/// Values by name. The least recently used one is dropped first.
#[derive(Debug)]
pub(crate) struct LruCache<N, T> {
    bounds: CacheBounds,
    /// In the order of last use, the most recently used one last.
    entries: Vec<Entry<N, T>>,
}

#[derive(Debug)]
struct Entry<N, T> {
    name: N,
    value: Arc<T>,
    bytes: u64,
}

impl<N: PartialEq, T> LruCache<N, T> {
    /// An empty cache.
    pub(crate) fn new(bounds: CacheBounds) -> Self {
        Self { bounds, entries: Vec::new() }
    }

    /// The value of this name, which becomes the most recently used one.
    pub(crate) fn get(&mut self, name: &N) -> Option<Arc<T>> {
        let index = self.entries.iter().position(|entry| entry.name == *name)?;
        let entry = self.entries.remove(index);
        let value = entry.value.clone();
        self.entries.push(entry);
        Some(value)
    }

    /// Keeps a value of so many bytes, and drops others to stay within the bounds. A value that alone exceeds them is not kept.
    pub(crate) fn put(&mut self, name: N, value: T, bytes: u64) -> Arc<T> {
        let value = Arc::new(value);
        self.entries.retain(|entry| entry.name != name);
        // A value that can never fit must not drive out all others.
        if bytes > self.bounds.bytes || self.bounds.count == 0 {
            return value;
        }
        while self.entries.len() >= self.bounds.count || self.bytes() > self.bounds.bytes - bytes {
            self.entries.remove(0);
        }
        self.entries.push(Entry { name, value: value.clone(), bytes });
        value
    }

    /// Drops everything.
    pub(crate) fn clear(&mut self) {
        self.entries.clear();
    }

    fn bytes(&self) -> u64 {
        self.entries.iter().map(|entry| entry.bytes).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_value_that_was_used_longest_ago_goes_first() {
        let mut kept = LruCache::new(CacheBounds { count: 3, bytes: 100 });
        for name in 1..=3 {
            kept.put(name, name, 30);
        }
        assert_eq!(kept.get(&1).as_deref(), Some(&1));
        kept.put(4, 4, 30);
        assert!(kept.get(&2).is_none() && kept.get(&3).is_some() && kept.get(&1).is_some());
        // A value that takes nearly all the room, and one that takes more than all.
        kept.put(5, 5, 95);
        assert!(kept.get(&1).is_none() && kept.get(&5).is_some());
        assert_eq!(*kept.put(6, 6, 101), 6);
        assert!(kept.get(&6).is_none() && kept.get(&5).is_some());
        kept.put(5, 7, 5);
        assert_eq!(kept.get(&5).as_deref(), Some(&7));
        kept.put(8, 8, 95);
        assert!(kept.get(&5).is_some() && kept.get(&8).is_some());
        kept.clear();
        assert!(kept.get(&5).is_none());
    }
}

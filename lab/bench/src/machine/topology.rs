//! Packages, cores, threads and caches, from `/sys/devices/system/cpu`.

use super::Root;
use crate::record::Cache;
use std::collections::BTreeSet;

const CPUS: &str = "sys/devices/system/cpu";

/// Numbers of online threads, cores and packages.
#[derive(Default)]
pub(super) struct Topology {
    pub(super) threads: Option<u32>,
    pub(super) cores: Option<u32>,
    pub(super) sockets: Option<u32>,
    pub(super) threads_per_core: Option<u32>,
}

pub(super) fn read(root: &Root) -> Topology {
    let online = online(root);
    let of_each = |file: &str| {
        let text = |cpu: &u32| root.text(format!("{CPUS}/cpu{cpu}/topology/{file}"));
        online.iter().map(text).collect::<Option<BTreeSet<String>>>().filter(|texts| !texts.is_empty())
    };
    // Each core's threads. The first name exists since Linux 5.3, the second one before.
    let cores = of_each("core_cpus_list").or_else(|| of_each("thread_siblings_list"));
    // A machine without firmware tables numbers its packages -1.
    let sockets = of_each("physical_package_id").filter(|packages| !packages.contains("-1"));
    let threads_per_core = cores.as_ref().and_then(|cores| {
        let online = |core: &String| list(core).iter().filter(|cpu| online.contains(cpu)).count();
        cores.iter().map(online).max()
    });
    Topology {
        threads: (!online.is_empty()).then_some(online.len() as u32),
        cores: cores.map(|cores| cores.len() as u32),
        sockets: sockets.map(|sockets| sockets.len() as u32),
        threads_per_core: threads_per_core.map(|threads| threads as u32).filter(|threads| *threads > 0),
    }
}

/// The caches that the first core uses, one of each level and kind, nearest first.
pub(super) fn caches(root: &Root) -> Vec<Cache> {
    let Some(cpu) = online(root).first().copied() else { return Vec::new() };
    let cache = |index: u32| {
        let file = |name: &str| format!("{CPUS}/cpu{cpu}/cache/index{index}/{name}");
        Some(Cache {
            level: root.number(file("level"))?,
            kind: root.text(file("type"))?.to_lowercase(),
            bytes: bytes(&root.text(file("size"))?)?,
            shared_by: list(&root.text(file("shared_cpu_list"))?).len() as u32,
        })
    };
    let mut caches: Vec<Cache> = (0..8).filter_map(cache).collect();
    caches.sort_by(|a, b| (a.level, &a.kind).cmp(&(b.level, &b.kind)));
    caches
}

fn online(root: &Root) -> Vec<u32> {
    root.text(format!("{CPUS}/online")).map_or_else(Vec::new, |text| list(&text))
}

/// The numbers of a list such as `0-3,8`; invalid parts are skipped.
fn list(text: &str) -> Vec<u32> {
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u32, u32) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        // An upper bound on CPU numbers.
        (last < 1 << 16).then_some(first..=last)
    };
    text.split(',').filter_map(range).flatten().collect()
}

/// Parses a size such as `48K` or `32M`, in bytes.
fn bytes(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let unit = match &text[digits.len()..] {
        "" => 1,
        "K" => 1 << 10,
        "M" => 1 << 20,
        "G" => 1 << 30,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(unit)
}

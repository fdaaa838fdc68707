//! The memory of the machine, of this process's cgroup, and of processes. It is read from `/proc` and `/sys/fs/cgroup`; without
//! these folders, nothing is known.

use std::{
    fs::{self, File},
    io::Read,
    path::{Path, PathBuf},
};

/// More bytes than the files that are read usually have.
const LONGEST_TEXT: usize = 4096;

/// The files in which the system tells of the machine's memory.
#[derive(Clone, Debug)]
pub struct MachineMemory {
    /// `/proc`.
    proc: PathBuf,
    /// The groups of this process that limit memory: its own and those above it.
    groups: Vec<Group>,
}

/// A cgroup by its files: its limit, its use, and the part of the use that is pages of files, which the kernel takes back.
#[derive(Clone, Debug)]
struct Group {
    limit: PathBuf,
    used: PathBuf,
    statistics: PathBuf,
    /// The names of the statistics: `total_` in version 1, where the others leave out groups below.
    file_pages: [&'static str; 2],
}

impl MachineMemory {
    /// This machine.
    pub fn this() -> Self {
        Self::at(Path::new("/proc"), Path::new("/sys/fs/cgroup"))
    }

    /// A machine whose files are in these folders, in place of `/proc` and `/sys/fs/cgroup`.
    pub fn at(proc: &Path, cgroups: &Path) -> Self {
        let own = fs::read_to_string(proc.join("self/cgroup")).unwrap_or_default();
        let groups = groups(&own, cgroups);
        Self { proc: proc.to_owned(), groups }
    }

    /// The memory that processes here can have together, in bytes.
    pub(super) fn total(&self) -> Option<u64> {
        let of_machine = self.meminfo("MemTotal:");
        of_machine.into_iter().chain(self.groups.iter().filter_map(Group::limit)).min()
    }

    /// The memory that processes here can still get, in bytes.
    pub(super) fn available(&self) -> Option<u64> {
        let of_machine = self.meminfo("MemAvailable:");
        of_machine.into_iter().chain(self.groups.iter().filter_map(Group::available)).min()
    }

    /// The memory that a process alone uses, in bytes, without pages of files.
    pub(super) fn private(&self, process: u32) -> Option<u64> {
        let status = text(&self.proc.join(process.to_string()).join("status"))?;
        let fields = ["RssAnon:", "RssShmem:", "VmSwap:"].map(|name| kibibytes(&status, name));
        fields[0].map(|_| fields.into_iter().flatten().sum())
    }

    fn meminfo(&self, name: &str) -> Option<u64> {
        kibibytes(&text(&self.proc.join("meminfo"))?, name)
    }
}

/// The groups that `/proc/self/cgroup` names, where they are mounted.
fn groups(own: &str, mounted: &Path) -> Vec<Group> {
    let mut groups = Vec::new();
    for line in own.lines() {
        // ID:CONTROLLERS:PATH; version 2 has no controllers here.
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else { continue };
        let is_second = controllers.is_empty();
        if !is_second && !controllers.split(',').any(|name| name == "memory") {
            continue;
        }
        let root = if is_second { mounted.to_owned() } else { mounted.join("memory") };
        // In a container, the path may be the host's: then only the root is there.
        let own = root.join(path.trim_start_matches('/'));
        groups.extend(own.ancestors().take_while(|folder| folder.starts_with(&root)).map(|folder| {
            match is_second {
                true => Group {
                    limit: folder.join("memory.max"),
                    used: folder.join("memory.current"),
                    statistics: folder.join("memory.stat"),
                    file_pages: ["inactive_file ", "active_file "],
                },
                false => Group {
                    limit: folder.join("memory.limit_in_bytes"),
                    used: folder.join("memory.usage_in_bytes"),
                    statistics: folder.join("memory.stat"),
                    file_pages: ["total_inactive_file ", "total_active_file "],
                },
            }
        }));
    }
    // Groups without a limit need not be read again and again.
    groups.retain(|group| group.limit().is_some());
    groups
}

impl Group {
    fn limit(&self) -> Option<u64> {
        // "max" is no limit. Version 1 says the greatest number of pages instead.
        number(&self.limit).filter(|&limit| limit < 1 << 60)
    }

    fn available(&self) -> Option<u64> {
        let statistics = text(&self.statistics).unwrap_or_default();
        let files = self.file_pages.iter().filter_map(|name| {
            let line = statistics.lines().find_map(|line| line.strip_prefix(name))?;
            line.trim().parse::<u64>().ok()
        });
        let used = number(&self.used)?.saturating_sub(files.sum());
        Some(self.limit()?.saturating_sub(used))
    }
}

/// The text of one of the kernel's files, whose lengths are not known before: read at once, since it is written anew for each read.
fn text(path: &Path) -> Option<String> {
    let mut text = String::with_capacity(LONGEST_TEXT);
    File::open(path).ok()?.read_to_string(&mut text).ok()?;
    Some(text)
}

fn number(path: &Path) -> Option<u64> {
    text(path)?.trim().parse().ok()
}

/// The value of a line `NAME: NUMBER kB`, in bytes.
fn kibibytes(text: &str, name: &str) -> Option<u64> {
    let value = text.lines().find_map(|line| line.strip_prefix(name))?;
    value.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::MachineMemory;
    use std::{fs, path::Path};

    fn write(root: &Path, files: &[(&str, &str)]) {
        for (name, content) in files {
            let path = root.join(name);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a new folder");
            fs::write(path, content).expect("written");
        }
    }

    const PROC: [(&str, &str); 2] = [
        ("proc/meminfo", "MemTotal:  1000 kB\nMemFree: 1 kB\nMemAvailable:  700 kB\n"),
        (
            "proc/7/status",
            "VmRSS: 999 kB\nRssAnon:\t 100 kB\nRssFile: 800 kB\nRssShmem: 10 kB\nVmSwap: 1 kB\n",
        ),
    ];

    fn machine(root: &Path) -> MachineMemory {
        MachineMemory::at(&root.join("proc"), &root.join("cgroup"))
    }

    #[test]
    fn a_machine_without_groups() {
        let root = tempfile::tempdir().expect("a folder");
        write(root.path(), &PROC);
        let machine = machine(root.path());
        assert_eq!((machine.total(), machine.available()), (Some(1000 << 10), Some(700 << 10)));
        assert_eq!((machine.private(7), machine.private(8)), (Some(111 << 10), None));
    }

    #[test]
    fn groups_of_version_2_limit_from_above() {
        let root = tempfile::tempdir().expect("a folder");
        write(root.path(), &PROC);
        write(
            root.path(),
            &[
                ("proc/self/cgroup", "0::/a/b\n"),
                ("cgroup/a/memory.max", "400000\n"),
                ("cgroup/a/memory.current", "300000\n"),
                ("cgroup/a/memory.stat", "anon 1\ninactive_file 40000\nactive_file 10000\n"),
                ("cgroup/a/b/memory.max", "max\n"),
            ],
        );
        let machine = machine(root.path());
        assert_eq!((machine.total(), machine.available()), (Some(400_000), Some(150_000)));
    }

    #[test]
    fn groups_of_version_1_in_a_container() {
        let root = tempfile::tempdir().expect("a folder");
        write(root.path(), &PROC);
        write(
            root.path(),
            &[
                ("proc/self/cgroup", "3:cpu,cpuacct:/docker/1\n2:memory:/docker/1\n1:name=systemd:/\n"),
                ("cgroup/memory/memory.limit_in_bytes", "500000\n"),
                ("cgroup/memory/memory.usage_in_bytes", "450000\n"),
                ("cgroup/memory/memory.stat", "inactive_file 9\ntotal_inactive_file 150000\n"),
            ],
        );
        let machine = machine(root.path());
        assert_eq!((machine.total(), machine.available()), (Some(500_000), Some(200_000)));
    }

    #[test]
    fn this_process_has_memory() {
        let machine = MachineMemory::this();
        if cfg!(target_os = "linux") {
            assert!(machine.private(std::process::id()).is_some_and(|bytes| bytes > 4096));
            assert!(machine.available() <= machine.total());
        }
    }
}

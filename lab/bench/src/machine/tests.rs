//! Facts read from files that are modelled on those of other machines.

use super::*;
use crate::record::Cache;

/// A folder with a machine's files.
struct Files(tempfile::TempDir);

impl Files {
    fn new(files: &[(&str, &str)]) -> Self {
        let this = Self(tempfile::tempdir().unwrap());
        files.iter().for_each(|(path, text)| this.add(path, text));
        this
    }

    fn add(&self, path: &str, text: &str) {
        let path = self.0.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// CPU numbers as Linux assigns them: every core's first thread, package after package, then the second
    /// threads.
    fn cpus(&self, sockets: u32, cores: u32, threads: u32, siblings: &str) {
        let all = sockets * cores;
        self.add("sys/devices/system/cpu/online", &format!("0-{}\n", all * threads - 1));
        for cpu in 0..all * threads {
            let core = cpu % all;
            let list: Vec<String> = (0..threads).map(|thread| (core + thread * all).to_string()).collect();
            let folder = format!("sys/devices/system/cpu/cpu{cpu}/topology");
            self.add(&format!("{folder}/{siblings}"), &format!("{}\n", list.join(",")));
            self.add(&format!("{folder}/physical_package_id"), &format!("{}\n", core / cores));
        }
    }

    fn cache(&self, index: u32, level: u32, kind: &str, size: &str, shared: &str) {
        let folder = format!("sys/devices/system/cpu/cpu0/cache/index{index}");
        for (file, text) in [
            ("level", level.to_string().as_str()),
            ("type", kind),
            ("size", size),
            ("shared_cpu_list", shared),
        ] {
            self.add(&format!("{folder}/{file}"), &format!("{text}\n"));
        }
    }

    fn facts(&self) -> MachineFacts {
        facts_of(&Root::new(self.0.path()))
    }
}

fn cache(level: u8, kind: &str, kibibytes: u64, shared_by: u32) -> Cache {
    Cache { level, kind: kind.to_owned(), bytes: kibibytes << 10, shared_by }
}

/// Two Xeons with two threads per core, under Linux without a hypervisor.
#[test]
fn a_server_of_two_packages() {
    let cpuinfo = "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 143\n\
        model name\t: Intel(R) Xeon(R) Platinum 8488C\nstepping\t: 8\nmicrocode\t: 0x2b000603\ncpu MHz\t\t: 3200.000\n\
        cache size\t: 107520 KB\n\nprocessor\t: 1\nvendor_id\t: GenuineIntel\nmodel\t\t: 85\n";
    let files = Files::new(&[
        ("proc/cpuinfo", cpuinfo),
        ("proc/meminfo", "MemTotal:       395904000 kB\nMemFree:        380000000 kB\n"),
        ("proc/sys/kernel/osrelease", "6.8.0-1021-aws\n"),
        ("etc/os-release", "NAME=\"Ubuntu\"\nVERSION_ID=\"24.04\"\nPRETTY_NAME=\"Ubuntu 24.04.1 LTS\"\n"),
        ("sys/class/dmi/id/sys_vendor", "Amazon EC2\n"),
        ("sys/class/dmi/id/product_name", "c7i.metal-48xl\n"),
        ("sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "3800000\n"),
    ]);
    files.cpus(2, 48, 2, "core_cpus_list");
    files.cache(0, 1, "Data", "48K", "0,96");
    files.cache(1, 1, "Instruction", "32K", "0,96");
    files.cache(2, 2, "Unified", "2048K", "0,96");
    files.cache(3, 3, "Unified", "107520K", "0-47,96-143");
    let expected = MachineFacts {
        cpu: "Intel(R) Xeon(R) Platinum 8488C".to_owned(),
        architecture: "x86_64".to_owned(),
        microarchitecture: Some("Sapphire Rapids (Golden Cove)".to_owned()),
        threads: 192,
        cores: Some(96),
        sockets: Some(2),
        threads_per_core: Some(2),
        caches: vec![
            cache(1, "data", 48, 2),
            cache(1, "instruction", 32, 2),
            cache(2, "unified", 2048, 2),
            cache(3, "unified", 107_520, 96),
        ],
        advertised_hertz: Some(3.8e9),
        memory: Some(395_904_000 << 10),
        system: Some("Ubuntu 24.04.1 LTS".to_owned()),
        kernel: Some("6.8.0-1021-aws".to_owned()),
        instance: Some("c7i.metal-48xl".to_owned()),
        ..MachineFacts::default()
    };
    assert_eq!(files.facts(), expected);
}

/// A virtual machine on a Graviton4: no CPU name, no `cpufreq`, a vendor in the firmware.
#[test]
fn a_virtual_machine_of_arm() {
    let cpuinfo = "processor\t: 0\nBogoMIPS\t: 2000.00\nFeatures\t: fp asimd sha2 sve sve2\nCPU implementer\t: 0x41\n\
        CPU architecture: 8\nCPU variant\t: 0x0\nCPU part\t: 0xd4f\nCPU revision\t: 1\n\nprocessor\t: 1\nCPU part\t: 0xd40\n";
    let files = Files::new(&[
        ("proc/cpuinfo", cpuinfo),
        ("proc/meminfo", "MemTotal: 16000000 kB\n"),
        ("usr/lib/os-release", "PRETTY_NAME='Amazon Linux 2023'\n"),
        ("sys/class/dmi/id/sys_vendor", "Amazon EC2\n"),
        ("sys/class/dmi/id/product_name", "c8g.2xlarge\n"),
    ]);
    // The file's name before Linux 5.3.
    files.cpus(1, 8, 1, "thread_siblings_list");
    files.cache(0, 1, "Data", "64K", "0");
    files.cache(3, 3, "Unified", "36M", "0-7");
    let expected = MachineFacts {
        cpu: "Neoverse V2".to_owned(),
        architecture: "aarch64".to_owned(),
        microarchitecture: Some("Neoverse V2".to_owned()),
        threads: 8,
        cores: Some(8),
        sockets: Some(1),
        threads_per_core: Some(1),
        caches: vec![cache(1, "data", 64, 1), cache(3, "unified", 36 << 10, 8)],
        memory: Some(16_000_000 << 10),
        system: Some("Amazon Linux 2023".to_owned()),
        hypervisor: Some("AWS Nitro".to_owned()),
        instance: Some("c8g.2xlarge".to_owned()),
        ..MachineFacts::default()
    };
    assert_eq!(files.facts(), expected);
}

/// A small virtual machine of one package: the kernel's `cpu MHz` is the only frequency.
#[test]
fn a_virtual_machine_without_firmware() {
    let cpuinfo = "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 26\nmodel\t\t: 2\nmodel name\t: AMD EPYC\n\
        stepping\t: 1\ncpu MHz\t\t: 2596.122\n";
    let files =
        Files::new(&[("proc/cpuinfo", cpuinfo), ("proc/device-tree/hypervisor/compatible", "linux,kvm\0")]);
    files.cpus(1, 2, 1, "core_cpus_list");
    let facts = files.facts();
    assert_eq!((facts.cpu.as_str(), facts.microarchitecture.as_deref()), ("AMD EPYC", Some("Zen 5")));
    assert_eq!(facts.advertised_hertz, Some(2_596_122_000.0));
    assert_eq!((facts.cores, facts.memory, facts.instance), (Some(2), None, None));
    assert_eq!(facts.hypervisor.as_deref(), Some("KVM"));
}

/// The frequency in the name takes precedence over `cpu MHz`, which without a hypervisor is the current
/// frequency.
#[test]
fn a_name_that_ends_with_the_frequency() {
    let cpuinfo = "vendor_id : GenuineIntel\ncpu family : 6\nmodel : 85\nstepping : 7\n\
        model name : Intel(R) Xeon(R) Platinum 8275CL CPU @ 3.00GHz\ncpu MHz : 1200.5\n";
    let facts = Files::new(&[("proc/cpuinfo", cpuinfo)]).facts();
    assert_eq!(facts.advertised_hertz, Some(3e9));
    assert_eq!(facts.microarchitecture.as_deref(), Some("Cascade Lake"));
}

#[test]
fn without_files_few_facts_are_known() {
    let facts = Files::new(&[]).facts();
    let expected = MachineFacts {
        cpu: format!("unnamed {}", std::env::consts::ARCH),
        architecture: std::env::consts::ARCH.to_owned(),
        threads: std::thread::available_parallelism().unwrap().get() as u32,
        ..MachineFacts::default()
    };
    assert_eq!(facts, expected);
}

#[test]
fn unreadable_facts_are_absent() {
    let files = Files::new(&[
        (
            "proc/cpuinfo",
            "model name :\nvendor_id : GenuineIntel\ncpu family : six\nno colon\nmodel : 0xzz\ncpu MHz : -1\n",
        ),
        ("proc/meminfo", "MemTotal: many kB\n"),
        ("sys/devices/system/cpu/online", "0-99999999,x,1-"),
        ("sys/class/dmi/id/sys_vendor", "LENOVO\n"),
        ("sys/class/dmi/id/product_name", "20.XY\n"),
    ]);
    let facts = files.facts();
    assert_eq!(facts.cpu, "unnamed x86_64");
    assert_eq!((facts.microarchitecture, facts.memory, facts.cores), (None, None, None));
    assert_eq!((facts.advertised_hertz, facts.hypervisor, facts.instance), (None, None, None));
    // A CPU that is offline has no `topology` folder.
    let files = Files::new(&[]);
    files.cpus(1, 2, 1, "core_cpus_list");
    files.add("sys/devices/system/cpu/online", "0-2");
    assert_eq!((files.facts().threads, files.facts().cores), (3, None));
}

#[test]
fn hypervisors_are_named_by_their_signatures() {
    for (signature, name) in [
        (&b"KVMKVMKVM\0\0\0"[..], "KVM"),
        (b"Microsoft Hv", "Hyper-V"),
        (b"NewOneNewOne", "NewOneNewOne"),
        (&[0; 12], "unnamed"),
    ] {
        assert_eq!(host::named(signature), name);
    }
}

#[test]
fn this_machine_has_facts() {
    let facts = facts();
    assert!(facts.compiler.starts_with("rustc 1."), "{}", facts.compiler);
    assert!(facts.levels.contains(&"portable".to_owned()));
    assert!(facts.threads >= 1 && !facts.cpu.is_empty());
    if let Some(hertz) = facts.measured_hertz {
        // An emulator's frequency is below that of any CPU; none is above 10 GHz.
        assert!((1e6..1e10).contains(&hertz), "{hertz}");
    }
}

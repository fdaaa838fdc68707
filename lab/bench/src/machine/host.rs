//! The host of the CPU: memory, operating system, hypervisor, and the cloud's name of the instance.

use super::Root;

/// The system's memory in bytes.
pub(super) fn memory(root: &Root) -> Option<u64> {
    let text = root.text("proc/meminfo")?;
    let total = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kibibytes: u64 = total.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

/// The distribution's name and version (os-release(5)).
pub(super) fn system(root: &Root) -> Option<String> {
    let text = root.text("etc/os-release").or_else(|| root.text("usr/lib/os-release"))?;
    let name = text.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="))?;
    Some(name.trim().trim_matches(['"', '\'']).to_owned())
}

/// The hypervisor's name by its signature in CPUID, if CPUID reports a hypervisor. The leaf and the
/// signatures: Linux's `arch/x86/kernel/cpu/hypervisor.c` and the files it lists, Microsoft's Hypervisor Top
/// Level Functional Specification.
pub(super) fn hypervisor_by_cpuid() -> Option<String> {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::__cpuid;
        if __cpuid(1).ecx >> 31 == 0 {
            return None;
        }
        let leaf = __cpuid(0x4000_0000);
        let signature = [leaf.ebx, leaf.ecx, leaf.edx].map(u32::to_le_bytes).concat();
        Some(named(&signature))
    }
    #[cfg(not(target_arch = "x86_64"))]
    None
}

/// The name of the hypervisor with this signature; the signature's printable characters, if it is unknown.
#[cfg(any(target_arch = "x86_64", test))]
pub(super) fn named(signature: &[u8]) -> String {
    let known = match signature {
        b"KVMKVMKVM\0\0\0" => "KVM",
        b"Microsoft Hv" => "Hyper-V",
        b"VMwareVMware" => "VMware",
        b"XenVMMXenVMM" => "Xen",
        b"TCGTCGTCGTCG" => "QEMU",
        b"VBoxVBoxVBox" => "VirtualBox",
        b"bhyve bhyve " => "bhyve",
        b"ACRNACRNACRN" => "ACRN",
        b" lrpepyh  vr" | b"prl hyperv  " => "Parallels",
        _ => "",
    };
    if !known.is_empty() {
        return known.to_owned();
    }
    let letters: String =
        signature.iter().filter(|b| b.is_ascii_graphic() || **b == b' ').map(|b| char::from(*b)).collect();
    if letters.trim().is_empty() { "unnamed".to_owned() } else { letters.trim().to_owned() }
}

/// The hypervisor's name by the kernel's files or the firmware's; used where CPUID has none.
pub(super) fn hypervisor(root: &Root) -> Option<String> {
    if let Some(kind) = root.text("sys/hypervisor/type") {
        return Some(if kind == "xen" { "Xen".to_owned() } else { kind });
    }
    if let Some(kind) = root.text("proc/device-tree/hypervisor/compatible") {
        return Some(if kind.contains("kvm") { "KVM".to_owned() } else { kind });
    }
    let (vendor, product) =
        (firmware(root, "sys_vendor")?, firmware(root, "product_name").unwrap_or_default());
    let name = match vendor.as_str() {
        "Amazon EC2" if !product.contains(".metal") => "AWS Nitro",
        "Google" if product == "Google Compute Engine" => "Google Compute Engine",
        "Microsoft Corporation" if product == "Virtual Machine" => "Hyper-V",
        "Alibaba Cloud" => "Alibaba Cloud",
        "QEMU" => "QEMU",
        "Xen" => "Xen",
        "VMware, Inc." => "VMware",
        "innotek GmbH" => "VirtualBox",
        "BHYVE" => "bhyve",
        _ => return None,
    };
    Some(name.to_owned())
}

/// The cloud's name of the instance type, from the firmware of EC2. Other clouds provide it only over the
/// network.
pub(super) fn instance(root: &Root) -> Option<String> {
    let product = firmware(root, "product_name")?;
    let named = firmware(root, "sys_vendor")? == "Amazon EC2" && product.contains('.');
    named.then_some(product)
}

/// An entry of the firmware's table (SMBIOS).
fn firmware(root: &Root, name: &str) -> Option<String> {
    root.text(format!("sys/class/dmi/id/{name}"))
}

//! Names of core designs, by the numbers with which CPUs identify themselves.
//!
//! Sources: Intel's models, Linux's `arch/x86/include/asm/intel-family.h` and Intel's Software Developer's Manual, volume 4,
//! table 2-1; AMD's, Linux's `arch/x86/kernel/cpu/amd.c` (`bsp_init_amd`, which sorts families by Zen's generation) and AMD's
//! revision guides; Arm's, the technical reference manuals' `MIDR_EL1`, as collected in Linux's
//! `arch/arm64/include/asm/cputype.h` and util-linux's `lscpu-arm.c`. A number that is not listed has no name: nothing is
//! inferred from neighbouring numbers.

/// The core design of an x86 CPU, by vendor string, display family, display model and stepping. For CPUs with two kinds of
/// cores, the name of the larger ones.
pub(super) fn of_x86(vendor: &str, family: u32, model: u32, stepping: u32) -> Option<&'static str> {
    match vendor {
        "GenuineIntel" => of_intel(family, model, stepping),
        "AuthenticAMD" => of_amd(family, model),
        "HygonGenuine" if family == 0x18 => Some("Dhyana (Zen)"),
        _ => None,
    }
}

fn of_intel(family: u32, model: u32, stepping: u32) -> Option<&'static str> {
    if family != 6 {
        return None;
    }
    Some(match model {
        0x1a | 0x1e | 0x1f | 0x2e => "Nehalem",
        0x25 | 0x2c | 0x2f => "Westmere",
        0x2a | 0x2d => "Sandy Bridge",
        0x3a | 0x3e => "Ivy Bridge",
        0x3c | 0x3f | 0x45 | 0x46 => "Haswell",
        0x3d | 0x47 | 0x4f | 0x56 => "Broadwell",
        0x4e | 0x5e => "Skylake",
        // Three designs share this model; the stepping distinguishes them.
        0x55 => match stepping {
            0..=4 => "Skylake-SP",
            5..=9 => "Cascade Lake",
            _ => "Cooper Lake",
        },
        0x8e | 0x9e => "Kaby Lake",
        0xa5 | 0xa6 => "Comet Lake",
        0x66 => "Cannon Lake",
        0x6a | 0x6c | 0x7d | 0x7e => "Ice Lake (Sunny Cove)",
        0xa7 => "Rocket Lake (Cypress Cove)",
        0x8c | 0x8d => "Tiger Lake (Willow Cove)",
        0x97 | 0x9a => "Alder Lake (Golden Cove)",
        0xb7 | 0xba | 0xbf => "Raptor Lake (Raptor Cove)",
        0x8f => "Sapphire Rapids (Golden Cove)",
        0xcf => "Emerald Rapids (Raptor Cove)",
        0xad | 0xae => "Granite Rapids (Redwood Cove)",
        0xaa | 0xac => "Meteor Lake (Redwood Cove)",
        0xbd => "Lunar Lake (Lion Cove)",
        0xc5 | 0xc6 => "Arrow Lake (Lion Cove)",
        0xaf => "Sierra Forest (Crestmont)",
        0xdd => "Clearwater Forest (Darkmont)",
        0x37 | 0x4a | 0x4d => "Silvermont",
        0x4c | 0x5a => "Airmont",
        0x5c | 0x5f => "Goldmont",
        0x7a => "Goldmont Plus",
        0x86 | 0x96 | 0x9c => "Tremont",
        0xbe => "Gracemont",
        0x57 => "Knights Landing",
        0x85 => "Knights Mill",
        _ => return None,
    })
}

fn of_amd(family: u32, model: u32) -> Option<&'static str> {
    Some(match (family, model) {
        (0x15, 0x00..=0x01) => "Bulldozer",
        (0x15, 0x02 | 0x10..=0x1f) => "Piledriver",
        (0x15, 0x30..=0x3f) => "Steamroller",
        (0x15, 0x60..=0x7f) => "Excavator",
        (0x16, 0x00..=0x0f) => "Jaguar",
        (0x16, 0x30..=0x3f) => "Puma",
        (0x17, 0x08 | 0x18) => "Zen+",
        (0x17, 0x00..=0x2f | 0x50..=0x5f) => "Zen",
        (0x17, 0x30..=0x4f | 0x60..=0x7f | 0x90..=0x91 | 0xa0..=0xaf) => "Zen 2",
        (0x19, 0x00..=0x0f | 0x20..=0x5f) => "Zen 3",
        // Bergamo and Siena: the same core with less cache.
        (0x19, 0xa0..=0xaf) => "Zen 4c",
        (0x19, 0x10..=0x1f | 0x60..=0x9f) => "Zen 4",
        // Turin Dense.
        (0x1a, 0x10..=0x1f) => "Zen 5c",
        (0x1a, 0x00..=0x0f | 0x20..=0x2f | 0x40..=0x4f | 0x60..=0x7f) => "Zen 5",
        _ => return None,
    })
}

/// The core design of an Arm CPU, by the implementer and part number of `MIDR_EL1`.
pub(super) fn of_arm(implementer: u32, part: u32) -> Option<&'static str> {
    Some(match (implementer, part) {
        (0x41, 0xd03) => "Cortex-A53",
        (0x41, 0xd04) => "Cortex-A35",
        (0x41, 0xd05) => "Cortex-A55",
        (0x41, 0xd07) => "Cortex-A57",
        (0x41, 0xd08) => "Cortex-A72",
        (0x41, 0xd09) => "Cortex-A73",
        (0x41, 0xd0a) => "Cortex-A75",
        (0x41, 0xd0b) => "Cortex-A76",
        (0x41, 0xd0c) => "Neoverse N1",
        (0x41, 0xd0d) => "Cortex-A77",
        (0x41, 0xd40) => "Neoverse V1",
        (0x41, 0xd41) => "Cortex-A78",
        (0x41, 0xd44) => "Cortex-X1",
        (0x41, 0xd46) => "Cortex-A510",
        (0x41, 0xd47) => "Cortex-A710",
        (0x41, 0xd48) => "Cortex-X2",
        (0x41, 0xd49) => "Neoverse N2",
        (0x41, 0xd4a) => "Neoverse E1",
        (0x41, 0xd4b) => "Cortex-A78C",
        (0x41, 0xd4d) => "Cortex-A715",
        (0x41, 0xd4e) => "Cortex-X3",
        (0x41, 0xd4f) => "Neoverse V2",
        (0x41, 0xd80) => "Cortex-A520",
        (0x41, 0xd81) => "Cortex-A720",
        (0x41, 0xd82) => "Cortex-X4",
        (0x41, 0xd84) => "Neoverse V3",
        (0x41, 0xd85) => "Cortex-X925",
        (0x41, 0xd87) => "Cortex-A725",
        (0x41, 0xd8e) => "Neoverse N3",
        (0x43, 0x0af) => "ThunderX2",
        (0x46, 0x001) => "A64FX",
        (0x48, 0xd01) => "Kunpeng 920 (TaiShan v110)",
        (0x61, 0x022 | 0x024 | 0x028) => "Icestorm",
        (0x61, 0x023 | 0x025 | 0x029) => "Firestorm",
        (0x61, 0x032 | 0x034 | 0x038) => "Blizzard",
        (0x61, 0x033 | 0x035 | 0x039) => "Avalanche",
        (0xc0, 0xac3) => "Ampere-1",
        (0xc0, 0xac4) => "Ampere-1A",
        _ => return None,
    })
}

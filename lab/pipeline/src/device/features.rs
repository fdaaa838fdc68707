//! Variants of a device that have parts of another one.

use super::{Device, Instructions, Timing};

/// The name of a device's part, and the function that takes this part over from another device.
type Part = (&'static str, fn(&mut Device, &Device));

const PARTS: &[Part] = &[
    ("way to carry", |device, other| {
        let (to, from) = (&mut device.tile.instructions, &other.tile.instructions);
        to.carry.clone_from(&from.carry);
        to.carry_down.clone_from(&from.carry_down);
        to.carry_up.clone_from(&from.carry_up);
    }),
    ("additions without the multiplier", |device, other| {
        device.tile.instructions.add.clone_from(&other.tile.instructions.add);
    }),
    ("latencies", |device, other| {
        device.tile.instructions.take(&other.tile.instructions, |to, from| {
            (to.latency, to.accumulate) = (from.latency, from.accumulate);
        });
    }),
    ("slots", |device, other| {
        device.tile.instructions.take(&other.tile.instructions, |to, from| {
            to.slots.clone_from(&from.slots);
            to.issues = from.issues;
        });
    }),
    ("accumulators", |device, other| device.tile.accumulators = other.tile.accumulators),
    ("vector registers", |device, other| device.tile.vectors = other.tile.vectors),
    ("data memory", |device, other| {
        (device.tile.data_bytes, device.tile.stack_bytes) = (other.tile.data_bytes, other.tile.stack_bytes);
    }),
    ("program memory", |device, other| {
        let (to, from) = (&mut device.tile, &other.tile);
        (to.program_bytes, to.instruction_bytes) = (from.program_bytes, from.instruction_bytes);
    }),
    ("calls and locks", |device, other| {
        let (to, from) = (&mut device.tile, &other.tile);
        (to.call_cycles, to.lock_cycles) = (from.call_cycles, from.lock_cycles);
    }),
    ("clock", |device, other| device.tile.hertz = other.tile.hertz),
    ("grid", |device, other| device.grid = other.grid.clone()),
    ("streams", |device, other| device.streams = other.streams),
    ("card's memory", |device, other| device.memory = other.memory),
    ("host's link", |device, other| device.host = other.host),
];

impl Device {
    /// Variants of this device, by name: for each part in which it differs from `other`, this device with that part of `other`. The last variant
    /// has all of these parts. There are none if the devices do not differ. Name and costs stay, and slots that instructions of `other` need are
    /// added.
    ///
    /// [Programs](crate::schedule::program) depend on the way to carry: each of these devices needs its own.
    pub fn features(&self, other: &Self) -> Vec<(&'static str, Self)> {
        let with = |device: &Self, take: fn(&mut Self, &Self)| {
            let mut device = device.clone();
            take(&mut device, other);
            device.add_slots();
            device
        };
        let each = PARTS.iter().map(|(name, take)| (*name, with(self, *take)));
        let mut features: Vec<_> = each.filter(|(_, device)| device != self).collect();
        if !features.is_empty() {
            features.push(("all", PARTS.iter().fold(self.clone(), |device, (_, take)| with(&device, *take))));
        }
        features
    }

    /// Adds the slots that its instructions name.
    fn add_slots(&mut self) {
        let tile = &mut self.tile;
        let timings = tile.instructions.by_name().into_iter().filter_map(|(_, timing)| timing);
        for slot in timings.flat_map(|timing| &timing.slots) {
            if !tile.slots.contains(slot) {
                tile.slots.push(slot.clone());
            }
        }
    }
}

impl Instructions {
    /// Takes a property over from `other`, for each instruction that both devices have.
    fn take(&mut self, other: &Self, take: fn(&mut Timing, &Timing)) {
        let all = [
            Some(&mut self.load),
            Some(&mut self.store),
            Some(&mut self.multiply),
            self.add.as_mut(),
            Some(&mut self.low),
            Some(&mut self.quotient),
            self.carry.as_mut(),
            self.carry_down.as_mut(),
            self.carry_up.as_mut(),
        ];
        for (to, (_, from)) in all.into_iter().zip(other.by_name()) {
            if let (Some(to), Some(from)) = (to, from) {
                take(to, from);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_with_parts_of_others_are_devices() {
        let devices: Vec<_> =
            Device::COMMITTED.iter().map(|(name, _)| Device::committed(name).unwrap()).collect();
        for (first, second) in
            devices.iter().flat_map(|first| devices.iter().map(move |second| (first, second)))
        {
            for (name, device) in first.features(second) {
                assert_eq!(device.check(), Ok(()), "{} with {name} of {}", first.name, second.name);
            }
        }
    }
}

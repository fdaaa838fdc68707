//! Descriptions of devices.

mod features;

use crate::{
    PipelineError,
    error::{beginning, problem_of_name},
};
use serde::Deserialize;

/// A device with tiles.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Device {
    /// Its name.
    pub name: String,
    /// The arrangement of its tiles.
    pub grid: Grid,
    /// Its tiles, which are all alike.
    pub tile: TileDescription,
    /// The streams that bring elements to tiles from outside of the grid, and results back.
    pub streams: Streams,
    /// The card's memory.
    pub memory: DeviceLink,
    /// The host's link to the card.
    pub host: DeviceLink,
    /// Its power and its price.
    pub costs: Costs,
}

/// The arrangement of the tiles.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grid {
    /// Columns.
    pub columns: usize,
    /// Tiles in a column.
    pub rows: usize,
    /// The tiles whose memory a tile reaches, as steps by columns and rows from it: first for tiles of even rows, then of odd ones.
    pub reach: [Vec<[isize; 2]>; 2],
}

/// Streams between the grid's tiles and the logic around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Streams {
    /// Bytes of one stream in a cycle of the tiles.
    pub bytes_per_cycle: usize,
    /// Streams that enter the grid.
    pub into_grid: usize,
    /// Streams that leave it.
    pub out_of_grid: usize,
    /// Streams that end in a tile's memory.
    pub into_tile: usize,
    /// Streams that begin there.
    pub out_of_tile: usize,
    /// Cycles to pass a switch.
    pub hop_cycles: usize,
    /// Bytes a cycle from a tile's accumulators to its neighbour's; 0 without such a connection. No kernel of this crate uses it: nodes
    /// pass elements on, not sums.
    pub cascade_bytes_per_cycle: usize,
}

/// A link that all pipelines share: to the host, or to the card's memory.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeviceLink {
    /// Bytes a second: of the host in each direction, of the memory in both together.
    pub bytes_per_second: f64,
}

/// Power and price.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Costs {
    /// Watts of the card at work: the least and the most.
    pub watts: [f64; 2],
    /// The card's price in US dollars; `None` if no source is known.
    pub dollars: Option<f64>,
}

/// A processor that issues several instructions a cycle.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TileDescription {
    /// Cycles a second.
    pub hertz: f64,
    /// The names of an instruction word's slots.
    pub slots: Vec<String>,
    /// Registers of eight numbers of 32 bits.
    pub vectors: usize,
    /// Registers of eight sums.
    pub accumulators: usize,
    /// Memory for elements.
    pub data_bytes: usize,
    /// The part of it that has no room for elements.
    pub stack_bytes: usize,
    /// Memory for instructions.
    pub program_bytes: usize,
    /// Size of an instruction word.
    pub instruction_bytes: usize,
    /// Cycles of a kernel's call, in addition to those of its instructions.
    pub call_cycles: usize,
    /// Cycles to acquire and release a buffer.
    pub lock_cycles: usize,
    /// The timing of each instruction.
    pub instructions: Instructions,
}

/// The instructions of a tile: see [`Tile`](crate::limbs::Tile).
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Instructions {
    /// Memory to a vector.
    pub load: Timing,
    /// A vector to memory.
    pub store: Timing,
    /// Product, or its sum with an accumulator.
    pub multiply: Timing,
    /// Sum of an accumulator and a vector or its negative, if the multiplier is not needed for it.
    pub add: Option<Timing>,
    /// The lowest 32 bits of an accumulator.
    pub low: Timing,
    /// An accumulator shifted down by [`QUOTIENT_SHIFT`](crate::limbs::QUOTIENT_SHIFT).
    pub quotient: Timing,
    /// An accumulator shifted down by 32 bits. Tiles without it have the next two.
    pub carry: Option<Timing>,
    /// An accumulator shifted down by 32 bits, to two vectors.
    pub carry_down: Option<Timing>,
    /// Two vectors to an accumulator.
    pub carry_up: Option<Timing>,
}

/// Where an instruction goes and when its result is there.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Timing {
    /// The slots that it may take.
    pub slots: Vec<String>,
    /// Cycles from the last issue until the result can be read.
    pub latency: usize,
    /// Cycles from the last issue until the result can be the sum that a product is added to, if fewer.
    pub accumulate: Option<usize>,
    /// The number of issues, one after another in the same slot, that one vector needs; 1 for loads.
    #[serde(default = "one")]
    pub issues: usize,
}

fn one() -> usize {
    1
}

impl Device {
    /// The devices that come with this crate, by name.
    pub const COMMITTED: &[(&str, &str)] = &[
        ("vck5000", include_str!("../../devices/vck5000.toml")),
        ("aie-ml", include_str!("../../devices/aie-ml.toml")),
        ("zen4", include_str!("../../devices/zen4.toml")),
        ("ideal", include_str!("../../devices/ideal.toml")),
    ];

    /// Reads a description.
    ///
    /// # Errors
    /// Text that is no TOML or lacks a field, slots that do not exist, tiles without registers or without one way to carry.
    pub fn parse(text: &str) -> Result<Self, PipelineError> {
        let refused = |place: String, problem: String| PipelineError::Device { place, problem };
        let device: Self = toml::from_str(text).map_err(|error| {
            let start = error.span().map_or(0, |span| span.start);
            let line = text.bytes().take(start).filter(|byte| *byte == b'\n').count() + 1;
            refused(format!("line {line}"), beginning(error.message()))
        })?;
        device.check().map_err(|(place, problem)| refused(place, problem))?;
        Ok(device)
    }

    /// Checks the description. An error is the place of a problem, and the problem.
    fn check(&self) -> Result<(), (String, String)> {
        let problem = |place: &str, problem: String| Err((place.to_string(), problem));
        let tile = &self.tile;
        for (place, number) in [
            ("tile.hertz", tile.hertz),
            ("memory.bytes_per_second", self.memory.bytes_per_second),
            ("host.bytes_per_second", self.host.bytes_per_second),
            ("costs.watts", self.costs.watts[0]),
            ("costs.watts", self.costs.watts[1]),
            ("costs.dollars", self.costs.dollars.unwrap_or(1.0)),
        ] {
            if !(1e-3..=1e18).contains(&number) {
                return problem(place, format!("{number} is not from 0.001 to 10^18"));
            }
        }
        if let Some(text) = problem_of_name(&self.name) {
            return problem("name", text);
        }
        let [least, most] = self.costs.watts;
        if most < least {
            return problem("costs.watts", format!("the most, {most}, is less than the least, {least}"));
        }
        self.check_counts()?;
        if tile.stack_bytes >= tile.data_bytes {
            let text = format!("{} bytes are all of the memory's {}", tile.stack_bytes, tile.data_bytes);
            return problem("tile.stack_bytes", text);
        }
        if self.grid.reach.iter().any(|reach| reach.first() != Some(&[0, 0])) {
            return problem("grid.reach", "a tile reaches its own memory first: [0, 0]".into());
        }
        if self.grid.reach.iter().flatten().flatten().any(|step| step.unsigned_abs() > 1 << 10) {
            return problem("grid.reach", "steps are from -1024 to 1024".into());
        }
        if let Some(text) = tile.slots.iter().find_map(|slot| problem_of_name(slot)) {
            return problem("tile.slots", text);
        }
        let twice =
            |(index, slot): (usize, &String)| tile.slots[..index].contains(slot).then(|| slot.clone());
        if let Some(slot) = tile.slots.iter().enumerate().find_map(twice) {
            return problem("tile.slots", format!("{slot} is there twice"));
        }
        tile.instructions.check(&tile.slots)
    }

    /// Checks the bounds of all counts. An error names the first one that is out of its bounds.
    fn check_counts(&self) -> Result<(), (String, String)> {
        let tile = &self.tile;
        for (place, number, least, most) in [
            ("grid.columns", self.grid.columns, 1, 1 << 10),
            ("grid.rows", self.grid.rows, 1, 1 << 10),
            ("streams.bytes_per_cycle", self.streams.bytes_per_cycle, 1, 1 << 10),
            ("streams.into_grid", self.streams.into_grid, 1, 1 << 20),
            ("streams.out_of_grid", self.streams.out_of_grid, 1, 1 << 20),
            ("streams.into_tile", self.streams.into_tile, 1, 1 << 10),
            ("streams.out_of_tile", self.streams.out_of_tile, 1, 1 << 10),
            ("streams.hop_cycles", self.streams.hop_cycles, 0, 1 << 10),
            ("streams.cascade_bytes_per_cycle", self.streams.cascade_bytes_per_cycle, 0, 1 << 10),
            ("grid.reach", self.grid.reach.iter().map(Vec::len).max().unwrap_or(0), 1, 1 << 4),
            ("tile.slots", tile.slots.len(), 1, 1 << 6),
            ("tile.vectors", tile.vectors, 1, 1 << 10),
            ("tile.accumulators", tile.accumulators, 1, 1 << 10),
            ("tile.data_bytes", tile.data_bytes, 1, 1 << 30),
            ("tile.stack_bytes", tile.stack_bytes, 0, 1 << 30),
            ("tile.program_bytes", tile.program_bytes, 1, 1 << 30),
            ("tile.instruction_bytes", tile.instruction_bytes, 1, 1 << 10),
            ("tile.call_cycles", tile.call_cycles, 0, 1 << 20),
            ("tile.lock_cycles", tile.lock_cycles, 0, 1 << 20),
        ] {
            if !(least..=most).contains(&number) {
                return Err((place.to_string(), format!("{number} is not from {least} to {most}")));
            }
        }
        Ok(())
    }

    /// A device that comes with this crate.
    pub fn committed(name: &str) -> Option<Self> {
        let (_, text) = Self::COMMITTED.iter().find(|(known, _)| *known == name)?;
        Some(Self::parse(text).expect("tests read all of them"))
    }
}

impl Instructions {
    fn by_name(&self) -> [(&'static str, Option<&Timing>); 9] {
        [
            ("load", Some(&self.load)),
            ("store", Some(&self.store)),
            ("multiply", Some(&self.multiply)),
            ("add", self.add.as_ref()),
            ("low", Some(&self.low)),
            ("quotient", Some(&self.quotient)),
            ("carry", self.carry.as_ref()),
            ("carry_down", self.carry_down.as_ref()),
            ("carry_up", self.carry_up.as_ref()),
        ]
    }

    fn check(&self, slots: &[String]) -> Result<(), (String, String)> {
        let carries = [&self.carry, &self.carry_down, &self.carry_up].map(Option::is_some);
        if !matches!(carries, [true, false, false] | [false, true, true]) {
            let text = "either carry or both carry_down and carry_up are needed";
            return Err(("tile.instructions".into(), text.into()));
        }
        if self.load.issues != 1 {
            return Err(("tile.instructions.load".into(), "a load is issued once".into()));
        }
        for (name, timing) in self.by_name() {
            let Some(timing) = timing else { continue };
            let problem = |problem: String| Err((format!("tile.instructions.{name}"), problem));
            if let Some(slot) = timing.slots.iter().find(|slot| !slots.contains(slot)) {
                return problem(format!(
                    "there is no slot {}; slots are {}",
                    beginning(slot),
                    slots.join(", ")
                ));
            }
            if timing.slots.len() > slots.len() {
                return problem("a slot is there twice".into());
            }
            if timing.slots.is_empty() {
                return problem("it needs a slot".into());
            }
            if !(1..=100).contains(&timing.latency) || !(1..=100).contains(&timing.issues) {
                return problem("its latency and its issues are from 1 to 100".into());
            }
            if timing.accumulate.is_some_and(|accumulate| !(1..=timing.latency).contains(&accumulate)) {
                return problem("a sum goes on after 1 cycle at least, and after its latency at most".into());
            }
        }
        Ok(())
    }
}

//! Descriptions of devices.

use crate::PipelineError;
use serde::Deserialize;

/// A device with tiles.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Device {
    /// Its name.
    pub name: String,
    /// How many tiles it has.
    pub grid: Grid,
    /// Its tiles, which are all alike.
    pub tile: TileDescription,
    /// What brings elements to tiles from outside of the grid, and results back.
    pub streams: Streams,
    /// What brings them to the card.
    pub host: Host,
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

/// Streams between the grid's tiles and what is around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Streams {
    /// Bytes of one stream in a cycle of the tiles.
    pub bytes_per_cycle: usize,
    /// Streams that end in a tile's memory.
    pub into_tile: usize,
    /// Streams that begin there.
    pub out_of_tile: usize,
    /// Cycles to pass a switch.
    pub hop_cycles: usize,
}

/// The link to the host.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Host {
    /// Bytes a second, in each direction.
    pub bytes_per_second: f64,
}

/// A processor that issues several instructions a cycle.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TileDescription {
    /// Cycles a second.
    pub hertz: f64,
    /// The names of what an instruction word has room for.
    pub slots: Vec<String>,
    /// Registers of eight numbers of 32 bits.
    pub vectors: usize,
    /// Registers of eight sums.
    pub accumulators: usize,
    /// Memory for elements.
    pub data_bytes: usize,
    /// What of it is no room for elements.
    pub stack_bytes: usize,
    /// Memory for instructions.
    pub program_bytes: usize,
    /// Size of an instruction word.
    pub instruction_bytes: usize,
    /// Cycles that a call of a kernel takes more than its instructions.
    pub call_cycles: usize,
    /// Cycles to acquire and release a buffer.
    pub lock_cycles: usize,
    /// What each instruction needs.
    pub instructions: Instructions,
}

/// The instructions of a tile.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "as the operations of a tile")]
pub struct Instructions {
    pub load: Timing,
    pub store: Timing,
    pub multiply: Timing,
    pub srs: Timing,
    pub carry_down: Timing,
    pub carry_up: Timing,
}

/// Where an instruction goes and when its result is there.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Timing {
    /// The slots that it may take.
    pub slots: Vec<String>,
    /// Cycles until the result can be read.
    pub latency: usize,
    /// Cycles until the result can be the sum that a product is added to, if fewer.
    pub accumulate: Option<usize>,
    /// How many of it, one after another, one vector needs.
    #[serde(default = "one")]
    pub issues: usize,
}

fn one() -> usize {
    1
}

impl Device {
    /// The devices that come with this crate, by name.
    pub const COMMITTED: &[(&str, &str)] = &[("vck5000", include_str!("../../devices/vck5000.toml"))];

    /// Reads a description.
    ///
    /// # Errors
    /// Text that is no TOML or lacks something, slots that do not exist, tiles without registers.
    pub fn parse(text: &str) -> Result<Self, PipelineError> {
        let device: Self = toml::from_str(text).map_err(|error| {
            let line = error.span().map_or(1, |span| text[..span.start].lines().count().max(1));
            PipelineError::Device { place: format!("line {line}"), problem: error.message().into() }
        })?;
        let problem =
            |place: &str, problem: String| Err(PipelineError::Device { place: place.into(), problem });
        let tile = &device.tile;
        for (place, number) in
            [("tile.hertz", tile.hertz), ("host.bytes_per_second", device.host.bytes_per_second)]
        {
            if !(number > 0.0 && number.is_finite()) {
                return problem(place, format!("{number} is not positive"));
            }
        }
        for (place, number, most) in [
            ("grid.columns", device.grid.columns, 1 << 10),
            ("grid.rows", device.grid.rows, 1 << 10),
            ("streams.bytes_per_cycle", device.streams.bytes_per_cycle, 1 << 10),
            ("tile.vectors", tile.vectors, 1 << 10),
            ("tile.accumulators", tile.accumulators, 1 << 10),
            ("tile.data_bytes", tile.data_bytes, 1 << 30),
            ("tile.program_bytes", tile.program_bytes, 1 << 30),
            ("tile.instruction_bytes", tile.instruction_bytes, 1 << 10),
        ] {
            if !(1..=most).contains(&number) {
                return problem(place, format!("{number} is not from 1 to {most}"));
            }
        }
        if tile.stack_bytes >= tile.data_bytes {
            let text = format!("{} bytes are all of the memory's {}", tile.stack_bytes, tile.data_bytes);
            return problem("tile.stack_bytes", text);
        }
        if device.grid.reach.iter().any(|reach| reach.first() != Some(&[0, 0])) {
            return problem("grid.reach", "a tile reaches its own memory first: [0, 0]".into());
        }
        for (name, timing) in tile.instructions.by_name() {
            let place = format!("tile.instructions.{name}");
            if let Some(slot) = timing.slots.iter().find(|slot| !tile.slots.contains(slot)) {
                return problem(
                    &place,
                    format!("there is no slot {slot}; slots are {}", tile.slots.join(", ")),
                );
            }
            if timing.slots.is_empty() {
                return problem(&place, "it needs a slot".into());
            }
            if !(1..=1000).contains(&timing.latency) || !(1..=1000).contains(&timing.issues) {
                return problem(&place, "its latency and its issues are from 1 to 1000".into());
            }
            if timing.accumulate.is_some_and(|accumulate| !(1..=timing.latency).contains(&accumulate)) {
                return problem(
                    &place,
                    "a sum goes on after 1 cycle at least, and after its latency at most".into(),
                );
            }
        }
        Ok(device)
    }

    /// A device that comes with this crate.
    pub fn committed(name: &str) -> Option<Self> {
        let (_, text) = Self::COMMITTED.iter().find(|(known, _)| *known == name)?;
        Some(Self::parse(text).expect("tests read all of them"))
    }
}

impl Instructions {
    fn by_name(&self) -> [(&'static str, &Timing); 6] {
        [
            ("load", &self.load),
            ("store", &self.store),
            ("multiply", &self.multiply),
            ("srs", &self.srs),
            ("carry_down", &self.carry_down),
            ("carry_up", &self.carry_up),
        ]
    }
}

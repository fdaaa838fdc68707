//! Pipelines on the grid.

use super::svg::{
    FONT, GREY, HALO, HEAD, INK, MARGIN, MAROON, Number, SMALL, Svg, counted, shortened, width,
};
use crate::{
    DataflowGraph, Device,
    graph::{EdgeReader, Port},
    place::{GridPlace, Placement, Route},
};
use std::{collections::HashMap, fmt::Write};

/// Width and height of a tile.
const TILE: f64 = 26.0;
/// The gap left of the grid, for the numbers of rows.
const LEFT: f64 = MARGIN + 20.0;
/// Colours of pipelines.
const PIPELINES: [&str; 6] = ["#cfe2f3", "#fde3c8", "#d5ecd0", "#f0cfe0", "#fff1b8", "#d8d0ee"];
/// The gap at both ends of a stream.
const END: f64 = 8.0;
const UNUSED: &str = "#c4c4c4";

/// Draws pipelines on the grid of a device. Each tile has the letter of its node and the colour of its pipeline, whose tiles have a dark
/// border around them. The bar in a tile is the share of its memory that holds buffers between nodes, each of `window` bytes. Curves are
/// streams between nodes. Row 0 is at the bottom. Nodes outside of the grid are left out.
///
/// Buffers at the ends of streams are not shown: a [`Placement`] does not say where they are.
pub fn placement(graph: &DataflowGraph, device: &Device, window: usize, placements: &[Placement]) -> String {
    let title = format!("{} on {}", graph.name, device.name);
    if placements.iter().all(|placement| placement.nodes.is_empty()) {
        return Svg::notice(&title, "No pipelines are placed.");
    }
    let grid = Grid::new(graph, device, placements);
    let description = format!(
        "{} of {} on a grid of {} columns and {} rows. {} of {} tiles are used.",
        counted(placements.len() as u64, "pipeline"),
        counted(graph.nodes.len() as u64, "node"),
        device.grid.columns,
        device.grid.rows,
        grid.tiles.len(),
        device.tiles()
    );
    let mut svg = Svg::new(&title, description);
    grid.background(&mut svg);
    grid.tiles(&mut svg, window, placements);
    grid.borders(&mut svg);
    grid.streams(&mut svg, placements);
    grid.letters(&mut svg, placements);
    let [right, bottom] = grid.corner();
    let streams: usize = placements.iter().map(|placement| placement.streams_between_nodes(graph)).sum();
    let [legend_right, legend_bottom] = legend(&mut svg, graph, bottom + 44.0, right, streams);
    svg.finish([right.max(legend_right) + MARGIN, legend_bottom + MARGIN])
}

/// A letter for each node; two and more where letters do not suffice.
fn letters(node: usize) -> String {
    let last = char::from(b'A' + (node % 26) as u8);
    match node / 26 {
        0 => last.to_string(),
        more => letters(more - 1) + &last.to_string(),
    }
}

struct Grid<'a> {
    graph: &'a DataflowGraph,
    device: &'a Device,
    /// The pipeline of each tile that is used.
    tiles: HashMap<GridPlace, usize>,
    /// Buffers in each tile's memory.
    buffers: HashMap<GridPlace, usize>,
}

impl<'a> Grid<'a> {
    fn new(graph: &'a DataflowGraph, device: &'a Device, placements: &[Placement]) -> Self {
        let mut grid = Self { graph, device, tiles: HashMap::new(), buffers: HashMap::new() };
        for (pipeline, placement) in placements.iter().enumerate() {
            let inside = placement.nodes.iter().filter(|place| grid.has(**place));
            let inside: Vec<_> = inside.map(|place| (*place, pipeline)).collect();
            grid.tiles.extend(inside);
            for route in &placement.routes {
                if let Route::Memory(places) = route {
                    places.iter().for_each(|place| *grid.buffers.entry(*place).or_default() += 1);
                }
            }
        }
        grid
    }

    fn has(&self, [column, row]: GridPlace) -> bool {
        column < self.device.grid.columns && row < self.device.grid.rows
    }

    /// The left and the top of a tile.
    fn at(&self, [column, row]: GridPlace) -> [f64; 2] {
        let above = (self.device.grid.rows - 1 - row) as f64;
        [LEFT + column as f64 * TILE, HEAD + 18.0 + above * TILE]
    }

    /// The right and the bottom of the grid.
    fn corner(&self) -> [f64; 2] {
        let [x, y] = self.at([self.device.grid.columns - 1, 0]);
        [x + TILE, y + TILE]
    }

    fn background(&self, svg: &mut Svg) {
        let ([left, top], [right, bottom]) = (self.at([0, self.device.grid.rows - 1]), self.corner());
        svg.rect([left, top, right - left, bottom - top], &format!("fill=\"{UNUSED}\""));
        let mut lines = String::new();
        for column in 1..self.device.grid.columns {
            let [x, _] = self.at([column, 0]);
            write!(lines, "M{} {}V{}", Number(x), Number(top), Number(bottom))
                .expect("strings take everything");
        }
        for row in 1..self.device.grid.rows {
            let [_, y] = self.at([0, row - 1]);
            write!(lines, "M{} {}H{}", Number(left), Number(y), Number(right))
                .expect("strings take everything");
        }
        svg.path(&lines, "fill=\"none\" stroke=\"#ffffff\"");
        for column in (0..self.device.grid.columns).step_by(5) {
            let [x, _] = self.at([column, 0]);
            let look = "font-size=\"10\" text-anchor=\"middle\"";
            svg.text([x + TILE / 2.0, bottom + 13.0], look, GREY, &column.to_string());
        }
        for row in 0..self.device.grid.rows {
            let [x, y] = self.at([0, row]);
            let look = "font-size=\"10\" text-anchor=\"end\"";
            svg.text([x - 6.0, y + TILE / 2.0 + 4.0], look, GREY, &row.to_string());
        }
    }

    /// All placed nodes: pipeline, node and place.
    fn placed(&self, placements: &[Placement]) -> Vec<(usize, usize, GridPlace)> {
        let all = placements.iter().enumerate().flat_map(|(pipeline, placement)| {
            placement.nodes.iter().enumerate().map(move |(node, place)| (pipeline, node, *place))
        });
        all.filter(|(_, node, place)| self.has(*place) && *node < self.graph.nodes.len()).collect()
    }

    fn tiles(&self, svg: &mut Svg, window: usize, placements: &[Placement]) {
        for (pipeline, _, place) in self.placed(placements) {
            let ([x, y], colour) = (self.at(place), PIPELINES[pipeline % PIPELINES.len()]);
            svg.rect([x + 0.5, y + 0.5, TILE - 1.0, TILE - 1.0], &format!("fill=\"{colour}\""));
            bar(svg, [x + TILE - 7.0, y + 3.0], self.share(place, window));
        }
    }

    /// How much of a tile's memory holds buffers.
    fn share(&self, place: GridPlace, window: usize) -> f64 {
        let buffers = self.buffers.get(&place).copied().unwrap_or(0);
        (buffers as f64 * window as f64 / self.device.tile.data_bytes as f64).min(1.0)
    }

    /// Lines between the tiles of different pipelines.
    fn borders(&self, svg: &mut Svg) {
        let mut places: Vec<_> = self.tiles.keys().copied().collect();
        places.sort_unstable();
        let mut lines = String::new();
        for [column, row] in places {
            let [x, y] = self.at([column, row]);
            let pipeline = self.tiles.get(&[column, row]);
            let differs = |place: GridPlace| self.tiles.get(&place) != pipeline;
            for (next, [from_x, from_y], side) in [
                ([column.wrapping_sub(1), row], [x, y], 'v'),
                ([column + 1, row], [x + TILE, y], 'v'),
                ([column, row + 1], [x, y], 'h'),
                ([column, row.wrapping_sub(1)], [x, y + TILE], 'h'),
            ] {
                if differs(next) {
                    write!(lines, "M{} {}{side}{TILE}", Number(from_x), Number(from_y))
                        .expect("strings take everything");
                }
            }
        }
        svg.path(
            &lines,
            &format!("fill=\"none\" stroke=\"{INK}\" stroke-width=\"1.6\" stroke-linecap=\"square\""),
        );
    }

    fn streams(&self, svg: &mut Svg, placements: &[Placement]) {
        for placement in placements {
            for ((reader, edge), route) in self.graph.edges().zip(&placement.routes) {
                let (EdgeReader::Node(to, _), Port::Node(from, _), Route::Stream(_)) =
                    (reader, edge.from, route)
                else {
                    continue;
                };
                let (Some(from), Some(to)) = (placement.nodes.get(from), placement.nodes.get(to)) else {
                    continue;
                };
                if self.has(*from) && self.has(*to) {
                    let [from, to] = [*from, *to].map(|place| self.at(place).map(|side| side + TILE / 2.0));
                    stream(svg, from, to);
                }
            }
        }
    }

    fn letters(&self, svg: &mut Svg, placements: &[Placement]) {
        let mut right = LEFT;
        for (pipeline, node, place) in self.placed(placements) {
            let ([x, y], letters) = (self.at(place), letters(node));
            if node == 0 {
                // The number of a pipeline is above its first node, where there is room.
                let middle = placements[pipeline].nodes.iter().map(|[column, _]| *column as f64).sum::<f64>();
                let middle = LEFT + TILE * (middle / placements[pipeline].nodes.len() as f64 + 0.5);
                let number = (pipeline + 1).to_string();
                let wide = width(&number, SMALL);
                if middle - wide / 2.0 >= right {
                    right = middle + wide / 2.0 + 4.0;
                    svg.text([middle, HEAD + 12.0], "font-size=\"10\" text-anchor=\"middle\"", GREY, &number);
                }
            }
            let [column, row] = place;
            let name = &self.graph.nodes[node].name;
            svg.begin(&format!("{name}, pipeline {}, column {column}, row {row}", pipeline + 1));
            let size = if letters.len() == 1 { FONT } else { 8.0 };
            let look = format!("font-size=\"{size}\" text-anchor=\"middle\" {HALO}");
            svg.text([x + 10.0, y + TILE / 2.0 + 4.0], &look, INK, &letters);
            svg.end();
        }
    }
}

/// A bar that is filled from below.
fn bar(svg: &mut Svg, [x, y]: [f64; 2], share: f64) {
    let high = TILE - 6.0;
    svg.rect([x, y, 4.0, high], "fill=\"#ffffff\" stroke=\"#555555\" stroke-width=\"0.6\"");
    svg.rect([x, y + high * (1.0 - share), 4.0, high * share], "fill=\"#37474f\"");
}

/// A bent line that ends with a tip.
fn stream(svg: &mut Svg, [x, y]: [f64; 2], [to_x, to_y]: [f64; 2]) {
    let (dx, dy) = (to_x - x, to_y - y);
    let length = dx.hypot(dy).max(1.0);
    // The bend is at the left, so that streams in opposite directions do not meet, and the letters between both tiles stay free.
    let bend = [(x + to_x) / 2.0 + dy / length * 16.0, (y + to_y) / 2.0 - dx / length * 16.0];
    // Both ends stay away from the middle of a tile.
    let towards = |x: f64, y: f64| {
        let (dx, dy) = (bend[0] - x, bend[1] - y);
        let length = dx.hypot(dy).max(1.0) / END;
        (x + dx / length, y + dy / length)
    };
    let ((x, y), (to_x, to_y)) = (towards(x, y), towards(to_x, to_y));
    let path = format!(
        "M{} {}Q{} {} {} {}",
        Number(x),
        Number(y),
        Number(bend[0]),
        Number(bend[1]),
        Number(to_x),
        Number(to_y)
    );
    svg.path(&path, "fill=\"none\" stroke=\"#ffffff\" stroke-width=\"3\" stroke-opacity=\"0.8\"");
    svg.path(&path, &format!("fill=\"none\" stroke=\"{MAROON}\" stroke-width=\"1.3\""));
    let (end_x, end_y) = (to_x - bend[0], to_y - bend[1]);
    let end = end_x.hypot(end_y).max(1.0);
    let (ux, uy) = (end_x / end, end_y / end);
    let tip = format!(
        "M{} {}l{} {}l{} {}z",
        Number(to_x),
        Number(to_y),
        Number(-7.0 * ux - 3.0 * uy),
        Number(-7.0 * uy + 3.0 * ux),
        Number(6.0 * uy),
        Number(-6.0 * ux)
    );
    svg.path(&tip, &format!("fill=\"{MAROON}\""));
}

/// Draws the node of each letter and the meaning of the signs; returns where the drawing ends.
fn legend(svg: &mut Svg, graph: &DataflowGraph, top: f64, right: f64, streams: usize) -> [f64; 2] {
    let names: Vec<_> = graph.nodes.iter().map(|node| shortened(&node.name, 200.0, FONT)).collect();
    let letter = letters(names.len().saturating_sub(1)).len() as f64 * FONT + 6.0;
    let column = letter + names.iter().map(|name| width(name, FONT)).fold(0.0, f64::max) + 14.0;
    let columns = (((right - LEFT) / column) as usize).clamp(1, names.len().max(1));
    let rows = names.len().div_ceil(columns);
    for (node, name) in names.iter().enumerate() {
        let x = LEFT + (node / rows) as f64 * column;
        let y = top + (node % rows) as f64 * 17.0;
        svg.text([x, y], "font-weight=\"bold\"", INK, &letters(node));
        svg.text([x + letter, y], "", INK, name);
    }
    let y = top + rows as f64 * 17.0 + 10.0;
    bar(svg, [LEFT, y - 12.0], 0.6);
    let memory = "share of the memory with buffers that two nodes use";
    svg.text([LEFT + 12.0, y], "", INK, memory);
    let streams = counted(streams as u64, "stream") + " between nodes";
    let end = y + 24.0;
    stream(svg, [LEFT - END, end], [LEFT + 26.0 + END, end - 4.0]);
    svg.text([LEFT + 38.0, end], "", INK, &streams);
    svg.rect([LEFT, end + 12.0, 14.0, 14.0], &format!("fill=\"{UNUSED}\""));
    let unused = "unused tile; dark lines are around each pipeline, its number is above";
    svg.text([LEFT + 22.0, end + 24.0], "", INK, unused);
    [(LEFT + columns as f64 * column).max(LEFT + 22.0 + width(unused, FONT)), end + 24.0]
}

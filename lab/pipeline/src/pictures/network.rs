//! A network as boxes and curves.

use super::{
    layers::{Item, arrange},
    svg::{
        self, FONT, GREY, HALO, HEAD, INK, MARGIN, MAROON, Number, SMALL, Svg, counted, grouped, shortened,
    },
};
use crate::{
    DataflowGraph,
    graph::{Edge, EdgeReader, FieldOperation, GraphNode, Port},
};
use std::collections::{HashMap, HashSet};

/// The widest box.
const WIDEST: f64 = 170.0;
/// The least gap between layers.
const GAP: f64 = 64.0;
/// Height of a node's box, and the least height for each of its inputs.
const BOX: f64 = 38.0;
const INPUT: f64 = 14.0;

/// The most boxes, and layers that edges pass.
const MOST_ITEMS: usize = 1 << 14;

/// Draws a network in layers: sources at the left, each node behind the nodes that it waits for, sinks at the right.
///
/// Nodes are labelled by their operations and, if given, the cycles that they take, in the order of [`DataflowGraph::nodes`]. Edges are
/// labelled by their depth if it is not 2, and by their delay. The longest path, weighted by cycles or by one for each node, is emphasised.
/// A graph that [`DataflowGraph::order`] refuses, or that is too large to be drawn, gives a picture that says why.
pub fn network(graph: &DataflowGraph, cycles: Option<&[u64]>) -> String {
    let order = match graph.order() {
        Ok(order) => order,
        Err(error) => return Svg::notice(&graph.name, &error.to_string()),
    };
    let critical = Critical::new(graph, &order, cycles);
    let Some(mut drawing) = Drawing::new(graph, &order) else {
        return Svg::notice(&graph.name, "It is too large for a picture.");
    };
    let bottom = arrange(&mut drawing.items);
    let mut svg = Svg::new(&graph.name, description(graph, cycles, &critical));
    let left = drawing.columns(cycles);
    let right = drawing.draw(&mut svg, &left, cycles, &critical);
    let keys_top = HEAD + bottom + 2.0 * MARGIN;
    svg.line([MARGIN, keys_top], [MARGIN + 28.0, keys_top], &stroke(true, false));
    let measure = if cycles.is_some() { "most cycles" } else { "most nodes" };
    let key = format!(
        "the critical path: {measure} ({}). Buffers are 2 bundles deep if not labelled; dashed lines have a delay.",
        grouped(critical.length)
    );
    svg.text([MARGIN + 36.0, keys_top + 4.0], "", INK, &key);
    let wide = right.max(MARGIN + 36.0 + svg::width(&key, FONT));
    svg.finish([wide + MARGIN, keys_top + MARGIN])
}

fn description(graph: &DataflowGraph, cycles: Option<&[u64]>, critical: &Critical) -> String {
    let on_it = graph.nodes.iter().enumerate().filter(|(index, _)| critical.nodes.contains(index));
    let names: Vec<_> = on_it.map(|(_, node)| node.name.as_str()).collect();
    let unit = if cycles.is_some() { "cycles" } else { "nodes" };
    format!(
        "A network of {}, {} and {}. Its critical path takes {} {unit}, through {}.",
        counted(graph.sources.len() as u64, "source"),
        counted(graph.nodes.len() as u64, "node"),
        counted(graph.sinks.len() as u64, "sink"),
        grouped(critical.length),
        if names.is_empty() { "no node".into() } else { names.join(", ") }
    )
}

/// The longest path.
struct Critical {
    length: u64,
    nodes: HashSet<usize>,
    /// Its edges, by their indices in [`DataflowGraph::edges`].
    edges: HashSet<usize>,
}

impl Critical {
    fn new(graph: &DataflowGraph, order: &[usize], cycles: Option<&[u64]>) -> Self {
        let weight = |node: usize| cycles.map_or(1, |cycles| cycles.get(node).copied().unwrap_or(0));
        let mut inputs = vec![Vec::new(); graph.nodes.len()];
        let mut results = Vec::new();
        for (index, (reader, edge)) in graph.edges().enumerate().filter(|(_, (_, edge))| edge.initial == 0) {
            match reader {
                EdgeReader::Node(node, _) => inputs[node].push((index, edge.from)),
                EdgeReader::Sink(_) => results.push((index, edge.from)),
            }
        }
        // The end of each node, and the edge before it on the longest path there.
        let mut ends = vec![(0u64, None); graph.nodes.len()];
        let last = |ends: &[(u64, Option<(usize, Port)>)], edges: &[(usize, Port)]| {
            let end = |port: Port| match port {
                Port::Source(_) => 0,
                Port::Node(node, _) => ends[node].0,
            };
            // Of equal paths, the first one.
            let longest = edges.iter().rev().max_by_key(|(_, port)| end(*port)).copied();
            (longest.map_or(0, |(_, port)| end(port)), longest)
        };
        for node in order {
            let (begin, before) = last(&ends, &inputs[*node]);
            ends[*node] = (begin.saturating_add(weight(*node)), before);
        }
        let (length, mut before) = last(&ends, &results);
        let (mut nodes, mut edges) = (HashSet::new(), HashSet::new());
        while let Some((edge, port)) = before {
            edges.insert(edge);
            before = match port {
                Port::Source(_) => None,
                Port::Node(node, _) => {
                    nodes.insert(node);
                    ends[node].1
                }
            };
        }
        Self { length, nodes, edges }
    }
}

/// Items: the sources, the nodes, the sinks, and then where edges pass layers.
struct Drawing<'a> {
    graph: &'a DataflowGraph,
    items: Vec<Item>,
    /// The items that each edge passes, from its beginning to its end.
    paths: Vec<Vec<usize>>,
    /// The gap between layers.
    gap: f64,
}

impl<'a> Drawing<'a> {
    /// `None` if there are too many items.
    fn new(graph: &'a DataflowGraph, order: &[usize]) -> Option<Self> {
        let mut layer = vec![1; graph.nodes.len()];
        for node in order {
            let before = graph.nodes[*node].inputs.iter().filter(|edge| edge.initial == 0);
            let before = before.map(|edge| match edge.from {
                Port::Source(_) => 0,
                Port::Node(from, _) => layer[from],
            });
            layer[*node] = before.max().unwrap_or(0) + 1;
        }
        let last = layer.iter().max().map_or(1, |layer| layer + 1);
        let mut items: Vec<_> = graph.sources.iter().map(|_| Item::new(0, 24.0)).collect();
        items.extend(
            graph
                .nodes
                .iter()
                .zip(layer)
                .map(|(node, layer)| Item::new(layer, BOX.max(INPUT * (node.inputs.len() + 1) as f64))),
        );
        items.extend(graph.sinks.iter().map(|_| Item::new(last, 24.0)));
        let labels =
            graph.edges().map(|(reader, edge)| svg::width(&edge_label(graph, reader, edge), SMALL) + 20.0);
        let mut drawing = Self { graph, items, paths: Vec::new(), gap: labels.fold(GAP, f64::max) };
        // A port with several readers passes each layer once.
        let mut passes = HashMap::new();
        for (index, (reader, edge)) in graph.edges().enumerate() {
            let (from, to) = drawing.ends(reader, edge);
            let [begin, end] = [from, to].map(|item| drawing.items[item].layer);
            let forward = begin < end;
            let between: Vec<_> =
                if forward { (begin + 1..end).collect() } else { (end..=begin).rev().collect() };
            let mut path = vec![from];
            for layer in between {
                let key = (edge.from, layer, (!forward).then_some(index));
                path.push(*passes.entry(key).or_insert_with(|| {
                    drawing.items.push(Item::new(layer, 0.0));
                    drawing.items.len() - 1
                }));
            }
            path.push(to);
            for [a, b] in path.array_windows() {
                if !drawing.items[*a].links.contains(b) {
                    drawing.items[*a].links.push(*b);
                    drawing.items[*b].links.push(*a);
                }
            }
            drawing.paths.push(path);
            if drawing.items.len() > MOST_ITEMS {
                return None;
            }
        }
        Some(drawing)
    }

    fn ends(&self, reader: EdgeReader, edge: &Edge) -> (usize, usize) {
        let (sources, nodes) = (self.graph.sources.len(), self.graph.nodes.len());
        let from = match edge.from {
            Port::Source(source) => source,
            Port::Node(node, _) => sources + node,
        };
        let to = match reader {
            EdgeReader::Node(node, _) => sources + node,
            EdgeReader::Sink(sink) => sources + nodes + sink,
        };
        (from, to)
    }

    /// The labels of sources, nodes and sinks: a name, and the text below it.
    fn labels(&self, cycles: Option<&[u64]>) -> impl Iterator<Item = (&str, Option<&GraphNode>, String)> {
        let sources = self.graph.sources.iter().map(|name| (name.as_str(), None, String::new()));
        let nodes = self.graph.nodes.iter().enumerate().map(move |(index, node)| {
            let cycles = cycles.and_then(|cycles| cycles.get(index));
            (node.name.as_str(), Some(node), below(node, cycles))
        });
        let sinks = self.graph.sinks.iter().map(|sink| (sink.name.as_str(), None, String::new()));
        sources.chain(nodes).chain(sinks)
    }

    /// The left and right of each layer.
    fn columns(&self, cycles: Option<&[u64]>) -> Vec<[f64; 2]> {
        let depth = self.items.iter().map(|item| item.layer + 1).max().unwrap_or(0);
        let mut widths = vec![36.0f64; depth];
        for (item, (name, _, below)) in self.items.iter().zip(self.labels(cycles)) {
            let wide = svg::width(name, FONT).max(svg::width(&below, SMALL)) + 14.0;
            widths[item.layer] = widths[item.layer].max(wide.min(WIDEST));
        }
        let mut left = MARGIN;
        let columns = widths.into_iter().map(|width| {
            let column = [left, left + width];
            left += width + self.gap;
            column
        });
        columns.collect()
    }

    /// The place where each edge arrives: edges that come from above are above the others.
    fn arrivals(&self) -> Vec<f64> {
        let mut into: HashMap<usize, Vec<(f64, usize)>> = HashMap::new();
        for (edge, path) in self.paths.iter().enumerate() {
            let [.., before, to] = path.as_slice() else { continue };
            into.entry(*to).or_default().push((self.items[*before].y, edge));
        }
        let mut arrivals = vec![0.0; self.paths.len()];
        for (to, mut edges) in into {
            edges.sort_by(|(a, first), (b, second)| a.total_cmp(b).then(first.cmp(second)));
            let (item, count) = (&self.items[to], edges.len() as f64);
            let step = if count == 2.0 { 18.0 } else { item.height / (count + 1.0) };
            for (index, (_, edge)) in edges.into_iter().enumerate() {
                arrivals[edge] = item.y + (index as f64 - (count - 1.0) / 2.0) * step;
            }
        }
        arrivals
    }

    /// Draws everything and returns where it ends at the right.
    fn draw(&self, svg: &mut Svg, columns: &[[f64; 2]], cycles: Option<&[u64]>, critical: &Critical) -> f64 {
        let arrivals = self.arrivals();
        let edges: Vec<_> = self.graph.edges().collect();
        // Edges of the critical path are drawn last, so that they lie above the others.
        let mut indices: Vec<_> = (0..edges.len()).collect();
        indices.sort_by_key(|edge| critical.edges.contains(edge));
        for index in &indices {
            let (reader, edge) = edges[*index];
            let (emphasised, to_y) = (critical.edges.contains(index), HEAD + arrivals[*index]);
            let path = self.curve(&self.paths[*index], columns, to_y);
            svg.path(&path, &stroke(emphasised, edge.initial > 0));
            let [end, _] = columns[self.items[self.ends(reader, edge).1].layer];
            let colour = if emphasised { MAROON } else { GREY };
            let tip = format!("M{} {}l-7 -3.5v7z", Number(end), Number(to_y));
            svg.path(&tip, &format!("fill=\"{colour}\""));
        }
        for index in indices {
            let (reader, edge) = edges[index];
            let label = edge_label(self.graph, reader, edge);
            if !label.is_empty() {
                let [end, _] = columns[self.items[self.ends(reader, edge).1].layer];
                svg.text(
                    [end - 9.0, HEAD + arrivals[index] - 3.0],
                    &format!("font-size=\"10\" text-anchor=\"end\" {HALO}"),
                    INK,
                    &label,
                );
            }
        }
        let sources = self.graph.sources.len();
        for (index, (item, (name, node, below))) in self.items.iter().zip(self.labels(cycles)).enumerate() {
            let [left, right] = columns[item.layer];
            let [top, high] = [HEAD + item.y - item.height / 2.0, item.height];
            let emphasised = index >= sources && critical.nodes.contains(&(index - sources));
            let line = if emphasised { MAROON } else { GREY };
            let width = if emphasised { 2.5 } else { 1.0 };
            let (fill, corner) = if node.is_none() { ("#eef3f8", 12) } else { ("#ffffff", 3) };
            svg.begin(&format!("{name}{}", node.map(title).unwrap_or_default()));
            let look = format!(
                "rx=\"{corner}\" fill=\"{fill}\" stroke=\"{line}\" stroke-width=\"{width}\" class=\"node\""
            );
            svg.rect([left, top, right - left, high], &look);
            let (middle, centre) = ((left + right) / 2.0, HEAD + item.y);
            let up = if below.is_empty() { 4.0 } else { -2.0 };
            let name = shortened(name, right - left - 8.0, FONT);
            let colour = if emphasised { MAROON } else { INK };
            svg.text([middle, centre + up], "text-anchor=\"middle\"", colour, &name);
            if !below.is_empty() {
                let below = shortened(&below, right - left - 8.0, SMALL);
                svg.text([middle, centre + 12.0], "font-size=\"10\" text-anchor=\"middle\"", GREY, &below);
            }
            svg.end();
        }
        columns.last().map_or(0.0, |[_, right]| *right)
    }

    /// An edge: curves between layers, straight lines through them.
    fn curve(&self, path: &[usize], columns: &[[f64; 2]], to_y: f64) -> String {
        let [first, rest @ ..] = path else { return String::new() };
        let first = &self.items[*first];
        let [mut x, mut y] = [columns[first.layer][1], HEAD + first.y];
        let mut curve = format!("M{} {}", Number(x), Number(y));
        let mut rightwards = true;
        for (index, item) in rest.iter().enumerate() {
            let (item, last) = (&self.items[*item], index + 1 == rest.len());
            let [left, right] = columns[item.layer];
            // An edge that goes back turns at its beginning and its end.
            let onwards = last || (rightwards && x < left);
            let next = [if onwards { left } else { right }, if last { to_y } else { HEAD + item.y }];
            let reach = self.gap * if rightwards == onwards { 0.5 } else { 0.4 };
            let [out, into] = [(rightwards, x, 1.0), (onwards, next[0], -1.0)]
                .map(|(right, x, sign)| if right { x + sign * reach } else { x - sign * reach });
            let [out, into, to, at] = [out, into, next[0], next[1]].map(Number);
            curve += &format!("C{out} {} {into} {at} {to} {at}", Number(y));
            [x, y] = next;
            rightwards = onwards;
            if !last {
                x = if onwards { right } else { left };
                curve += &format!("H{}", Number(x));
            }
        }
        curve
    }
}

fn stroke(emphasised: bool, delay: bool) -> String {
    let (colour, width) = if emphasised { (MAROON, 2.5) } else { ("#6b7280", 1.1) };
    let dash = if delay { " stroke-dasharray=\"5 3\"" } else { "" };
    format!("fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width}\"{dash}")
}

/// The text below a node's name: its operations, unless the name says them already, and its cycles.
fn below(node: &GraphNode, cycles: Option<&u64>) -> String {
    let cycles = cycles.map(|cycles| counted(*cycles, "cycle"));
    let operation = match node.steps.as_slice() {
        [step] if node.name.starts_with(step.operation.name()) => None,
        [step] => Some(step.operation.name().to_string()),
        steps => Some(counted(steps.len() as u64, "step")),
    };
    operation.into_iter().chain(cycles).collect::<Vec<_>>().join(", ")
}

fn title(node: &GraphNode) -> String {
    let steps: Vec<_> = node.steps.iter().map(|step| step.operation.name()).collect();
    format!(": {}", steps.join(", "))
}

/// The text of an edge: its depth and its delay, and a minus if a difference subtracts its value.
fn edge_label(graph: &DataflowGraph, reader: EdgeReader, edge: &Edge) -> String {
    let mut label = Vec::new();
    if edge.depth != 2 {
        label.push(format!("depth {}", edge.depth));
    }
    if edge.initial > 0 {
        label.push(format!("delay {}", edge.initial));
    }
    if let EdgeReader::Node(node, input) = reader
        && let [step] = graph.nodes[node].steps.as_slice()
        && step.operation == FieldOperation::Subtract
        && step.operands[1] == input
    {
        label.push("−".into());
    }
    label.join(" ")
}

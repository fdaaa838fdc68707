//! Pictures: well-formed, the same each time, complete, and within their frames.

use proofmill_field::bn254::Fq;
use proofmill_pipeline::{
    DataflowGraph, Device, formulas,
    graph::{Edge, FieldOperation, GraphNode, GraphSink, NodeStep, Port, Reductions},
    limbs::SignedField,
    pictures::{
        GanttRow, Limit, Roof, RooflinePoint, Series, gantt, lines, network, page, placement, roofline, ticks,
    },
    place::{Placement, place},
    schedule::{CompiledKernel, NetworkKernels},
};
use std::collections::HashMap;

/// A name that XML cannot hold as it is, and how it holds it.
const ODD: &str = "<&\">\u{1}";
const ESCAPED: &str = "&lt;&amp;&quot;&gt;\u{fffd}";
/// The same without what names of networks do not have.
const NAME: &str = "<&\">";
const ESCAPED_NAME: &str = "&lt;&amp;&quot;&gt;";

/// Kernels for placing: their cycles do not matter.
fn kernels(graph: &DataflowGraph, vectors: usize) -> NetworkKernels {
    let kernel = CompiledKernel { cycles: 1, scratch: 0, loops: Vec::new() };
    NetworkKernels { nodes: vec![kernel; graph.nodes.len()], vectors }
}

/// An element: its name, its attributes, and the text before the next one.
struct Element<'a> {
    name: &'a str,
    attributes: HashMap<&'a str, &'a str>,
    text: &'a str,
}

impl Element<'_> {
    fn number(&self, name: &str) -> f64 {
        self.attributes[name].parse().unwrap()
    }

    fn is_node(&self) -> bool {
        self.attributes.get("class") == Some(&"node")
    }
}

/// Reads elements, attributes and text, and checks that elements end as they began and text has only known entities.
fn elements(xml: &str) -> Vec<Element<'_>> {
    let known = |text: &str| {
        let entities = ["amp;", "lt;", "gt;", "quot;", "#39;"];
        assert!(text.split('&').skip(1).all(|rest| entities.iter().any(|entity| rest.starts_with(entity))));
        assert!(text.chars().all(|character| character >= ' ' || character == '\n'));
    };
    let (mut all, mut open) = (Vec::new(), Vec::new());
    let mut parts = xml.split('<');
    assert_eq!(parts.next(), Some(""));
    for part in parts {
        let (tag, text) = part.split_once('>').expect("a tag that ends");
        assert!(!text.contains('>'));
        known(text);
        assert!(all.is_empty() || !open.is_empty() || text.trim().is_empty(), "text after the root");
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name));
            continue;
        }
        let (tag, empty) = tag.strip_suffix('/').map_or((tag, false), |tag| (tag, true));
        let (name, mut rest) = tag.split_once(' ').unwrap_or((tag, ""));
        assert!(all.is_empty() || !open.is_empty(), "a second root");
        let mut attributes = HashMap::new();
        while !rest.trim().is_empty() {
            let (key, after) = rest.trim_start().split_once("=\"").expect("an attribute");
            let (value, after) = after.split_once('"').expect("an attribute that ends");
            known(value);
            assert!(attributes.insert(key, value).is_none(), "{key} twice");
            rest = after;
        }
        all.push(Element { name, attributes, text });
        if !empty {
            open.push(name);
        }
    }
    assert!(open.is_empty());
    all
}

/// The elements of a picture, after checks that suit all pictures.
fn checked(svg: &str) -> Vec<Element<'_>> {
    let all = elements(svg);
    let names: Vec<_> = all.iter().take(4).map(|element| element.name).collect();
    assert_eq!(names, ["svg", "title", "desc", "rect"]);
    assert!(!svg.contains("NaN") && !svg.contains("inf"), "a number that is none");
    let size: Vec<f64> =
        all[0].attributes["viewBox"].split(' ').map(|number| number.parse().unwrap()).collect();
    let [_, _, wide, high] = size[..] else { panic!("four numbers") };
    for element in &all {
        assert!(["svg", "title", "desc", "rect", "path", "text", "g"].contains(&element.name));
        match element.name {
            "rect" => {
                let [x, y, width, height] = ["x", "y", "width", "height"].map(|name| element.number(name));
                assert!(x >= 0.0 && y >= 0.0 && width >= 0.0 && height >= 0.0);
                assert!(x + width <= wide && y + height <= high, "{x} {y} {width} {height}");
            }
            "text" => {
                let [x, y] = ["x", "y"].map(|name| element.number(name));
                assert!((0.0..=wide).contains(&x) && (0.0..=high).contains(&y));
                // The contrast with white that the Web Content Accessibility Guidelines ask for.
                let fill = element.attributes["fill"];
                assert!(fill == "#ffffff" || contrast(fill) >= 4.5, "{fill}");
            }
            "path" => {
                for (x, y) in absolute(element.attributes["d"]) {
                    assert!((-1.0..=wide + 1.0).contains(&x) && (-1.0..=high + 1.0).contains(&y), "{x} {y}");
                }
            }
            _ => {}
        }
    }
    all
}

/// The points of a path's absolute commands M, L, C and Q.
fn absolute(path: &str) -> Vec<(f64, f64)> {
    let mut points = Vec::new();
    let starts = path.match_indices(|letter: char| letter.is_ascii_alphabetic());
    for (start, command) in starts {
        let numbers = &path[start + 1..];
        let end = numbers.find(|letter: char| letter.is_ascii_alphabetic()).unwrap_or(numbers.len());
        let numbers: Vec<f64> =
            numbers[..end].split_whitespace().map(|number| number.parse().unwrap()).collect();
        if ["M", "L", "C", "Q"].contains(&command) {
            points.extend(numbers.chunks(2).map(|pair| (pair[0], pair[1])));
        }
    }
    points
}

fn contrast(colour: &str) -> f64 {
    let channel = |at: usize| {
        let value = f64::from(u8::from_str_radix(&colour[at..at + 2], 16).unwrap()) / 255.0;
        if value <= 0.040_45 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    };
    1.05 / (0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5) + 0.05)
}

fn texts<'a>(elements: &[Element<'a>]) -> Vec<&'a str> {
    elements.iter().map(|element| element.text.trim()).filter(|text| !text.is_empty()).collect()
}

fn device() -> Device {
    Device::committed("vck5000").unwrap()
}

fn node(name: String, inputs: Vec<Edge>) -> GraphNode {
    let operation = if inputs.len() == 2 { FieldOperation::Add } else { FieldOperation::Negate };
    let (operands, outputs) = ((0..inputs.len()).collect(), vec![inputs.len()]);
    GraphNode { name, inputs, steps: vec![NodeStep { operation, operands }], outputs }
}

fn graph(sources: &[&str], nodes: Vec<GraphNode>, result: usize) -> DataflowGraph {
    let sources = sources.iter().map(|name| (*name).into()).collect();
    let sink = GraphSink { name: "result".into(), edge: Edge::new(Port::Node(result, 0)) };
    DataflowGraph { name: "a test".into(), sources, nodes, sinks: vec![sink] }
}

/// The boxes of sources, nodes and sinks.
fn boxes(elements: &[Element<'_>]) -> Vec<[f64; 4]> {
    let nodes = elements.iter().filter(|element| element.is_node());
    nodes.map(|node| ["x", "y", "width", "height"].map(|name| node.number(name))).collect()
}

fn check_network(graph: &DataflowGraph, cycles: Option<&[u64]>) {
    let svg = network(graph, cycles);
    assert_eq!(svg, network(graph, cycles));
    let all = checked(&svg);
    let boxes = boxes(&all);
    assert_eq!(boxes.len(), graph.sources.len() + graph.nodes.len() + graph.sinks.len());
    for (index, [x, y, width, height]) in boxes.iter().enumerate() {
        for [to_x, to_y, to_width, to_height] in &boxes[..index] {
            let apart = x + width <= *to_x || to_x + to_width <= *x;
            assert!(apart || y + height <= *to_y || to_y + to_height <= *y, "boxes overlap");
        }
    }
    // Boxes come in the order of sources, nodes and sinks: what is read is at the left of what reads it.
    let sources = graph.sources.len();
    for (node, inner) in graph.nodes.iter().enumerate() {
        for edge in inner.inputs.iter().filter(|edge| edge.initial == 0) {
            let from = match edge.from {
                Port::Source(source) => source,
                Port::Node(from, _) => sources + from,
            };
            assert!(boxes[from][0] + boxes[from][2] < boxes[sources + node][0]);
        }
    }
    let texts = texts(&all);
    for name in graph.sources.iter().chain(graph.sinks.iter().map(|sink| &sink.name)) {
        assert!(texts.contains(&name.as_str()), "{name} is missing");
    }
    for node in &graph.nodes {
        assert!(texts.iter().any(|text| text.starts_with(&node.name)), "{} is missing", node.name);
    }
}

#[test]
fn networks_of_all_formulas() {
    let field = SignedField::of::<Fq>().unwrap();
    for name in formulas::NAMES {
        let formula = formulas::graph(name).unwrap();
        check_network(&formula, None);
        for reductions in [Reductions::WhereNeeded, Reductions::InNodes] {
            let graph = formula.reduced(&field, reductions).unwrap();
            let cycles: Vec<u64> = (0..graph.nodes.len() as u64).map(|node| 1000 * node).collect();
            check_network(&graph, Some(&cycles));
        }
    }
}

#[test]
fn a_network_of_400_nodes() {
    let nodes = (0..400).map(|index: usize| {
        let before = |step: usize| match index.checked_sub(step) {
            None => Port::Source((index * step) % 3),
            Some(node) => Port::Node(node, 0),
        };
        node(format!("n{index}"), vec![Edge::new(before(index % 5 + 8)), Edge::new(before(index % 7 + 11))])
    });
    check_network(&graph(&["a", "b", "c"], nodes.collect(), 399), None);
}

#[test]
fn the_longest_path_by_cycles_is_emphasised() {
    let of = |port| Edge::new(port);
    let nodes = vec![
        node("short".into(), vec![of(Port::Source(0))]),
        node("long".into(), vec![of(Port::Source(1))]),
        node("both".into(), vec![of(Port::Node(0, 0)), of(Port::Node(1, 0))]),
        node("aside".into(), vec![of(Port::Node(0, 0))]),
    ];
    let graph = graph(&["a", "b"], nodes, 2);
    let svg = network(&graph, Some(&[10, 1234, 100, 999]));
    let all = checked(&svg);
    let thick = |element: &&Element<'_>| element.is_node() && element.attributes["stroke-width"] == "2.5";
    let emphasised: Vec<_> = all.iter().filter(thick).map(|element| element.number("y")).collect();
    let boxes = boxes(&all);
    assert_eq!(emphasised, [boxes[3][1], boxes[4][1]], "the nodes long and both");
    let edges = all.iter().filter(|element| {
        element.name == "path"
            && element.attributes.get("stroke-width") == Some(&"2.5")
            && element.attributes["d"].contains('C')
    });
    assert_eq!(edges.count(), 3, "from the source to the sink");
    assert!(texts(&all).iter().any(|text| text.contains("1\u{2009}334")));
}

#[test]
fn depths_delays_and_odd_names() {
    let deep = Edge { depth: 5, ..Edge::new(Port::Source(0)) };
    let delayed = Edge { initial: 1, ..Edge::new(Port::Node(1, 0)) };
    let own = Edge { initial: 2, depth: 3, ..Edge::new(Port::Node(0, 0)) };
    let nodes = vec![
        node(NAME.into(), vec![deep, own]),
        node("a long name, ".repeat(20), vec![Edge::new(Port::Node(0, 0)), delayed]),
    ];
    let graph = graph(&["a"], nodes, 1);
    let svg = network(&graph, Some(&[1]));
    let all = checked(&svg);
    let texts = texts(&all);
    for text in ["depth 5", "delay 1", "depth 3 delay 2", ESCAPED_NAME] {
        assert!(texts.contains(&text), "{text}");
    }
    let dashed = all.iter().filter(|element| element.attributes.contains_key("stroke-dasharray"));
    assert_eq!(dashed.count(), 2);
    let placements = place(&graph, &device(), &kernels(&graph, 1), 2).unwrap();
    assert!(placement(&graph, &device(), 256, &placements).contains(ESCAPED_NAME));
}

#[test]
fn placements_show_every_tile() {
    let field = SignedField::of::<Fq>().unwrap();
    let formula = formulas::graph("xyzz-plus-affine").unwrap();
    let graph = formula.reduced(&field, Reductions::InNodes).unwrap();
    let (device, window) = (device(), 4096);
    let placements = place(&graph, &device, &kernels(&graph, 16), 23).unwrap();
    let svg = placement(&graph, &device, window, &placements);
    assert_eq!(svg, placement(&graph, &device, window, &placements));
    let all = checked(&svg);
    let texts = texts(&all);
    for (index, node) in graph.nodes.iter().enumerate() {
        let letter = char::from(b'A' + index as u8).to_string();
        // Once in the legend and once for each pipeline.
        assert_eq!(texts.iter().filter(|text| **text == letter).count(), 24);
        assert!(texts.contains(&node.name.as_str()));
    }
    let streams: usize = placements.iter().map(|placement| placement.streams_between_nodes(&graph)).sum();
    assert!(texts.contains(&format!("{streams} streams between nodes").as_str()));
    let curves = all.iter().filter(|element| element.attributes.get("stroke-width") == Some(&"1.3"));
    assert_eq!(curves.count(), streams + 1, "each stream, and one in the legend");
    // What is not on this grid is left out.
    let outside = Placement { nodes: vec![[1000, 1000]; graph.nodes.len()], routes: Vec::new() };
    checked(&placement(&graph, &device, usize::MAX, &[outside, placements[0].clone()]));
}

#[test]
fn calls_are_where_they_happen() {
    let row = |name: &str, spans: &[[u64; 2]]| GanttRow { name: name.into(), spans: spans.to_vec() };
    let rows = [row(ODD, &[[0, 500], [700, 1000]]), row("idle", &[]), row("odd", &[[9, 9], [20, 10]])];
    let svg = gantt("calls", None, &rows);
    assert_eq!(svg, gantt("calls", None, &rows));
    let all = checked(&svg);
    let texts = texts(&all);
    for text in [ESCAPED, "idle", "0", "200", "1 k", "80 %", "0 %", "cycles"] {
        assert!(texts.contains(&text), "{text}");
    }
    // The second call is three fifths as long as the first.
    let wide = |fill: &str| -> f64 {
        let span = all.iter().find(|element| element.attributes.get("fill") == Some(&fill)).unwrap();
        let (_, rest) = span.attributes["d"].split_once('h').unwrap();
        rest.split_once('v').unwrap().0.parse().unwrap()
    };
    assert!((wide("#1f5f99") * 0.6 - wide("#9cc3e6")).abs() < 0.02);
    let in_time = gantt("calls", Some(1.25e9), &rows);
    assert!(self::texts(&checked(&in_time)).contains(&"microseconds"));
    checked(&gantt("calls", Some(f64::NAN), &[row("far", &[[0, 1], [u64::MAX - 1, u64::MAX]])]));
}

#[test]
fn ticks_are_round_and_cover_the_values() {
    for logarithmic in [false, true] {
        for values in [
            &[0.0, 1.0][..],
            &[3.0],
            &[1.0],
            &[0.0],
            &[-7.5, 1234.0],
            &[1e-100, 1e100],
            &[-1e100, 1e100],
            &[999.0, 1001.0, f64::NAN, f64::INFINITY, -f64::INFINITY],
            &[1e15, 1e15 + 1.0],
            &[2.2e6, 5.17e7],
            &[f64::MAX, f64::MIN_POSITIVE],
            &[1000.0],
            &[0.3, 0.7],
            &[],
        ] {
            let ticks = ticks(values, logarithmic);
            assert!((2..=40).contains(&ticks.len()), "{values:?}: {ticks:?}");
            assert!(ticks.array_windows().all(|[a, b]| a < b), "{ticks:?}");
            let shown = values.iter().filter(|value| value.abs() <= 1e100);
            for value in shown.filter(|value| !logarithmic || **value >= 1e-100) {
                assert!(ticks[0] <= *value && *value <= ticks[ticks.len() - 1], "{value} {ticks:?}");
            }
            let digits = |number: f64| format!("{:e}", number.abs()).split_once('e').unwrap().0.to_string();
            if logarithmic {
                assert!(ticks.iter().all(|tick| ["1", "2", "5"].contains(&digits(*tick).as_str())));
            } else if values.iter().all(|value| value.abs() < 1e14) {
                let step = ticks[1] - ticks[0];
                let step: f64 = format!("{step:.4e}").parse().unwrap();
                assert!(["1", "2", "5"].contains(&digits(step).as_str()), "{step}");
                let whole = ticks.iter().map(|tick| tick / step);
                assert!(whole.into_iter().all(|times| (times - times.round()).abs() < 1e-6), "{ticks:?}");
            }
        }
    }
}

#[test]
fn lines_have_names_and_marks() {
    let series = |name: &str, measured, points: &[[f64; 2]]| Series {
        name: name.into(),
        points: points.to_vec(),
        measured,
    };
    let bad = [[f64::NAN, 1.0], [2.0, f64::INFINITY], [3.0, 3e6], [-1e300, 0.0]];
    let all = [
        series("on the card", false, &[[1.0, 2e6], [10.0, 2e7], [23.0, 5e7]]),
        series("close", false, &[[1.0, 2e6], [23.0, 5.01e7]]),
        series(ODD, true, &bad),
        series("nothing", true, &[]),
    ];
    for logarithmic in [[false; 2], [true; 2], [true, false]] {
        let svg = lines("throughput", ["pipelines", "a second"], &all, logarithmic);
        assert_eq!(svg, lines("throughput", ["pipelines", "a second"], &all, logarithmic));
        let elements = checked(&svg);
        let texts = texts(&elements);
        assert!(["on the card", "close", ESCAPED].iter().all(|name| texts.contains(name)));
        assert!(!texts.contains(&"nothing"));
        // Names at the ends do not overlap.
        let names = ["on the card", "close", ESCAPED];
        let mut places: Vec<_> =
            elements.iter().filter(|element| names.contains(&element.text.trim())).collect();
        places.sort_by(|a, b| a.number("y").total_cmp(&b.number("y")));
        assert!(places.array_windows().all(|[a, b]| b.number("y") - a.number("y") >= 15.9));
        let drawn = elements.iter().filter(|element| element.attributes.get("stroke-width") == Some(&"2"));
        assert_eq!(drawn.count(), 2, "measured points have no line");
    }
    let many: Vec<_> =
        (0..60).map(|index| series(&format!("s{index}"), index % 2 == 0, &[[1.0, 1.0]])).collect();
    checked(&lines("many", ["x", "y"], &many, [false; 2]));
}

#[test]
fn roofs_limit_what_is_possible() {
    let roof = |name: &str, limit| Roof { name: name.into(), limit };
    let point = |name: &str, bytes, rate| RooflinePoint { name: name.into(), bytes, rate };
    let roofs = [
        roof("tiles", Limit::Rate(1e8)),
        roof(ODD, Limit::BytesPerSecond(1e10)),
        roof("none", Limit::Rate(f64::INFINITY)),
    ];
    let points = [point("a run", 320.0, 1e7), point("empty", 0.0, 1.0)];
    let svg = roofline("roofs", "additions", &roofs, &points);
    assert_eq!(svg, roofline("roofs", "additions", &roofs, &points));
    let all = checked(&svg);
    let texts = texts(&all);
    for text in ["tiles", ESCAPED, "a run", "additions per byte moved", "additions per second"] {
        assert!(texts.contains(&text), "{text}");
    }
    assert!(!texts.contains(&"none") && !texts.contains(&"empty"));
    // The thick line rises until the flat roof, at 0.01 operations a byte, and goes on level.
    let thick = all
        .iter()
        .find(|element| element.attributes.get("stroke-width") == Some(&"3") && element.name == "path")
        .unwrap();
    let line = absolute(thick.attributes["d"]);
    let ridge = line.iter().position(|(_, y)| *y == line[line.len() - 1].1).unwrap();
    assert!(ridge > 0 && line[..=ridge].array_windows().all(|[a, b]| a.0 < b.0 && a.1 > b.1));
    let tick = all.iter().find(|element| element.text.trim() == "0.01").unwrap();
    assert!((tick.number("x") - line[ridge].0).abs() < 0.1);
    for (roofs, points) in [(&roofs[..1], &points[..0]), (&roofs[1..2], &[]), (&[], &points[..1])] {
        checked(&roofline("roofs", "additions", roofs, points));
    }
}

#[test]
fn empty_pictures_say_so() {
    let nothing = DataflowGraph { name: NAME.into(), sources: vec![], nodes: vec![], sinks: vec![] };
    let graph = formulas::graph("butterfly").unwrap();
    for (svg, text) in [
        (network(&nothing, None), "it has no sinks"),
        (placement(&nothing, &device(), 4096, &[]), "No pipelines are placed."),
        (placement(&graph, &device(), 4096, &[]), "No pipelines are placed."),
        (gantt(ODD, Some(1.0), &[]), "There are no calls to show."),
        (lines("", ["", ""], &[], [true; 2]), "There are no points to show."),
        (roofline("", "", &[], &[]), "There are no roofs and no points to show."),
    ] {
        assert!(texts(&checked(&svg)).iter().any(|found| found.ends_with(text)), "{text}");
    }
}

#[test]
fn a_page_has_all_pictures_and_no_scripts() {
    let svg = lines("", ["", ""], &[], [true; 2]);
    let all = page(ODD, &[(ODD, "<script>", &svg), ("second", "text", &svg)]);
    assert_eq!(all.matches(&svg).count(), 2);
    assert_eq!(all.matches(&format!("<h2>{ESCAPED}</h2>")).count(), 1);
    assert!(all.contains("&lt;script&gt;") && !all.contains("<script"));
    assert!(all.contains("default-src 'none'"));
    assert!(page("none", &[]).contains("There are no pictures."));
}

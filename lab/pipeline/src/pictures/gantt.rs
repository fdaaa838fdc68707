//! Gantt charts: when each tile works.

use super::{
    axes::{Axis, label},
    svg::{AXIS, FONT, GREY, GRID, HEAD, INK, MARGIN, Number, SMALL, Svg, counted, shortened, width},
};
use std::fmt::Write;

/// Width of the area for spans.
const PLOT: f64 = 800.0;
/// Height of a row, and of a span in it.
const ROW: f64 = 20.0;
const BAR: f64 = 14.0;
/// Calls of even and odd numbers, and the colours of the numbers in them.
const CALLS: [[&str; 2]; 2] = [["#1f5f99", "#ffffff"], ["#9cc3e6", INK]];

/// The calls of one tile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GanttRow {
    /// The tile's or the node's name.
    pub name: String,
    /// Begin and end of each call, in cycles, in the order of the calls.
    pub spans: Vec<[u64; 2]>,
}

/// Draws rows of calls against time, with the number of a call where it has room, and the share of the whole time that each row works.
/// Time is in cycles, or in microseconds if a tile's cycles a second are given. Spans that do not end after their begin are left out.
pub fn gantt(title: &str, hertz: Option<f64>, rows: &[GanttRow]) -> String {
    let hertz = hertz.filter(|hertz| hertz.is_finite() && *hertz > 0.0);
    let time = |cycle: u64| cycle as f64 * hertz.map_or(1.0, |hertz| 1e6 / hertz);
    let spans = || rows.iter().flat_map(|row| &row.spans).filter(|[begin, end]| begin < end);
    let (Some(begin), Some(end)) =
        (spans().map(|[begin, _]| *begin).min(), spans().map(|[_, end]| *end).max())
    else {
        return Svg::notice(title, "There are no calls to show.");
    };
    let unit = if hertz.is_some() { "microseconds" } else { "cycles" };
    let description = format!(
        "{} over {} {unit}, from {}. White is time without work.",
        counted(rows.len() as u64, "row"),
        label(time(end) - time(begin)),
        label(time(begin))
    );
    let mut svg = Svg::new(title, description);
    let names: Vec<_> = rows.iter().map(|row| shortened(&row.name, 180.0, FONT)).collect();
    let left = MARGIN + names.iter().map(|name| width(name, FONT)).fold(0.0, f64::max) + 8.0;
    let top = HEAD + 14.0;
    let bottom = top + ROW * rows.len() as f64 + 4.0;
    let axis = Axis::new(&[time(begin), time(end)], false, [left, left + PLOT]);
    for tick in &axis.ticks {
        let at = axis.at(*tick);
        svg.line([at, top - 4.0], [at, bottom], &format!("stroke=\"{GRID}\""));
        svg.text([at, bottom + 16.0], "text-anchor=\"middle\"", GREY, &label(*tick));
    }
    svg.line([left, bottom], [left + PLOT, bottom], &format!("stroke=\"{AXIS}\""));
    svg.text([left + PLOT / 2.0, bottom + 36.0], "text-anchor=\"middle\"", INK, unit);
    let shares = left + PLOT + 20.0;
    svg.text([shares, top - 6.0], "", GREY, "works");
    for (index, (row, name)) in rows.iter().zip(&names).enumerate() {
        let y = top + ROW * index as f64 + (ROW - BAR) / 2.0;
        svg.begin(&row.name);
        svg.text([left - 8.0, y + BAR - 3.0], "text-anchor=\"end\"", INK, name);
        let worked: u128 = row.spans.iter().map(|[begin, end]| u128::from(end.saturating_sub(*begin))).sum();
        let share = 100.0 * worked as f64 / (end - begin) as f64;
        svg.text([shares, y + BAR - 3.0], "", INK, &format!("{share:.0} %"));
        calls(&mut svg, row, y, |cycle| axis.at(time(cycle)));
        svg.end();
    }
    svg.finish([shares + width("works", FONT) + MARGIN, bottom + 36.0 + MARGIN])
}

/// The spans of a row.
fn calls(svg: &mut Svg, row: &GanttRow, y: f64, at: impl Fn(u64) -> f64) {
    let spans = row.spans.iter().enumerate().filter(|(_, [begin, end])| begin < end);
    let spans: Vec<_> = spans.map(|(call, [begin, end])| (call, at(*begin), at(*end))).collect();
    for (parity, [fill, _]) in CALLS.iter().enumerate() {
        let mut path = String::new();
        for (_, begin, end) in spans.iter().filter(|(call, ..)| call % 2 == parity) {
            let (begin, top, wide) = (Number(*begin), Number(y), Number(end - begin));
            write!(path, "M{begin} {top}h{wide}v{BAR}h-{wide}z").expect("strings take everything");
        }
        if !path.is_empty() {
            svg.path(&path, &format!("fill=\"{fill}\""));
        }
    }
    for (call, begin, end) in spans {
        let number = call.to_string();
        if width(&number, SMALL) + 4.0 <= end - begin {
            let [_, colour] = CALLS[call % 2];
            let place = [(begin + end) / 2.0, y + BAR - 3.5];
            svg.text(place, "font-size=\"10\" text-anchor=\"middle\"", colour, &number);
        }
    }
}

//! Series of points as lines.

use super::{
    axes::{Chart, ChartMark, drawable},
    svg::{Svg, colour, counted},
};

/// Points that belong together.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// The name of the series.
    pub name: String,
    /// Pairs of x and y.
    pub points: Vec<[f64; 2]>,
    /// Whether they are measured: only marks are drawn, no line.
    pub measured: bool,
}

/// Draws series on common axes, in the order given; each axis, x and y, can be logarithmic. Other axes begin at zero. Names are at the
/// ends of the lines.
///
/// Points that the axes cannot show are left out: see [`ticks`](super::ticks).
pub fn lines(title: &str, labels: [&str; 2], series: &[Series], logarithmic: [bool; 2]) -> String {
    let shown = |[x, y]: &&[f64; 2]| drawable(*x, logarithmic[0]) && drawable(*y, logarithmic[1]);
    let points: Vec<[f64; 2]> =
        series.iter().flat_map(|series| series.points.iter().filter(shown)).copied().collect();
    if points.is_empty() {
        return Svg::notice(title, "There are no points to show.");
    }
    let values = [0, 1].map(|side| {
        let zero = (!logarithmic[side]).then_some(0.0);
        points.iter().map(|point| point[side]).chain(zero).collect::<Vec<_>>()
    });
    let description = format!("{} against {}.{}", labels[1], labels[0], said(series));
    let svg = Svg::new(title, description);
    let mut chart = Chart::new(svg, labels, [&values[0], &values[1]], logarithmic, series.len());
    let dashes =
        ["", " stroke-dasharray=\"7 3\"", " stroke-dasharray=\"2 3\"", " stroke-dasharray=\"9 3 2 3\""];
    let mut names = Vec::new();
    for (look, series) in series.iter().enumerate() {
        let places: Vec<_> = series.points.iter().filter_map(|point| chart.at(*point)).collect();
        let Some(last) = places.last() else { continue };
        names.push(ChartMark { name: &series.name, at: *last, look });
        if !series.measured {
            let (colour, dash) = (colour(look), dashes[look % dashes.len()]);
            chart.polyline(&places, &format!("stroke=\"{colour}\" stroke-width=\"2\"{dash}"));
        }
        // Marks on lines need room between them.
        if series.measured || places.len() <= 40 {
            places.iter().for_each(|place| chart.mark(*place, look, series.measured));
        }
    }
    chart.names(names);
    chart.finish()
}

fn said(series: &[Series]) -> String {
    let said = series.iter().map(|series| {
        let measured = if series.measured { ", measured" } else { "" };
        format!(" {}: {}{measured}.", series.name, counted(series.points.len() as u64, "point"))
    });
    said.collect()
}

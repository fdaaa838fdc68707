//! The roofline model (Williams, Waterman and Patterson, "Roofline: an insightful visual performance model for multicore architectures", 2009).

use super::{
    axes::{Chart, ChartMark, drawable},
    svg::{FONT, HALO, INK, Svg, colour, shortened, spread, width},
};

/// A limit of the rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Limit {
    /// Operations a second.
    Rate(f64),
    /// Bytes a second: so many divided by the bytes that an operation moves.
    BytesPerSecond(f64),
}

impl Limit {
    /// Operations a second at so many operations a byte.
    fn rate(self, intensity: f64) -> f64 {
        match self {
            Self::Rate(rate) => rate,
            Self::BytesPerSecond(bytes) => bytes * intensity,
        }
    }

    fn number(self) -> f64 {
        let (Self::Rate(number) | Self::BytesPerSecond(number)) = self;
        number
    }
}

/// A roof.
#[derive(Clone, Debug, PartialEq)]
pub struct Roof {
    /// The name of the limiting resource: tiles, streams, memory, a link.
    pub name: String,
    /// The limit that it sets.
    pub limit: Limit,
}

/// A run.
#[derive(Clone, Debug, PartialEq)]
pub struct RooflinePoint {
    /// The name of the run.
    pub name: String,
    /// Bytes that an operation moves.
    pub bytes: f64,
    /// Operations a second.
    pub rate: f64,
}

/// Draws roofs and points: operations a second against operations for each byte moved, both logarithmic. The thick line is the rate that all
/// roofs together allow. Roofs and points that are not positive and finite are left out.
pub fn roofline(title: &str, operation: &str, roofs: &[Roof], points: &[RooflinePoint]) -> String {
    let roofs: Vec<_> = roofs.iter().filter(|roof| drawable(roof.limit.number(), true)).collect();
    let points: Vec<_> = points
        .iter()
        .filter(|point| drawable(point.bytes, true) && drawable(point.rate, true))
        .map(|point| (point, 1.0 / point.bytes))
        .collect();
    if roofs.is_empty() && points.is_empty() {
        return Svg::notice(title, "There are no roofs and no points to show.");
    }
    // Where a flat roof meets a sloping one.
    let mut xs: Vec<f64> = Vec::new();
    for flat in &roofs {
        for sloping in &roofs {
            if let (Limit::Rate(rate), Limit::BytesPerSecond(bytes)) = (flat.limit, sloping.limit) {
                xs.push(rate / bytes);
            }
        }
    }
    xs.retain(|x| drawable(*x, true));
    xs.extend(points.iter().map(|(_, intensity)| *intensity));
    let ends = super::ticks(&xs, true);
    let [first, last] = [ends[0], ends[ends.len() - 1]];
    let mut ys: Vec<_> = points.iter().map(|(point, _)| point.rate).collect();
    ys.extend(roofs.iter().flat_map(|roof| [first, last].map(|x| roof.limit.rate(x))));
    let labels = [format!("{operation} per byte moved"), format!("{operation} per second")];
    let named = |names: Vec<&str>| if names.is_empty() { "none".into() } else { names.join(", ") };
    let description = format!(
        "{} against {}. Roofs: {}. Points: {}.",
        labels[1],
        labels[0],
        named(roofs.iter().map(|roof| roof.name.as_str()).collect()),
        named(points.iter().map(|(point, _)| point.name.as_str()).collect())
    );
    let svg = Svg::new(title, description);
    let mut chart = Chart::new(svg, [&labels[0], &labels[1]], [&xs, &ys], [true, true], roofs.len());
    let mut names = Vec::new();
    for (look, roof) in roofs.iter().enumerate() {
        let line: Vec<_> = [first, last].iter().filter_map(|x| chart.at([*x, roof.limit.rate(*x)])).collect();
        let Some(end) = line.last() else { continue };
        chart.polyline(&line, &format!("stroke=\"{}\" stroke-width=\"1.2\"", colour(look)));
        names.push(ChartMark { name: &roof.name, at: *end, look });
    }
    xs.extend([first, last]);
    xs.sort_by(f64::total_cmp);
    let least = |x: f64| roofs.iter().map(|roof| roof.limit.rate(x)).min_by(f64::total_cmp);
    let allowed: Vec<_> = xs.iter().filter_map(|x| chart.at([*x, least(*x)?])).collect();
    if !allowed.is_empty() {
        chart.polyline(&allowed, &format!("stroke=\"{INK}\" stroke-width=\"3\""));
    }
    chart.names(names);
    draw_points(&mut chart, &points);
    chart.finish()
}

/// Draws points with their names next to them.
fn draw_points(chart: &mut Chart, points: &[(&RooflinePoint, f64)]) {
    let mut places: Vec<_> = points
        .iter()
        .enumerate()
        .filter_map(|(look, (point, intensity))| Some((chart.at([*intensity, point.rate])?, look, point)))
        .collect();
    places.sort_by(|([_, a], ..), ([_, b], ..)| a.total_cmp(b));
    let desired: Vec<_> = places.iter().map(|([_, y], ..)| *y).collect();
    let heights = vec![FONT + 3.0; places.len()];
    for (([x, y], look, point), place) in places.into_iter().zip(spread(&desired, &heights, 0.0)) {
        chart.mark([x, y], look, true);
        let name = shortened(&point.name, 240.0, FONT);
        let (at, anchor) = if x + 12.0 + width(&name, FONT) > chart.x.pixels[1] {
            (x - 10.0, "end")
        } else {
            (x + 10.0, "start")
        };
        let look = format!("text-anchor=\"{anchor}\" {HALO}");
        chart.svg.text([at, place + 4.0], &look, INK, &name);
    }
}

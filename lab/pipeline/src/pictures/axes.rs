//! Axes with round ticks, and charts on two of them.

use super::svg::{
    AXIS, FONT, GREY, GRID, HEAD, INK, MARGIN, Number, SMALL, Svg, colour, shortened, spread, width,
};

/// About how many ticks an axis has.
const TICKS: f64 = 6.0;
/// The largest number on an axis; logarithmic ones end at its inverse.
const LARGEST: f64 = 1e100;
/// Size of the area in which a chart's data are.
const PLOT: [f64; 2] = [560.0, 340.0];
/// Room for a label.
const LABEL: f64 = 16.0;

/// Round numbers in growing order; all values are between the first and the last one. They are multiples of 1, 2 or 5 times a power
/// of ten. On logarithmic axes they are powers of ten, and also 2 and 5 times them where there would be too few.
///
/// Values that are not finite or larger than 10¹⁰⁰ are left out, on logarithmic axes also those less than 10⁻¹⁰⁰. There are at least
/// two ticks, also without values.
pub fn ticks(values: &[f64], logarithmic: bool) -> Vec<f64> {
    let values = values.iter().copied().filter(|value| drawable(*value, logarithmic));
    let range = values.fold(None, |range: Option<[f64; 2]>, value| {
        Some(range.map_or([value; 2], |[low, high]| [low.min(value), high.max(value)]))
    });
    if logarithmic {
        let [low, high] = range.unwrap_or([1.0, 10.0]);
        return logarithmic_ticks(low, high);
    }
    let [low, mut high] = range.unwrap_or([0.0, 1.0]);
    let size = low.abs().max(high.abs()).max(1.0 / LARGEST);
    if high - low < 1e-9 * size {
        high = low + size;
    }
    let step = (high - low) / TICKS;
    let power = 10f64.powf(step.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power).into_iter().find(|round| *round >= step);
    let step = step.unwrap_or(10.0 * power);
    let (first, last) = ((low / step).floor(), (high / step).ceil());
    (0..=(last - first) as usize).map(|index| rounded((first + index as f64) * step)).collect()
}

fn logarithmic_ticks(low: f64, high: f64) -> Vec<f64> {
    let [first, mut last] = [low.log10().floor() as i32, high.log10().ceil() as i32];
    last = last.max(first + 1);
    let every = (last - first + 9) / 10;
    let factors: &[f64] = if last - first <= 2 { &[1.0, 2.0, 5.0] } else { &[1.0] };
    let powers = (first..=last + every - 1).step_by(every as usize);
    let all = powers.flat_map(|power| factors.iter().map(move |factor| rounded(factor * 10f64.powi(power))));
    let all: Vec<_> = all.collect();
    let begin = all.partition_point(|tick| *tick <= low).saturating_sub(1);
    let end = (all.partition_point(|tick| *tick < high) + 1).max(begin + 2).min(all.len());
    all[begin..end].to_vec()
}

/// The number without the rounding error of a product.
fn rounded(number: f64) -> f64 {
    format!("{number:.10e}").parse::<f64>().map_or(number, |number| number + 0.0)
}

/// Whether an axis can show a value.
pub(super) fn drawable(value: f64, logarithmic: bool) -> bool {
    value.abs() <= LARGEST && (!logarithmic || value >= 1.0 / LARGEST)
}

/// A short form of a number on an axis.
pub(super) fn label(number: f64) -> String {
    let size = number.abs();
    if size != 0.0 && !(1e-4..1e15).contains(&size) {
        return format!("{:e}", short(number));
    }
    let prefixes = [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")];
    match prefixes.into_iter().find(|(power, _)| size >= *power) {
        Some((power, prefix)) => format!("{} {prefix}", short(number / power)),
        None => short(number).to_string(),
    }
}

fn short(number: f64) -> f64 {
    format!("{number:.5e}").parse().unwrap_or(number)
}

/// One axis.
pub(super) struct Axis {
    pub(super) ticks: Vec<f64>,
    pub(super) logarithmic: bool,
    /// The pixels of the first and the last tick.
    pub(super) pixels: [f64; 2],
}

impl Axis {
    pub(super) fn new(values: &[f64], logarithmic: bool, pixels: [f64; 2]) -> Self {
        Self { ticks: ticks(values, logarithmic), logarithmic, pixels }
    }

    pub(super) fn range(&self) -> [f64; 2] {
        [self.ticks[0], self.ticks[self.ticks.len() - 1]]
    }

    /// The pixel of a value.
    pub(super) fn at(&self, value: f64) -> f64 {
        let scale = |value: f64| if self.logarithmic { value.log10() } else { value };
        let [low, high] = self.range().map(scale);
        let [begin, end] = self.pixels;
        begin + (scale(value) - low) / (high - low) * (end - begin)
    }
}

/// Something with a place, a name, and the index of its look.
pub(super) struct ChartMark<'a> {
    pub(super) name: &'a str,
    pub(super) at: [f64; 2],
    pub(super) look: usize,
}

/// A chart: two axes, and the drawing between them.
pub(super) struct Chart {
    pub(super) svg: Svg,
    pub(super) x: Axis,
    pub(super) y: Axis,
    right: f64,
}

impl Chart {
    /// Draws the axes, high enough for some labels at the right.
    pub(super) fn new(
        mut svg: Svg,
        names: [&str; 2],
        [xs, ys]: [&[f64]; 2],
        [x_logarithmic, y_logarithmic]: [bool; 2],
        labels: usize,
    ) -> Self {
        let high = PLOT[1].max(labels as f64 * LABEL);
        let top = HEAD + 26.0;
        let y = Axis::new(ys, y_logarithmic, [top + high, top]);
        let widest = y.ticks.iter().map(|tick| width(&label(*tick), FONT)).fold(0.0, f64::max);
        let left = MARGIN + widest + 8.0;
        let x = Axis::new(xs, x_logarithmic, [left, left + PLOT[0]]);
        let [right, bottom] = [left + PLOT[0], top + high];
        for tick in &y.ticks {
            let at = y.at(*tick);
            svg.line([left, at], [right, at], &format!("stroke=\"{GRID}\""));
            svg.text([left - 8.0, at + 4.0], "text-anchor=\"end\"", GREY, &label(*tick));
        }
        for tick in &x.ticks {
            let at = x.at(*tick);
            svg.line([at, top], [at, bottom], &format!("stroke=\"{GRID}\""));
            svg.text([at, bottom + 18.0], "text-anchor=\"middle\"", GREY, &label(*tick));
        }
        svg.path(
            &format!("M{} {}V{}H{}", Number(left), Number(top), Number(bottom), Number(right)),
            &format!("fill=\"none\" stroke=\"{AXIS}\""),
        );
        let [x_name, y_name] = names.map(|name| shortened(name, PLOT[0], FONT));
        svg.text([(left + right) / 2.0, bottom + 40.0], "text-anchor=\"middle\"", INK, &x_name);
        svg.text([MARGIN, top - 12.0], "", INK, &y_name);
        Self { svg, x, y, right }
    }

    /// The place of a point, if the axes can show it.
    pub(super) fn at(&self, [x, y]: [f64; 2]) -> Option<[f64; 2]> {
        let shown = drawable(x, self.x.logarithmic) && drawable(y, self.y.logarithmic);
        shown.then(|| [self.x.at(x), self.y.at(y)])
    }

    /// Straight lines through places.
    pub(super) fn polyline(&mut self, places: &[[f64; 2]], attributes: &str) {
        let steps = places.iter().map(|[x, y]| format!("{} {}", Number(*x), Number(*y)));
        let path = format!("M{}", steps.collect::<Vec<_>>().join("L"));
        self.svg.path(&path, &format!("fill=\"none\" {attributes}"));
    }

    /// A circle, a square, a diamond or a triangle: filled, or with an edge only.
    pub(super) fn mark(&mut self, [x, y]: [f64; 2], look: usize, filled: bool) {
        let shape = match look % 4 {
            0 => "m-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z",
            1 => "m-3.5 -3.5h7v7h-7z",
            2 => "m0 -5l5 5l-5 5l-5 -5z",
            _ => "m0 -5l5 8.5h-10z",
        };
        let colour = colour(look);
        let fill = if filled { colour } else { "#ffffff" };
        self.svg.path(
            &format!("M{} {}{shape}", Number(x), Number(y)),
            &format!("fill=\"{fill}\" stroke=\"{colour}\" stroke-width=\"1.5\""),
        );
    }

    /// Names at the right, as near as possible to their places, with thin lines to them.
    pub(super) fn names(&mut self, mut marks: Vec<ChartMark<'_>>) {
        marks.sort_by(|a, b| a.at[1].total_cmp(&b.at[1]));
        let desired: Vec<_> = marks.iter().map(|mark| mark.at[1]).collect();
        let places = spread(&desired, &vec![LABEL; marks.len()], 0.0);
        let ([bottom, top], count) = (self.y.pixels, marks.len());
        let left = self.x.pixels[1] + 26.0;
        for (index, (mark, place)) in marks.iter().zip(places).enumerate() {
            // Both limits keep the distances.
            let least = top + index as f64 * LABEL;
            let most = bottom - (count - 1 - index) as f64 * LABEL;
            let place = place.max(least).min(most);
            let [x, y] = mark.at;
            let bend = self.x.pixels[1] + 6.0;
            let leader = [[x + 7.0, y], [bend.max(x + 7.0), y], [left - 4.0, place]];
            self.polyline(
                &leader,
                &format!("stroke=\"{AXIS}\" stroke-width=\"0.8\" stroke-dasharray=\"1 2\""),
            );
            let name = shortened(mark.name, 280.0, FONT);
            self.right = self.right.max(left + width(&name, FONT));
            self.svg.text([left, place + 4.0], "", colour(mark.look), &name);
        }
    }

    pub(super) fn finish(self) -> String {
        // The last tick's label is centred below it.
        let last = self.x.ticks.last().map_or(0.0, |tick| width(&label(*tick), FONT) / 2.0);
        let right = self.right.max(self.x.pixels[1] + last);
        self.svg.finish([right + MARGIN, self.y.pixels[0] + 40.0 + MARGIN - SMALL / 2.0])
    }
}

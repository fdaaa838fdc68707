//! The few elements of SVG that pictures need. All sizes are in pixels.

use std::fmt::{self, Display, Write};

/// Height of letters.
pub(super) const FONT: f64 = 12.0;
/// Height of small letters.
pub(super) const SMALL: f64 = 10.0;
/// The margin around a picture.
pub(super) const MARGIN: f64 = 16.0;
/// Height of the title's line.
pub(super) const HEAD: f64 = 40.0;
/// The colour of letters.
pub(super) const INK: &str = "#1b1b1b";
/// The colour of letters of lesser importance.
pub(super) const GREY: &str = "#555555";
/// The colour of axes.
pub(super) const AXIS: &str = "#8a8a8a";
/// The colour of a grid's lines.
pub(super) const GRID: &str = "#e3e3e3";
/// The attributes of letters that lines pass: a white edge.
pub(super) const HALO: &str = "stroke=\"#ffffff\" stroke-width=\"3\" paint-order=\"stroke\"";
/// The colour of emphasis.
pub(super) const MAROON: &str = "#8c1d2f";
/// Colours that letters can have on white.
pub(super) const COLOURS: [&str; 6] = ["#0b5cad", "#a3420a", "#00695c", "#7b1fa2", "#6d5200", "#37474f"];

/// A picture while it is drawn.
pub(super) struct Svg {
    title: String,
    description: String,
    body: String,
}

impl Svg {
    pub(super) fn new(title: &str, description: String) -> Self {
        let mut svg = Self { title: title.into(), description, body: String::new() };
        svg.text(
            [MARGIN, MARGIN + FONT],
            "font-size=\"14\" font-weight=\"bold\"",
            INK,
            &shortened(title, 720.0, 14.0),
        );
        svg
    }

    /// A picture that only says why there is nothing to see.
    pub(super) fn notice(title: &str, notice: &str) -> String {
        let mut svg = Self::new(title, notice.into());
        let notice = shortened(notice, 720.0, FONT);
        svg.text([MARGIN, HEAD + MARGIN], "", INK, &notice);
        let text = width(&notice, FONT);
        svg.finish([text + 2.0 * MARGIN, HEAD + 2.0 * MARGIN])
    }

    /// The document, wide enough for its title.
    pub(super) fn finish(self, [wide, high]: [f64; 2]) -> String {
        let title = width(&shortened(&self.title, 720.0, 14.0), 14.0) * 1.1 + 2.0 * MARGIN;
        let [wide, high] = [wide.max(title).ceil(), high.ceil()];
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"{wide}\" height=\"{high}\" viewBox=\"0 0 {wide} {high}\" \
             font-family=\"sans-serif\" font-size=\"{FONT}\">\n<title>{}</title>\n<desc>{}</desc>\n\
             <rect x=\"0\" y=\"0\" width=\"{wide}\" height=\"{high}\" fill=\"#ffffff\"/>\n{}</svg>\n",
            Escaped(&self.title),
            Escaped(&self.description),
            self.body
        )
    }

    /// Left, top, width and height.
    pub(super) fn rect(&mut self, [x, y, width, height]: [f64; 4], attributes: &str) {
        let [x, y, width, height] = [x, y, width, height].map(Number);
        self.element(format_args!(
            "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" {attributes}/>"
        ));
    }

    pub(super) fn path(&mut self, path: &str, attributes: &str) {
        self.element(format_args!("<path d=\"{path}\" {attributes}/>"));
    }

    pub(super) fn line(&mut self, [x, y]: [f64; 2], [to_x, to_y]: [f64; 2], attributes: &str) {
        let path = format!("M{} {}L{} {}", Number(x), Number(y), Number(to_x), Number(to_y));
        self.path(&path, attributes);
    }

    pub(super) fn text(&mut self, [x, y]: [f64; 2], attributes: &str, colour: &str, text: &str) {
        let [x, y] = [x, y].map(Number);
        let text = Escaped(text);
        self.element(format_args!("<text x=\"{x}\" y=\"{y}\" fill=\"{colour}\" {attributes}>{text}</text>"));
    }

    /// Begins a group of elements with a title of its own.
    pub(super) fn begin(&mut self, title: &str) {
        self.element(format_args!("<g><title>{}</title>", Escaped(title)));
    }

    /// Ends the group.
    pub(super) fn end(&mut self) {
        self.element(format_args!("</g>"));
    }

    fn element(&mut self, element: fmt::Arguments<'_>) {
        writeln!(self.body, "{element}").expect("strings take everything");
    }
}

/// A number with at most two decimals.
pub(super) struct Number(pub(super) f64);

impl Display for Number {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Adding zero drops the sign of a negative zero.
        (((self.0 * 100.0).round() + 0.0) / 100.0).fmt(formatter)
    }
}

/// Text for XML: characters with a meaning are escaped, and characters that XML does not allow are replaced.
#[derive(Clone, Copy, Debug)]
pub struct Escaped<'a>(pub &'a str);

impl Display for Escaped<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|character| match character {
            '&' => formatter.write_str("&amp;"),
            '<' => formatter.write_str("&lt;"),
            '>' => formatter.write_str("&gt;"),
            '"' => formatter.write_str("&quot;"),
            '\'' => formatter.write_str("&#39;"),
            '\n' | '\t' => formatter.write_char(' '),
            '\0'..' ' | '\u{7f}' | '\u{fffe}' | '\u{ffff}' => formatter.write_char('\u{fffd}'),
            character => formatter.write_char(character),
        })
    }
}

/// The approximate width of a text: that in the widest of the common fonts.
pub(super) fn width(text: &str, size: f64) -> f64 {
    let widths = text.chars().map(|character| match character {
        'f' | 'i' | 'j' | 'l' | 'r' | 't' | ' ' | '.' | ',' | ':' | ';' | '|' | '!' | '(' | ')' | '-' => 0.42,
        'm' | 'w' | 'M' | 'W' | '@' | '%' | '+' | '=' | '<' | '>' => 0.97,
        ' '..='~' => 0.66,
        _ => 1.0,
    });
    widths.sum::<f64>() * size
}

/// The beginning of a text, at most `most` wide.
pub(super) fn shortened(text: &str, most: f64, size: f64) -> String {
    if width(text, size) <= most {
        return text.into();
    }
    let mut short = String::new();
    for character in text.chars() {
        short.push(character);
        if width(&short, size) + size > most {
            short.pop();
            break;
        }
    }
    short + "…"
}

/// A whole number with thin spaces between thousands.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push('\u{2009}');
        }
        text.push(digit);
    }
    text
}

/// A number and a word, in the plural unless the number is 1.
pub(super) fn counted(number: u64, word: &str) -> String {
    format!("{} {word}{}", grouped(number), if number == 1 { "" } else { "s" })
}

/// Centres of things in a line, in the order given, that do not overlap and are as near as possible to the desired ones (least squares).
///
/// After subtracting what the things before it need, each centre must be at least the one before: isotonic regression, in which neighbours
/// in the wrong order get their mean.
pub(super) fn spread(desired: &[f64], heights: &[f64], gap: f64) -> Vec<f64> {
    let mut offsets = vec![0.0; desired.len()];
    for index in 1..desired.len() {
        offsets[index] = offsets[index - 1] + (heights[index - 1] + heights[index]) / 2.0 + gap;
    }
    let mut blocks: Vec<(f64, usize)> = Vec::new();
    for (desired, offset) in desired.iter().zip(&offsets) {
        let mut block = (desired - offset, 1);
        while let Some((sum, count)) = blocks.pop() {
            if sum / count as f64 <= block.0 / block.1 as f64 {
                blocks.push((sum, count));
                break;
            }
            block = (sum + block.0, count + block.1);
        }
        blocks.push(block);
    }
    let means = blocks.into_iter().flat_map(|(sum, count)| std::iter::repeat_n(sum / count as f64, count));
    means.zip(offsets).map(|(mean, offset)| mean + offset).collect()
}

/// The colour of something by its number.
pub(super) fn colour(index: usize) -> &'static str {
    COLOURS[index % COLOURS.len()]
}

//! Pictures of networks and their runs, as SVG text.
//!
//! Every picture is a pure function of its arguments: the same ones give the same bytes. A picture has a white background, a title and
//! a description, and needs nothing from elsewhere. Every difference in colour is also a difference in letters, widths, dashes or
//! marks.

mod axes;
mod gantt;
mod layers;
mod lines;
mod network;
mod page;
mod placement;
mod roofline;
mod svg;
mod throughput;

pub use axes::ticks;
pub use gantt::{GanttRow, gantt};
pub use lines::{Series, lines};
pub use network::network;
pub use page::page;
pub use placement::placement;
pub use roofline::{Limit, Roof, RooflinePoint, roofline};
pub use svg::Escaped;
pub use throughput::throughput;

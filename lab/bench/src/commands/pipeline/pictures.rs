//! Pages and files of pictures.

use proofmill_console::Failure;
use proofmill_files::write_texts;
use proofmill_pipeline::{
    Device,
    explore::{Built, Exploration, Setting},
    limbs::{LANES, LIMBS},
    pictures::{self, Limit, Roof, RooflinePoint, Series},
};
use std::path::{Path, PathBuf};

/// A picture with its file's name, its heading and its description.
pub(super) struct Picture {
    name: &'static str,
    heading: String,
    text: String,
    svg: String,
}

/// Calls of the chart of calls.
const CALLS: usize = 12;

/// The network, its places and its calls.
pub(super) fn of_setting(built: &Built, device: &Device) -> Vec<Picture> {
    let Built { graph, kernels, placements, outcome } = built;
    let cycles: Vec<_> = outcome.nodes.iter().map(|stage| stage.cycles).collect();
    let rows: Vec<_> = outcome
        .nodes
        .iter()
        .map(|stage| pictures::GanttRow {
            name: stage.name.clone(),
            spans: stage.spans.iter().copied().take(CALLS).collect(),
        })
        .collect();
    let picture = |name, heading: &str, text: &str, svg| Picture {
        name,
        heading: heading.to_owned(),
        text: text.to_owned(),
        svg,
    };
    vec![
        picture(
            "network",
            "Network",
            "A tile for each node, with the cycles of a call; the longest path is the thick one.",
            pictures::network(graph, Some(&cycles)),
        ),
        picture(
            "places",
            "Places",
            "The pipelines on the grid, with the tiles' memory and the streams between nodes.",
            pictures::placement(graph, device, kernels.window(), placements),
        ),
        picture(
            "calls",
            "Calls",
            "When the tiles of the first pipeline work; where there is no bar, they wait.",
            pictures::gantt(&format!("{} on {}", graph.name, device.name), Some(device.tile.hertz), &rows),
        ),
    ]
}

/// Rates by the number of pipelines, and what limits them.
pub(super) fn of_exploration(
    built: &Built,
    setting: &Setting,
    exploration: &Exploration,
    published: &[Series],
) -> Vec<Picture> {
    vec![
        Picture {
            name: "throughput",
            heading: "Throughput".to_owned(),
            text: "Results a second by the number of pipelines, and from where their elements come.".to_owned(),
            svg: pictures::throughput(exploration, published),
        },
        Picture {
            name: "roofline",
            heading: "What limits the rate".to_owned(),
            text:
                "Each result moves some bytes: a link gives so many of them a second, the tiles so many results."
                    .to_owned(),
            svg: roofline(built, setting, exploration),
        },
    ]
}

fn roofline(built: &Built, Setting { device, shape, .. }: &Setting, exploration: &Exploration) -> String {
    let Built { graph, kernels, placements, outcome } = built;
    let (count, copies) = (placements.len(), shape.copies as f64);
    let [sources, sinks] = [graph.sources.len(), graph.sinks.len()];
    let bytes = ((sources + sinks) * LIMBS * size_of::<i32>()) as f64 / copies;
    let slowest = outcome.critical().map_or(1, |stage| stage.cycles.max(1)) as f64;
    let results = (count * kernels.vectors * LANES) as f64 * copies;
    let streams =
        (count * sources).min(device.streams.into_grid) + (count * sinks).min(device.streams.out_of_grid);
    let of_streams = (streams * device.streams.bytes_per_cycle) as f64 * device.tile.hertz;
    let roofs = [
        ("tiles, at the pace of the slowest", Limit::Rate(results * device.tile.hertz / slowest)),
        ("streams of the pipelines", Limit::BytesPerSecond(of_streams)),
        ("card's memory", Limit::BytesPerSecond(device.memory.bytes_per_second)),
        ("host's link, both ways", Limit::BytesPerSecond(2.0 * device.host.bytes_per_second)),
    ]
    .map(|(name, limit)| Roof { name: name.to_owned(), limit });
    let points = exploration.throughput().into_iter().filter_map(|(supply, points)| {
        let [_, rate] = *points.last()?;
        Some(RooflinePoint { name: format!("from the {}", supply.name()), bytes, rate })
    });
    let points: Vec<_> = points.collect();
    pictures::roofline(&format!("{} on {}", graph.name, device.name), "results", &roofs, &points)
}

/// Writes pictures as files of a folder, and as one page.
pub(super) fn write(
    title: &str,
    pictures: &[Picture],
    page: Option<&Path>,
    folder: Option<&Path>,
) -> Result<(), Failure> {
    let mut files: Vec<(PathBuf, String)> = Vec::new();
    if let Some(page) = page {
        let sections: Vec<_> = pictures
            .iter()
            .map(|picture| (picture.heading.as_str(), picture.text.as_str(), picture.svg.as_str()))
            .collect();
        files.push((page.to_owned(), pictures::page(title, &sections)));
    }
    if let Some(folder) = folder {
        std::fs::create_dir_all(folder).map_err(|error| Failure::io(folder, error))?;
        files.extend(
            pictures
                .iter()
                .map(|picture| (folder.join(format!("{}.svg", picture.name)), picture.svg.clone())),
        );
    }
    let files: Vec<_> = files.iter().map(|(path, text)| (path.as_path(), text.as_str())).collect();
    Ok(write_texts(&files)?)
}

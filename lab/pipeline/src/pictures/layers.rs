//! A drawing of a graph in layers (Sugiyama, Tagawa and Toda, "Methods for visual understanding of hierarchical system structures", 1981):
//! the order within each layer is that of barycentres, then all items move towards their neighbours.

use super::svg::spread;

/// Sweeps for the order, and then for the places.
const SWEEPS: usize = 24;
/// The gap between two items of a layer.
const GAP: f64 = 14.0;

/// Something that has a place in a layer.
pub(super) struct Item {
    pub(super) layer: usize,
    pub(super) height: f64,
    /// Its centre.
    pub(super) y: f64,
    /// The items that it is linked to, in layers next to its own or in its own.
    pub(super) links: Vec<usize>,
}

impl Item {
    pub(super) fn new(layer: usize, height: f64) -> Self {
        Self { layer, height, y: 0.0, links: Vec::new() }
    }

    /// Whether lines only pass here.
    pub(super) fn passes(&self) -> bool {
        self.height == 0.0
    }
}

/// Gives all items places that do not overlap, with few crossings of links. The uppermost item begins at 0; returns where the lowest ends.
pub(super) fn arrange(items: &mut [Item]) -> f64 {
    let depth = items.iter().map(|item| item.layer + 1).max().unwrap_or(0);
    let mut layers = vec![Vec::new(); depth];
    for (index, item) in items.iter().enumerate() {
        layers[item.layer].push(index);
    }
    for layer in &layers {
        settle(items, layer, &vec![0.0; layer.len()]);
    }
    let mut best = (crossings(items, &layers), layers.clone());
    for sweep in 0..SWEEPS {
        let forward = sweep.is_multiple_of(2);
        for step in 0..depth {
            let layer = if forward { step } else { depth - 1 - step };
            let sides = if forward { [layer.wrapping_sub(1), layer] } else { [layer + 1, layer] };
            let mut wanted: Vec<_> =
                layers[layer].iter().map(|item| (barycentre(items, *item, &sides), *item)).collect();
            wanted.sort_by(|(a, _), (b, _)| a.total_cmp(b));
            let (desired, order): (Vec<_>, Vec<_>) = wanted.into_iter().unzip();
            settle(items, &order, &desired);
            layers[layer] = order;
        }
        let found = crossings(items, &layers);
        if found < best.0 {
            best = (found, layers.clone());
        }
    }
    let (_, layers) = best;
    // The order of the best sweep, and places anew.
    for layer in &layers {
        settle(items, layer, &vec![0.0; layer.len()]);
    }
    for sweep in 0..2 * SWEEPS {
        for step in 0..depth {
            let layer = if sweep.is_multiple_of(2) { step } else { depth - 1 - step };
            let sides = [layer.wrapping_sub(1), layer, layer + 1];
            let desired: Vec<_> = layers[layer].iter().map(|item| barycentre(items, *item, &sides)).collect();
            settle(items, &layers[layer], &desired);
        }
    }
    let top = items.iter().map(|item| item.y - item.height / 2.0).fold(f64::INFINITY, f64::min);
    items.iter_mut().for_each(|item| item.y -= top);
    items.iter().map(|item| item.y + item.height / 2.0).fold(0.0, f64::max)
}

fn settle(items: &mut [Item], layer: &[usize], desired: &[f64]) {
    let heights: Vec<_> = layer.iter().map(|item| items[*item].height).collect();
    for (item, y) in layer.iter().zip(spread(desired, &heights, GAP)) {
        items[*item].y = y;
    }
}

/// The mean place of an item's neighbours in these layers; its own if it has none. Lines that pass count more for each other: they
/// become straight.
fn barycentre(items: &[Item], item: usize, layers: &[usize]) -> f64 {
    let mut sum = [0.0; 2];
    for other in items[item].links.iter().filter(|other| layers.contains(&items[**other].layer)) {
        let weight = if items[item].passes() && items[*other].passes() { 4.0 } else { 1.0 };
        sum = [sum[0] + weight * items[*other].y, sum[1] + weight];
    }
    if sum[1] == 0.0 { items[item].y } else { sum[0] / sum[1] }
}

/// How many pairs of links between neighbouring layers cross.
fn crossings(items: &[Item], layers: &[Vec<usize>]) -> usize {
    let mut count = 0;
    for layer in layers {
        let mut ends: Vec<f64> = Vec::new();
        for item in layer {
            let right = items[*item].links.iter().filter(|other| items[**other].layer > items[*item].layer);
            let mut right: Vec<_> = right.map(|other| items[*other].y).collect();
            right.sort_by(f64::total_cmp);
            count += right.iter().map(|y| ends.len() - ends.partition_point(|end| end <= y)).sum::<usize>();
            for y in right {
                ends.insert(ends.partition_point(|end| *end <= y), y);
            }
        }
    }
    count
}

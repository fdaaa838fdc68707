//! LuaJIT: scripts in this repository, one process per thread.

use super::{Context, Obstacle, PlatformJob, PreparedJob, Quantity, failed, folder::Folder, timing};
use crate::{
    process::{self, Partner},
    record::Clock,
};
use std::path::Path;

const HARNESS: &str = include_str!("../../../../lab/platform/lua/harness.lua");

/// Name, script and answer. Answers come from the Benchmarks Game where it publishes one for that size
/// (`n-body`'s first two, `fannkuch`, `spectral-norm`). The others were computed in another way: `mandelbrot`
/// and `rewrite` in Python, `pi-digits` with Gibbons' spigot, `binary-trees` from 2^(d+1) - 1 nodes per tree.
/// `sieve` is a well-known count.
const SCRIPTS: [(&str, &str, &str); 8] = [
    (
        "binary-trees",
        include_str!("../../../../lab/platform/lua/binary_trees.lua"),
        "65535 507904 523264 524224 32767",
    ),
    (
        "n-body",
        include_str!("../../../../lab/platform/lua/n_body.lua"),
        "-0.169075164 -0.169087605 -0.169079859",
    ),
    ("spectral-norm", include_str!("../../../../lab/platform/lua/spectral_norm.lua"), "1.274224116"),
    ("fannkuch", include_str!("../../../../lab/platform/lua/fannkuch.lua"), "8629 30"),
    ("mandelbrot", include_str!("../../../../lab/platform/lua/mandelbrot.lua"), "2751bc98"),
    (
        "pi-digits",
        include_str!("../../../../lab/platform/lua/pi_digits.lua"),
        "31415926535897932384 21384146951941511609",
    ),
    ("sieve", include_str!("../../../../lab/platform/lua/sieve.lua"), "148933"),
    ("rewrite", include_str!("../../../../lab/platform/lua/rewrite.lua"), "1000 24 97865 217865"),
];

pub(super) fn jobs(threads: u32) -> Vec<PlatformJob> {
    SCRIPTS.iter().map(|&(name, text, answer)| job(name, text, answer, threads)).collect()
}

fn job(name: &'static str, text: &'static str, answer: &'static str, threads: u32) -> PlatformJob {
    PlatformJob {
        family: "luajit",
        implementation: "luajit",
        threads,
        clock: if threads == 1 { Clock::Cpu } else { Clock::Wall },
        subjects: vec![Quantity { benchmark: name.to_owned(), size: None, amount: 1.0, unit: "runs" }],
        prepare: Box::new(move |context| {
            let program = context.find("luajit", "luajit2")?;
            let io = |error: std::io::Error| {
                Obstacle::Failed(format!("luajit's script cannot be written: {error}"))
            };
            let folder = Folder::new().map_err(io)?;
            let script = folder.path().join(name);
            std::fs::write(&script, format!("{text}{HARNESS}")).map_err(io)?;
            let named = format!("luajit's {name}");
            let mut partners = Vec::new();
            for _ in 0..threads {
                partners.push(start(&program, &script, &named, context)?);
            }
            let mut version = None;
            for partner in &mut partners {
                let ready = partner.receive().map_err(failed(&named))?;
                let reported = ready.strip_prefix("ready ");
                version = Some(
                    reported.ok_or_else(|| format!("{named}: expected ready, found {ready:?}"))?.to_owned(),
                );
            }
            let sample = move || {
                // The script must exist until the last sample.
                let _folder = &folder;
                Ok(vec![timing::sample(&mut partners, threads == 1, answer, &named, context)?])
            };
            Ok(PreparedJob {
                version,
                bytes_out: None,
                answer: Some(answer.to_owned()),
                sample: Box::new(sample),
            })
        }),
    }
}

fn start(program: &Path, script: &Path, named: &str, context: &Context<'_>) -> Result<Partner, Obstacle> {
    let mut command = process::command(program);
    command.arg(script);
    Partner::start(command, context.patience()).map_err(failed(named))
}

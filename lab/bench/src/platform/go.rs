//! Go's standard library, measured by a program in this repository that is built when it is first needed.

use super::{Context, Obstacle, PAGE, PlatformJob, PreparedJob, Quantity, failed, folder::Folder, timing};
use crate::{
    process::{self, Partner},
    record::Clock,
};
use std::{fs, path::PathBuf, rc::Rc, time::Duration};

const SOURCES: [(&str, &str); 4] = [
    ("go.mod", include_str!("../../../../lab/platform/go/go.mod")),
    ("main.go", include_str!("../../../../lab/platform/go/main.go")),
    ("works.go", include_str!("../../../../lab/platform/go/works.go")),
    ("page.html", PAGE),
];

/// Families and benchmarks, with the program's names for them.
const BENCHMARKS: [(&str, &[&str]); 4] = [
    (
        "go-crypto",
        &[
            "rsa2048-sign",
            "rsa2048-verify",
            "ecdsa-p256-sign",
            "ecdsa-p256-verify",
            "aes-128-gcm",
            "aes-256-gcm",
            "sha256",
        ],
    ),
    ("go-gzip", &["compress-1", "compress-6", "compress-9", "decompress"]),
    ("go-regexp", &["easy", "medium", "hard", "links"]),
    ("go-strings", &["replacer", "escape", "unescape", "fields"]),
];

/// Time limit of the build: with an empty cache, Go also compiles its standard library.
const BUILD: Duration = Duration::from_secs(300);
/// The program's answer when its checks have passed.
const ANSWER: &str = "checked";

/// The program, in a folder that is removed on drop.
pub(super) struct GoProgram {
    path: PathBuf,
    _folder: Folder,
}

pub(super) fn jobs(threads: u32) -> Vec<PlatformJob> {
    let jobs = BENCHMARKS
        .iter()
        .flat_map(|&(family, names)| names.iter().map(move |name| job(family, name, threads)));
    jobs.collect()
}

fn job(family: &'static str, name: &'static str, threads: u32) -> PlatformJob {
    let (amount, unit) = work(family, name);
    PlatformJob {
        family,
        implementation: "go",
        threads,
        clock: if threads == 1 { Clock::Cpu } else { Clock::Wall },
        subjects: vec![Quantity { benchmark: name.to_owned(), size: None, amount, unit }],
        prepare: Box::new(move |context| {
            let program = Rc::clone(
                context.go.get_or_init(|| build(context).map(Rc::new)).as_ref().map_err(Clone::clone)?,
            );
            let named = format!("go's {family}/{name}");
            let mut command = process::command(&program.path);
            command.args([format!("{family}/{name}"), threads.to_string()]);
            let mut partner = Partner::start(command, context.patience()).map_err(failed(&named))?;
            let ready = partner.receive().map_err(failed(&named))?;
            let version = ready
                .strip_prefix(&format!("ready {amount} {unit} "))
                .ok_or_else(|| {
                    Obstacle::Failed(format!("{named}: expected ready {amount} {unit}, found {ready:?}"))
                })?
                .to_owned();
            let sample = move || {
                let partners = std::slice::from_mut(&mut partner);
                // The program's file must exist until the last sample.
                let _program = &program;
                Ok(vec![timing::sample(partners, threads == 1, ANSWER, &named, context)?])
            };
            Ok(PreparedJob {
                version: Some(version),
                bytes_out: None,
                answer: None,
                sample: Box::new(sample),
            })
        }),
    }
}

/// Amount and unit of work per call; the program must report the same.
fn work(family: &str, name: &str) -> (f64, &'static str) {
    match (family, name) {
        (_, name) if name.ends_with("-sign") => (1.0, "signatures"),
        (_, name) if name.ends_with("-verify") => (1.0, "verifications"),
        ("go-crypto", _) => (16384.0, "bytes"),
        ("go-regexp", name) if name != "links" => (32768.0, "bytes"),
        _ => (PAGE.len() as f64, "bytes"),
    }
}

fn build(context: &Context<'_>) -> Result<GoProgram, Obstacle> {
    let go = context.find("go", "golang-go")?;
    let io = |error: std::io::Error| Obstacle::Failed(format!("go's source cannot be written: {error}"));
    let folder = Folder::new().map_err(io)?;
    for (name, text) in SOURCES {
        fs::write(folder.path().join(name), text).map_err(io)?;
    }
    let path = folder.path().join("platform");
    let mut command = process::command(&go);
    command.args(["build", "-o"]).arg(&path).arg(".").current_dir(folder.path());
    // Uses only installed parts: no other toolchain, no downloaded module, no enclosing workspace.
    command.envs([
        ("GOTOOLCHAIN", "local"),
        ("GOPROXY", "off"),
        ("GOFLAGS", ""),
        ("GOWORK", "off"),
        ("CGO_ENABLED", "0"),
    ]);
    if std::env::var_os("HOME").is_none() && std::env::var_os("GOCACHE").is_none() {
        command.env("GOCACHE", folder.path().join("cache"));
    }
    process::output(command, BUILD).map_err(failed("go build"))?;
    Ok(GoProgram { path, _folder: folder })
}

//! NGINX under load from wrk: a page over TLS 1.2, rewritten by Lua and compressed by brotli for each
//! request.

use super::{
    Context, Obstacle, PAGE, PlatformJob, PreparedJob, Quantity, Sample, compression, failed, folder::Folder,
};
use crate::{
    process::{self, ProcessOutput, RunningProcess},
    record::Clock,
};
use std::{
    fs, io,
    net::{Ipv4Addr, TcpListener, TcpStream},
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::Stdio,
    thread,
    time::{Duration, Instant},
};

const CONFIGURATION: &str = include_str!("../../../../lab/platform/nginx.conf");
const CIPHER: &str = "ECDHE-ECDSA-AES128-GCM-SHA256";
/// Modules in the order in which they must be loaded, with Debian's packages.
const MODULES: [(&str, &str); 3] = [
    ("ndk_http_module.so", "libnginx-mod-http-ndk"),
    ("ngx_http_lua_module.so", "libnginx-mod-http-lua"),
    ("ngx_http_brotli_filter_module.so", "libnginx-mod-http-brotli-filter"),
];
/// Open connections per worker.
const CONNECTIONS: u32 = 16;
/// Time limit for a server to start listening.
const START: Duration = Duration::from_secs(10);
/// Attempts to start: another process may take a free port before the server does.
const TRIES: usize = 3;

pub(super) fn jobs(threads: u32) -> Vec<PlatformJob> {
    vec![PlatformJob {
        family: "https",
        implementation: "nginx",
        threads,
        clock: Clock::Wall,
        subjects: vec![Quantity {
            benchmark: "lua-brotli-5".to_owned(),
            size: None,
            amount: 1.0,
            unit: "requests",
        }],
        prepare: Box::new(move |context| {
            let programs = Programs::find(context)?;
            let server = Server::start(&programs, threads, context)?;
            let bytes = fetch(&programs, &server, context)?;
            let version = programs.version.clone();
            let sample = move || Ok(vec![load(&programs, &server, threads, context)?]);
            Ok(PreparedJob {
                version: Some(version),
                bytes_out: Some(bytes),
                answer: None,
                sample: Box::new(sample),
            })
        }),
    }]
}

struct Programs {
    nginx: PathBuf,
    /// The folder of NGINX's modules.
    modules: PathBuf,
    version: String,
    openssl: PathBuf,
    wrk: PathBuf,
}

impl Programs {
    fn find(context: &Context<'_>) -> Result<Self, Obstacle> {
        let nginx = context.find("nginx", "nginx")?;
        let (openssl, wrk) = (context.find("openssl", "openssl")?, context.find("wrk", "wrk")?);
        let mut command = process::command(&nginx);
        command.arg("-V");
        let output = process::output(command, context.options.patience).map_err(failed("nginx -V"))?;
        let modules = modules_path(&output.stderr).unwrap_or_else(|| PathBuf::from("/usr/lib/nginx/modules"));
        for (module, package) in MODULES {
            if !modules.join(module).is_file() {
                return Err(Obstacle::Absent(format!("apt-get install {package}")));
            }
        }
        let version =
            output.stderr.lines().find_map(|line| line.strip_prefix("nginx version: ")).unwrap_or("nginx");
        Ok(Self { version: version.replace('/', " "), nginx, modules, openssl, wrk })
    }
}

/// Parses `configure arguments: ... --modules-path=/usr/lib/nginx/modules ...`.
fn modules_path(configuration: &str) -> Option<PathBuf> {
    configuration.split_whitespace().find_map(|word| word.strip_prefix("--modules-path=")).map(PathBuf::from)
}

/// A server that listens on the loopback until this is dropped or this process ends.
struct Server {
    /// Declared first, so that it is dropped before the folder.
    running: RunningProcess,
    port: u16,
    folder: Folder,
}

impl Server {
    fn start(programs: &Programs, workers: u32, context: &Context<'_>) -> Result<Self, Obstacle> {
        let mut obstacle = Obstacle::Failed("nginx was not started".to_owned());
        for _ in 0..TRIES {
            match Self::try_start(programs, workers, context) {
                Ok(server) => return Ok(server),
                Err(reason) => obstacle = reason,
            }
        }
        Err(obstacle)
    }

    fn try_start(programs: &Programs, workers: u32, context: &Context<'_>) -> Result<Self, Obstacle> {
        let io = |error: io::Error| Obstacle::Failed(format!("nginx cannot be set up: {error}"));
        let folder = Folder::new().map_err(io)?;
        let root = folder.path();
        // If root started the server, its workers run as `nobody` and must be able to read the page.
        fs::set_permissions(root, fs::Permissions::from_mode(0o711)).map_err(io)?;
        fs::create_dir(root.join("pages")).map_err(io)?;
        fs::write(root.join("pages/index.html"), PAGE).map_err(io)?;
        certify(&programs.openssl, root, context)?;
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
            .and_then(|listener| listener.local_addr())
            .map_err(io)?
            .port();
        let modules =
            MODULES.map(|(module, _)| format!("load_module {};\n", programs.modules.join(module).display()));
        let configuration = CONFIGURATION
            .replace("@MODULES@", &modules.concat())
            .replace("@WORKERS@", &workers.to_string())
            .replace("@PORT@", &port.to_string());
        fs::write(root.join("nginx.conf"), configuration).map_err(io)?;
        let mut command = process::command(&programs.nginx);
        command.arg("-p").arg(root).args(["-c", "nginx.conf"]).stdout(Stdio::null()).stderr(Stdio::null());
        let running = RunningProcess::start(command).map_err(io)?;
        let mut server = Self { running, port, folder };
        server.wait()?;
        Ok(server)
    }

    /// Waits until the server listens.
    fn wait(&mut self) -> Result<(), Obstacle> {
        let deadline = Instant::now() + START;
        while Instant::now() < deadline {
            let ended = self.running.ended().ok().flatten();
            if let Some(status) = ended {
                let log = fs::read_to_string(self.folder.path().join("error.log")).unwrap_or_default();
                let reason =
                    log.lines().rev().find(|line| line.contains("[emerg]") || line.contains("[error]"));
                return Err(Obstacle::Failed(format!(
                    "nginx ended with {status}: {}",
                    reason.unwrap_or("no reason logged")
                )));
            }
            if TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).is_ok() {
                return Ok(());
            }
            thread::sleep(Duration::from_millis(10));
        }
        Err(Obstacle::Failed(format!("nginx did not listen within {} s", START.as_secs())))
    }

    fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }
}

/// Makes a P-256 key and a self-signed certificate.
fn certify(openssl: &Path, folder: &Path, context: &Context<'_>) -> Result<(), Obstacle> {
    let mut command = process::command(openssl);
    command.args([
        "req",
        "-x509",
        "-batch",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:P-256",
        "-nodes",
        "-days",
        "2",
    ]);
    command
        .args(["-subj", "/CN=localhost", "-keyout", "key.pem", "-out", "certificate.pem"])
        .current_dir(folder);
    process::output(command, context.options.patience).map(drop).map_err(failed("openssl req"))
}

/// Fetches the page once. Checks that the connection uses [`CIPHER`] and that the body is compressed and its
/// white space shortened. Returns the length of the body in bytes.
fn fetch(programs: &Programs, server: &Server, context: &Context<'_>) -> Result<u64, Obstacle> {
    let request = server.folder.path().join("request");
    fs::write(
        &request,
        "GET / HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: br\r\nConnection: close\r\n\r\n",
    )
    .and_then(|()| fs::File::open(&request))
    .map_err(|error| Obstacle::Failed(format!("the request cannot be written: {error}")))
    .and_then(|request| {
        let mut command = process::command(&programs.openssl);
        command.args(["s_client", "-quiet", "-tls1_2", "-cipher", CIPHER, "-connect", &server.address()]);
        command.stdin(request);
        let output =
            process::output(command, context.options.patience).map_err(failed("openssl s_client"))?;
        let body = body(&output.bytes)?;
        check(&body)?;
        Ok(body.len() as u64)
    })
}

/// The body of a response with `content-encoding: br`, with its chunks joined.
fn body(answer: &[u8]) -> Result<Vec<u8>, Obstacle> {
    let wrong =
        |found: &str| Obstacle::Failed(format!("nginx: expected a page compressed by brotli, found {found}"));
    let split = |bytes: &[u8], mark: &[u8]| bytes.windows(mark.len()).position(|window| window == mark);
    let end = split(answer, b"\r\n\r\n").ok_or_else(|| wrong("no headers"))?;
    let headers = String::from_utf8_lossy(&answer[..end]).to_ascii_lowercase();
    if !headers.starts_with("http/1.1 200") || !headers.contains("content-encoding: br") {
        return Err(wrong(&headers.lines().collect::<Vec<_>>().join(", ")));
    }
    let mut rest = &answer[end + 4..];
    if !headers.contains("transfer-encoding: chunked") {
        return Ok(rest.to_vec());
    }
    let mut body = Vec::new();
    loop {
        let line = split(rest, b"\r\n").ok_or_else(|| wrong("a chunk without length"))?;
        let length =
            std::str::from_utf8(&rest[..line]).ok().and_then(|text| usize::from_str_radix(text, 16).ok());
        let length = length.ok_or_else(|| wrong("a chunk without length"))?;
        rest = &rest[line + 2..];
        if length == 0 {
            return Ok(body);
        }
        body.extend_from_slice(rest.get(..length).ok_or_else(|| wrong("a chunk cut short"))?);
        rest = rest.get(length + 2..).ok_or_else(|| wrong("a chunk cut short"))?;
    }
}

/// Checks that the body is the rewritten page.
fn check(body: &[u8]) -> Result<(), Obstacle> {
    let page = compression::expand_brotli(body).unwrap_or_default();
    let page = String::from_utf8_lossy(&page);
    let expected = PAGE.split_whitespace().collect::<Vec<_>>().join(" ");
    let rest = page.strip_prefix(&expected).unwrap_or_default().trim();
    match rest.starts_with("<!-- ") && rest.ends_with(" -->") {
        true => Ok(()),
        false => Err(Obstacle::Failed("nginx: expected the rewritten page, found another".to_owned())),
    }
}

/// Sends requests for a sample's time.
fn load(
    programs: &Programs,
    server: &Server,
    threads: u32,
    context: &Context<'_>,
) -> Result<Sample, Obstacle> {
    let seconds = context.options.time.as_secs_f64().ceil().max(1.0);
    let mut command = process::command(&programs.wrk);
    command.args([
        format!("-t{threads}"),
        format!("-c{}", threads.saturating_mul(CONNECTIONS)),
        format!("-d{seconds}s"),
    ]);
    command.args(["-H", "Accept-Encoding: br", &format!("https://{}/", server.address())]);
    let from = context.mark();
    let patience = Duration::from_secs_f64(seconds) + context.options.patience;
    let output = process::output(command, patience).map_err(failed("wrk"))?;
    let window = from.zip(context.mark());
    Ok(Sample { seconds: 1.0 / rate(&output)?, window })
}

/// Parses `Requests/sec:   1104.59`. Failed requests are an error.
fn rate(output: &ProcessOutput) -> Result<f64, Obstacle> {
    let text = output.text();
    let wrong = |found: &str| Obstacle::Failed(format!("wrk: expected a rate of requests, found {found:?}"));
    if let Some(line) = text.lines().find(|line| line.contains("Socket errors") || line.contains("Non-2xx")) {
        return Err(wrong(line.trim()));
    }
    let line = text.lines().find_map(|line| line.strip_prefix("Requests/sec:"));
    let line = line.ok_or_else(|| wrong(text.lines().last().unwrap_or_default()))?;
    line.trim().parse().ok().filter(|rate: &f64| *rate > 0.0).ok_or_else(|| wrong(line.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output_of(text: &str) -> ProcessOutput {
        ProcessOutput { bytes: text.as_bytes().to_vec(), stderr: String::new() }
    }

    /// Recorded from wrk 4.1.0.
    #[test]
    fn rates_are_parsed_and_errors_noticed() {
        let good = "Running 1s test @ https://127.0.0.1:18443/\n  1 threads and 16 connections\n  \
                    Thread Stats   Avg      Stdev     Max   +/- Stdev\n    Latency    14.15ms    5.47ms  29.66ms   49.73%\n    \
                    Req/Sec     1.11k   378.72     1.89k    80.00%\n  1109 requests in 1.00s, 8.80MB read\n\
                    Requests/sec:   1104.59\nTransfer/sec:      8.76MB\n";
        assert_eq!(rate(&output_of(good)).unwrap(), 1104.59);
        for bad in
            ["  Non-2xx or 3xx responses: 7\n", "  Socket errors: connect 0, read 3, write 0, timeout 0\n"]
        {
            rate(&output_of(&good.replace("Requests/sec", &format!("{bad}Requests/sec")))).unwrap_err();
        }
        for bad in ["", "Requests/sec:      0.00\n", "Requests/sec: many\n", "unable to connect\n"] {
            rate(&output_of(bad)).unwrap_err();
        }
    }

    /// Recorded from Debian's nginx 1.22.1, shortened.
    #[test]
    fn the_folder_of_modules_is_read_from_nginx() {
        let configuration = "nginx version: nginx/1.22.1\nconfigure arguments: --prefix=/usr/share/nginx \
                    --modules-path=/usr/lib/nginx/modules --http-client-body-temp-path=/var/lib/nginx/body\n";
        assert_eq!(modules_path(configuration), Some(PathBuf::from("/usr/lib/nginx/modules")));
        assert_eq!(modules_path("nginx version: nginx/1.22.1\n"), None);
    }

    #[test]
    fn chunks_are_joined() {
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Encoding: br\r\n\r\n";
        let body = |rest: &str| body(format!("{head}{rest}").as_bytes());
        assert_eq!(body("3\r\nabc\r\nA\r\n0123456789\r\n0\r\n\r\n").unwrap(), b"abc0123456789");
        for wrong in ["", "3\r\nab", "x\r\nabc\r\n", "3\r\nabc\r\n", "ffffffffffffffff\r\nabc\r\n"] {
            body(wrong).unwrap_err();
        }
        super::body(b"HTTP/1.1 500 No\r\nContent-Encoding: br\r\n\r\n").unwrap_err();
        super::body(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n").unwrap_err();
    }

    #[test]
    fn a_page_that_was_not_rewritten_is_refused() {
        let compressed = |text: &str| {
            let mut room = vec![0; 2 * PAGE.len()];
            let size = brotlic::WindowSize::default();
            let mode = brotlic::CompressionMode::Generic;
            let length =
                brotlic::compress(text.as_bytes(), &mut room, brotlic::Quality::new(5).unwrap(), size, mode)
                    .unwrap();
            room.truncate(length);
            room
        };
        let short = PAGE.split_whitespace().collect::<Vec<_>>().join(" ");
        check(&compressed(&format!("{short} <!-- 1795299180.476 -->"))).unwrap();
        check(&compressed(&short)).unwrap_err();
        check(&compressed(&format!("{PAGE}<!-- 1 -->"))).unwrap_err();
        check(b"no brotli").unwrap_err();
    }
}

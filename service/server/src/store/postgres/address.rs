//! Where a PostgreSQL server is, and how it is reached: the URL, the password, TLS.

use super::super::StoreError;
use rustls::{
    ClientConfig, RootCertStore,
    pki_types::{CertificateDer, pem::PemObject},
};
use std::{env, fmt::Display, net::IpAddr, path::Path, sync::Arc, time::Duration};
use tokio_postgres::{
    Config,
    config::{Host, SslMode, TargetSessionAttrs},
};
use tokio_postgres_rustls::MakeRustlsConnect;

/// The time for one server to accept a connection.
const CONNECT: Duration = Duration::from_secs(3);

/// A server and database.
#[derive(Clone)]
pub(super) struct Address {
    /// How to connect; with the password.
    pub(super) config: Config,
    /// Certificates that are trusted; `None` for a connection without TLS.
    pub(super) tls: Option<MakeRustlsConnect>,
    /// Its name in errors, without the password.
    pub(super) place: String,
}

/// The parameters of the URL for TLS.
#[derive(Default)]
struct Security<'a> {
    mode: Option<&'a str>,
    roots: Option<&'a str>,
}

impl Address {
    /// Reads `postgres://USER:PASSWORD@HOST:PORT/DATABASE?sslmode=MODE&sslrootcert=FILE`; the password may stand in `PGPASSWORD`.
    ///
    /// Without `sslmode`, TLS is used unless the server is on this machine. With TLS, the server's certificate and name are
    /// always verified.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`], never with a part of the URL that may be a password.
    pub(super) fn of_url(url: &str) -> Result<Self, StoreError> {
        let (url, security) = split(url).ok_or_else(malformed)?;
        let mut config: Config = url.parse().map_err(|_| malformed())?;
        if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
            return Err(malformed());
        }
        if config.get_password().is_none()
            && let Some(password) = env::var_os("PGPASSWORD")
        {
            config.password(password.as_encoded_bytes());
        }
        let place = format!("PostgreSQL at {}", hosts(&config));
        let tls = match security.mode {
            Some("disable") => None,
            None if is_local(&config) && security.roots.is_none() => None,
            None | Some("require" | "verify-ca" | "verify-full") => {
                Some(tls(security.roots).map_err(|error| StoreError::unavailable(error).about(&place))?)
            }
            Some(_) => {
                let problem =
                    "sslmode: expected disable or require; with require the certificate is always verified";
                return Err(StoreError::unavailable(problem));
            }
        };
        config.ssl_mode(if tls.is_some() { SslMode::Require } else { SslMode::Disable });
        config.connect_timeout(CONNECT).tcp_user_timeout(Duration::from_secs(10));
        config.keepalives_idle(Duration::from_secs(10)).keepalives_interval(Duration::from_secs(5));
        config.keepalives_retries(3);
        if config.get_application_name().is_none() {
            config.application_name("proofmill");
        }
        if config.get_hosts().len() > 1 {
            // Of several servers, the one that is not a replica.
            config.target_session_attrs(TargetSessionAttrs::ReadWrite);
        }
        Ok(Self { config, tls, place })
    }

    /// The time for all servers to accept a connection and the password.
    pub(super) fn patience(&self) -> Duration {
        CONNECT * (self.config.get_hosts().len().clamp(1, 8) as u32 + 1)
    }
}

fn malformed() -> StoreError {
    StoreError::unavailable(
        "the database's URL is malformed: expected postgres://USER:PASSWORD@HOST:PORT/DATABASE, \
         with special characters of the password as %XX",
    )
}

/// Takes what the library does not know out of the URL's parameters.
fn split(url: &str) -> Option<(String, Security<'_>)> {
    let (_, rest) = url.split_once("://")?;
    let (credentials, rest) = rest.split_once('@').map_or((None, rest), |(head, rest)| (Some(head), rest));
    let (place, parameters) = rest.split_once('?').unwrap_or((rest, ""));
    // An `@` of the password that is not written as %40: what follows it would be taken for the host.
    if place.contains('@') {
        return None;
    }
    let mut security = Security::default();
    let mut others = Vec::new();
    for parameter in parameters.split('&').filter(|parameter| !parameter.is_empty()) {
        match parameter.split_once('=')? {
            ("sslmode", mode) => security.mode = Some(mode),
            ("sslrootcert", path) => security.roots = Some(path),
            _ => others.push(parameter),
        }
    }
    let credentials = credentials.map(|text| format!("{text}@")).unwrap_or_default();
    Some((format!("postgres://{credentials}{place}?{}", others.join("&")), security))
}

fn hosts(config: &Config) -> String {
    let ports = config.get_ports();
    let port = |index: usize| ports.get(index).or(ports.first()).copied().unwrap_or(5432);
    let named = config.get_hosts().iter().enumerate().map(|(index, host)| match host {
        Host::Tcp(name) => format!("{name}:{}", port(index)),
        Host::Unix(path) => path.display().to_string(),
    });
    let numbered =
        config.get_hostaddrs().iter().enumerate().map(|(index, ip)| format!("{ip}:{}", port(index)));
    let all: Vec<String> = if config.get_hosts().is_empty() { numbered.collect() } else { named.collect() };
    all.join(", ")
}

/// Whether all connections stay on this machine.
fn is_local(config: &Config) -> bool {
    let is_loopback = |host: &Host| match host {
        Host::Tcp(name) => name == "localhost" || name.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback()),
        Host::Unix(_) => true,
    };
    config.get_hosts().iter().all(is_loopback) && config.get_hostaddrs().iter().all(IpAddr::is_loopback)
}

fn tls(roots: Option<&str>) -> Result<MakeRustlsConnect, String> {
    let mut store = RootCertStore::empty();
    match roots {
        Some(path) => {
            let about = |error: &dyn Display| format!("sslrootcert={path}: {error}");
            for certificate in
                CertificateDer::pem_file_iter(Path::new(path)).map_err(|error| about(&error))?
            {
                let certificate = certificate.map_err(|error| about(&error))?;
                store.add(certificate).map_err(|error| about(&error))?;
            }
        }
        None => {
            store.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
    }
    if store.is_empty() {
        return Err("no root certificate is trusted: name a file by sslrootcert=FILE in the URL".to_owned());
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?;
    Ok(MakeRustlsConnect::new(config.with_root_certificates(store).with_no_client_auth()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(url: &str) -> String {
        Address::of_url(url).map(|address| address.place).expect_err("a refused URL").to_string()
    }

    #[test]
    fn errors_do_not_show_the_password() {
        for url in [
            "postgres://u:sec@ret@host/db",
            "postgres://u:secret@host:secret/db",
            "postgres://u:secret@/db",
            "postgres://u:secret@host/db?secret=secret",
            "postgres://u:secret@host/db?sslmode=secret",
            "postgres://u:secret@host/db?secret",
        ] {
            let problem = problem(url);
            assert!(!problem.contains("sec") && !problem.contains("ret@"), "{url}: {problem}");
        }
        let problem = problem("postgres://u:secret@host/db?sslmode=require&sslrootcert=/none");
        assert!(problem.contains("/none") && !problem.contains("secret"), "{problem}");
    }

    #[test]
    fn tls_is_used_unless_the_server_is_on_this_machine() {
        let has_tls = |url| Address::of_url(url).expect("a URL").tls.is_some();
        assert!(!has_tls("postgres://u@localhost/db"));
        assert!(!has_tls("postgres://u@127.0.0.1:1,[::1]:2/db"));
        assert!(!has_tls("postgres:///db?host=/var/run/postgresql"));
        assert!(!has_tls("postgres://u@example.org/db?sslmode=disable"));
        // Where there are no system certificates, that is the error.
        for url in ["postgres://u@example.org/db", "postgres://u@localhost,example.org/db"] {
            assert!(
                Address::of_url(url)
                    .map_or_else(|error| error.to_string().contains("sslrootcert"), |a| a.tls.is_some())
            );
        }
    }

    #[test]
    fn places_are_named_without_the_user() {
        let place = |url| Address::of_url(url).expect("a URL").place;
        assert_eq!(place("postgres://u:p@localhost:1/db"), "PostgreSQL at localhost:1");
        assert_eq!(place("postgresql://u@127.0.0.1,[::1]:7/db"), "PostgreSQL at 127.0.0.1:5432, ::1:7");
    }
}

//! How commands reach a service.

use super::{data::DataFolder, failure::CommandFailure};
use clap::Args;
use proofmill_server::client::{Client, is_readable_by_others, is_same_server};
use std::{
    fs, io,
    path::{Path, PathBuf},
};
use zeroize::Zeroizing;

/// Options of commands that ask a service.
#[derive(Args)]
pub(super) struct ConnectionOptions {
    /// The service [default: the one that serves from the data folder]
    #[arg(long, value_name = "URL", env = "PROOFMILL_SERVER")]
    server: Option<String>,
    /// A file with the token's secret; PROOFMILL_TOKEN is the secret itself [default: token in the data folder, for its server]
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// The certificate (PEM) of the authority that signed the server's
    #[arg(long, value_name = "FILE", env = "PROOFMILL_CA_CERT")]
    ca_cert: Option<PathBuf>,
    /// Send the token without TLS to another machine: for networks that nobody else can read
    #[arg(long, env = "PROOFMILL_INSECURE_HTTP")]
    insecure_http: bool,
    /// The server's data folder, for its address and token
    #[arg(long, value_name = "DIR", env = "PROOFMILL_DATA")]
    data: Option<PathBuf>,
}

/// Options of commands that print what the service answers.
#[derive(Args)]
pub(super) struct ClientOptions {
    #[command(flatten)]
    connection: ConnectionOptions,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

impl ClientOptions {
    /// The client.
    pub(super) fn client(&self) -> Result<Client, CommandFailure> {
        self.connection.client()
    }
}

impl ConnectionOptions {
    /// The data folder that was named.
    pub(super) fn data(&self) -> Option<&Path> {
        self.data.as_deref()
    }

    /// The client.
    pub(super) fn client(&self) -> Result<Client, CommandFailure> {
        let data = DataFolder::new(self.data.as_deref())?;
        let server = match &self.server {
            Some(server) => server.trim().to_owned(),
            None => read(&data.address(), "is `proofmill serve` running? --server names another server")?
                .trim()
                .to_owned(),
        };
        if is_readable_by_others(&server) && !self.insecure_http {
            return Err(CommandFailure::Input(format!(
                "{server}: other machines could read the token: use https, or --insecure-http in a network that nobody else can read"
            )));
        }
        let certificate = self
            .ca_cert
            .as_deref()
            .map(|path| fs::read(path).map_err(|error| CommandFailure::about(path, error)));
        Ok(Client::new(&server, &self.token(&data, &server)?, certificate.transpose()?.as_deref())?)
    }

    fn token(&self, data: &DataFolder, server: &str) -> Result<Zeroizing<String>, CommandFailure> {
        if let Some(path) = &self.token_file {
            return read(path, "expected a file with the token's secret");
        }
        match std::env::var("PROOFMILL_TOKEN") {
            Ok(secret) => Ok(Zeroizing::new(secret)),
            Err(_) => {
                let secret = read(&data.token(), "--token-file names a file with the token's secret")?;
                // No other server learns this token.
                let own = fs::read_to_string(data.address()).unwrap_or_default();
                if is_same_server(own.trim(), server) {
                    return Ok(secret);
                }
                let path = data.token();
                Err(CommandFailure::about(
                    &path,
                    format!("not the token of {server}: --token-file names a file with it"),
                ))
            }
        }
    }
}

fn read(path: &Path, advice: &str) -> Result<Zeroizing<String>, CommandFailure> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Zeroizing::new(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Err(CommandFailure::about(path, format!("there is no such file; {advice}")))
        }
        Err(error) if error.kind() == io::ErrorKind::InvalidData => {
            Err(CommandFailure::about(path, format!("not a text; {advice}")))
        }
        Err(error) => Err(CommandFailure::about(path, error)),
    }
}

/// Runs a client's command.
pub(super) fn run(command: impl Future<Output = Result<(), CommandFailure>>) -> Result<(), CommandFailure> {
    drop(rustls::crypto::ring::default_provider().install_default());
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(command)
}

/// Prints an answer as JSON.
pub(super) fn print_json(value: &impl serde::Serialize) -> Result<(), CommandFailure> {
    print(&serde_json::to_string(value).map_err(|error| CommandFailure::Input(error.to_string()))?)
}

/// Prints a line. A reader that has gone is no error.
pub(super) fn print(line: &str) -> Result<(), CommandFailure> {
    use io::Write;
    match writeln!(io::stdout(), "{line}") {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

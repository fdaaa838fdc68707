//! `keys`: adds, lists and removes keys.

use super::{
    connection::{ClientOptions, print, print_json},
    failure::CommandFailure,
    jobs::content,
};
use clap::{Args, Subcommand};
use proofmill_server::{
    client::{Client, encoded},
    http::KeyView,
    service::digest_of_file,
};
use reqwest::{
    Body, Method,
    header::{CONTENT_LENGTH, CONTENT_TYPE},
};
use std::path::{Path, PathBuf};
use tokio_util::io::ReaderStream;

/// The commands.
#[derive(Subcommand)]
pub(super) enum KeysCommand {
    /// Add a key file: a proving key, a verification key, a WASM or graph, an AIR
    Add(Add),
    /// List the token's keys
    List {
        #[command(flatten)]
        client: ClientOptions,
    },
    /// Remove a key; jobs that use it go on
    Remove {
        /// The key's name or digest
        key: String,
        #[command(flatten)]
        client: ClientOptions,
    },
}

/// Options of `keys add`.
#[derive(Args)]
pub(super) struct Add {
    /// The key file
    file: PathBuf,
    /// A name for the key, which jobs can use [default: its digest only]
    #[arg(long)]
    name: Option<String>,
    #[command(flatten)]
    client: ClientOptions,
}

impl KeysCommand {
    /// Runs the command.
    pub(super) async fn run(self) -> Result<(), CommandFailure> {
        match self {
            Self::Add(add) => add.run().await,
            Self::List { client } => list(&client).await,
            Self::Remove { key, client } => {
                let service = client.client()?;
                let path = format!("/v1/keys/{}", encoded(&key));
                show(&client, &service.json(service.request(Method::DELETE, &path)).await?)
            }
        }
    }
}

impl Add {
    async fn run(self) -> Result<(), CommandFailure> {
        let service = self.client.client()?;
        let digest = digest_of_file(&self.file).map_err(|error| CommandFailure::about(&self.file, error))?;
        let name = self.name.as_deref().map(|name| format!("?name={}", encoded(name))).unwrap_or_default();
        let path = format!("/v1/keys/{digest}{name}");
        let key = if is_there(&service, &digest).await? {
            service.json(service.request(Method::PUT, &path)).await?
        } else {
            upload(&service, &path, &self.file).await?
        };
        show(&self.client, &key)
    }
}

async fn is_there(service: &Client, digest: &str) -> Result<bool, CommandFailure> {
    match service.send(service.request(Method::GET, &format!("/v1/keys/{digest}"))).await {
        Ok(_) => Ok(true),
        Err(error) if error.status() == Some(404) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

async fn upload(service: &Client, path: &str, file: &Path) -> Result<KeyView, CommandFailure> {
    let (content, bytes) = content(file).await?;
    let request = service
        .request(Method::PUT, path)
        .header(CONTENT_TYPE, "application/octet-stream")
        .header(CONTENT_LENGTH, bytes)
        .body(Body::wrap_stream(ReaderStream::with_capacity(content, 256 << 10)));
    service.json(request).await.map_err(|error| match error.status() {
        Some(400) => CommandFailure::about(file, error),
        _ => error.into(),
    })
}

async fn list(client: &ClientOptions) -> Result<(), CommandFailure> {
    let service = client.client()?;
    let keys: Vec<KeyView> = service.json(service.request(Method::GET, "/v1/keys")).await?;
    if client.json {
        return print_json(&keys);
    }
    keys.iter().try_for_each(|key| show(client, key))
}

fn show(client: &ClientOptions, key: &KeyView) -> Result<(), CommandFailure> {
    if client.json {
        return print_json(key);
    }
    let name = key.name.as_deref().unwrap_or("-");
    print(&format!("{} {:12} {:>12} {name}", key.digest, key.facts.kind.name(), key.bytes))
}

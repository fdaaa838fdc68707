//! `token`: makes, lists and revokes tokens.

use super::{
    connection::{ClientOptions, print, print_json},
    failure::CommandFailure,
    machine::duration,
};
use clap::{Args, Subcommand};
use proofmill_server::{
    access::Scope,
    client::encoded,
    http::{NewToken, NewTokenView, TokenView},
};
use reqwest::Method;
use std::time::Duration;

/// The commands.
#[derive(Subcommand)]
pub(super) enum TokenCommand {
    /// Make a token and print its secret, which is shown only once
    New(NewTokenArguments),
    /// List the tokens
    List {
        #[command(flatten)]
        client: ClientOptions,
    },
    /// Revoke a token; its jobs go on
    Revoke {
        /// The token's name
        name: String,
        #[command(flatten)]
        client: ClientOptions,
    },
}

/// Options of `token new`.
#[derive(Args)]
pub(super) struct NewTokenArguments {
    /// The token's name
    name: String,
    /// What it allows: submit, priority, keys, work, observe, admin; several are separated by commas
    #[arg(long, value_name = "SCOPE", required = true, value_delimiter = ',')]
    scope: Vec<Scope>,
    /// After what time it expires, such as 30d
    #[arg(long, value_name = "TIME", value_parser = duration)]
    expires: Option<Duration>,
    #[command(flatten)]
    client: ClientOptions,
}

impl TokenCommand {
    /// Runs the command.
    pub(super) async fn run(self) -> Result<(), CommandFailure> {
        match self {
            Self::New(new) => new.run().await,
            Self::List { client } => list(&client).await,
            Self::Revoke { name, client } => {
                let service = client.client()?;
                service
                    .send(service.request(Method::DELETE, &format!("/v1/tokens/{}", encoded(&name))))
                    .await?;
                Ok(())
            }
        }
    }
}

impl NewTokenArguments {
    async fn run(self) -> Result<(), CommandFailure> {
        let service = self.client.client()?;
        let new = NewToken {
            name: self.name,
            scopes: self.scope.iter().map(|scope| scope.name().to_owned()).collect(),
            expires_in_s: self.expires.map(|time| time.as_secs()),
        };
        let made: NewTokenView = service.json(service.request(Method::POST, "/v1/tokens").json(&new)).await?;
        if self.client.json { print_json(&made) } else { print(&made.secret) }
    }
}

async fn list(client: &ClientOptions) -> Result<(), CommandFailure> {
    let service = client.client()?;
    let tokens: Vec<TokenView> = service.json(service.request(Method::GET, "/v1/tokens")).await?;
    if client.json {
        return print_json(&tokens);
    }
    for token in tokens {
        let state = if token.revoked_at.is_some() { "revoked" } else { "valid" };
        print(&format!("{:24} {state:8} {}", token.name, token.scopes.join(",")))?;
    }
    Ok(())
}

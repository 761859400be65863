//! `loggia token revoke` and `loggia token revoked`.

use std::{path::PathBuf, process::ExitCode};

use anyhow::{Context, bail};
use chrono::{DateTime, SecondsFormat, Utc};
use data_encoding::HEXLOWER;
use loggia_load::{open_folder, places};
use loggia_policy::settings::{Level, Settings, credential::SHA256};
use loggia_serve::revocation_record::{RevocationRecord, RevokedCredential, TokenRevocation};
use loggia_server::auth::token;
use loggia_telemetry::logs;
use loggia_text::printable;
use serde_json::json;

use crate::cli::{
    columns,
    common::{UsageError, env_default},
    database::to_database,
    settings, term,
};

/// Where revocations are recorded.
#[derive(clap::Args)]
struct RecordPlace {
    /// Settings file of the server: its tokens, its database (`state.url`) or its state folder
    #[arg(long, value_name = "FILE", env = "LOGGIA_CONFIG")]
    config: Option<PathBuf>,
    /// State folder of the server [env: LOGGIA_STATE; default: that of the settings file, or the platform's state folder]
    #[arg(long, value_name = "DIR", default_value = env_default("LOGGIA_STATE"), hide_default_value = true)]
    state: Option<PathBuf>,
}

impl RecordPlace {
    fn read_settings(&self) -> anyhow::Result<Settings> {
        Ok(self.config.as_deref().map(settings::read_and_check).transpose()?.unwrap_or_default())
    }

    fn open(&self, settings: &Settings) -> anyhow::Result<RevocationRecord> {
        let storage = &settings.state;
        let path = self.state.clone().or(storage.folder.clone()).map_or_else(places::state, Ok)?;
        let folder = open_folder(&path, to_database(storage).as_ref())?;
        Ok(RevocationRecord::new(&folder))
    }
}

/// Revoke a token on all servers that share the state folder or the database.
///
/// Running servers refuse the token within about a second, and end the streams that it opened; calls and runs that began with it
/// finish. A revocation cannot be taken back: create another token. Remove the token's entry from the settings files when it suits.
#[derive(clap::Args)]
pub struct RevokeCommand {
    /// Name of a token in the settings file, or its hash: sha256:…
    #[arg(value_name = "NAME|HASH", required_unless_present = "subject")]
    token: Option<String>,
    /// Revoke all tokens that the authorization server of the settings has issued to this subject (`sub`) so far
    #[arg(long, value_name = "SUBJECT", conflicts_with = "token")]
    subject: Option<String>,
    #[command(flatten)]
    place: RecordPlace,
}

impl RevokeCommand {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        logs::start_plain(Level::Warn);
        let settings = self.place.read_settings()?;
        let (revocation, until) = match (&self.token, &self.subject) {
            (Some(token), _) => find_token(&settings, token)?,
            (None, Some(subject)) => (to_caller(&settings, subject)?, None),
            (None, None) => bail!(UsageError("name a token, or a --subject".into())),
        };
        self.place.open(&settings)?.add(&revocation, until).context("failed to record the revocation")?;
        let what = revocation.name.as_deref().unwrap_or("the token of this hash");
        term::note(&format!("revoked: {}; running servers refuse it within a second", printable(what)));
        Ok(ExitCode::SUCCESS)
    }
}

/// Finds a token by its name or hash. Its record is needed until it expires.
fn find_token(settings: &Settings, text: &str) -> anyhow::Result<(TokenRevocation, Option<u64>)> {
    let hash = token::parse_hash(text);
    if hash.is_none() && text.starts_with(SHA256) {
        bail!(UsageError(format!("a hash is {SHA256} and 64 hexadecimal digits")));
    }
    let known = settings.auth().tokens.iter().find(|known| match hash {
        Some(hash) => known.hash == hash,
        None => known.name == text,
    });
    let Some(hash) = hash.or(known.map(|known| known.hash)) else {
        bail!(
            "the settings have no token named {}: pass the hash of its entry, or --config",
            printable(text)
        );
    };
    let until = known.and_then(|known| known.expires).and_then(|day| u64::try_from(day.0).ok());
    let name = known.map(|known| known.name.clone());
    Ok((TokenRevocation::new(RevokedCredential::Token(hash), name), until))
}

/// Names a caller of the authorization server.
fn to_caller(settings: &Settings, subject: &str) -> anyhow::Result<TokenRevocation> {
    let Some(oauth) = &settings.auth().oauth else {
        bail!("the settings name no authorization server (`auth.oauth`): pass its settings file by --config");
    };
    let name = loggia_server::auth::caller_name(&oauth.issuer, subject);
    Ok(TokenRevocation::new(RevokedCredential::Caller(name.clone()), Some(name)))
}

/// List revoked tokens, the oldest revocation first.
///
/// A token that has expired since then is not listed.
#[derive(clap::Args)]
pub struct RevokedCommand {
    #[command(flatten)]
    place: RecordPlace,
    /// Print JSON Lines
    #[arg(long)]
    json: bool,
}

const HEAD: [&str; 3] = ["caller", "revoked", "token"];

impl RevokedCommand {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        logs::start_plain(Level::Warn);
        let settings = self.place.read_settings()?;
        let listed =
            self.place.open(&settings)?.list().context("failed to read the list of revoked tokens")?;
        if self.json {
            for TokenRevocation { what, name, at } in &listed {
                let hash = to_hash(what);
                term::print(&json!({"caller": name, "revoked": to_time(*at), "hash": hash}).to_string());
            }
        } else if listed.is_empty() {
            term::note("no token is revoked");
        } else {
            let rows: Vec<[String; 3]> = listed.iter().map(to_row).collect();
            term::print(&match term::stdout_is_terminal() {
                true => columns::build_table(&HEAD, &rows, HEAD.len()).to_string(),
                false => columns::tab_separated(&HEAD, &rows),
            });
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn to_row(revocation: &TokenRevocation) -> [String; 3] {
    let TokenRevocation { what, name, at } = revocation;
    let token = to_hash(what).unwrap_or_else(|| "all that were issued before".to_owned());
    [printable(name.as_deref().unwrap_or_default()).into_owned(), to_time(*at), token]
}

/// Hash of an own token.
fn to_hash(what: &RevokedCredential) -> Option<String> {
    let RevokedCredential::Token(hash) = what else { return None };
    Some(format!("{SHA256}{}", HEXLOWER.encode(hash)))
}

fn to_time(seconds: u64) -> String {
    let time = i64::try_from(seconds).ok().and_then(|seconds| DateTime::<Utc>::from_timestamp(seconds, 0));
    time.map(|time| time.to_rfc3339_opts(SecondsFormat::Secs, true)).unwrap_or_default()
}

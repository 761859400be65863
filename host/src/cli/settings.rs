//! Reads a server's settings from its file.

use std::{
    fs::File,
    io::{self, Read},
    net::{IpAddr, SocketAddr},
    path::{Path, PathBuf},
};

use anyhow::{Context, anyhow};
use loggia_gate::call::TARGET as AUDIT;
use loggia_load::places;
use loggia_login::listener_url;
use loggia_policy::settings::{Http, PinMode, Settings, SettingsError, SettingsReading};
use loggia_postgres::DatabaseAccess;
use loggia_sandbox::ArtifactDigest;
use loggia_server::{CARD_SUFFIX, ENDPOINT_PATH, auth, auth::Authenticator};
use loggia_text::units::format_bytes;

use super::database::to_database;

/// Maximum size of a settings file.
const MAX_BYTES: u64 = 1 << 20;

/// Warning for authentication settings over stdio, which has a single caller.
const AUTH_OVER_STDIO: &str = "`auth` has no effect over stdio, where the client is the process that started the \
                               server; it applies to HTTP (`[http]` or --http)";

/// Reads a settings file. Calls `look` with its valid parts before problems are reported, since they choose the log
/// format.
///
/// # Errors
///
/// All problems, one per line; or that the file cannot be read.
pub fn read_file(file: &Path, look: impl FnOnce(&Settings)) -> anyhow::Result<Settings> {
    let reading = read_with_keys(file)?;
    look(&reading.settings);
    reading.finish().map_err(|error| error_by_line(file, &error))
}

/// Reads a settings file without command line, and checks it as a whole.
///
/// # Errors
///
/// Those of [`read_file`], and conflicts between settings.
pub fn read_and_check(file: &Path) -> anyhow::Result<Settings> {
    let mut reading = read_with_keys(file)?;
    for SettingsConflict { keys, message } in find_conflicts(&reading.settings) {
        reading.add(keys, &message);
    }
    for (name, component) in missing_guards(&reading.settings) {
        let message = format!("the guard `{name}` is missing: there is no file {}", component.display());
        reading.add(&[&format!("guards.{name}.component")], &message);
    }
    reading.finish().map_err(|error| error_by_line(file, &error))
}

/// Rereads the settings of a running server. Skips the key file, which its user checks: tokens can be revoked even
/// while it is unreadable.
///
/// # Errors
///
/// Those of [`read_file`], on one line for the log.
pub fn reread_file(file: &Path) -> anyhow::Result<Settings> {
    start_reading(file)?.finish().map_err(|error| anyhow!("{}: {error}", file.display()))
}

/// Lists the guards whose files are missing. A server starts without them, and makes none of the calls that they would look at.
fn missing_guards(settings: &Settings) -> Vec<(String, PathBuf)> {
    let missing = settings.guards.iter().filter(|(_, guard)| !guard.component.is_file());
    missing.map(|(name, guard)| (name.clone(), guard.component.clone())).collect()
}

fn read_with_keys(file: &Path) -> anyhow::Result<SettingsReading> {
    let mut reading = start_reading(file)?;
    if let Some(problem) = reading.jwks.as_ref().and_then(auth::check_key_file) {
        reading.add(&["auth.oauth.jwks"], &problem.to_string());
    }
    Ok(reading)
}

fn start_reading(file: &Path) -> anyhow::Result<SettingsReading> {
    let text = read_text(file).with_context(|| format!("failed to read {}", file.display()))?;
    let folder = base_folder(file).with_context(|| format!("failed to resolve {}", file.display()))?;
    Ok(SettingsReading::new(&text, &places::setting(&folder)))
}

fn error_by_line(file: &Path, error: &SettingsError) -> anyhow::Error {
    anyhow!("{}:\n{}", file.display(), error.lines())
}

/// Writes to the audit trail which settings a server starts with.
pub fn audit_file(file: &Path) {
    // A pipe was read, and cannot be read again.
    let text = file.is_file().then(|| read_text(file).ok()).flatten();
    let digest = text.map(|text| format!("sha256:{}", ArtifactDigest::of(text.as_bytes())));
    let settings = file.display();
    tracing::debug!(
        target: AUDIT, event = "settings", %settings, digest, outcome = "in_use", "started with the settings of {settings}"
    );
}

/// Reads the text of a settings file, which may be a pipe or endless.
///
/// # Errors
///
/// If it cannot be read or is too large.
pub fn read_text(file: &Path) -> io::Result<String> {
    let mut text = String::new();
    File::open(file)?.take(MAX_BYTES + 1).read_to_string(&mut text)?;
    if text.len() as u64 > MAX_BYTES {
        return Err(io::Error::other(format!("it is larger than {}", format_bytes(MAX_BYTES))));
    }
    Ok(text)
}

/// Returns the folder at which relative paths of the file start.
///
/// # Errors
///
/// If the current folder does not exist.
pub fn base_folder(file: &Path) -> io::Result<PathBuf> {
    let file = std::path::absolute(file)?;
    Ok(file.parent().unwrap_or(&file).to_owned())
}

/// A conflict between settings.
struct SettingsConflict {
    /// Keys of the settings.
    keys: &'static [&'static str],
    message: String,
}

/// Checks the settings as a whole.
///
/// # Errors
///
/// All conflicts, with fixes.
pub fn check(settings: &Settings) -> anyhow::Result<()> {
    let messages: Vec<String> =
        find_conflicts(settings).into_iter().map(|conflict| conflict.message).collect();
    if messages.is_empty() { Ok(()) } else { Err(anyhow!(messages.join("; "))) }
}

fn find_conflicts(settings: &Settings) -> Vec<SettingsConflict> {
    let mut wrong = Vec::new();
    wrong.extend(database_conflict(settings));
    wrong.extend(profile_conflict(settings));
    wrong.extend(card_conflicts(settings));
    wrong.extend(webhook_conflict(settings));
    wrong.extend(telemetry_conflict(settings));
    let Some(http) = &settings.http else { return wrong };
    wrong.extend(anonymous_conflict(http, settings));
    if let Some(admin) = settings.admin.as_ref().filter(|admin| addresses_collide(http.listen, admin.listen))
    {
        let message = format!(
            "the admin listener cannot use {}: HTTP is served on {}; choose another port",
            admin.listen, http.listen
        );
        wrong.push(SettingsConflict { keys: &["admin.listen", "http.listen"], message });
    }
    wrong
}

/// Finds a database that could not be connected to, whatever its server says.
fn database_conflict(settings: &Settings) -> Option<SettingsConflict> {
    let Err(error) = DatabaseAccess::new(&to_database(&settings.state)?) else { return None };
    Some(SettingsConflict { keys: &["state.url", "state"], message: format!("`state.url`: {error}") })
}

/// Finds a token that is bound to a profile that does not exist.
fn profile_conflict(settings: &Settings) -> Option<SettingsConflict> {
    let bound = settings.auth().tokens.iter().filter_map(|token| Some((token, token.profile.as_ref()?)));
    let (token, profile) = bound.into_iter().find(|(_, name)| !settings.profile.contains_key(*name))?;
    let message = format!(
        "the token {:.80?} is bound to the profile `{profile}`, but there is no [profile.{profile}]",
        token.name
    );
    Some(SettingsConflict { keys: &["auth.tokens", "profile"], message })
}

/// Finds a webhook whose messages could not be signed.
fn webhook_conflict(settings: &Settings) -> Option<SettingsConflict> {
    let approvals = &settings.approvals;
    let is_unsigned = approvals.webhook.is_some() && approvals.webhook_secret.is_none();
    let message = "`approvals.webhook` needs `approvals.webhook-secret`, which signs its messages".to_owned();
    is_unsigned.then_some(SettingsConflict { keys: &["approvals.webhook", "approvals"], message })
}

/// Finds headers for a collector that would be sent in the clear.
fn telemetry_conflict(settings: &Settings) -> Option<SettingsConflict> {
    let telemetry = settings.telemetry.as_ref()?;
    let is_exposed = telemetry.endpoint.as_ref().is_some_and(|endpoint| !endpoint.is_private());
    let message =
        "`telemetry.headers` need an https:// endpoint, or one of this machine: change `telemetry.endpoint`";
    (is_exposed && !telemetry.headers.is_empty()).then(|| SettingsConflict {
        keys: &["telemetry.headers", "telemetry.endpoint"],
        message: message.to_owned(),
    })
}

/// Finds what a server card says that the rest of the settings contradicts.
fn card_conflicts(settings: &Settings) -> Vec<SettingsConflict> {
    let mut wrong = Vec::new();
    let Some(card) = &settings.card else { return wrong };
    if let Some(name) = card.profile.keys().find(|name| !settings.profile.contains_key(*name)) {
        let message = format!("[card.profile.{name}] describes a profile, but there is no [profile.{name}]");
        wrong.push(SettingsConflict { keys: &["card.profile"], message });
    }
    let taken = CARD_SUFFIX.trim_start_matches('/');
    if settings.profile.contains_key(taken) {
        let message = format!(
            "the profile `{taken}` would be served where the server card is, at {ENDPOINT_PATH}{CARD_SUFFIX}; rename the profile"
        );
        wrong.push(SettingsConflict { keys: &["profile.server-card"], message });
    }
    let resource = settings.auth().resource.as_ref().filter(|_| settings.auth().oauth.is_some());
    if let Some(resource) = resource.filter(|resource| !card.url.is_same(&resource.url)) {
        let message = format!(
            "`card.url` is {}, but `auth.resource` is {}: clients that follow the card would refuse the authorization server, \
             which names another resource; use the same URL",
            card.url.as_str(),
            resource.written
        );
        wrong.push(SettingsConflict { keys: &["card.url", "auth.resource"], message });
    }
    wrong
}

/// Returns which changes of plugins wait. If other machines can reach the server, its operator is rarely the one who changes files.
pub fn pin_mode(settings: &Settings) -> PinMode {
    let is_reachable = settings.http.as_ref().is_some_and(|http| {
        !http.listen.ip().is_loopback() || http.hosts.iter().any(|host| !is_loopback_host(host))
    });
    let default = if is_reachable { PinMode::Artifact } else { PinMode::Surface };
    settings.pin.unwrap_or(default)
}

/// Finds settings that would serve unauthenticated callers without explicit permission.
fn anonymous_conflict(http: &Http, settings: &Settings) -> Option<SettingsConflict> {
    if http.allow_anonymous || !settings.auth().is_none() {
        return None;
    }
    let name = "configure callers (`auth.tokens`, by `loggia token new`, or `auth.oauth`)";
    if !http.listen.ip().is_loopback() {
        let message = format!(
            "{address} can be reached from other machines without authentication: {name}, or listen on a loopback \
             address such as 127.0.0.1:{port} behind an authenticating proxy; --allow-anonymous serves \
             unauthenticated callers",
            address = http.listen,
            port = http.listen.port()
        );
        return Some(SettingsConflict { keys: &["http.listen", "http.allow-anonymous", "auth"], message });
    }
    if settings.auth.is_some() {
        let message = format!(
            "`auth` has no credential, so everyone who can connect could call: {name}; or set `http.allow-anonymous = \
             true` to serve unauthenticated callers"
        );
        return Some(SettingsConflict { keys: &["auth", "http.allow-anonymous"], message });
    }
    let host = http.hosts.iter().find(|host| !is_loopback_host(host))?;
    let message = format!(
        "`http.hosts` has {host:.80?}, by which other machines reach this server without authentication: {name}; or, \
        if the proxy in front of it authenticates callers, set `http.allow-anonymous = true`"
    );
    Some(SettingsConflict { keys: &["http.hosts", "http.allow-anonymous", "auth"], message })
}

/// Whether a host (with an optional port) is a loopback name or address.
fn is_loopback_host(host: &str) -> bool {
    let Ok(authority) = host.parse::<http::uri::Authority>() else { return false };
    let name = authority.host().trim_end_matches('.').to_ascii_lowercase();
    let address = name.trim_matches(['[', ']']).parse::<IpAddr>();
    name == "localhost" || name.ends_with(".localhost") || address.is_ok_and(|address| address.is_loopback())
}

/// Whether two listeners cannot both have these addresses. Port 0 is different for each.
fn addresses_collide(a: SocketAddr, b: SocketAddr) -> bool {
    let every = a.ip().is_unspecified() || b.ip().is_unspecified();
    a.port() == b.port() && a.port() != 0 && a.is_ipv4() == b.is_ipv4() && (every || a.ip() == b.ip())
}

/// Warns about settings without effect.
pub fn auth_warning(settings: &Settings) -> Option<&'static str> {
    (settings.http.is_none() && !settings.auth().is_none()).then_some(AUTH_OVER_STDIO)
}

/// Warning for a card over stdio, which has no URLs.
const CARD_OVER_STDIO: &str = "`card` has no effect over stdio; it is published over HTTP (`[http]` or --http), and printed by \
                               `loggia card`";

/// Warns about a card that is not served.
pub fn card_warning(settings: &Settings) -> Option<&'static str> {
    (settings.http.is_none() && settings.card.is_some()).then_some(CARD_OVER_STDIO)
}

/// Warning for logins whose browsers would not find back.
const NO_RETURN: &str = "`[login]`: callers cannot log in from their calls, since browsers cannot return to this server: set \
                         `auth.resource` to its https:// URL, or log callers in by `loggia credential login`";

/// Warns about logins that callers cannot begin.
pub fn login_warning(settings: &Settings) -> Option<&'static str> {
    let http = settings.http.as_ref().filter(|_| !settings.login.is_empty() && !settings.auth().is_none())?;
    let resource = settings.auth().resource.as_ref().map(|resource| &resource.url);
    listener_url(resource, http.listen).is_none().then_some(NO_RETURN)
}

/// Warns about a missing plugin folder.
pub fn folder_warning(settings: &Settings) -> Option<String> {
    let folder = settings.folder.as_ref().filter(|folder| !folder.is_dir())?;
    let is =
        if folder.exists() { "is a file; use the folder that contains it" } else { "does not exist yet" };
    Some(format!("`folder`: {} {is}", folder.display()))
}

/// Builds the authenticator for these settings, which were read from `file`.
///
/// # Errors
///
/// If the key file is unusable.
pub fn build_authenticator(
    settings: &Settings,
    file: Option<&Path>,
) -> anyhow::Result<Option<Authenticator>> {
    let Some(file) = file else { return Ok(None) };
    Authenticator::new(settings.auth()).with_context(|| file.display().to_string())
}

/// Summarises on one line what a server with these settings does.
pub fn summarize(settings: &Settings) -> String {
    let folder = match &settings.folder {
        Some(folder) => folder.display().to_string(),
        None => "the folder given on the command line".into(),
    };
    let Some(http) = &settings.http else { return format!("serves {folder} over stdio") };
    let auth = settings.auth();
    let callers = match (auth.tokens.len(), &auth.oauth) {
        (0, None) => "everyone who can connect".to_owned(),
        (0, Some(oauth)) => format!("callers with tokens of {}", oauth.issuer),
        (1, None) => "the holder of one token".into(),
        (tokens, None) => format!("the holders of {tokens} tokens"),
        (1, Some(oauth)) => format!("callers with tokens of {} and the holder of one token", oauth.issuer),
        (tokens, Some(oauth)) => {
            format!("callers with tokens of {} and the holders of {tokens} tokens", oauth.issuer)
        }
    };
    format!("serves {folder} over HTTP on {} to {callers}", http.listen)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_listeners_cannot_share_an_address() {
        let check = |a: &str, b: &str, expected: bool| {
            let (a, b) = (a.parse().unwrap(), b.parse().unwrap());
            assert_eq!((addresses_collide(a, b), addresses_collide(b, a)), (expected, expected), "{a} {b}");
        };
        check("127.0.0.1:80", "127.0.0.1:80", true);
        check("127.0.0.1:80", "127.0.0.1:81", false);
        check("127.0.0.1:80", "127.0.0.2:80", false);
        check("127.0.0.1:0", "127.0.0.1:0", false);
        check("0.0.0.0:80", "127.0.0.1:80", true);
        check("[::]:80", "[::1]:80", true);
        check("0.0.0.0:80", "[::1]:80", false);
    }

    #[test]
    fn changes_wait_unless_settings_say_otherwise() {
        let public = "http.listen = '0.0.0.0:80'\nhttp.hosts = ['tools.example']\n";
        let cases = [
            ("", PinMode::Surface),
            ("http.listen = '127.0.0.1:80'\n", PinMode::Surface),
            ("http.listen = '127.0.0.1:80'\nhttp.hosts = ['localhost']\n", PinMode::Surface),
            // Behind a proxy.
            ("http.listen = '127.0.0.1:80'\nhttp.hosts = ['tools.example']\n", PinMode::Artifact),
            (public, PinMode::Artifact),
            (&format!("pin = 'open'\n{public}"), PinMode::Open),
        ];
        for (text, expected) in cases {
            let settings = SettingsReading::new(text, &places::setting(Path::new("/"))).settings;
            assert_eq!(pin_mode(&settings), expected, "{text}");
        }
    }

    #[test]
    fn only_names_of_this_machine_are_local() {
        let check = |host: &str, expected: bool| assert_eq!(is_loopback_host(host), expected, "{host}");
        for local in [
            "localhost",
            "LOCALHOST:8080",
            "localhost.",
            "a.localhost",
            "127.0.0.1",
            "127.9.9.9:1",
            "[::1]:80",
        ] {
            check(local, true);
        }
        for other in [
            "tools.example.com",
            "localhost.example.com",
            "notlocalhost",
            "10.0.0.1",
            "[::2]:80",
            "0.0.0.0",
            "*",
        ] {
            check(other, false);
        }
    }
}

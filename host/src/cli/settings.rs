//! The settings of a server from its file.

use std::{
    fs::File,
    io::{self, Read},
    net::{IpAddr, SocketAddr},
    path::{Path, PathBuf},
};

use anyhow::{Context, anyhow};
use loggia_text::units::format_bytes;

use crate::{
    config::{
        places,
        server::{Http, Reading, Settings, SettingsError},
    },
    serve::{auth, auth::Authenticator},
};

/// Largest settings file.
const LARGEST: u64 = 1 << 20;

/// Said of settings that name callers, where there is nobody to be told from another.
const OVER_STDIO: &str = "`auth` has no meaning over stdio, where the client is whoever started this; it has over \
                          HTTP, by `[http]` or --http";

/// Reads a settings file. As much of it as can be used is looked at before what is wrong is told: it says in which form.
///
/// # Errors
///
/// If it cannot be read. All that is wrong with it, on a line each.
pub fn read(file: &Path, look: impl FnOnce(&Settings)) -> anyhow::Result<Settings> {
    let reading = with_keys(file)?;
    look(&reading.settings);
    reading.finish().map_err(|error| by_line(file, &error))
}

/// The same, of settings that nothing is said beside.
///
/// # Errors
///
/// Those of [`read`], and what is wrong with the settings as a whole.
pub fn read_alone(file: &Path) -> anyhow::Result<Settings> {
    let mut reading = with_keys(file)?;
    for Together { of, said } in together(&reading.settings) {
        reading.tell_together(of, &said);
    }
    reading.finish().map_err(|error| by_line(file, &error))
}

/// Reads a settings file again whose server runs. The file of keys is looked at by whoever uses them: while it cannot be
/// read, tokens are revoked all the same.
///
/// # Errors
///
/// Those of [`read`], on one line for the log.
pub fn read_again(file: &Path) -> anyhow::Result<Settings> {
    let (reading, _) = reading(file)?;
    reading.finish().map_err(|error| anyhow!("{}: {error}", file.display()))
}

fn with_keys(file: &Path) -> anyhow::Result<Reading> {
    let (mut reading, folder) = reading(file)?;
    reading.tell(auth::check_key_file(reading.settings.auth(), &folder).into_iter().collect());
    Ok(reading)
}

/// A file, and the folder at which its paths start.
fn reading(file: &Path) -> anyhow::Result<(Reading, PathBuf)> {
    let text = text(file).with_context(|| format!("failed to read {}", file.display()))?;
    let folder = folder(file).with_context(|| format!("failed to find {}", file.display()))?;
    let mut reading = Reading::of(&text, &places::setting(&folder));
    reading.tell(auth::mistakes(reading.settings.auth(), &folder));
    Ok((reading, folder))
}

fn by_line(file: &Path, error: &SettingsError) -> anyhow::Error {
    anyhow!("{}:\n{}", file.display(), error.lines())
}

/// The text of a settings file. It may be a pipe, or something that never ends.
///
/// # Errors
///
/// If it cannot be read, or is too large to be one.
pub fn text(file: &Path) -> io::Result<String> {
    let mut text = String::new();
    File::open(file)?.take(LARGEST + 1).read_to_string(&mut text)?;
    if text.len() as u64 > LARGEST {
        return Err(io::Error::other(format!("it is larger than {}", format_bytes(LARGEST))));
    }
    Ok(text)
}

/// Where relative paths of a file start.
///
/// # Errors
///
/// If there is no current folder any more.
pub fn folder(file: &Path) -> io::Result<PathBuf> {
    let file = std::path::absolute(file)?;
    Ok(file.parent().unwrap_or(&file).to_owned())
}

/// What is wrong with several settings together.
struct Together {
    /// Which.
    of: &'static [&'static str],
    said: String,
}

/// What is wrong with settings as a whole.
///
/// # Errors
///
/// Says what to change.
pub fn check(settings: &Settings) -> anyhow::Result<()> {
    let said: Vec<String> = together(settings).into_iter().map(|Together { said, .. }| said).collect();
    if said.is_empty() { Ok(()) } else { Err(anyhow!(said.join("; "))) }
}

fn together(settings: &Settings) -> Vec<Together> {
    let mut wrong = Vec::new();
    let Some(http) = &settings.http else { return wrong };
    wrong.extend(anonymous(http, settings));
    if let Some(admin) = settings.admin.as_ref().filter(|admin| collide(http.listen, admin.listen)) {
        let said = format!(
            "the admin listener cannot have {}, where HTTP is served ({}): choose another port",
            admin.listen, http.listen
        );
        wrong.push(Together { of: &["admin.listen", "http.listen"], said });
    }
    wrong
}

/// What is wrong where callers need not say who they are, and nobody said that they need not.
fn anonymous(http: &Http, settings: &Settings) -> Option<Together> {
    if http.allow_anonymous || !settings.auth().is_none() {
        return None;
    }
    let name = "name callers (`auth.tokens`, by `loggia token new`, or `auth.oauth`)";
    if !http.listen.ip().is_loopback() {
        let said = format!(
            "{address} can be reached from other machines, and nobody would have to say who they are: {name}, or use a \
             loopback address such as 127.0.0.1:{port} behind a proxy that knows them; --allow-anonymous serves everybody",
            address = http.listen,
            port = http.listen.port()
        );
        return Some(Together { of: &["http.listen", "http.allow-anonymous", "auth"], said });
    }
    if settings.auth.is_some() {
        let said = format!(
            "`auth` names no caller, so everybody who can connect could call: {name}; or set `http.allow-anonymous = true` \
             to serve everybody"
        );
        return Some(Together { of: &["auth", "http.allow-anonymous"], said });
    }
    let host = http.hosts.iter().find(|host| !is_local(host))?;
    let said = format!(
        "`http.hosts` has {host:.80?}, a name by which other machines reach this server, and nobody would have to say who \
         they are: {name}; or, if the proxy before it lets in only callers that it knows, set \
         `http.allow-anonymous = true`"
    );
    Some(Together { of: &["http.hosts", "http.allow-anonymous", "auth"], said })
}

/// Whether a host, perhaps with a port, is a name of this machine that no other machine uses for it.
fn is_local(host: &str) -> bool {
    let Ok(authority) = host.parse::<http::uri::Authority>() else { return false };
    let name = authority.host().trim_end_matches('.').to_ascii_lowercase();
    let address = name.trim_matches(['[', ']']).parse::<IpAddr>();
    name == "localhost" || name.ends_with(".localhost") || address.is_ok_and(|address| address.is_loopback())
}

/// Whether two listeners cannot have these addresses both. Port 0 is another for each.
fn collide(a: SocketAddr, b: SocketAddr) -> bool {
    let every = a.ip().is_unspecified() || b.ip().is_unspecified();
    a.port() == b.port() && a.port() != 0 && a.is_ipv4() == b.is_ipv4() && (every || a.ip() == b.ip())
}

/// What means nothing with these settings, and does not keep them from being used.
pub fn warning(settings: &Settings) -> Option<&'static str> {
    (settings.http.is_none() && !settings.auth().is_none()).then_some(OVER_STDIO)
}

/// A folder of plugins that is not there yet.
pub fn missing_folder(settings: &Settings) -> Option<String> {
    let folder = settings.folder.as_ref().filter(|folder| !folder.is_dir())?;
    let is = if folder.exists() { "is a file: name the folder that holds it" } else { "does not exist yet" };
    Some(format!("`folder`: {} {is}", folder.display()))
}

/// What says who calls a server with these settings, which came from that file.
///
/// # Errors
///
/// All that is wrong with `[auth]`.
pub fn authenticator(settings: &Settings, file: Option<&Path>) -> anyhow::Result<Option<Authenticator>> {
    let Some(file) = file else { return Ok(None) };
    let folder = folder(file).with_context(|| format!("failed to find {}", file.display()))?;
    Authenticator::new(settings.auth(), &folder).with_context(|| file.display().to_string())
}

/// What a server with these settings does, in a line.
pub fn told(settings: &Settings) -> String {
    let folder = match &settings.folder {
        Some(folder) => folder.display().to_string(),
        None => "a folder that the command line names".into(),
    };
    let Some(http) = &settings.http else { return format!("serves {folder} over stdio") };
    let auth = settings.auth();
    let callers = match (auth.tokens.len(), &auth.oauth) {
        (0, None) => "everybody who can connect".to_owned(),
        (0, Some(oauth)) => format!("callers of {}", oauth.issuer),
        (1, None) => "the holder of one token".into(),
        (tokens, None) => format!("the holders of {tokens} tokens"),
        (1, Some(oauth)) => format!("callers of {} and the holder of one token", oauth.issuer),
        (tokens, Some(oauth)) => format!("callers of {} and the holders of {tokens} tokens", oauth.issuer),
    };
    format!("serves {folder} over HTTP on {} to {callers}", http.listen)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_listeners_cannot_have_one_address() {
        let check = |a: &str, b: &str, expected: bool| {
            let (a, b) = (a.parse().unwrap(), b.parse().unwrap());
            assert_eq!((collide(a, b), collide(b, a)), (expected, expected), "{a} {b}");
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
    fn only_names_of_this_machine_are_local() {
        let check = |host: &str, expected: bool| assert_eq!(is_local(host), expected, "{host}");
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

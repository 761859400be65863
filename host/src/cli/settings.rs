//! The settings of a server from its file.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use anyhow::{Context, bail};

use crate::{
    config::{places, server::Settings},
    serve::auth::Authenticator,
};

/// Reads a settings file.
///
/// # Errors
///
/// If it cannot be read, or something is wrong with it.
pub fn read(file: &Path) -> anyhow::Result<Settings> {
    let text = fs::read_to_string(file).with_context(|| format!("failed to read {}", file.display()))?;
    let folder = folder(file).with_context(|| format!("failed to find {}", file.display()))?;
    match Settings::parse(&text, &places::setting(&folder)) {
        Ok(settings) => Ok(settings),
        Err(problems) => bail!("{}: {problems}", file.display()),
    }
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

/// What is wrong with settings as a whole.
///
/// # Errors
///
/// Says what to change.
pub fn check(settings: &Settings) -> anyhow::Result<()> {
    let Some(http) = &settings.http else { return Ok(()) };
    if !http.listen.ip().is_loopback() && !http.allow_anonymous && settings.auth.is_none() {
        bail!(
            "{address} can be reached from other machines, and nobody would have to say who they are: name callers \
             (`auth.tokens`, by `loggia token new`, or `auth.oauth`), or use a loopback address such as 127.0.0.1:{port} \
             behind a proxy that knows them; --allow-anonymous serves everybody",
            address = http.listen,
            port = http.listen.port()
        );
    }
    Ok(())
}

/// What says who calls a server with these settings, which came from that file.
///
/// # Errors
///
/// All that is wrong with `[auth]`.
pub fn authenticator(settings: &Settings, file: Option<&Path>) -> anyhow::Result<Option<Authenticator>> {
    let Some(file) = file else { return Ok(None) };
    let folder = folder(file).with_context(|| format!("failed to find {}", file.display()))?;
    Authenticator::new(&settings.auth, &folder).with_context(|| format!("{}: `auth`", file.display()))
}

/// What a server with these settings does, in a line.
pub fn told(settings: &Settings) -> String {
    let folder = match &settings.folder {
        Some(folder) => folder.display().to_string(),
        None => "a folder that the command line names".into(),
    };
    let Some(http) = &settings.http else { return format!("serves {folder} over stdio") };
    let auth = &settings.auth;
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

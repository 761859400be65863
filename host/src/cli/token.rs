//! `loggia token`.

use std::{
    fs,
    io::{ErrorKind, Write},
    os::unix::fs::{MetadataExt, fchown},
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context, bail};
use loggia_gate::access::Scope;

use super::{settings, term};
use crate::serve::auth::token;

/// Make the tokens by which callers over HTTP are known.
#[derive(clap::Args)]
pub struct Token {
    #[command(subcommand)]
    command: Command,
}

// What each command's help says stands at its own struct.
#[derive(clap::Subcommand)]
enum Command {
    New(New),
}

/// Make a token, and print it this once.
///
/// The token alone goes to stdout, and is kept nowhere. What the server needs to know it goes to stderr, to be pasted
/// into loggia.toml, or with --file into that file: a name, a hash, and what it allows. To revoke it, take that away
/// again: a server that runs by this file notices.
#[derive(clap::Args)]
struct New {
    /// Whose it is: stands in the log, and tells callers apart
    #[arg(value_parser = name)]
    name: String,
    /// What it allows: notes:read, notes:* for all of a facade, or * for everything; several times for several
    #[arg(long = "scope", value_name = "SCOPE", required = true)]
    scopes: Vec<Scope>,
    /// The day from which on it is no longer taken (UTC), such as 2027-06-30 [default: never]
    #[arg(long, value_name = "DAY", value_parser = day)]
    expires: Option<String>,
    /// Add it to this loggia.toml
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Print JSON: token, name, hash, scopes, expires, toml
    #[arg(long)]
    json: bool,
}

fn name(text: &str) -> Result<String, &'static str> {
    token::check_name(text).map(|()| text.to_owned())
}

fn day(text: &str) -> Result<String, &'static str> {
    match token::parse_expiry(text) {
        None => Err("write the day as 2027-06-30"),
        Some(expires) if expires <= token::now() => Err("that day is past"),
        Some(_) => Ok(text.to_owned()),
    }
}

impl Token {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let Command::New(new) = self.command;
        new.run()
    }
}

impl New {
    fn run(self) -> anyhow::Result<ExitCode> {
        let made = token::generate();
        let hash = token::hash(&made);
        let toml = self.toml(&hash);
        // A token that the server does not know is not shown.
        if let Some(file) = &self.file {
            add(file, &self.name, &toml)?;
        }
        if self.json {
            let scopes: Vec<String> = self.scopes.iter().map(Scope::to_string).collect();
            let said = serde_json::json!({
                "token": made, "name": self.name, "hash": hash, "scopes": scopes, "expires": self.expires, "toml": toml,
            });
            term::out(&format!("{said:#}"));
            return Ok(ExitCode::SUCCESS);
        }
        match &self.file {
            Some(file) => term::note(&format!(
                "added to {}, as a server that runs by it notices; this is the token, which is kept nowhere:",
                file.display()
            )),
            None => term::note(&format!(
                "add this to loggia.toml, as a server that runs by it notices:\n\n{toml}\nthis is the token, which is \
                 kept nowhere:"
            )),
        }
        term::out(&made);
        Ok(ExitCode::SUCCESS)
    }

    /// What the server needs to know. Names, scopes and days have nothing in them that TOML would need escaped.
    fn toml(&self, hash: &str) -> String {
        let scopes: Vec<String> = self.scopes.iter().map(|scope| format!("\"{scope}\"")).collect();
        let (name, scopes) = (&self.name, scopes.join(", "));
        let expires = self.expires.as_ref().map(|day| format!("expires = \"{day}\"\n")).unwrap_or_default();
        format!("[[auth.tokens]]\nname = \"{name}\"\nhash = \"{hash}\"\nscopes = [{scopes}]\n{expires}")
    }
}

/// Adds a token to a file, whole or not at all.
fn add(file: &Path, name: &str, toml: &str) -> anyhow::Result<()> {
    let failed = || format!("failed to add the token to {}", file.display());
    let text = match settings::text(file) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return fs::write(file, toml).with_context(failed);
        }
        text => text.with_context(failed)?,
    };
    let text = added(&text, name, toml).with_context(failed)?;
    // Where a link leads, so that the link stays one.
    let path = fs::canonicalize(file).with_context(failed)?;
    let folder = path.parent().with_context(failed)?;
    let write = || -> std::io::Result<()> {
        let its = fs::metadata(&path)?;
        let mut beside = tempfile::NamedTempFile::new_in(folder)?;
        beside.write_all(text.as_bytes())?;
        beside.as_file().set_permissions(its.permissions())?;
        let new = beside.as_file().metadata()?;
        if (new.uid(), new.gid()) != (its.uid(), its.gid()) {
            // The server, which may be somebody else, must go on reading it.
            fchown(beside.as_file(), Some(its.uid()), Some(its.gid()))?;
        }
        beside.as_file().sync_all()?;
        beside.persist(&path)?;
        Ok(())
    };
    write().with_context(failed)
}

/// The text of a `loggia.toml` with one more token.
fn added(text: &str, name: &str, toml: &str) -> anyhow::Result<String> {
    let before = names(text)?;
    if before.iter().any(|known| known == name) {
        bail!("it has a token of the name {name} already; choose another name, or take that one away");
    }
    let gap = if text.is_empty() || text.ends_with("\n\n") { "" } else { "\n" };
    let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    let text = format!("{text}{end}{gap}{toml}");
    match names(&text) {
        Ok(after) if after.len() == before.len() + 1 => Ok(text),
        _ => bail!(
            "its tokens or `auth` are written in one line; write each as a table [[auth.tokens]] of its own"
        ),
    }
}

/// The names of the tokens in a `loggia.toml`. All else in it is the server's to judge.
fn names(text: &str) -> Result<Vec<String>, toml::de::Error> {
    let file: toml::Table = text.parse()?;
    let tokens = file.get("auth").and_then(|auth| auth.get("tokens")).and_then(toml::Value::as_array);
    let name =
        |token: &toml::Value| token.get("name").and_then(toml::Value::as_str).unwrap_or_default().to_owned();
    Ok(tokens.into_iter().flatten().map(name).collect())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;
    use crate::config::server::Settings;

    fn new() -> New {
        let scopes = ["notes:read", "files:*"].map(|scope| scope.parse().unwrap()).into();
        New { name: "ci".into(), scopes, expires: Some("2099-06-30".into()), file: None, json: false }
    }

    #[test]
    fn the_toml_is_what_a_server_takes() {
        let made = token::generate();
        let settings: Settings = toml::from_str(&new().toml(&token::hash(&made))).unwrap();
        let token = &settings.auth().tokens[0];
        assert_eq!((token.name.as_str(), token.hash.as_str()), ("ci", token::hash(&made).as_str()));
        assert_eq!(token.scopes, ["notes:read", "files:*"]);
        assert_eq!(token.expires.as_deref(), Some("2099-06-30"));
        let auth = crate::serve::auth::Authenticator::new(settings.auth(), Path::new("."));
        assert!(auth.unwrap().is_some());
    }

    #[test]
    fn a_token_is_added_behind_what_a_file_says() {
        let toml = new().toml(&token::hash("a"));
        let check = |text: &str, expected: Result<&str, &str>| {
            let added = added(text, "ci", &toml).map_err(|error| error.to_string());
            match expected {
                Ok(before) => assert_eq!(added.unwrap(), format!("{before}{toml}"), "{text:?}"),
                Err(why) => assert!(added.unwrap_err().contains(why), "{text:?}"),
            }
        };
        check("", Ok(""));
        check("# mine\nfolder = \"plugins\"", Ok("# mine\nfolder = \"plugins\"\n\n"));
        check("[http]\n", Ok("[http]\n\n"));
        check("[auth]\nresource = \"https://h\"\n\n", Ok("[auth]\nresource = \"https://h\"\n\n"));
        check(
            &toml.replace("\"ci\"", "\"other\""),
            Ok(&format!("{}\n", toml.replace("\"ci\"", "\"other\""))),
        );
        check(&toml, Err("already"));
        check("auth = {}\n", Err("in one line"));
        check("[auth]\ntokens = []\n", Err("in one line"));
        check("folder = \n", Err("TOML"));
        // All else is the server's to judge, by its variables too.
        check("[http]\nlisten = \"127.0.0.1:${PORT}\"\n", Ok("[http]\nlisten = \"127.0.0.1:${PORT}\"\n\n"));
    }

    #[test]
    fn a_file_is_replaced_whole_and_stays_what_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("loggia.toml"), folder.path().join("link.toml"));
        let toml = new().toml(&token::hash("a"));
        add(&file, "ci", &toml).unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), toml);
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        symlink("loggia.toml", &link).unwrap();
        assert!(add(&link, "ci", &toml).is_err());
        add(&link, "other", &toml.replace("\"ci\"", "\"other\"")).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
        let settings: Settings = toml::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
        assert_eq!(settings.auth().tokens.len(), 2);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "nothing is left beside it");
    }

    #[test]
    fn a_day_lies_ahead() {
        assert!(day("2099-01-01").is_ok());
        assert_eq!(day("2020-01-01"), Err("that day is past"));
        assert_eq!(day("soon"), Err("write the day as 2027-06-30"));
    }
}

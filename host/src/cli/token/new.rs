//! `loggia token new`.

use std::{
    fs,
    io::ErrorKind,
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context, bail};
use loggia_policy::model::AccessScope;
use loggia_server::auth::token;

use crate::cli::{replace_file::replace_file, settings, term};

/// Create a token and print it once.
///
/// Prints only the token on stdout; it is not stored. The entry for loggia.toml (name, hash and scopes) goes to stderr,
/// or with --file into that file. To revoke the token, use `loggia token revoke`, or remove the entry: a running server reloads the file.
#[derive(clap::Args)]
pub struct NewTokenCommand {
    /// Name of the caller, for the log and for limits per caller
    #[arg(value_parser = parse_name)]
    name: String,
    /// What the token allows: notes:read, notes:* for a whole facade, or * for everything. May be repeated
    #[arg(long = "scope", value_name = "SCOPE", required = true)]
    scopes: Vec<AccessScope>,
    /// Day from which the token is rejected (UTC), such as 2027-06-30 [default: never]
    #[arg(long, value_name = "DAY", value_parser = parse_day)]
    expires: Option<String>,
    /// Add the entry to this loggia.toml
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Print JSON: token, name, hash, scopes, expires, toml
    #[arg(long)]
    json: bool,
}

fn parse_name(text: &str) -> Result<String, &'static str> {
    token::check_name(text).map(|()| text.to_owned())
}

fn parse_day(text: &str) -> Result<String, &'static str> {
    match token::parse_expiry(text) {
        None => Err("write the day as 2027-06-30"),
        Some(expires) if expires <= token::now() => Err("the day is in the past"),
        Some(_) => Ok(text.to_owned()),
    }
}

impl NewTokenCommand {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let made = token::generate();
        let hash = token::hash(&made);
        let toml = self.to_toml(&hash);
        // Stored first: a token that the server does not know must not be printed.
        if let Some(file) = &self.file {
            add_to_file(file, &self.name, &toml)?;
        }
        if self.json {
            let scopes: Vec<String> = self.scopes.iter().map(AccessScope::to_string).collect();
            let json = serde_json::json!({
                "token": made, "name": self.name, "hash": hash, "scopes": scopes, "expires": self.expires, "toml": toml,
            });
            term::print(&format!("{json:#}"));
            return Ok(ExitCode::SUCCESS);
        }
        match &self.file {
            Some(file) => term::note(&format!(
                "added to {}, which a running server reloads. The token, which is not stored:",
                file.display()
            )),
            None => term::note(&format!(
                "add this to loggia.toml, which a running server reloads:\n\n{toml}\nThe token, which is not stored:"
            )),
        }
        term::print(&made);
        Ok(ExitCode::SUCCESS)
    }

    /// Renders the entry for loggia.toml. Names, scopes and days contain nothing that TOML escapes.
    fn to_toml(&self, hash: &str) -> String {
        let scopes: Vec<String> = self.scopes.iter().map(|scope| format!("\"{scope}\"")).collect();
        let (name, scopes) = (&self.name, scopes.join(", "));
        let expires = self.expires.as_ref().map(|day| format!("expires = \"{day}\"\n")).unwrap_or_default();
        format!("[[auth.tokens]]\nname = \"{name}\"\nhash = \"{hash}\"\nscopes = [{scopes}]\n{expires}")
    }
}

/// Adds a token to a file, atomically.
fn add_to_file(file: &Path, name: &str, toml: &str) -> anyhow::Result<()> {
    let failed = || format!("failed to add the token to {}", file.display());
    let text = match settings::read_text(file) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return fs::write(file, toml).with_context(failed);
        }
        text => text.with_context(failed)?,
    };
    let text = insert_token(&text, name, toml).with_context(failed)?;
    replace_file(file, &text).with_context(failed)
}

/// Adds one token to the text of a `loggia.toml`.
fn insert_token(text: &str, name: &str, toml: &str) -> anyhow::Result<String> {
    let before = token_names(text)?;
    if before.iter().any(|known| known == name) {
        bail!("it already has a token named {name}; choose another name, or remove that token");
    }
    let gap = if text.is_empty() || text.ends_with("\n\n") { "" } else { "\n" };
    let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    let text = format!("{text}{end}{gap}{toml}");
    match token_names(&text) {
        Ok(after) if after.len() == before.len() + 1 => Ok(text),
        _ => bail!("its `auth` or its tokens are inline; write each token as a table [[auth.tokens]]"),
    }
}

/// Lists the names of the tokens in a `loggia.toml`. Only the server validates the rest.
fn token_names(text: &str) -> Result<Vec<String>, toml::de::Error> {
    let file: toml::Table = text.parse()?;
    let tokens = file.get("auth").and_then(|auth| auth.get("tokens")).and_then(toml::Value::as_array);
    let name =
        |token: &toml::Value| token.get("name").and_then(toml::Value::as_str).unwrap_or_default().to_owned();
    Ok(tokens.into_iter().flatten().map(name).collect())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use loggia_policy::{PolicySetting, settings::Settings};

    use super::*;

    fn parse(text: &str) -> Settings {
        let setting = PolicySetting { folder: Path::new("."), home: None, variable: &|_| None };
        Settings::parse(text, &setting).unwrap()
    }

    fn new() -> NewTokenCommand {
        let scopes = ["notes:read", "files:*"].map(|scope| scope.parse().unwrap()).into();
        NewTokenCommand {
            name: "ci".into(),
            scopes,
            expires: Some("2099-06-30".into()),
            file: None,
            json: false,
        }
    }

    #[test]
    fn a_server_accepts_the_toml() {
        let made = token::generate();
        let settings = parse(&new().to_toml(&token::hash(&made)));
        let token = &settings.auth().tokens[0];
        assert_eq!((token.name.as_str(), Some(token.hash)), ("ci", token::parse_hash(&token::hash(&made))));
        assert_eq!(token.scopes, new().scopes);
        assert_eq!(token.expires.map(|day| day.0), token::parse_expiry("2099-06-30"));
        let auth = loggia_server::auth::Authenticator::new(settings.auth());
        assert!(auth.unwrap().is_some());
    }

    #[test]
    fn a_token_is_appended_to_the_file() {
        let toml = new().to_toml(&token::hash("a"));
        let check = |text: &str, expected: Result<&str, &str>| {
            let added = insert_token(text, "ci", &toml).map_err(|error| error.to_string());
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
        check("auth = {}\n", Err("inline"));
        check("[auth]\ntokens = []\n", Err("inline"));
        check("folder = \n", Err("TOML"));
        // Only the server validates the rest, variables included.
        check("[http]\nlisten = \"127.0.0.1:${PORT}\"\n", Ok("[http]\nlisten = \"127.0.0.1:${PORT}\"\n\n"));
    }

    #[test]
    fn a_file_is_replaced_atomically_with_its_metadata() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("loggia.toml"), folder.path().join("link.toml"));
        let toml = new().to_toml(&token::hash("a"));
        add_to_file(&file, "ci", &toml).unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), toml);
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        symlink("loggia.toml", &link).unwrap();
        assert!(add_to_file(&link, "ci", &toml).is_err());
        let other = toml.replace("\"ci\"", "\"other\"").replace(&token::hash("a"), &token::hash("b"));
        add_to_file(&link, "other", &other).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
        let settings = parse(&fs::read_to_string(&file).unwrap());
        assert_eq!(settings.auth().tokens.len(), 2);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "nothing is left beside it");
    }

    #[test]
    fn expiry_days_are_in_the_future() {
        assert!(parse_day("2099-01-01").is_ok());
        assert_eq!(parse_day("2020-01-01"), Err("the day is in the past"));
        assert_eq!(parse_day("soon"), Err("write the day as 2027-06-30"));
    }
}

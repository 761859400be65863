//! `loggia card`.

use std::{path::PathBuf, process::ExitCode};

use anyhow::anyhow;
use loggia_policy::settings::Settings;
use loggia_server::card::ServerCards;
use loggia_text::printable;

use super::{common::UsageError, exit, settings, term};

/// Print the server card, or the server's entry for the MCP registry.
///
/// Both are made of `[card]` in the settings file, which also makes a server publish the card at /mcp/server-card and list it at
/// /.well-known/ai-catalog.json. Exits with 10 if the settings have problems or the registry would refuse the entry, and with 11
/// if there is no file or it has no `[card]`.
#[derive(clap::Args)]
pub struct CardCommand {
    /// Settings file
    #[arg(long, value_name = "FILE", env = "LOGGIA_CONFIG", default_value = "loggia.toml")]
    config: PathBuf,
    /// Print the entry for the MCP registry, server.json, which `mcp-publisher publish` takes
    #[arg(long)]
    registry: bool,
    /// The card of a profile, one of [card.profile.NAME]
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,
}

/// What a settings file without a card lacks.
const EXAMPLE: &str = "has no [card]: add one, as in\n\n\
    [card]\n\
    name = \"com.example/tools\"                 # a reverse domain name of yours, and a name\n\
    url = \"https://tools.example.com/mcp\"      # as clients know it\n\
    description = \"Notes and files of Example Ltd.\"";

impl CardCommand {
    pub fn run(&self) -> anyhow::Result<ExitCode> {
        let file = self.config.display();
        if !self.config.exists() {
            term::note(&format!("there is no {file}: --config FILE names another"));
            return Ok(ExitCode::from(exit::NOTHING));
        }
        let settings = match settings::read_and_check(&self.config) {
            Ok(settings) => settings,
            Err(error) => {
                term::print_error(&error);
                return Ok(ExitCode::from(exit::REFUSED));
            }
        };
        let Some(cards) = ServerCards::new(&settings) else {
            term::note(&format!("{file} {EXAMPLE}"));
            return Ok(ExitCode::from(exit::NOTHING));
        };
        let profile = self.profile.as_deref();
        let document = match self.registry {
            false => cards.card(profile),
            true => match cards.registry_entry(profile) {
                Ok(entry) => entry,
                Err(problem) => {
                    term::print_error(&anyhow!("{file}: {problem}"));
                    return Ok(ExitCode::from(exit::REFUSED));
                }
            },
        };
        let document = document.ok_or_else(|| self.missing_profile(&settings))?;
        // As a file would hold it.
        term::print(&format!("{document:#}"));
        let repository = settings.card.as_ref().and_then(|card| card.repository.as_ref());
        if self.registry && repository.is_some_and(|repository| !repository.is_registrable()) {
            term::note(
                "note: `repository` is left out, since the registry knows only github.com and gitlab.com",
            );
        }
        Ok(ExitCode::SUCCESS)
    }

    fn missing_profile(&self, settings: &Settings) -> UsageError {
        let name = printable(self.profile.as_deref().unwrap_or_default());
        let known = settings.card.iter().flat_map(|card| card.profile.keys().cloned()).collect::<Vec<_>>();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        UsageError(format!(
            "there is no card for a profile `{name}`: add [card.profile.{name}] with a `description`; profiles with a card: {known}"
        ))
    }
}

//! `loggia config`.

use std::{path::PathBuf, process::ExitCode};

use super::{exit, settings, term};
use crate::config::server::{Settings, reference};

/// Look at a server's settings file, loggia.toml.
#[derive(clap::Args)]
pub struct Config {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    Check(Check),
    /// Print the whole grammar of the file, in Markdown
    Reference,
    /// Print the JSON Schema of the file, for editors
    Schema,
}

/// Say all that is wrong with a settings file.
///
/// Ends with 0 if it can be used, with 10 if something is wrong with it, and with 11 if there is no such file.
#[derive(clap::Args)]
struct Check {
    /// The file
    #[arg(value_name = "FILE", default_value = "loggia.toml")]
    file: PathBuf,
}

impl Config {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        match self.command {
            Command::Reference => term::out(reference().trim_end()),
            Command::Schema => term::out(&format!("{:#}", Settings::json_schema())),
            Command::Check(Check { file }) => {
                if !file.exists() {
                    term::note(&format!("there is no {}", file.display()));
                    return Ok(ExitCode::from(exit::NOTHING));
                }
                match settings::read_alone(&file) {
                    Ok(settings) => {
                        term::out(&format!(
                            "{} can be used: it {}",
                            file.display(),
                            settings::told(&settings)
                        ));
                        if let Some(said) = settings::warning(&settings) {
                            term::note(&format!("warning: {said}"));
                        }
                        if let Some(said) = settings::missing_folder(&settings) {
                            term::note(&format!("warning: {said}"));
                        }
                    }
                    Err(error) => {
                        term::error(&error);
                        return Ok(ExitCode::from(exit::REFUSED));
                    }
                }
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

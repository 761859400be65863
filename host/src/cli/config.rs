//! `loggia config`.

use std::{path::PathBuf, process::ExitCode};

use loggia_policy::settings::{Settings, reference};

use super::{exit, settings, term};

/// Check loggia.toml, or print its reference or JSON Schema.
#[derive(clap::Args)]
pub struct ConfigCommand {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    Check(ConfigCheckCommand),
    /// Print the reference of all keys, in Markdown
    Reference,
    /// Print the JSON Schema of the file, for editors
    Schema,
}

/// Report all problems of a settings file.
///
/// Exits with 0 if the file is valid, with 10 if it has problems, and with 11 if it does not exist.
#[derive(clap::Args)]
struct ConfigCheckCommand {
    /// Settings file
    #[arg(value_name = "FILE", default_value = "loggia.toml")]
    file: PathBuf,
}

impl ConfigCommand {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        match self.command {
            Command::Reference => term::print(reference().trim_end()),
            Command::Schema => term::print(&format!("{:#}", Settings::json_schema())),
            Command::Check(ConfigCheckCommand { file }) => {
                if matches!(file.try_exists(), Ok(false)) {
                    term::note(&format!("there is no {}", file.display()));
                    return Ok(ExitCode::from(exit::NOTHING));
                }
                match settings::read_and_check(&file) {
                    Ok(settings) => {
                        term::print(&format!(
                            "{} is valid: it {}",
                            file.display(),
                            settings::summarize(&settings)
                        ));
                        if let Some(message) = settings::auth_warning(&settings) {
                            term::note(&format!("warning: {message}"));
                        }
                        if let Some(message) = settings::card_warning(&settings) {
                            term::note(&format!("warning: {message}"));
                        }
                        if let Some(message) = settings::login_warning(&settings) {
                            term::note(&format!("warning: {message}"));
                        }
                        if let Some(message) = settings::folder_warning(&settings) {
                            term::note(&format!("warning: {message}"));
                        }
                    }
                    Err(error) => {
                        term::print_error(&error);
                        return Ok(ExitCode::from(exit::REFUSED));
                    }
                }
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

//! `loggia config`.

use std::{path::PathBuf, process::ExitCode};

use super::{exit, settings, term};
use crate::config::server::{Settings, reference};

/// Look at a server's settings file, loggia.toml.
#[derive(clap::Args)]
pub struct ConfigCommand {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    Check(ConfigCheckCommand),
    /// Print the whole grammar of the file, in Markdown
    Reference,
    /// Print the JSON Schema of the file, for editors
    Schema,
}

/// Say all that is wrong with a settings file.
///
/// Ends with 0 if it can be used, with 10 if something is wrong with it, and with 11 if there is no such file.
#[derive(clap::Args)]
struct ConfigCheckCommand {
    /// The file
    #[arg(value_name = "FILE", default_value = "loggia.toml")]
    file: PathBuf,
}

impl ConfigCommand {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        match self.command {
            Command::Reference => term::print(reference().trim_end()),
            Command::Schema => term::print(&format!("{:#}", Settings::json_schema())),
            Command::Check(ConfigCheckCommand { file }) => {
                if !file.exists() {
                    term::note(&format!("there is no {}", file.display()));
                    return Ok(ExitCode::from(exit::NOTHING));
                }
                match settings::read_and_check(&file) {
                    Ok(settings) => {
                        term::print(&format!(
                            "{} can be used: it {}",
                            file.display(),
                            settings::summarize(&settings)
                        ));
                        if let Some(said) = settings::auth_warning(&settings) {
                            term::note(&format!("warning: {said}"));
                        }
                        if let Some(said) = settings::folder_warning(&settings) {
                            term::note(&format!("warning: {said}"));
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

//! `loggia audit verify`.

use std::{path::Path, process::ExitCode};

use anyhow::bail;
use loggia_audit::{AuditKey, PublicKey, TrailProblem, VerifiedTrail, verify};
use serde_json::json;

use crate::cli::{common::UsageError, exit, term};

/// Verify that no line of the trail was changed, removed, added or cut.
///
/// Reads the file and its rotated files, oldest first, and names the first line that is wrong. With the state folder of the server, a
/// cut end is found, too; with --key, the trail can be verified on another machine.
///
/// Exits with 10 if the trail was changed, and with 11 if there is none.
#[derive(clap::Args)]
pub struct VerifyCommand {
    /// Public key, as `loggia audit key` prints it; the state folder is then not read
    #[arg(long, value_name = "KEY")]
    key: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl VerifyCommand {
    pub fn run(self, file: &Path, state: &Path) -> anyhow::Result<ExitCode> {
        let (key, state) = match &self.key {
            Some(text) => {
                (PublicKey::parse(text).map_err(|error| UsageError(format!("--key {error}")))?, None)
            }
            None => match AuditKey::read(state)? {
                Some(key) => (key.public(), Some(state)),
                None => bail!(UsageError(format!(
                    "{} has no audit key: pass the server's state folder (--state DIR) or its public key (--key KEY)",
                    state.display()
                ))),
            },
        };
        let verified = verify(file, &key, state);
        if self.json {
            term::print_json(&match &verified {
                Ok(trail) => json!({
                    "ok": true, "lines": trail.lines, "first": trail.first, "last": trail.last,
                    "checkpoints": trail.checkpoints, "unsigned": trail.unsigned, "unchained": trail.unchained,
                }),
                Err(problem) => json!({ "ok": false, "problem": problem.to_string() }),
            });
        }
        match verified {
            Ok(trail) => {
                if !self.json {
                    term::print(&describe(&trail));
                }
                Ok(ExitCode::SUCCESS)
            }
            Err(problem @ TrailProblem::Io(..)) => Err(problem.into()),
            Err(problem) => {
                let code =
                    if matches!(problem, TrailProblem::Missing(_)) { exit::NOTHING } else { exit::REFUSED };
                if !self.json {
                    term::note(&problem.to_string());
                }
                Ok(ExitCode::from(code))
            }
        }
    }
}

fn describe(trail: &VerifiedTrail) -> String {
    let VerifiedTrail { lines, first, last, checkpoints, unsigned, unchained } = trail;
    let count = |number: u64, noun: &str| format!("{number} {noun}{}", if number == 1 { "" } else { "s" });
    let mut text = format!(
        "unchanged: {} ({first} to {last}), {}",
        count(*lines, "line"),
        count(*checkpoints, "checkpoint")
    );
    if *unsigned > 0 {
        text += &format!("; not signed yet: {} after the last checkpoint", count(*unsigned, "line"));
    }
    if *unchained > 0 {
        text += &format!("; not protected: {} before the chain", count(*unchained, "line"));
    }
    text
}

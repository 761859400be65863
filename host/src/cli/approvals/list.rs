//! `loggia approvals list`.

use std::process::ExitCode;

use loggia_gate::approval::{ApprovalState, StoredApproval};
use loggia_serve::approvals::{format_time, now_ms, render_approval};
use loggia_text::{printable, shorten};

use crate::cli::{columns, records::RunRecords, term};

/// List approvals, the open ones first.
#[derive(clap::Args, Default)]
pub struct ListCommand {
    /// Also list approvals that are decided, expired or withdrawn, for a week
    #[arg(long)]
    all: bool,
    /// Print JSON, one approval per line
    #[arg(long)]
    json: bool,
}

/// Approvals that are read.
const MOST: usize = 1000;
/// Characters of a question in a table.
const QUESTION: usize = 100;
const HEAD: [&str; 6] = ["approval", "state", "call", "caller", "expires", "question"];

impl ListCommand {
    pub fn run(self, records: &RunRecords) -> anyhow::Result<ExitCode> {
        let now = now_ms();
        let mut stored = records.read(Vec::new(), |store| store.approvals(MOST))?;
        stored.retain(|stored| self.all || stored.state(now) == ApprovalState::Open);
        if self.json {
            stored.iter().for_each(|stored| term::print(&render_approval(stored, now).to_string()));
        } else if stored.is_empty() {
            let open = if self.all { "" } else { "open " };
            term::note(&format!("there is no {open}approval in {}", records.place()));
        } else {
            let rows: Vec<_> = stored.iter().map(|stored| to_row(stored, now)).collect();
            term::print(&match term::stdout_is_terminal() {
                true => columns::build_table(&HEAD, &rows, HEAD.len()).to_string(),
                false => columns::tab_separated(&HEAD, &rows),
            });
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn to_row(stored: &StoredApproval, now: u64) -> [String; 6] {
    let record = &stored.record;
    let cells = [
        record.id.clone(),
        stored.state(now).as_str().to_owned(),
        format!("{}.{}", record.facade, record.action),
        record.caller.clone(),
        format_time(record.expires_ms),
        shorten(&record.question, QUESTION),
    ];
    cells.map(|text| printable(&text).into_owned())
}

//! `loggia audit query` and `tail`.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Seek, SeekFrom},
    path::Path,
    process::ExitCode,
    thread,
    time::Duration,
};

use anyhow::Context;
use loggia_audit::{AuditFilter, last_lines, list_files};
use loggia_system::FileIdentity;
use loggia_text::printable;
use serde_json::Value;

use crate::cli::{columns, exit, term};

/// Period in which new lines are looked for.
const PERIOD: Duration = Duration::from_millis(200);

/// Print lines that match all filters, the oldest first.
///
/// A table on a terminal, JSON lines in a pipe.
#[derive(clap::Args)]
pub struct QueryCommand {
    #[command(flatten)]
    filter: FilterOptions,
    /// Number of lines to print: the last ones
    #[arg(long, value_name = "NUMBER", default_value_t = 100)]
    limit: usize,
}

/// Print the last lines, and new ones as they are written, also after a rotation.
#[derive(clap::Args)]
pub struct TailCommand {
    #[command(flatten)]
    filter: FilterOptions,
    /// Number of lines to begin with
    #[arg(short = 'n', long, value_name = "NUMBER", default_value_t = 20)]
    lines: usize,
    /// Exit after these lines
    #[arg(long)]
    no_follow: bool,
}

/// What lines must have.
#[derive(clap::Args)]
struct FilterOptions {
    /// Event, such as call, refused, approval or loaded
    #[arg(long)]
    event: Option<String>,
    /// Caller
    #[arg(long)]
    caller: Option<String>,
    /// Facade (tool)
    #[arg(long)]
    facade: Option<String>,
    /// Action
    #[arg(long)]
    action: Option<String>,
    /// Outcome, such as ok or denied
    #[arg(long)]
    outcome: Option<String>,
    /// First time, in UTC: 2026-11-24T10:00, or its beginning
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    since: Option<String>,
    /// Time before which lines are printed, in the same form
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    until: Option<String>,
}

/// Parses the beginning of a time in UTC.
fn parse_time(text: &str) -> Result<String, &'static str> {
    const REST: &str = "0000-01-01T00:00:00Z";
    let end = if text.ends_with('Z') { "" } else { "Z" };
    let whole = format!("{text}{}", REST.get(text.len()..).unwrap_or(end));
    match whole.parse::<jiff::Timestamp>() {
        Ok(_) if !text.is_empty() && whole.ends_with('Z') => Ok(text.to_owned()),
        _ => Err("write a time in UTC, such as 2026-11-24T10:00, or its beginning"),
    }
}

impl FilterOptions {
    fn into_filter(self) -> AuditFilter {
        let Self { event, caller, facade, action, outcome, since, until } = self;
        AuditFilter { event, caller, facade, action, outcome, since, until }
    }
}

const HEAD: [&str; 7] = ["seq", "time", "event", "caller", "call", "outcome", "ms"];

impl QueryCommand {
    pub fn run(self, file: &Path) -> anyhow::Result<ExitCode> {
        if list_files(file).is_empty() {
            return Ok(report_missing(file));
        }
        let lines = read(file, &self.filter.into_filter(), self.limit)?;
        if term::stdout_is_terminal() {
            let rows: Vec<_> = lines.iter().map(to_row).collect();
            term::print(&columns::build_table(&HEAD, &rows, HEAD.len() - 1).to_string());
        } else {
            lines.iter().for_each(|line| term::print(&line.to_string()));
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl TailCommand {
    pub fn run(self, file: &Path) -> anyhow::Result<ExitCode> {
        if list_files(file).is_empty() {
            return Ok(report_missing(file));
        }
        let filter = self.filter.into_filter();
        let mut follower = TrailFollower::new(file)?;
        let is_terminal = term::stdout_is_terminal();
        let print = |line: &Value| match is_terminal {
            true => term::print(&to_row(line).join("  ")),
            false => term::print(&line.to_string()),
        };
        read(file, &filter, self.lines)?.iter().for_each(print);
        if self.no_follow {
            return Ok(ExitCode::SUCCESS);
        }
        loop {
            thread::sleep(PERIOD);
            let new =
                follower.read_new(file).with_context(|| format!("failed to read {}", file.display()))?;
            new.iter().filter(|line| filter.matches(line)).for_each(print);
        }
    }
}

fn read(file: &Path, filter: &AuditFilter, most: usize) -> anyhow::Result<Vec<Value>> {
    last_lines(file, filter, most).with_context(|| format!("failed to read {}", file.display()))
}

fn report_missing(file: &Path) -> ExitCode {
    term::note(&format!("{} does not exist", file.display()));
    ExitCode::from(exit::NOTHING)
}

/// Reads what is added to a file, and goes on in the next after a rotation.
struct TrailFollower {
    reader: BufReader<File>,
    identity: Option<FileIdentity>,
    /// Beginning of a line that is not whole yet.
    begun: Vec<u8>,
}

impl TrailFollower {
    /// Begins at the end of the file.
    fn new(path: &Path) -> io::Result<Self> {
        let mut follower = Self::open(path)?;
        follower.reader.seek(SeekFrom::End(0))?;
        Ok(follower)
    }

    fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let identity = FileIdentity::of_target(path).ok();
        Ok(Self { reader: BufReader::new(file), identity, begun: Vec::new() })
    }

    fn read_new(&mut self, path: &Path) -> io::Result<Vec<Value>> {
        let mut lines = self.read_rest()?;
        // Rotated: the rest of the old file was read.
        if FileIdentity::of_target(path).ok() != self.identity
            && let Ok(next) = Self::open(path)
        {
            lines.extend(self.read_rest()?);
            *self = next;
            lines.extend(self.read_rest()?);
        }
        Ok(lines)
    }

    fn read_rest(&mut self) -> io::Result<Vec<Value>> {
        let mut lines = Vec::new();
        while self.reader.read_until(b'\n', &mut self.begun)? > 0 {
            if self.begun.ends_with(b"\n") {
                lines.extend(serde_json::from_slice::<Value>(&self.begun).ok());
                self.begun.clear();
            }
        }
        Ok(lines)
    }
}

fn to_row(line: &Value) -> [String; 7] {
    let text = |name: &str| line[name].as_str().unwrap_or_default().to_owned();
    let facade = line["facade"].as_str().or(line["tool"].as_str()).unwrap_or_default();
    let call = match line["action"].as_str() {
        Some(action) => format!("{facade}.{action}"),
        None => facade.to_owned(),
    };
    let number = |name: &str| match &line[name] {
        Value::Null => String::new(),
        value => value.to_string(),
    };
    let outcome = text("outcome");
    let time = text("timestamp").chars().take(19).collect();
    let cells = [number("seq"), time, text("event"), text("caller"), call, outcome, number("ms")];
    cells.map(|cell| printable(&cell).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_begin_as_those_of_lines() {
        for time in
            ["2026", "2026-11-24", "2026-11-24T10:00", "2026-11-24T10:00:07Z", "2026-11-24T10:00:07.123"]
        {
            assert_eq!(parse_time(time).as_deref(), Ok(time));
        }
        for time in
            ["", "yesterday", "24.11.2026", "2026-11-28T99:99", "2026-11-28T19:35:20+02:00", "2026-11-24é"]
        {
            assert!(parse_time(time).is_err(), "{time}");
        }
    }
}

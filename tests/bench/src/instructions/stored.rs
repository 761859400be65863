//! Figures of the repository, and the comparison with them.

use std::{collections::BTreeMap, fmt::Write, fs, path::Path};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

/// Change that is an error if it is an increase, in percent.
const TOLERANCE: f64 = 5.0;

/// Contents of `instructions.toml`.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stored {
    /// Version of the compiler.
    pub rustc: String,
    /// Version of valgrind.
    pub valgrind: String,
    /// Instruction set.
    pub machine: String,
    /// Instructions per request.
    pub instructions: BTreeMap<String, u64>,
}

const HEAD: &str = "# Instructions per request. `loggia-bench instructions` fails if one takes 5 % more; with `--write` it writes \
                    this file.\n";

impl Stored {
    /// Reads the file.
    pub fn read(file: &Path) -> Result<Self> {
        let text = fs::read_to_string(file);
        let text = text.with_context(|| format!("reading {}: `--write` creates it", file.display()))?;
        toml::from_str(&text).with_context(|| format!("parsing {}", file.display()))
    }

    /// Writes the file.
    pub fn write(&self, file: &Path) -> Result<()> {
        let text = format!("{HEAD}{}", toml::to_string(self)?);
        fs::write(file, text).with_context(|| format!("writing {}", file.display()))
    }

    /// Renders these figures as Markdown, beside the stored ones.
    pub fn table(&self, stored: Option<&Self>) -> String {
        let mut text = String::from("| instructions | stored | now | change, % |\n|---|---:|---:|---:|\n");
        for (name, now) in &self.instructions {
            let old = stored.and_then(|stored| stored.instructions.get(name));
            let before = old.map_or("–".to_owned(), |old| grouped(*old));
            let change = old.map_or("–".to_owned(), |old| format!("{:+.1}", change(*old, *now)));
            let _ = writeln!(text, "| {name} | {before} | {} | {change} |", grouped(*now));
        }
        for line in stored.map(|stored| self.notes(stored)).unwrap_or_default() {
            let _ = writeln!(text, "\n{line}");
        }
        text
    }

    /// Says which requests take too much.
    pub fn problem(&self, stored: &Self) -> Option<String> {
        let beyond = |(name, now): (&String, &u64)| match stored.instructions.get(name) {
            None => Some(format!("{name} has no stored figure")),
            Some(old) if change(*old, *now) > TOLERANCE => {
                Some(format!("{name} takes {:.1} % more instructions", change(*old, *now)))
            }
            Some(_) => None,
        };
        let problems: Vec<String> = self.instructions.iter().filter_map(beyond).collect();
        let help = "to see what takes them, keep the profiles (`--profiles DIR`, tests/bench/README.md); if the increase is \
                    meant, write the new figures with `--write`";
        (!problems.is_empty()).then(|| format!("{}: {help}", problems.join(", ")))
    }

    /// Says what else differs.
    fn notes(&self, stored: &Self) -> Vec<String> {
        let fewer = |(name, now): (&String, &u64)| {
            let old = stored.instructions.get(name)?;
            let message = "fewer instructions: write the new figures with `--write`";
            let less = -change(*old, *now);
            (less > TOLERANCE).then(|| format!("{name} takes {less:.1} % {message}."))
        };
        let mut notes: Vec<String> = self.instructions.iter().filter_map(fewer).collect();
        let tools = [
            ("rustc", &stored.rustc, &self.rustc),
            ("valgrind", &stored.valgrind, &self.valgrind),
            ("the machine", &stored.machine, &self.machine),
        ];
        for (tool, before, now) in tools.into_iter().filter(|(_, before, now)| before != now) {
            notes.push(format!(
                "The stored figures are those of another version of {tool}: {before}, now {now}."
            ));
        }
        notes
    }
}

/// Change in percent.
fn change(old: u64, now: u64) -> f64 {
    (now as f64 / old.max(1) as f64 - 1.0) * 100.0
}

/// A number with commas between thousands.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored(rustc: &str, figures: &[(&str, u64)]) -> Stored {
        Stored {
            rustc: rustc.into(),
            valgrind: "3.19.0".into(),
            machine: "x86_64".into(),
            instructions: figures.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect(),
        }
    }

    #[test]
    fn only_an_increase_of_five_percent_fails() {
        let before = stored("1.95.0", &[("call", 100_000)]);
        for (now, fails) in [(100_000, false), (104_900, false), (105_100, true), (50_000, false)] {
            assert_eq!(stored("1.95.0", &[("call", now)]).problem(&before).is_some(), fails, "{now}");
        }
    }

    #[test]
    fn the_comparison_names_every_difference() {
        let before =
            stored("1.95.0", &[("call-100B", 210_400), ("call-64KiB", 4_000_000), ("tools-list", 999)]);
        let now = stored(
            "1.96.0",
            &[("call-100B", 231_440), ("call-64KiB", 3_400_000), ("tools-list", 1000), ("workflow-step", 12)],
        );
        let text = format!("{}\n\n{}", now.problem(&before).unwrap(), now.table(Some(&before)));
        insta::assert_snapshot!(text);
    }

    #[test]
    fn figures_are_read_as_written() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("instructions.toml");
        let figures = stored("1.95.0", &[("call-100B", 1), ("call-64KiB", 2)]);
        figures.write(&file).unwrap();
        assert_eq!(Stored::read(&file).unwrap(), figures);
        insta::assert_snapshot!(fs::read_to_string(&file).unwrap());
    }

    #[test]
    fn a_missing_file_says_how_to_write_it() {
        let error = Stored::read(Path::new("/nonexistent.toml")).unwrap_err();
        insta::assert_snapshot!(format!("{error:#}"));
    }
}

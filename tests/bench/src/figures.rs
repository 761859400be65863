//! Results: one flat map of numbers per server and round, so that reports do not depend on the measurements.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

/// The figures of one server in one round.
#[derive(Default)]
pub struct Figures {
    /// Name of the server, for messages.
    pub server: String,
    /// Figures by name, for example `stdio.seq100B.p50_us`.
    pub numbers: BTreeMap<String, f64>,
    /// Notes in words.
    pub notes: BTreeMap<String, String>,
}

impl Figures {
    /// Sets a number.
    pub fn set(&mut self, key: impl Into<String>, value: f64) {
        self.numbers.insert(key.into(), value);
    }

    /// Sets a note.
    pub fn note(&mut self, key: impl Into<String>, text: impl Into<String>) {
        self.notes.insert(key.into(), text.into());
    }

    /// Runs one step; a failure becomes a note, and the measurement continues.
    pub fn step<T>(&mut self, name: &str, run: impl FnOnce(&mut Self) -> Result<T>) -> Option<T> {
        match run(self) {
            Ok(done) => Some(done),
            Err(error) => {
                eprintln!("    {}: {name}: {error:#}", self.server);
                self.note(format!("{name}.failed"), format!("{error:#}"));
                None
            }
        }
    }
}

/// One line of a results file.
#[derive(Serialize, Deserialize)]
pub struct Record {
    /// Name of the server.
    pub server: String,
    /// From 1.
    pub round: usize,
    /// See [`Figures`].
    pub numbers: BTreeMap<String, f64>,
    /// See [`Figures`].
    pub notes: BTreeMap<String, String>,
}

/// Reads a results file.
pub fn load(path: &str) -> Result<Vec<Record>> {
    let text = std::fs::read_to_string(path).with_context(|| format!("reading {path}"))?;
    let lines = text.lines().filter(|l| !l.trim().is_empty());
    lines.map(|line| serde_json::from_str(line).with_context(|| format!("reading {path}"))).collect()
}

/// The middle one; the mean of the two in the middle.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    let n = values.len();
    match n {
        0 => None,
        n if n % 2 == 1 => Some(values[n / 2]),
        _ => Some((values[n / 2 - 1] + values[n / 2]) / 2.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_median_is_the_middle_value() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
    }

    #[test]
    fn a_step_that_fails_leaves_a_note() {
        let mut figures = Figures::default();
        assert!(figures.step("start", |_| -> Result<()> { anyhow::bail!("no such file") }).is_none());
        assert_eq!(figures.notes["start.failed"], "no such file");
    }
}

//! Renders records as Markdown: one column per server, and ratios to the first.

use std::{collections::BTreeMap, fmt::Write};

use crate::{
    figures::{Record, median},
    goals::Line,
};

/// All rounds, by figure and server.
pub struct Rounds<'a> {
    records: &'a [Record],
    servers: Vec<&'a str>,
}

impl<'a> Rounds<'a> {
    /// Orders servers by first appearance, the baseline first.
    pub fn new(records: &'a [Record], baseline: Option<&str>) -> Self {
        let mut servers: Vec<&str> = Vec::new();
        for record in records {
            if !servers.contains(&&*record.server) {
                servers.push(&record.server);
            }
        }
        if let Some(at) = servers.iter().position(|server| Some(*server) == baseline) {
            servers[..=at].rotate_right(1);
        }
        Self { records, servers }
    }

    /// Every figure of every server.
    pub fn all(&self) -> String {
        let mut text = self.head("figure", &self.servers);
        let keys: std::collections::BTreeSet<&str> =
            self.records.iter().flat_map(|r| r.numbers.keys().map(String::as_str)).collect();
        for key in keys {
            let cells = self.servers.iter().map(|server| spread(&self.values(server, key)));
            let _ = writeln!(text, "| {key} | {} |", cells.collect::<Vec<_>>().join(" | "));
        }
        text + &self.notes()
    }

    /// Renders the chosen figures, with ratios of the other servers to the first `baselines`, and whether the last
    /// meets its target.
    pub fn compared(&self, lines: &[Line], baselines: usize) -> String {
        self.rendered(lines, baselines, baselines)
    }

    /// Renders the chosen figures of all servers, but ratios of the last one only.
    pub fn judged(&self, lines: &[Line], baselines: usize) -> String {
        self.rendered(lines, baselines, self.servers.len().saturating_sub(1))
    }

    /// Renders ratios of the servers from `from` on to the first `baselines`.
    fn rendered(&self, lines: &[Line], baselines: usize, from: usize) -> String {
        let Some((measured, first)) = self.servers.last().zip(self.servers.first()) else {
            return String::new();
        };
        let count = self.servers.len();
        let (bases, others) = (&self.servers[..baselines.min(count)], &self.servers[from.min(count)..]);
        let pairs: Vec<(&str, &str)> = others.iter().flat_map(|o| bases.iter().map(|b| (*o, *b))).collect();
        let mut columns: Vec<String> = self.servers.iter().map(|server| (*server).to_owned()).collect();
        columns.extend(pairs.iter().map(|(other, base)| format!("{other}/{base}")));
        let goals = lines.iter().any(|line| line.goal.is_some());
        columns.extend(goals.then(|| "goal".to_owned()));
        let mut text = self.head("", &columns.iter().map(String::as_str).collect::<Vec<_>>());
        for line in lines {
            let figure = |server: &str| median(&self.values(server, &line.key));
            let ratio = |other: &str, base: &str| median(&self.ratios(base, other, &line.key));
            if self.servers.iter().all(|server| figure(server).is_none()) {
                continue;
            }
            let mut cells: Vec<String> =
                self.servers.iter().map(|s| figure(s).map_or("–".into(), number)).collect();
            let ratios = pairs.iter().map(|(other, base)| ratio(other, base));
            cells.extend(ratios.map(|ratio| ratio.map_or("–".into(), |ratio| format!("{ratio:.2}"))));
            if let Some(goal) = line.goal {
                let mark = match goal.is_met(figure(measured), ratio(measured, first)) {
                    Some(true) => " ✓",
                    Some(false) => " **missed**",
                    None => "",
                };
                cells.push(format!("{goal}{mark}"));
            } else if goals {
                cells.push(String::new());
            }
            let _ = writeln!(text, "| {} | {} |", line.label, cells.join(" | "));
        }
        text
    }

    /// Renders the notes.
    pub fn notes(&self) -> String {
        let mut notes: BTreeMap<(&str, &str), Vec<(usize, &str)>> = BTreeMap::new();
        for record in self.records {
            for (key, note) in &record.notes {
                notes.entry((key, &record.server)).or_default().push((record.round, note));
            }
        }
        let mut text = String::new();
        for ((key, server), said) in &notes {
            for (round, note) in said {
                let _ = write!(text, "\n- {key} · {server} · round {round}: {note}");
            }
        }
        text + "\n"
    }

    fn head(&self, first: &str, columns: &[&str]) -> String {
        format!("| {first} | {} |\n|---|{}\n", columns.join(" | "), "---:|".repeat(columns.len()))
    }

    fn values(&self, server: &str, key: &str) -> Vec<f64> {
        let records = self.records.iter().filter(|record| record.server == server);
        records.filter_map(|record| record.numbers.get(key).copied()).collect()
    }

    /// One ratio per round: the machine's load differs more between rounds than within one.
    fn ratios(&self, baseline: &str, other: &str, key: &str) -> Vec<f64> {
        let find = |server: &str, round| {
            let record = self.records.iter().find(|r| r.server == server && r.round == round)?;
            record.numbers.get(key).copied()
        };
        let rounds = self.records.iter().filter(|r| r.server == other).map(|r| r.round);
        rounds.filter_map(|n| Some(find(other, n)? / find(baseline, n).filter(|base| *base > 0.0)?)).collect()
    }
}

/// Median, with minimum and maximum if the rounds differ.
fn spread(values: &[f64]) -> String {
    let Some(median) = median(values) else { return "–".into() };
    let (least, most) = values.iter().fold((median, median), |(l, m), v| (l.min(*v), m.max(*v)));
    if least == most {
        return number(median);
    }
    format!("{} ({}–{})", number(median), number(least), number(most))
}

fn number(value: f64) -> String {
    if value >= 100.0 {
        format!("{value:.0}")
    } else if value >= 10.0 || value.fract() == 0.0 {
        format!("{value:.1}")
    } else {
        format!("{value:.2}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::goals::Goal;

    fn record(server: &str, round: usize, value: f64) -> Record {
        let numbers = [("x".to_owned(), value)].into();
        Record { server: server.into(), round, numbers, notes: BTreeMap::new() }
    }

    #[test]
    fn the_ratio_is_the_median_over_rounds() {
        // The machine was slower in each round; the ratio was 2 in all.
        let records: Vec<Record> = [100.0, 200.0, 1000.0]
            .iter()
            .enumerate()
            .flat_map(|(at, base)| [record("loggia", at + 1, base * 2.0), record("native", at + 1, *base)])
            .collect();
        let line = Line::new("latency", "x", Some(Goal::TimesAtMost(1.2)));
        let table = Rounds::new(&records, Some("native")).compared(&[line], 1);
        let expected = "|  | native | loggia | loggia/native | goal |\n|---|---:|---:|---:|---:|\n\
                        | latency | 200 | 400 | 2.00 | ≤ 1.2× **missed** |\n";
        assert_eq!(table, expected);
    }

    #[test]
    fn peers_have_figures_and_no_ratios() {
        let records = [("native", 1.0), ("alike", 2.0), ("peer", 5.0), ("loggia", 4.0)];
        let records = records.map(|(server, value)| record(server, 1, value));
        let line = Line::new("latency", "x", Some(Goal::TimesAtMost(4.0)));
        let table = Rounds::new(&records, Some("native")).judged(&[line], 2);
        let expected = "|  | native | alike | peer | loggia | loggia/native | loggia/alike | goal |\n\
                        |---|---:|---:|---:|---:|---:|---:|---:|\n\
                        | latency | 1.0 | 2.0 | 5.0 | 4.0 | 4.00 | 2.00 | ≤ 4× ✓ |\n";
        assert_eq!(table, expected);
    }

    #[test]
    fn a_figure_of_one_server_has_no_ratio() {
        let mut records = vec![record("native", 1, 1.0), record("loggia", 1, 8.5)];
        records[0].numbers.clear();
        let line = Line::new("start", "x", Some(Goal::AtMost(10.0)));
        let table = Rounds::new(&records, None).compared(&[line], 1);
        assert!(table.ends_with("| start | – | 8.50 | – | ≤ 10 ✓ |\n"), "{table}");
    }

    #[test]
    fn all_figures_show_their_spread() {
        let records = [record("a", 1, 1.0), record("a", 2, 300.0), record("a", 3, 20.0)];
        assert!(Rounds::new(&records, None).all().contains("| x | 20.0 (1.0–300) |"));
    }
}

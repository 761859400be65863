//! Finds the lines that are most like a text that is not there.

use std::{cmp::Reverse, ops::Range};

use loggia_sdk::prelude::*;

/// Lines that are compared in full.
const CANDIDATES: usize = 8;
/// Places that an error shows.
const SHOWN: usize = 2;
/// Least likeness of a shown place, in thousandths.
const LIKE: u32 = 500;
/// Maximum bytes of a shown place.
const BYTES: usize = 800;

/// A place that is similar.
#[derive(Debug, Serialize)]
struct Near {
    lines: String,
    text: String,
}

/// Failure for a text that is not in this range, with the lines that are most like it.
pub fn nearest(text: &str, range: Range<usize>, old: &str) -> Failure {
    let before = text[..range.start].matches('\n').count();
    let lines: Vec<&str> = text[range].split_inclusive('\n').collect();
    let wanted: Vec<&str> = old.lines().collect();
    let near: Vec<Near> = similar(&lines, &wanted)
        .into_iter()
        .map(|at| {
            let found = &lines[at..lines.len().min(at + wanted.len())];
            let (first, last) = (before + at + 1, before + at + found.len());
            let text = found.concat();
            let end = text.floor_char_boundary(BYTES);
            let lines = if first == last { first.to_string() } else { format!("{first}-{last}") };
            Near { lines, text: text[..end].to_owned() }
        })
        .collect();
    let Some(best) = near.first() else {
        return Failure::conflict("`old` was not found, nor were similar lines")
            .hint("`get` the file, or `search` it, and copy the text exactly.");
    };
    let blank = |text: &str| text.split_whitespace().collect::<String>();
    let hint = if blank(&best.text) == blank(old) {
        "Only white space differs. `details` has the exact lines."
    } else {
        "`details` has the exact lines."
    };
    let list: Vec<_> = near.iter().map(|near| near.lines.as_str()).collect();
    Failure::conflict(format!("`old` was not found; most similar: lines {}", list.join(" and ")))
        .hint(hint)
        .details(json!({"nearest": near}))
}

/// Indexes of the lines at which the most similar places begin, best first.
fn similar(lines: &[&str], wanted: &[&str]) -> Vec<usize> {
    let wanted: Vec<Pairs> = wanted.iter().map(|line| Pairs::of(line)).collect();
    // The line that says most: comparing all lines with all would be too slow.
    let Some((anchor, pairs)) = wanted.iter().enumerate().max_by_key(|(_, pairs)| pairs.count) else {
        return Vec::new();
    };
    let mut places: Vec<(u32, usize)> = Vec::new();
    for (at, line) in lines.iter().enumerate().skip(anchor) {
        let like = pairs.likeness(&Pairs::of(line));
        if like > 0 {
            places.push((like, at - anchor));
        }
        if places.len() > 4 * CANDIDATES {
            best(&mut places, CANDIDATES);
        }
    }
    best(&mut places, CANDIDATES);
    for (like, start) in &mut places {
        let all = wanted
            .iter()
            .enumerate()
            .map(|(at, pairs)| lines.get(*start + at).map_or(0, |line| pairs.likeness(&Pairs::of(line))));
        *like = all.sum::<u32>() / u32::try_from(wanted.len()).unwrap_or(u32::MAX);
    }
    best(&mut places, SHOWN);
    places.retain(|(like, _)| *like >= LIKE);
    places.into_iter().map(|(_, start)| start).collect()
}

/// Keeps the most similar places; of equal ones the first.
fn best(places: &mut Vec<(u32, usize)>, count: usize) {
    places.sort_unstable_by_key(|(like, at)| (Reverse(*like), *at));
    places.truncate(count);
}

/// The pairs of neighbouring characters of a line, white space left out, as a set of 1,024 bits.
struct Pairs {
    bits: [u64; 16],
    count: u32,
}

impl Pairs {
    fn of(line: &str) -> Self {
        let mut bits = [0_u64; 16];
        let mut last = 0_u32;
        for char in line.chars().filter(|char| !char.is_whitespace()) {
            let pair = (last << 11 ^ u32::from(char)).wrapping_mul(0x9e37_79b1) >> 22;
            bits[(pair >> 6) as usize] |= 1 << (pair & 63);
            last = u32::from(char);
        }
        Self { count: bits.iter().map(|bits| bits.count_ones()).sum(), bits }
    }

    /// From 0 to 1000; blank lines are alike.
    fn likeness(&self, other: &Self) -> u32 {
        if self.count + other.count == 0 {
            return 1000;
        }
        let both: u32 = self.bits.iter().zip(other.bits).map(|(a, b)| (a & b).count_ones()).sum();
        2000 * both / (self.count + other.count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_similar_line_is_found() {
        let text: String = (0..140).map(|n| format!("line number {} of the file\n", n * 555 + 77)).collect();
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let check = |old: &str, expected: usize| {
            let found = similar(&lines, &old.lines().collect::<Vec<_>>());
            assert_eq!(found.first(), Some(&expected), "{old}");
        };
        for at in [0, 7, 20, 77, 138] {
            let number = at * 555 + 77;
            check(&format!("line numbre {number} of the file"), at);
            check(&format!("  line number {number} of teh file"), at);
            check(&format!("line nr {number} of the file\nline nr {} of the file", number + 555), at);
        }
    }
}

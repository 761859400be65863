//! Sizes and times as configuration files and messages write them.

use std::time::Duration;

/// Parses a size: `64MiB`, `512KiB`, `1GiB`, `100B`.
///
/// # Errors
///
/// The mistake, to be read after the text.
pub fn parse_bytes(text: &str) -> Result<u64, &'static str> {
    let (number, unit) = split(text);
    let factor = match unit {
        "B" => 1,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        _ => return Err("is not a size: write for example \"64MiB\" (B, KiB, MiB, GiB)"),
    };
    let bytes = number.and_then(|n| n.checked_mul(factor));
    bytes.ok_or("is not a size: write a whole number and a unit, like \"64MiB\"")
}

/// Parses a time: `250ms`, `2s`, `30m`, `1h`.
///
/// # Errors
///
/// The mistake, to be read after the text.
pub fn parse_duration(text: &str) -> Result<Duration, &'static str> {
    let (number, unit) = split(text);
    let factor = match unit {
        "ms" => 1,
        "s" => 1000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => return Err("is not a time: write for example \"30s\" (ms, s, m, h)"),
    };
    let millis = number.and_then(|n| n.checked_mul(factor));
    let millis = millis.ok_or("is not a time: write a whole number and a unit, like \"30s\"");
    Ok(Duration::from_millis(millis?))
}

fn split(text: &str) -> (Option<u64>, &str) {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    (text[..digits].parse().ok(), text[digits..].trim_start())
}

/// Formats a size as [`parse_bytes`] parses it, in the largest unit that gives a whole number.
pub fn format_bytes(bytes: u64) -> String {
    largest(bytes, &[(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"), (1, "B")])
}

/// Formats a time as [`parse_duration`] parses it, in the largest unit that gives a whole number. Fractions of a millisecond are
/// cut off.
pub fn format_duration(duration: Duration) -> String {
    let millis = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    largest(millis, &[(3_600_000, "h"), (60_000, "m"), (1000, "s"), (1, "ms")])
}

fn largest(number: u64, units: &[(u64, &str)]) -> String {
    let fits = units.iter().find(|(factor, _)| number > 0 && number.is_multiple_of(*factor));
    let (factor, unit) = fits.or(units.last()).copied().unwrap_or((1, ""));
    format!("{}{unit}", number / factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_times_need_a_whole_number_and_a_known_unit() {
        let size = |text, expected: Option<u64>| assert_eq!(parse_bytes(text).ok(), expected, "{text}");
        size("64MiB", Some(64 << 20));
        size("1 GiB", Some(1 << 30));
        size("0B", Some(0));
        for bad in ["64", "64MB", "MiB", "1.5GiB", "-1B", "99999999999999999999GiB"] {
            size(bad, None);
        }
        let time = |text, expected| assert_eq!(parse_duration(text).ok(), expected, "{text}");
        time("250ms", Some(Duration::from_millis(250)));
        time("30m", Some(Duration::from_secs(1800)));
        for bad in ["5", "5 days", "s", "1e3s"] {
            time(bad, None);
        }
    }

    #[test]
    fn what_is_written_is_what_is_read() {
        let size = |count, text: &str| {
            assert_eq!((format_bytes(count).as_str(), parse_bytes(text)), (text, Ok(count)));
        };
        size(1 << 30, "1GiB");
        size(3 << 29, "1536MiB");
        size(64 << 10, "64KiB");
        size(1025, "1025B");
        size(0, "0B");
        let time = |millis, text: &str| {
            let time = Duration::from_millis(millis);
            assert_eq!((format_duration(time).as_str(), parse_duration(text)), (text, Ok(time)));
        };
        time(86_400_000, "24h");
        time(90_000, "90s");
        time(60_000, "1m");
        time(250, "250ms");
        time(0, "0ms");
    }
}

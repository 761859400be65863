//! Sizes and times as a policy file writes them.

use std::time::Duration;

/// `64MiB`, `512KiB`, `1GiB`, `100B`.
pub fn bytes(text: &str) -> Result<usize, String> {
    let (number, unit) = split(text);
    let factor = match unit {
        "B" => 1,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        _ => return Err(format!("`{text}` is not a size: write for example \"64MiB\" (B, KiB, MiB, GiB)")),
    };
    let bytes = number.and_then(|n| n.checked_mul(factor)).and_then(|n| usize::try_from(n).ok());
    bytes.ok_or_else(|| format!("`{text}` is not a size: write a whole number and a unit, like \"64MiB\""))
}

/// `250ms`, `2s`, `30m`, `1h`.
pub fn duration(text: &str) -> Result<Duration, String> {
    let (number, unit) = split(text);
    let factor = match unit {
        "ms" => 1,
        "s" => 1000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => return Err(format!("`{text}` is not a time: write for example \"30s\" (ms, s, m, h)")),
    };
    let millis = number.and_then(|n| n.checked_mul(factor));
    let millis = millis
        .ok_or_else(|| format!("`{text}` is not a time: write a whole number and a unit, like \"30s\""));
    Ok(Duration::from_millis(millis?))
}

fn split(text: &str) -> (Option<u64>, &str) {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    (text[..digits].parse().ok(), text[digits..].trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_times_need_a_whole_number_and_a_known_unit() {
        let size = |text, expected: Option<usize>| assert_eq!(bytes(text).ok(), expected, "{text}");
        size("64MiB", Some(64 << 20));
        size("1 GiB", Some(1 << 30));
        size("0B", Some(0));
        for bad in ["64", "64MB", "MiB", "1.5GiB", "-1B", "99999999999999999999GiB"] {
            size(bad, None);
        }
        let time = |text, expected| assert_eq!(duration(text).ok(), expected, "{text}");
        time("250ms", Some(Duration::from_millis(250)));
        time("30m", Some(Duration::from_secs(1800)));
        for bad in ["5", "5 days", "s", "1e3s"] {
            time(bad, None);
        }
    }
}

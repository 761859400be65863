//! Pure: untrusted values as HTML. The template escapes markup; this shows hidden characters, and cuts long texts.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use loggia_text::{printable, printable_json, shorten};
use maud::{Markup, html};
use serde_json::Value;

use crate::approvals::format_time;

/// Characters of a text that are shown at once. The rest opens.
const SHORT: usize = 80;
/// The same of a sentence, which wraps.
const SHORT_PROSE: usize = 300;
/// Characters of JSON that are shown at once.
const SHORT_JSON: usize = 2000;

/// Shows a name or a value on one line; a long one can be opened.
pub(super) fn untrusted(text: &str) -> Markup {
    show_cut(text, SHORT)
}

/// Shows a sentence, such as a reason.
pub(super) fn untrusted_prose(text: &str) -> Markup {
    show_cut(text, SHORT_PROSE)
}

fn show_cut(text: &str, most: usize) -> Markup {
    let text = printable(text);
    if text.chars().count() <= most {
        return html! { (text) };
    }
    html! {
        details {
            summary { (shorten(&text, most)) }
            span.whole { (text) }
        }
    }
}

/// Shows a value as JSON; a long one can be opened.
pub(super) fn json_block(name: &str, value: &Value) -> Markup {
    let json = serde_json::to_string_pretty(value).unwrap_or_default();
    let json = printable_json(&json);
    let block = html! { pre tabindex="0" role="region" aria-label=(name) { (json) } };
    if json.chars().count() <= SHORT_JSON {
        return block;
    }
    html! {
        details {
            summary { "Show all " (json.chars().count()) " characters" }
            (block)
        }
        pre.cut aria-hidden="true" { (shorten(&json, SHORT_JSON / 4)) }
    }
}

/// How a state is coloured. Its text says the same.
#[derive(Clone, Copy)]
pub(super) enum BadgeTone {
    Good,
    Busy,
    Warning,
    Bad,
    Quiet,
}

/// Shows a state.
pub(super) fn badge(tone: BadgeTone, state: &str) -> Markup {
    let class = match tone {
        BadgeTone::Good => "badge good",
        BadgeTone::Busy => "badge busy",
        BadgeTone::Warning => "badge warning",
        BadgeTone::Bad => "badge bad",
        BadgeTone::Quiet => "badge quiet",
    };
    html! { span class=(class) { (printable(state)) } }
}

/// Shows a time.
pub(super) fn show_time(time: SystemTime) -> Markup {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    let text = format_time(u64::try_from(since.as_millis()).unwrap_or(u64::MAX));
    html! { time datetime=(text) { (text.replace('T', " ").trim_end_matches('Z')) } }
}

/// Shows a time in milliseconds since 1970.
pub(super) fn show_ms(milliseconds: u64) -> Markup {
    show_time(UNIX_EPOCH + Duration::from_millis(milliseconds))
}

/// Formats a long time in two units: `3 d 4 h`.
pub(super) fn format_age(age: Duration) -> String {
    let seconds = age.as_secs();
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        3600..86400 => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
        _ => format!("{} d {} h", seconds / 86400, seconds % 86400 / 3600),
    }
}

/// Formats a duration of calls, given in seconds.
pub(super) fn format_latency(seconds: f64) -> String {
    match seconds {
        0.0 => "0".to_owned(),
        ..0.01 => format!("{:.1} ms", seconds * 1e3),
        ..1.0 => format!("{:.0} ms", seconds * 1e3),
        ..60.0 => format!("{seconds:.1} s"),
        _ => format!("{:.1} min", seconds / 60.0),
    }
}

/// Formats a rate.
pub(super) fn format_rate(rate: f64) -> String {
    match rate {
        0.0 => "0".to_owned(),
        ..10.0 => format!("{rate:.2}"),
        _ => format!("{rate:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn untrusted_texts_are_escaped_shown_and_cut() {
        assert_eq!(untrusted("<img src=x>\u{202e}").into_string(), "&lt;img src=x&gt;\\u{202e}");
        let long = untrusted(&format!("<b>{}", "x".repeat(SHORT))).into_string();
        assert!(long.starts_with("<details><summary>&lt;b&gt;xxx") && long.contains("…</summary>"), "{long}");
        let json = json_block("Arguments", &serde_json::json!({"a": "</pre><script>\u{9b}\u{2066}"}));
        assert_eq!(
            json.into_string(),
            "<pre tabindex=\"0\" role=\"region\" aria-label=\"Arguments\">{\n  &quot;a&quot;: \
             &quot;&lt;/pre&gt;&lt;script&gt;\\u009b\\u2066&quot;\n}</pre>"
        );
    }

    #[test]
    fn times_are_readable() {
        let ages = [5, 65, 3660, 90_000].map(|seconds| format_age(Duration::from_secs(seconds)));
        assert_eq!(ages, ["5 s", "1 min 5 s", "1 h 1 min", "1 d 1 h"]);
        assert_eq!(
            [0.0, 0.0015, 0.0153, 2.5, 300.0].map(format_latency),
            ["0", "1.5 ms", "15 ms", "2.5 s", "5.0 min"]
        );
        assert_eq!([0.0, 0.2, 120.4].map(format_rate), ["0", "0.20", "120"]);
    }
}

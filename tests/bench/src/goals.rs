//! Targets of Loggia's design, and their evaluation.

use std::borrow::Cow;

/// Target of one figure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Goal {
    /// At most this multiple of the baseline.
    TimesAtMost(f64),
    /// At least this multiple of the baseline.
    TimesAtLeast(f64),
    /// At most this much more than the baseline.
    MoreAtMost(f64),
    /// At most this value, independent of the baseline.
    AtMost(f64),
}

impl Goal {
    /// Tests whether a figure and its ratio to the baseline meet the target. `None` if the relevant one is missing.
    pub fn is_met(self, figure: Option<f64>, ratio: Option<f64>) -> Option<bool> {
        match self {
            Self::TimesAtMost(most) => ratio.map(|ratio| ratio <= most),
            Self::TimesAtLeast(least) => ratio.map(|ratio| ratio >= least),
            Self::MoreAtMost(most) => Some(figure? - figure? / ratio? <= most),
            Self::AtMost(most) => figure.map(|figure| figure <= most),
        }
    }
}

impl std::fmt::Display for Goal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::TimesAtMost(most) => write!(f, "≤ {most}×"),
            Self::TimesAtLeast(least) => write!(f, "≥ {least}×"),
            Self::MoreAtMost(most) => write!(f, "≤ +{most}"),
            Self::AtMost(most) => write!(f, "≤ {most}"),
        }
    }
}

/// One line of the comparison: label, figure and target.
pub struct Line {
    /// Label for people, with the unit.
    pub label: Cow<'static, str>,
    /// In [`Figures`](crate::figures::Figures).
    pub key: Cow<'static, str>,
    /// If anything is wanted.
    pub goal: Option<Goal>,
}

impl Line {
    /// A line of a text that is written down.
    pub fn new(label: &'static str, key: &'static str, goal: Option<Goal>) -> Self {
        Self { label: label.into(), key: key.into(), goal }
    }
}

/// The lines of the comparison, in their order.
pub fn lines() -> Vec<Line> {
    use Goal::{AtMost, TimesAtLeast, TimesAtMost};
    let line = Line::new;
    vec![
        line("cold start to initialize, ms", "start.cold_init_ms", None),
        line("cold start to first answer, ms", "start.cold_first_call_ms", None),
        line("warm start to initialize, ms", "start.warm_init_ms", Some(AtMost(10.0))),
        line("warm start to first answer, ms", "start.warm_first_call_ms", None),
        line("100 cached plugins, first answer, ms", "start100.first_call_ms", Some(AtMost(25.0))),
        line("100 cached plugins, all listed, ms", "start100.list_ms", None),
        line("1,000 cached plugins, first answer, ms", "start1000.first_call_ms", Some(AtMost(150.0))),
        line("1,000 cached plugins, all listed, ms", "start1000.list_ms", None),
        line("stdio 100 B p50, µs", "stdio.seq100B.p50_us", Some(TimesAtMost(0.8))),
        line("stdio 100 B p99, µs", "stdio.seq100B.p99_us", None),
        line("stdio 100 B calls/s, 16 in flight", "stdio.rate100B_x16", Some(TimesAtLeast(0.85))),
        line("stdio 100 B calls/s, 64 in flight", "stdio.rate100B_x64", Some(TimesAtLeast(0.85))),
        line("stdio 64 KiB p50, µs", "stdio.seq64K.p50_us", Some(TimesAtMost(1.0))),
        line("stdio 64 KiB transform p50, µs", "stdio.transform64K.p50_us", Some(TimesAtMost(1.2))),
        line("stdio 64 KiB calls/s, 16 in flight", "stdio.rate64K_x16", Some(TimesAtLeast(0.85))),
        line("stdio 64 KiB calls/s, 64 in flight", "stdio.rate64K_x64", Some(TimesAtLeast(0.85))),
        line("HTTP 100 B p50, µs", "http.seq100B.p50_us", Some(TimesAtMost(1.3))),
        line("HTTP 100 B p99, µs", "http.seq100B.p99_us", None),
        line("HTTP 100 B calls/s, 16 in flight", "http.rate100B_x16", Some(TimesAtLeast(0.8))),
        line("HTTP 100 B calls/s, 64 in flight", "http.rate100B_x64", Some(TimesAtLeast(0.85))),
        line("HTTP 64 KiB p50, µs", "http.seq64K.p50_us", Some(TimesAtMost(2.0))),
        line("HTTP 64 KiB calls/s, 16 in flight", "http.rate64K_x16", Some(TimesAtLeast(0.85))),
        line("CPU per 100 B call, one at a time, µs", "stdio.cpu_us_per_100B_call", None),
        line("CPU per 100 B call, 64 in flight, µs", "stdio.cpu_us_per_100B_call_x64", None),
        line("CPU per 64 KiB call, µs", "stdio.cpu_us_per_64K_call", None),
        line("tools/list p50, µs", "list.p50_us", None),
        line("tools/list, bytes", "list.bytes", None),
        line("resident when ready, MiB", "mem.ready_mib", Some(AtMost(20.0))),
        line("resident after 100 B calls, MiB", "mem.after_100B_calls_mib", Some(AtMost(25.0))),
        line("resident at most, MiB", "mem.peak_mib", None),
        line("resident with 100 plugins, MiB", "mem.with_100_plugins_mib", Some(AtMost(35.0))),
        line("reload of a new version, ms", "reload.new_ms", Some(AtMost(1000.0))),
        line("reload of a known version, ms", "reload.known_ms", Some(AtMost(100.0))),
        line("calls never answered", "stdio.calls_never_answered", Some(AtMost(0.0))),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_goal_limits_the_ratio_or_the_figure() {
        assert_eq!(Goal::TimesAtMost(1.2).is_met(Some(120.0), Some(1.3)), Some(false));
        assert_eq!(Goal::TimesAtLeast(0.85).is_met(Some(9000.0), Some(0.9)), Some(true));
        assert_eq!(Goal::AtMost(10.0).is_met(Some(9.0), Some(4.0)), Some(true));
        assert_eq!(Goal::AtMost(10.0).is_met(None, None), None);
    }
}

//! Metrics in Prometheus' text format 0.0.4, for clients that do not read OpenMetrics.
//!
//! The samples are identical. Families differ: a counter's family has the name of its samples, and `info` becomes `gauge`.

use std::collections::HashMap;

/// Content type of the format.
pub const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Returns true if an `Accept` header names OpenMetrics. Without it, the older format is the default, since every client
/// reads it.
pub fn wants_openmetrics(accept: &str) -> bool {
    accept.split(',').any(|kind| {
        let mut parts = kind.split(';').map(str::trim);
        let is_named =
            parts.next().is_some_and(|kind| kind.eq_ignore_ascii_case("application/openmetrics-text"));
        is_named && !parts.any(|part| matches!(part.strip_prefix("q=").map(str::parse), Some(Ok(0.0))))
    })
}

/// Converts a page of OpenMetrics to the older format.
pub fn to_classic(page: &str) -> String {
    let kind = |line: &str| {
        let (name, kind) = line.strip_prefix("# TYPE ")?.split_once(' ')?;
        Some((name.to_owned(), kind.to_owned()))
    };
    let kinds: HashMap<String, String> = page.lines().filter_map(kind).collect();
    let suffix = |name: &str| match kinds.get(name).map(String::as_str) {
        Some("counter") => "_total",
        Some("info") => "_info",
        _ => "",
    };
    let mut classic = String::with_capacity(page.len());
    for line in page.lines() {
        let meta = ["# HELP ", "# TYPE "].into_iter().find_map(|what| Some((what, line.strip_prefix(what)?)));
        match meta.map(|(what, rest)| (what, rest.split_once(' ').unwrap_or((rest, "")))) {
            Some((what, (name, text))) => {
                let text = if what == "# TYPE " && text == "info" { "gauge" } else { text };
                classic.extend([what, name, suffix(name), " ", text, "\n"]);
            }
            None if line.starts_with("# EOF") || line.starts_with("# UNIT ") => {}
            None => classic.extend([line, "\n"]),
        }
    }
    classic
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_are_named_after_their_samples() {
        let page = "# HELP loggia_build The version.\n# TYPE loggia_build info\nloggia_build_info{version=\"1\"} 1\n\
                    # HELP calls Calls.\n# TYPE calls counter\ncalls_total{tool=\"a b\"} 5\n\
                    # HELP open Open.\n# TYPE open gauge\n# UNIT open x\nopen 2\n\
                    # HELP took Took.\n# TYPE took histogram\ntook_bucket{le=\"+Inf\"} 1\ntook_sum 0.5\ntook_count 1\n# EOF\n";
        let expected = "# HELP loggia_build_info The version.\n# TYPE loggia_build_info gauge\nloggia_build_info{version=\"1\"} 1\n\
                        # HELP calls_total Calls.\n# TYPE calls_total counter\ncalls_total{tool=\"a b\"} 5\n\
                        # HELP open Open.\n# TYPE open gauge\nopen 2\n\
                        # HELP took Took.\n# TYPE took histogram\ntook_bucket{le=\"+Inf\"} 1\ntook_sum 0.5\ntook_count 1\n";
        assert_eq!(to_classic(page), expected);
    }

    #[test]
    fn openmetrics_is_negotiated_by_accept() {
        let check =
            |accept: &str, expected: bool| assert_eq!(wants_openmetrics(accept), expected, "{accept}");
        check("", false);
        check("*/*", false);
        check("text/plain;version=0.0.4", false);
        check("application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5,*/*;q=0.1", true);
        check("text/plain, Application/OpenMetrics-Text; q=0.5", true);
        check("application/openmetrics-text;q=0, */*", false);
        check("application/openmetrics-text; q=0.0", false);
    }
}

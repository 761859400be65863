//! Pagination of lists.
//!
//! A cursor names the last item of its page. If the list changes between two pages, no item is repeated, and none that
//! remained is skipped.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use rmcp::ErrorData;

/// Items per page. More than most servers have, since some clients never request a second page.
const PAGE: usize = 200;
/// Prefix of the name, to distinguish cursors of other versions.
const CURSOR_PREFIX: &str = "after:";
/// Longest cursor in bytes: that of a URI.
const MAX_CURSOR: usize = 4096;

/// Returns one page of a list sorted by name, and the cursor of the next.
///
/// # Errors
///
/// If the cursor is malformed.
pub fn page<T: Clone>(
    items: &[T],
    name: impl Fn(&T) -> &str,
    cursor: Option<&str>,
) -> Result<(Vec<T>, Option<String>), ErrorData> {
    let first = match cursor {
        None => 0,
        Some(cursor) => {
            let after = parse_cursor(cursor).ok_or_else(|| {
                ErrorData::invalid_params("Invalid cursor: ask for the list without one", None)
            })?;
            items.partition_point(|item| *name(item) <= *after)
        }
    };
    let left = &items[first..];
    let page = &left[..left.len().min(PAGE)];
    let more = if page.len() < left.len() { page.last() } else { None };
    let next = more.map(|last| URL_SAFE_NO_PAD.encode(format!("{CURSOR_PREFIX}{}", name(last))));
    Ok((page.to_vec(), next))
}

/// Parses the name in a cursor.
fn parse_cursor(cursor: &str) -> Option<String> {
    if cursor.len() > MAX_CURSOR {
        return None;
    }
    let bytes = URL_SAFE_NO_PAD.decode(cursor).ok()?;
    let name = String::from_utf8(bytes).ok()?.strip_prefix(CURSOR_PREFIX)?.to_owned();
    (!name.is_empty() && name.bytes().all(|byte| byte.is_ascii_graphic())).then_some(name)
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, sync::Arc};

    use rmcp::model::{ErrorCode, JsonObject, Tool};

    use super::*;

    fn tools(numbers: impl Iterator<Item = usize>) -> Vec<Tool> {
        let tool = |number| Tool::new(format!("t{number:04}"), "", Arc::new(JsonObject::new()));
        numbers.map(tool).collect()
    }

    fn tool_name(tool: &Tool) -> &str {
        &tool.name
    }

    fn names(tools: &[Tool]) -> Vec<String> {
        tools.iter().map(|tool| tool.name.to_string()).collect()
    }

    #[test]
    fn pages_add_up_to_the_list() {
        for (length, expected) in [(0, 1), (1, 1), (100, 1), (PAGE, 1), (PAGE + 1, 2), (3 * PAGE, 3)] {
            let all = tools(0..length);
            let (mut seen, mut next, mut pages) = (Vec::new(), None, 0);
            loop {
                let (page, more) = page(&all, tool_name, next.as_deref()).unwrap();
                seen.extend(page);
                pages += 1;
                next = more;
                if next.is_none() {
                    break;
                }
            }
            assert_eq!((names(&seen), pages), (names(&all), expected), "{length}");
        }
    }

    #[test]
    fn changes_between_pages_repeat_and_skip_nothing() {
        let (before, next) = page(&tools(0..2 * PAGE), tool_name, None).unwrap();
        // Every second tool is removed, also the last of the page, and others are added before and after it.
        let after: Vec<usize> = (0..4 * PAGE).filter(|number| number % 2 == 0).collect();
        let now = tools(after.iter().copied());
        let (rest, _) = page(&now, tool_name, next.as_deref()).unwrap();
        let seen = [names(&before), names(&rest)].concat();
        assert_eq!(seen.iter().collect::<BTreeSet<_>>().len(), seen.len());
        let stayed = names(&tools((0..2 * PAGE).filter(|number| number % 2 == 0)));
        assert!(stayed.iter().all(|name| seen.contains(name)));
    }

    #[test]
    fn foreign_cursors_are_refused() {
        let encoded = |text: &str| URL_SAFE_NO_PAD.encode(text);
        let long = encoded(&format!("{CURSOR_PREFIX}{}", "x".repeat(4000)));
        for bad in [
            "",
            "nonsense",
            "t0001",
            "é",
            &encoded("t0001"),
            &encoded(CURSOR_PREFIX),
            &encoded("after:a b"),
            &long,
        ] {
            let error = page(&tools(0..3), tool_name, Some(bad)).unwrap_err();
            assert_eq!(error.code, ErrorCode::INVALID_PARAMS, "{bad}");
        }
        let (rest, next) = page(&tools(0..3), tool_name, Some(&encoded("after:t0001"))).unwrap();
        assert_eq!((names(&rest), next), (vec!["t0002".to_owned()], None));
    }
}

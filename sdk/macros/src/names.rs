//! Rules for names, and reserved names.

use proc_macro2::Span;
use syn::{Error, Result};

/// Actions that every facade has from the host.
const RESERVED_ACTIONS: [&str; 4] = ["describe", "run_status", "run_cancel", "batch"];

/// Members of a call's arguments besides the parameters.
const RESERVED_PARAMS: [&str; 6] = ["action", "cmd", "params", "detail", "wait", "confirm"];

/// Maximum length of a tool's name, or a part of it, that every MCP client accepts.
const SHORT: usize = 32;
/// An action is no tool by itself.
const LONG: usize = 64;

/// Checks `^[a-z][a-z0-9_-]*$` and the length.
fn check(what: &str, name: &str, most: usize, span: Span) -> Result<()> {
    let fine = name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | '-'))
        && name.len() <= most;
    if fine {
        return Ok(());
    }
    let advice = format!("begin with a letter, then use at most {} of a-z, 0-9, `_` and `-`", most - 1);
    let near = to_snake_case(name).filter(|near| near.len() <= most);
    let near = near.map(|near| format!(", such as `{near}`")).unwrap_or_default();
    Err(Error::new(span, format!("`{name}` cannot be the name of {what}: {advice}{near}")))
}

/// `addNote`, `Add note` → `add_note`, if that is a name.
fn to_snake_case(name: &str) -> Option<String> {
    let mut out = String::new();
    let mut was_lower = false;
    for c in name.chars() {
        if !c.is_ascii_alphanumeric() && !matches!(c, '_' | '-' | ' ' | '.') {
            return None;
        }
        if c.is_ascii_uppercase() && was_lower {
            out.push('_');
        }
        was_lower = c.is_ascii_lowercase() || c.is_ascii_digit();
        out.push(if matches!(c, ' ' | '.') { '_' } else { c.to_ascii_lowercase() });
    }
    out.starts_with(|c: char| c.is_ascii_lowercase()).then_some(out)
}

/// Checks the name of a facade.
pub fn facade(name: &str, span: Span) -> Result<()> {
    check("a facade", name, SHORT, span)
}

/// Checks the name of an action.
pub fn action(name: &str, span: Span) -> Result<()> {
    check("an action", name, LONG, span)?;
    free(name, span)
}

/// Checks an alias of an action.
pub fn alias(name: &str, span: Span) -> Result<()> {
    check("an action", name, SHORT, span)?;
    free(name, span)
}

/// Checks the name of a view.
pub fn view(name: &str, span: Span) -> Result<()> {
    check("a view", name, SHORT, span)
}

fn free(name: &str, span: Span) -> Result<()> {
    if RESERVED_ACTIONS.contains(&name) {
        let sentence = format!("`{name}` is an action that the host gives every facade; choose another name");
        return Err(Error::new(span, sentence));
    }
    Ok(())
}

/// Checks the name of a parameter.
pub fn param(name: &str, span: Span) -> Result<()> {
    if name.starts_with('_') {
        let sentence = format!(
            "`{name}` begins with `_`, which is for a plugin's own book-keeping; rename it or use `#[param(name = \"…\")]`"
        );
        return Err(Error::new(span, sentence));
    }
    check("a parameter", name, SHORT, span)?;
    if RESERVED_PARAMS.contains(&name) {
        let sentence = format!(
            "`{name}` has a meaning of its own in every call; rename the parameter or use `#[param(name = \"…\")]`"
        );
        return Err(Error::new(span, sentence));
    }
    Ok(())
}

/// Formats "`#[param]` has no key `lenght`; did you mean `length`?", or the list of keys if none is similar.
pub fn unknown(lack: &str, given: &str, known: &[&str]) -> String {
    let near = known.iter().max_by(|a, b| closeness(given, a).total_cmp(&closeness(given, b)));
    match near {
        Some(name) if closeness(given, name) > 0.7 => {
            format!("{lack} `{given}`; did you mean `{name}`?")
        }
        _ => format!("{lack} `{given}`; there are: {}", known.join(", ")),
    }
}

fn closeness(a: &str, b: &str) -> f64 {
    strsim::jaro_winkler(a, b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_other_cases_become_ours() {
        for (name, expected) in [
            ("addNote", Some("add_note")),
            ("Fancy Name", Some("fancy_name")),
            ("add2Notes", Some("add2_notes")),
            ("files.get", Some("files_get")),
            ("notes!", None),
            ("1st", None),
            ("", None),
        ] {
            assert_eq!(to_snake_case(name).as_deref(), expected, "{name}");
        }
    }
}

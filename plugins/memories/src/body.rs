//! Bodies as lists of observations, one a line.

use loggia_sdk::prelude::*;

/// Maximum length of a body, in characters.
pub const LENGTH: usize = 32_768;

/// Adds a line at the end, unless the body has it. Returns whether it is new.
///
/// # Errors
///
/// `conflict` if the body becomes too long.
pub fn append(body: &mut String, line: &str) -> Result<bool> {
    let line = one_line(line);
    if line.is_empty() || has(body, &line) {
        return Ok(false);
    }
    if body.chars().count() + 1 + line.chars().count() > LENGTH {
        return Err(Failure::conflict(format!("the body would have more than {LENGTH} characters"))
            .hint("`remove` lines of it, or `add` another memory and `link` the two."));
    }
    if !body.is_empty() && !body.ends_with('\n') {
        body.push('\n');
    }
    body.push_str(&line);
    Ok(true)
}

/// Removes a line.
///
/// # Errors
///
/// `not_found` if the body does not have it.
pub fn remove(body: &mut String, line: &str) -> Result<()> {
    let line = one_line(line);
    if !has(body, &line) {
        return Err(Failure::not_found("not found: the body has no such line")
            .hint("`get` the memory, and pass one of its lines as it is."));
    }
    let rest: Vec<&str> = body.lines().filter(|other| other.trim() != line).collect();
    *body = rest.join("\n");
    Ok(())
}

fn has(body: &str, line: &str) -> bool {
    body.lines().any(|other| other.trim() == line)
}

/// Without line breaks, which would make two of it, and without space around it.
fn one_line(text: &str) -> String {
    let parts = text.split(['\n', '\r']).map(str::trim).filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_added_and_removed_once() {
        let mut body = String::new();
        let mut add = |line: &str| (append(&mut body, line), body.clone());
        assert_eq!(add("one"), (Ok(true), "one".into()));
        assert_eq!(add(" two\n\nthree "), (Ok(true), "one\ntwo three".into()));
        assert_eq!(add("one "), (Ok(false), "one\ntwo three".into()));
        assert_eq!(add(" \n"), (Ok(false), "one\ntwo three".into()));
        let long = add(&"x".repeat(LENGTH - 13)).0.unwrap_err();
        assert_eq!(long.to_string(), "conflict: the body would have more than 32768 characters");
        remove(&mut body, "one").unwrap();
        assert_eq!(body, "two three");
        let missing = remove(&mut body, "two").unwrap_err();
        assert_eq!(missing.to_string(), "not_found: not found: the body has no such line");
    }
}

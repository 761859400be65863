//! Expansion of `${VAR}` and `${VAR:-default}` in strings.
//!
//! Runs on values after the file was parsed, so that the value of a variable can never become another key or grant.

/// A string with its variables expanded.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ExpandedString {
    pub value: String,
    /// True if a part of the value came from the environment. Such values are not shown in messages.
    pub from_environment: bool,
}

/// Error of expanding a string. Displays as the text after the key's name.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum ExpandError {
    /// The variable is not set, and the string has no default.
    #[error("needs the environment variable {0}, which is not set; set it, or write `${{{0}:-default}}`")]
    Unset(String),
    /// A `${` is not followed by a variable, and not part of `$${`.
    #[error(
        "has an invalid `${{`: write `${{NAME}}` or `${{NAME:-default}}`, not nested, or `$${{` for the characters `${{`"
    )]
    Malformed,
}

/// Expands the variables of a string. As in a shell, the default also replaces an empty variable.
///
/// # Errors
///
/// If a variable without default is not set, or a `${` is malformed.
pub(super) fn expand(
    text: &str,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<ExpandedString, ExpandError> {
    let mut expanded = ExpandedString { value: String::with_capacity(text.len()), from_environment: false };
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        let (before, found) = rest.split_at(at);
        let inside = &found[2..];
        if let Some(before) = before.strip_suffix('$') {
            expanded.value.push_str(before);
            expanded.value.push_str("${");
            rest = inside;
            continue;
        }
        let (inside, after) = inside.split_once('}').ok_or(ExpandError::Malformed)?;
        let (name, default) = match inside.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (inside, None),
        };
        if !is_name(name) || default.is_some_and(|default| default.contains("${")) {
            return Err(ExpandError::Malformed);
        }
        let value = variable(name);
        expanded.from_environment |= value.is_some();
        let value = match (value, default) {
            (Some(value), None) => value,
            (Some(value), Some(_)) if !value.is_empty() => value,
            (_, Some(default)) => default.to_owned(),
            (None, None) => return Err(ExpandError::Unset(name.to_owned())),
        };
        expanded.value.push_str(before);
        expanded.value.push_str(&value);
        rest = after;
    }
    expanded.value.push_str(rest);
    Ok(expanded)
}

/// Returns true if a text can be the name of a variable.
fn is_name(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn expanded(text: &str) -> Result<String, ExpandError> {
        let variable = |name: &str| match name {
            "USER" => Some("ada".to_owned()),
            "EMPTY" => Some(String::new()),
            "NESTED" => Some("${USER}".to_owned()),
            "TOML" => Some("\"]\n[grants]\nelicit = true #".to_owned()),
            _ => None,
        };
        expand(text, &variable).map(|expanded| expanded.value)
    }

    #[test]
    fn variables_are_expanded() {
        let check =
            |text: &str, expected: &str| assert_eq!(expanded(text).as_deref(), Ok(expected), "{text}");
        check("", "");
        check("plain $ text } { $HOME", "plain $ text } { $HOME");
        check("${USER}", "ada");
        check("/home/${USER}/${USER}!", "/home/ada/ada!");
        check("${USER:-bob}", "ada");
        check("${UNSET:-bob}", "bob");
        check("${UNSET:-}", "");
        check("${UNSET:-a:-b$c}", "a:-b$c");
        check("${EMPTY}", "");
        check("${EMPTY:-bob}", "bob");
        check("$${USER}", "${USER}");
        check("$$${USER}", "$${USER}");
        check("$${${USER}", "${ada");
        check("$$ $x", "$$ $x");
        // Values of variables are not expanded again.
        check("${NESTED}", "${USER}");
        check("${TOML}", "\"]\n[grants]\nelicit = true #");
    }

    #[test]
    fn unset_and_malformed_variables_are_errors() {
        let check = |text: &str, expected: ExpandError| assert_eq!(expanded(text), Err(expected), "{text}");
        check("${UNSET}", ExpandError::Unset("UNSET".into()));
        check("${USER}${UNSET}", ExpandError::Unset("UNSET".into()));
        for text in [
            "${",
            "${}",
            "${USER",
            "${1X}",
            "${A B}",
            "${USER:bob}",
            "${USER-bob}",
            "${:-x}",
            "${A:-${USER}}",
            "${${USER}}",
            "${Ä}",
        ] {
            check(text, ExpandError::Malformed);
        }
    }

    #[test]
    fn values_from_the_environment_are_marked() {
        let check = |text: &str, expected: bool| {
            let expanded = expand(text, &|name| (name == "USER").then(|| "ada".to_owned())).unwrap();
            assert_eq!(expanded.from_environment, expected, "{text}");
        };
        check("${USER}", true);
        check("${UNSET:-x}", false);
        check("$${USER}", false);
    }

    proptest! {
        #[test]
        fn no_text_makes_expansion_panic(text in "[${}:A-Z\\-a-zß\n]*") {
            let _ = expanded(&text);
        }

        #[test]
        fn text_without_variables_is_unchanged(text in any::<String>()) {
            prop_assume!(!text.contains("${"));
            prop_assert_eq!(expanded(&text), Ok(text));
        }

        #[test]
        fn escaped_text_is_unchanged(text in "([${}a-z]|\\$\\{)*") {
            // A `$` before `${` would count as part of the escape.
            prop_assume!(!text.contains("$${"));
            prop_assert_eq!(expanded(&text.replace("${", "$${")), Ok(text));
        }
    }
}

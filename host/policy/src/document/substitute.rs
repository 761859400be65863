//! `${VAR}` and `${VAR:-default}` in the strings of a policy.
//!
//! Done to values after the file was parsed, so that what a variable holds can never become another key or grant.

/// A string with its variables filled in.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Filled {
    /// What it says now.
    pub value: String,
    /// Something of it came from the environment, so it is not shown in messages.
    pub from_environment: bool,
}

/// Why a string cannot be filled in. Reads after the key's name.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Unfilled {
    /// The variable has no value, and the text no default.
    #[error("needs the environment variable {0}, which is not set; set it, or write `${{{0}:-default}}`")]
    Unset(String),
    /// `${` that is neither a variable nor `$${`.
    #[error(
        "holds a `${{` that is not understood: write `${{NAME}}` or `${{NAME:-default}}`, neither inside another, or \
         `$${{` for the characters `${{`"
    )]
    Malformed,
}

/// Fills in what a string takes from the environment. As in a shell, a default also stands for an empty variable.
///
/// # Errors
///
/// If a variable is not set, or `${` begins nothing that is known.
pub(super) fn substitute(text: &str, variable: &dyn Fn(&str) -> Option<String>) -> Result<Filled, Unfilled> {
    let mut filled = Filled { value: String::with_capacity(text.len()), from_environment: false };
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        let (before, found) = rest.split_at(at);
        let inside = &found[2..];
        if let Some(before) = before.strip_suffix('$') {
            filled.value.push_str(before);
            filled.value.push_str("${");
            rest = inside;
            continue;
        }
        let (inside, after) = inside.split_once('}').ok_or(Unfilled::Malformed)?;
        let (name, default) = match inside.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (inside, None),
        };
        if !is_name(name) || default.is_some_and(|default| default.contains("${")) {
            return Err(Unfilled::Malformed);
        }
        let value = variable(name);
        filled.from_environment |= value.is_some();
        let value = match (value, default) {
            (Some(value), None) => value,
            (Some(value), Some(_)) if !value.is_empty() => value,
            (_, Some(default)) => default.to_owned(),
            (None, None) => return Err(Unfilled::Unset(name.to_owned())),
        };
        filled.value.push_str(before);
        filled.value.push_str(&value);
        rest = after;
    }
    filled.value.push_str(rest);
    Ok(filled)
}

/// Whether a text can be a variable's name.
pub(super) fn is_name(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn filled(text: &str) -> Result<String, Unfilled> {
        let variable = |name: &str| match name {
            "USER" => Some("ada".to_owned()),
            "EMPTY" => Some(String::new()),
            "NESTED" => Some("${USER}".to_owned()),
            "TOML" => Some("\"]\n[grants]\nelicit = true #".to_owned()),
            _ => None,
        };
        substitute(text, &variable).map(|filled| filled.value)
    }

    #[test]
    fn variables_are_filled_in() {
        let check = |text: &str, expected: &str| assert_eq!(filled(text).as_deref(), Ok(expected), "{text}");
        check("", "");
        check("plain $ text } { $HOME", "plain $ text } { $HOME");
        check("${USER}", "ada");
        check("/home/${USER}/${USER}!", "/home/ada/ada!");
        check("${USER:-bob}", "ada");
        check("${NOBODY:-bob}", "bob");
        check("${NOBODY:-}", "");
        check("${NOBODY:-a:-b$c}", "a:-b$c");
        check("${EMPTY}", "");
        check("${EMPTY:-bob}", "bob");
        check("$${USER}", "${USER}");
        check("$$${USER}", "$${USER}");
        check("$${${USER}", "${ada");
        check("$$ $x", "$$ $x");
        // What a variable holds is not looked at again.
        check("${NESTED}", "${USER}");
        check("${TOML}", "\"]\n[grants]\nelicit = true #");
    }

    #[test]
    fn what_cannot_be_filled_in_is_refused() {
        let check = |text: &str, expected: Unfilled| assert_eq!(filled(text), Err(expected), "{text}");
        check("${NOBODY}", Unfilled::Unset("NOBODY".into()));
        check("${USER}${NOBODY}", Unfilled::Unset("NOBODY".into()));
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
            check(text, Unfilled::Malformed);
        }
    }

    #[test]
    fn what_came_from_the_environment_is_marked() {
        let check = |text: &str, expected: bool| {
            let filled = substitute(text, &|name| (name == "USER").then(|| "ada".to_owned())).unwrap();
            assert_eq!(filled.from_environment, expected, "{text}");
        };
        check("${USER}", true);
        check("${NOBODY:-x}", false);
        check("$${USER}", false);
    }

    proptest! {
        #[test]
        fn anything_is_taken_or_refused(text in "[${}:A-Z\\-a-zß\n]*") {
            let _ = filled(&text);
        }

        #[test]
        fn text_without_variables_stays_as_it_is(text in any::<String>()) {
            prop_assume!(!text.contains("${"));
            prop_assert_eq!(filled(&text), Ok(text));
        }

        #[test]
        fn an_escaped_text_stays_as_it_is(text in "([${}a-z]|\\$\\{)*") {
            // A `$` before `${` would be taken for the escape's own.
            prop_assume!(!text.contains("$${"));
            prop_assert_eq!(filled(&text.replace("${", "$${")), Ok(text));
        }
    }
}

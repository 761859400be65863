//! References in the strings of a client's file, as those of `loggia.toml`.
//!
//! `loggia.toml` knows `${NAME}` and `${NAME:-default}`, which name variables of the host's environment, and `$${` for the
//! characters `${`.

/// A string with its references rewritten.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct RewrittenText {
    pub(super) text: String,
    /// Names of the variables that it now needs.
    pub(super) variables: Vec<String>,
    /// References that mean nothing here, and stay as they are.
    pub(super) unknown: Vec<String>,
}

/// Rewrites `${input:x}`, `${env:X}`, `${userHome}` and the like.
pub(super) fn rewrite_references(text: &str) -> RewrittenText {
    let mut out = RewrittenText { text: String::new(), variables: Vec::new(), unknown: Vec::new() };
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        let Some(end) = rest[at..].find('}') else { break };
        out.text.push_str(&rest[..at]);
        let inner = &rest[at + 2..at + end];
        rest = &rest[at + end + 1..];
        match reference(inner) {
            Some((name, default)) => {
                let default = default.map(|default| format!(":-{default}")).unwrap_or_default();
                out.text.push_str(&format!("${{{name}{default}}}"));
                if !out.variables.contains(&name) {
                    out.variables.push(name);
                }
            }
            None => {
                out.text.push_str(&format!("$${{{inner}}}"));
                out.unknown.push(format!("${{{inner}}}"));
            }
        }
    }
    // What has no end is no reference.
    out.text.push_str(&rest.replace("${", "$${"));
    out
}

/// The variable that a reference names, with its default.
fn reference(inner: &str) -> Option<(String, Option<&str>)> {
    if let Some(input) = inner.strip_prefix("input:") {
        return Some((variable_of(input), None)).filter(|(name, _)| is_name(name));
    }
    if inner == "userHome" {
        return Some(("HOME".to_owned(), None));
    }
    let inner = inner.strip_prefix("env:").unwrap_or(inner);
    let (name, default) = match inner.split_once(":-") {
        Some((name, default)) => (name, Some(default)),
        None => (inner, None),
    };
    // VS Code's own variables, such as `workspaceFolder`, are in camel case.
    let is_variable = is_name(name) && !name.chars().any(|c| c.is_ascii_lowercase());
    is_variable.then(|| (name.to_owned(), default))
}

/// The variable for an input of VS Code: `github-token` becomes `GITHUB_TOKEN`.
pub(super) fn variable_of(input: &str) -> String {
    input.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' }).collect()
}

fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_name_variables_of_the_environment() {
        for (text, expected, variables, unknown) in [
            ("plain $5 $x", "plain $5 $x", &[][..], &[][..]),
            ("Bearer ${input:github-token}", "Bearer ${GITHUB_TOKEN}", &["GITHUB_TOKEN"], &[]),
            ("${env:A}/${A}", "${A}/${A}", &["A"], &[]),
            ("${A:-x y}", "${A:-x y}", &["A"], &[]),
            ("${userHome}/x", "${HOME}/x", &["HOME"], &[]),
            ("${workspaceFolder}/x", "$${workspaceFolder}/x", &[], &["${workspaceFolder}"]),
            ("${input:7}", "$${input:7}", &[], &["${input:7}"]),
            ("open ${A", "open $${A", &[], &[]),
        ] {
            let rewritten = rewrite_references(text);
            assert_eq!(rewritten.text, expected);
            assert_eq!(
                (rewritten.variables, rewritten.unknown),
                (
                    variables.iter().map(|v| (*v).to_owned()).collect(),
                    unknown.iter().map(|v| (*v).to_owned()).collect()
                ),
                "{text}"
            );
        }
    }
}

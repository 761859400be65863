//! The grants that a plugin may request, by the words of a policy file.

use syn::{Error, LitStr, Result};

use crate::names;

/// Keys of the section `[grants]`.
const GRANTS: [&str; 9] = ["dirs", "http", "env", "config", "secrets", "store", "caller", "invoke", "elicit"];
/// Grants without parts.
const WHOLE: [&str; 2] = ["caller", "elicit"];

/// Checks a request: a grant and, after a colon, the part of it, such as `http: https://api.example.com`. What follows the first
/// word of the part describes it.
pub fn check(request: &LitStr) -> Result<()> {
    complaint(&request.value()).map_or(Ok(()), |why| Err(Error::new(request.span(), why)))
}

fn complaint(request: &str) -> Option<String> {
    let (word, part) = match request.split_once(':') {
        Some((word, part)) => (word.trim(), Some(part.trim())),
        None => (request.trim(), None),
    };
    if !GRANTS.contains(&word) {
        return Some(names::unknown("no policy has a grant", word, &GRANTS));
    }
    let part = part?;
    if WHOLE.contains(&word) {
        return Some(format!("`{word}` has no parts: write `{word}`"));
    }
    if part.is_empty() {
        return Some(format!(
            "nothing follows the colon: write `{word}`, or name the part, such as `{}`",
            example(word)
        ));
    }
    let first = part.split_whitespace().next().unwrap_or_default().trim_end_matches([',', ';']);
    match word {
        "http" => destination(first),
        "invoke" => {
            let words = part.split([',', ';']).map(str::trim);
            let wrong = words.into_iter().find(|word| !word.contains([' ', ':', '*']))?;
            Some(format!(
                "`{wrong}` is no action: write `{wrong}:ACTION`, or `{wrong}:*` for all actions of this facade"
            ))
        }
        _ => None,
    }
}

/// Says what is wrong with a destination. A text without a dot or `://` only describes one.
fn destination(text: &str) -> Option<String> {
    const FORM: &str = "write scheme and host, such as `http: https://api.example.com`";
    let Some((scheme, rest)) = text.split_once("://") else {
        return text.contains('.').then(|| format!("`{text}` is no destination; {FORM}"));
    };
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    match () {
        () if !["http", "https"].contains(&scheme) => {
            Some(format!("`{text}` has a scheme other than http and https; {FORM}"))
        }
        () if host.is_empty() => Some(format!("`{text}` names no host; {FORM}")),
        () if host.len() < rest.len() => {
            Some(format!("a grant is for a whole host: write `http: {scheme}://{host}`"))
        }
        () => None,
    }
}

fn example(word: &str) -> &'static str {
    match word {
        "dirs" => "dirs: /data",
        "http" => "http: https://api.example.com",
        "env" => "env: LANG",
        "config" => "config: mailbox",
        "secrets" => "secrets: API_TOKEN",
        "store" => "store: 10MiB",
        _ => "invoke: files:search",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_name_a_grant_and_its_part() {
        for request in [
            "store",
            "store: 10MiB",
            "dirs: /data read",
            "http",
            "http: https://api.example.com",
            "http: https://*",
            "http: http://127.0.0.1:8080",
            "http: https://api.example.com, to look things up",
            "http: an embeddings endpoint",
            "config: port, mailbox",
            "invoke: *",
            "invoke: files:search, notes:*",
            "invoke: other facades",
            "elicit",
        ] {
            assert_eq!(complaint(request), None, "{request}");
        }
        for (request, expected) in [
            ("stor", "no policy has a grant `stor`; did you mean `store`?"),
            ("elicit: questions", "`elicit` has no parts: write `elicit`"),
            (
                "config:",
                "nothing follows the colon: write `config`, or name the part, such as `config: mailbox`",
            ),
            (
                "http: api.example.com",
                "`api.example.com` is no destination; write scheme and host, such as `http: https://api.example.com`",
            ),
            (
                "http: ftp://example.com",
                "`ftp://example.com` has a scheme other than http and https; write scheme and host, such as `http: https://api.example.com`",
            ),
            (
                "http: https://",
                "`https://` names no host; write scheme and host, such as `http: https://api.example.com`",
            ),
            ("http: https://a.example/v1", "a grant is for a whole host: write `http: https://a.example`"),
            (
                "invoke: files",
                "`files` is no action: write `files:ACTION`, or `files:*` for all actions of this facade",
            ),
        ] {
            assert_eq!(complaint(request).as_deref(), Some(expected), "{request}");
        }
    }
}

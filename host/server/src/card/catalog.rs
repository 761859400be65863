//! The list of cards on a domain, `/.well-known/ai-catalog.json`.

use serde_json::{Value, json};

use super::{document::CARD_TYPE, subject::CardSubject};

/// Renders the list.
pub fn render<'a>(subjects: impl Iterator<Item = CardSubject<'a>>) -> Value {
    let entries: Vec<Value> = subjects
        .map(|subject| {
            json!({"identifier": identifier(&subject.name()), "type": CARD_TYPE, "url": subject.card_url()})
        })
        .collect();
    json!({"specVersion": "1.0", "entries": entries})
}

/// Returns `urn:air:{publisher}:{namespace}:{name}` with the publisher's domain in its usual order (discovery.md, "Server Card
/// Entries"): `com.example/tools` is `urn:air:example.com:mcp:tools`.
fn identifier(name: &str) -> String {
    let (space, name) = name.split_once('/').unwrap_or(("", name));
    let publisher: Vec<&str> = space.rsplit('.').collect();
    format!("urn:air:{}:mcp:{name}", publisher.join("."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_begin_with_the_domain() {
        for (name, expected) in [
            ("com.example/tools", "urn:air:example.com:mcp:tools"),
            ("io.github.ada/tools.research", "urn:air:ada.github.io:mcp:tools.research"),
        ] {
            assert_eq!(identifier(name), expected);
        }
    }
}

//! The table of clients.

use std::sync::LazyLock;

use serde::Deserialize;

use super::traits::ClientTraits;

/// The clients of which something is known.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClientTable {
    /// Known clients, in the order in which they are printed.
    #[serde(rename = "client")]
    pub clients: Vec<ClientTraits>,
    /// All others.
    #[serde(skip, default = "ClientTraits::unknown")]
    pub unknown: ClientTraits,
}

/// Returns the table.
pub fn client_table() -> &'static ClientTable {
    static TABLE: LazyLock<ClientTable> = LazyLock::new(|| {
        // A test reads the file as it is embedded here.
        toml::from_str(include_str!("clients.toml"))
            .unwrap_or_else(|_| ClientTable { clients: Vec::new(), unknown: ClientTraits::unknown() })
    });
    &TABLE
}

impl ClientTable {
    /// Finds the client that introduces itself by this name (`clientInfo.name`).
    pub fn identify(&self, info: &str) -> &ClientTraits {
        // `mcp-remote` adds its own name to that of the client behind it.
        let own = info.split(" (via ").next().unwrap_or_default().trim().to_lowercase();
        self.clients.iter().find(|client| client.is_named(&own)).unwrap_or(&self.unknown)
    }

    /// Finds a client by its name in the table.
    pub fn named(&self, name: &str) -> Option<&ClientTraits> {
        self.all().find(|client| client.name == name)
    }

    /// Iterates over the known clients, and the others at the end.
    pub fn all(&self) -> impl Iterator<Item = &ClientTraits> {
        self.clients.iter().chain([&self.unknown])
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_table_is_sound() {
        let table: ClientTable = toml::from_str(include_str!("clients.toml")).unwrap();
        assert_eq!(table.clients, client_table().clients);
        let mut names = BTreeSet::from(["other".to_owned()]);
        let mut infos = BTreeSet::new();
        for client in &table.clients {
            assert!(names.insert(client.name.clone()), "{} twice", client.name);
            assert!(
                client.name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'),
                "{}",
                client.name
            );
            assert!(!client.info.is_empty() && !client.sources.is_empty(), "{}", client.name);
            for info in &client.info {
                assert!(infos.insert(info.to_lowercase()), "{info} twice");
                let name = info.trim_end_matches('*');
                assert_eq!(table.identify(name).name, client.name, "another client takes {info}");
            }
        }
    }

    #[test]
    fn clients_are_identified_by_what_they_call_themselves() {
        for (info, expected) in [
            ("claude-code", "claude-code"),
            ("Claude-Code", "claude-code"),
            ("claude-code-fork", "other"),
            ("claude-ai (via mcp-remote 0.1.29)", "claude-desktop"),
            ("Visual Studio Code - Insiders", "vscode"),
            ("cursor-vscode (via mcp-remote 0.15.1)", "cursor"),
            ("mcp", "other"),
            ("", "other"),
            ("\u{130}", "other"),
        ] {
            assert_eq!(client_table().identify(info).name, expected, "{info:?}");
        }
    }
}

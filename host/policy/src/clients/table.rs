//! The table of clients.

use std::{collections::HashMap, sync::LazyLock};

use serde::Deserialize;

use super::traits::ClientTraits;

/// The clients of which something is known.
#[derive(Debug)]
pub struct ClientTable {
    /// Known clients, in the order in which they are printed.
    pub clients: Vec<ClientTraits>,
    /// All others.
    pub unknown: ClientTraits,
    /// Places of clients by the names with which they introduce themselves, in lower case. Requests look here.
    names: HashMap<String, usize>,
    /// Begins of such names, with the places of their clients.
    begins: Vec<(String, usize)>,
}

/// The file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ClientFile {
    client: Vec<ClientTraits>,
}

/// Returns the table.
pub fn client_table() -> &'static ClientTable {
    static TABLE: LazyLock<ClientTable> = LazyLock::new(|| {
        // A test reads the file as it is embedded here.
        ClientTable::parse(include_str!("clients.toml")).unwrap_or_else(|_| ClientTable::new(Vec::new()))
    });
    &TABLE
}

impl ClientTable {
    fn parse(text: &str) -> Result<Self, toml::de::Error> {
        Ok(Self::new(toml::from_str::<ClientFile>(text)?.client))
    }

    fn new(clients: Vec<ClientTraits>) -> Self {
        let (mut names, mut begins) = (HashMap::new(), Vec::new());
        for (at, client) in clients.iter().enumerate() {
            for info in &client.info {
                match info.strip_suffix('*') {
                    Some(begin) => begins.push((begin.to_lowercase(), at)),
                    None => drop(names.insert(info.to_lowercase(), at)),
                }
            }
        }
        Self { clients, unknown: ClientTraits::unknown(), names, begins }
    }

    /// Finds the client that introduces itself by this name (`clientInfo.name`).
    pub fn identify(&self, info: &str) -> &ClientTraits {
        // `mcp-remote` adds its own name to that of the client behind it.
        let own = info.split(" (via ").next().unwrap_or_default().trim().to_lowercase();
        let by_begin = || self.begins.iter().find(|(begin, _)| own.starts_with(begin)).map(|(_, at)| at);
        let at = self.names.get(&own).or_else(by_begin);
        at.and_then(|at| self.clients.get(*at)).unwrap_or(&self.unknown)
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
        let table = ClientTable::parse(include_str!("clients.toml")).unwrap();
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

//! Kinds of facades, and how each differs from the others.

use loggia_policy::{grants::GRANTS, model::Policy};

/// Beginning of the tables of upstreams.
const UPSTREAM: &str = "upstream.";

/// Kind of facade that a file of the folder defines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// `<name>.wasm`.
    Component,
    /// `<name>.workflow.yaml`, or `.yml`.
    Workflows,
    /// `<name>.api.toml`.
    Api,
}

/// Kind of facade, by what defines it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FacadeKind {
    /// A file of the folder.
    File(FileKind),
    /// A table of the settings: another MCP server.
    Upstream,
}

/// How a kind differs from the others.
struct KindTraits {
    /// Endings of its files, or beginning of its tables in the settings.
    names: &'static [&'static str],
    /// Grants that its facades can use; `None`: all.
    grants: Option<UsableGrants>,
    /// What its facades may do beyond their policy.
    right: Option<KindRight>,
}

/// Grants that facades of a kind can use.
struct UsableGrants {
    /// Their keys.
    keys: &'static [&'static str],
    /// Text that follows "the policy grants …, which".
    otherwise: &'static str,
}

/// A right that facades of a kind have beyond their policy.
pub struct KindRight {
    /// Its key, in place of that of a grant.
    pub key: &'static str,
    /// Text that follows "may".
    pub text: &'static str,
    /// Where data can be sent by it.
    pub sends: &'static str,
    /// Grant that it makes unnecessary.
    pub includes: Option<&'static str>,
}

/// A policy has a grant that a facade of this kind cannot use.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("the policy grants {grant}, which {otherwise}")]
pub struct UnusableGrant {
    grant: &'static str,
    otherwise: &'static str,
}

impl FileKind {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::Component, Self::Workflows, Self::Api];

    /// File name suffixes of the kind.
    pub fn suffixes(self) -> &'static [&'static str] {
        FacadeKind::File(self).traits().names
    }

    /// Splits a file name into its kind and its stem. Ignores hidden files, which editors and copying tools create.
    pub fn from_file_name(file: &str) -> Option<(Self, &str)> {
        let endings =
            Self::ALL.into_iter().flat_map(|kind| kind.suffixes().iter().map(move |end| (kind, *end)));
        let mut stems = endings.filter_map(|(kind, end)| Some((kind, file.strip_suffix(end)?)));
        stems.find(|(_, stem)| !stem.is_empty() && !stem.starts_with('.'))
    }
}

impl FacadeKind {
    /// Kinds that the settings define.
    const OF_SETTINGS: [Self; 1] = [Self::Upstream];

    fn traits(self) -> KindTraits {
        match self {
            Self::File(FileKind::Component) => KindTraits { names: &[".wasm"], grants: None, right: None },
            Self::File(FileKind::Workflows) => KindTraits {
                names: &[".workflow.yaml", ".workflow.yml"],
                grants: Some(UsableGrants {
                    keys: &["invoke", "elicit"],
                    otherwise: "workflows cannot use: their steps use the grants of the facades that they call",
                }),
                right: None,
            },
            Self::File(FileKind::Api) => KindTraits {
                names: &[".api.toml"],
                grants: Some(UsableGrants {
                    keys: &["http", "secrets", "invoke", "elicit"],
                    otherwise: "an API cannot use: only `http` and `secrets` apply",
                }),
                right: Some(KindRight {
                    key: "api",
                    text: "send requests to the servers of its description",
                    sends: "the servers of the API",
                    includes: Some("http"),
                }),
            },
            Self::Upstream => KindTraits {
                names: &[UPSTREAM],
                grants: Some(UsableGrants {
                    keys: &["invoke", "elicit"],
                    otherwise: "an upstream cannot use: it runs outside of the sandbox",
                }),
                right: Some(KindRight {
                    key: "upstream",
                    text: "do whatever its server can: an upstream is not sandboxed",
                    sends: "the upstream server",
                    includes: None,
                }),
            },
        }
    }

    /// Splits the key of an offer, which is a file name or a table of the settings, into its kind and its name.
    pub fn from_key(key: &str) -> Option<(Self, &str)> {
        if let Some((kind, stem)) = FileKind::from_file_name(key) {
            return Some((Self::File(kind), stem));
        }
        let kinds = Self::OF_SETTINGS.into_iter();
        let mut tables = kinds.flat_map(|kind| kind.traits().names.iter().map(move |table| (kind, *table)));
        tables.find_map(|(kind, table)| Some((kind, key.strip_prefix(table)?)))
    }

    /// Returns what facades of this kind may do beyond their policy.
    pub fn right(self) -> Option<KindRight> {
        self.traits().right
    }

    /// Checks that facades of this kind can use what a policy grants.
    ///
    /// # Errors
    ///
    /// The first grant that has no effect on them.
    pub fn check_grants(self, policy: &Policy) -> Result<(), UnusableGrant> {
        let Some(UsableGrants { keys, otherwise }) = self.traits().grants else { return Ok(()) };
        let mut given = GRANTS.iter().filter(|grant| grant.is_given(policy)).map(|grant| grant.key().name);
        given
            .find(|grant| !keys.contains(grant))
            .map_or(Ok(()), |grant| Err(UnusableGrant { grant, otherwise }))
    }
}

/// Strips the suffix of a plugin's file name: the stem names its policy, and its facade by default.
pub fn file_stem(file: &str) -> &str {
    FileKind::from_file_name(file).map_or(file, |(_, stem)| stem)
}

/// Returns the key of an upstream's offer: its table in the settings.
pub fn upstream_key(name: &str) -> String {
    format!("{UPSTREAM}{name}")
}

/// Returns true if an offer with this key is a file of the folder, and not a table of the settings.
pub fn is_file_key(key: &str) -> bool {
    FacadeKind::from_key(key).is_none_or(|(kind, _)| matches!(kind, FacadeKind::File(_)))
}

/// Returns the stem of the policy of an offer: that of a file, or the name of a table.
pub fn policy_stem(key: &str) -> &str {
    FacadeKind::from_key(key).map_or(key, |(_, stem)| stem)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::places;

    const COMPONENT: FacadeKind = FacadeKind::File(FileKind::Component);
    const WORKFLOWS: FacadeKind = FacadeKind::File(FileKind::Workflows);
    const API: FacadeKind = FacadeKind::File(FileKind::Api);

    #[test]
    fn keys_have_a_kind_and_a_name() {
        let check = |key: &str, expected: Option<(FacadeKind, &str)>| {
            assert_eq!(FacadeKind::from_key(key), expected, "{key}");
            assert_eq!(policy_stem(key), expected.map_or(key, |(_, stem)| stem));
            let is_file = expected.is_none_or(|(kind, _)| kind != FacadeKind::Upstream);
            assert_eq!(is_file_key(key), is_file, "{key}");
        };
        check("notes.wasm", Some((COMPONENT, "notes")));
        check("daily.notes.wasm", Some((COMPONENT, "daily.notes")));
        check("tidy.workflow.yaml", Some((WORKFLOWS, "tidy")));
        check("tidy.workflow.yml", Some((WORKFLOWS, "tidy")));
        check("shop.api.toml", Some((API, "shop")));
        check(&upstream_key("github"), Some((FacadeKind::Upstream, "github")));
        // A file may be called so.
        check("upstream.wasm", Some((COMPONENT, "upstream")));
        check("upstream.api.toml", Some((API, "upstream")));
        check(".wasm", None);
        check(".notes.wasm", None);
        check("plugin", None);
    }

    #[test]
    fn grants_that_a_kind_cannot_use_are_named() {
        let check = |kind: FacadeKind, grants: &str, expected: Option<&str>| {
            let policy = Policy::parse(&format!("[grants]\n{grants}"), &places::setting(Path::new("/")));
            let checked = kind.check_grants(&policy.unwrap()).map_err(|unusable| unusable.to_string());
            assert_eq!(checked.err().as_deref(), expected, "{kind:?} {grants}");
        };
        let (http, store) = ("http = [\"https://example.com\"]", "store = true");
        let shared = "elicit = true\ninvoke = [\"notes:*\"]";
        check(COMPONENT, &format!("{http}\n{store}\n{shared}"), None);
        for kind in [WORKFLOWS, API, FacadeKind::Upstream] {
            check(kind, shared, None);
        }
        check(API, http, None);
        let steps = "their steps use the grants of the facades that they call";
        let workflows = format!("the policy grants store, which workflows cannot use: {steps}");
        check(WORKFLOWS, store, Some(&workflows));
        let api = "the policy grants store, which an API cannot use: only `http` and `secrets` apply";
        check(API, store, Some(api));
        let upstream = "the policy grants http, which an upstream cannot use: it runs outside of the sandbox";
        check(FacadeKind::Upstream, http, Some(upstream));
    }
}

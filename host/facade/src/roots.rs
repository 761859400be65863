//! Directories that a client names as its roots.

use std::{borrow::Cow, fmt, path::PathBuf};

use futures_util::future::BoxFuture;

/// Maximum number of roots of a client that are used.
pub const MAX_ROOTS: usize = 16;
/// Maximum number of characters of a root's name in a message.
const LABEL: usize = 64;

/// A directory that a client names as one of its roots. The client's claim: nothing about it was checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientRoot {
    /// Absolute path on this machine.
    pub path: PathBuf,
    /// The client's name for it.
    pub name: Option<String>,
}

impl ClientRoot {
    /// The client's name for it, or else the last part of its path. Of a name that is a path itself, only the last part
    /// counts: plugins see it, and they must not learn paths of the host.
    pub fn short_name(&self) -> Cow<'_, str> {
        let last = || self.path.file_name().map_or("/".into(), |last| last.to_string_lossy());
        self.name.as_deref().and_then(last_part).map_or_else(last, Cow::Borrowed)
    }

    /// Names the root in messages, which may reach a plugin.
    pub fn label(&self) -> String {
        quote(&self.short_name())
    }
}

fn last_part(name: &str) -> Option<&str> {
    name.split('/').map(str::trim).rfind(|part| !part.is_empty())
}

/// Quotes a name of a root in a message.
fn quote(name: &str) -> String {
    let plain = |c: char| if c.is_alphanumeric() || " -_.,+@()/".contains(c) { c } else { '-' };
    let name: String = name.chars().take(LABEL).map(plain).collect();
    format!("`{name}`")
}

/// A root that is not used. Displays as a sentence without a full stop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedRoot {
    /// The root's name, safe to show.
    pub root: String,
    /// Reason, after the name: `is not a directory`.
    pub reason: String,
}

impl RefusedRoot {
    /// Refuses a root that has no path on this machine.
    pub fn without_path(uri: &str, name: Option<&str>, reason: impl Into<String>) -> Self {
        let name = name.and_then(last_part).or_else(|| last_part(uri)).unwrap_or_default();
        Self { root: quote(name), reason: reason.into() }
    }
}

impl fmt::Display for RefusedRoot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.root, self.reason)
    }
}

/// The roots of a client at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClientRoots {
    /// At most [`MAX_ROOTS`], in the client's order.
    pub roots: Vec<ClientRoot>,
    /// Those that no host could use.
    pub refused: Vec<RefusedRoot>,
    /// Why there are no roots at all, and what to do: a sentence without a full stop.
    pub absence: Option<String>,
}

impl ClientRoots {
    /// No roots, for this reason.
    pub fn absent(reason: impl Into<String>) -> Self {
        Self { absence: Some(reason.into()), ..Self::default() }
    }
}

/// Supplies the roots of the client that a call came from. The client is asked when a call first needs them.
pub trait RootSource: fmt::Debug + Send + Sync + 'static {
    /// Returns the roots. Resolves within seconds, whatever the client does.
    fn roots(&self) -> BoxFuture<'_, ClientRoots>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_root_shows_no_path() {
        let long = "x".repeat(100_000);
        for (path, name, expected) in [
            ("/home/ada/work", None, "`work`"),
            ("/home/ada/work", Some("Work"), "`Work`"),
            ("/home/ada/work", Some("/home/ada/Work/"), "`Work`"),
            ("/home/ada/work", Some(" / "), "`work`"),
            ("/", None, "`/`"),
            ("/a", Some("a\u{1b}[31m\n\u{202e}`b"), "`a--31m---b`"),
            ("/a", Some(long.as_str()), &format!("`{}`", &long[..LABEL])),
        ] {
            let root = ClientRoot { path: path.into(), name: name.map(str::to_owned) };
            assert_eq!(root.label(), expected, "{path} {name:?}");
        }
        for (uri, name, expected) in [
            ("https://example.com/home/ada", None, "`ada` is x"),
            ("file://other/home/ada/", Some("Ada"), "`Ada` is x"),
            ("file:///x", Some("/home/ada"), "`ada` is x"),
            ("", None, "`` is x"),
        ] {
            assert_eq!(RefusedRoot::without_path(uri, name, "is x").to_string(), expected);
        }
    }
}

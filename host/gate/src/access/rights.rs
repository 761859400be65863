//! Rights of a caller: the scopes of its token.

use std::{borrow::Cow, fmt, str::FromStr, sync::Arc};

use loggia_schema::{Contract, ToolView};

/// Facades and actions that a caller may call. Cheap to clone.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CallerRights(Option<Arc<[AccessScope]>>);

impl CallerRights {
    /// Unrestricted rights: for the local user, and for servers without authentication.
    pub fn all() -> Self {
        Self(None)
    }

    /// Rights of these scopes; none without any. The order of the scopes does not matter.
    pub fn from_scopes(scopes: impl IntoIterator<Item = AccessScope>) -> Self {
        let mut scopes: Vec<AccessScope> = scopes.into_iter().collect();
        scopes.sort();
        scopes.dedup();
        if scopes.contains(&AccessScope::ALL) { Self::all() } else { Self(Some(scopes.into())) }
    }

    /// Returns true if nothing is refused.
    pub fn are_unrestricted(&self) -> bool {
        self.0.is_none()
    }

    /// Returns true if this action of a facade may be called.
    pub fn allows(&self, facade: &str, action: &str) -> bool {
        self.0.as_ref().is_none_or(|scopes| scopes.iter().any(|scope| scope.allows(facade, action)))
    }

    /// Returns true if any action of a facade may be called. To other callers the facade does not exist.
    pub fn reaches(&self, facade: &str) -> bool {
        let reaches = |scope: &AccessScope| scope.facade.as_deref().is_none_or(|only| only == facade);
        self.0.as_ref().is_none_or(|scopes| scopes.iter().any(reaches))
    }

    /// Narrows a view to the caller's rights. `None` if nothing is left: the tool does not exist for this caller.
    pub fn narrow<'a>(&self, contract: &Contract, view: &'a ToolView) -> Option<Cow<'a, ToolView>> {
        if self.are_unrestricted() {
            return Some(Cow::Borrowed(view));
        }
        let facade = &contract.surface().name;
        let narrowed = contract.narrow(view, |action| self.allows(facade, action));
        narrowed.map(Cow::Owned)
    }
}

/// One scope of a token: `facade:action`, `facade:*`, or `*` for everything.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AccessScope {
    facade: Option<String>,
    action: Option<String>,
}

impl AccessScope {
    /// `*`.
    pub const ALL: Self = Self { facade: None, action: None };

    fn allows(&self, facade: &str, action: &str) -> bool {
        let is = |only: &Option<String>, name: &str| only.as_deref().is_none_or(|only| only == name);
        is(&self.facade, facade) && is(&self.action, action)
    }
}

/// Error of parsing a scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a scope is `facade:action`, `facade:*` or `*`")]
pub struct InvalidScope;

impl FromStr for AccessScope {
    type Err = InvalidScope;

    fn from_str(text: &str) -> Result<Self, InvalidScope> {
        if text == "*" {
            return Ok(Self::ALL);
        }
        let letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        let is_name = |part: &str| !part.is_empty() && part.bytes().all(letter);
        match text.split_once(':') {
            Some((facade, "*")) if is_name(facade) => Ok(Self { facade: Some(facade.into()), action: None }),
            Some((facade, action)) if is_name(facade) && is_name(action) => {
                Ok(Self { facade: Some(facade.into()), action: Some(action.into()) })
            }
            _ => Err(InvalidScope),
        }
    }
}

impl fmt::Display for AccessScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.facade, &self.action) {
            (None, _) => f.write_str("*"),
            (Some(facade), None) => write!(f, "{facade}:*"),
            (Some(facade), Some(action)) => write!(f, "{facade}:{action}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scope_allows_just_what_it_names() {
        let check = |scopes: &str, facade: &str, action: &str, reaches: bool, allowed: bool| {
            let rights =
                CallerRights::from_scopes(scopes.split_whitespace().map(|scope| scope.parse().unwrap()));
            assert_eq!(rights.reaches(facade), reaches, "{scopes} {facade}");
            assert_eq!(rights.allows(facade, action), allowed, "{scopes} {facade}:{action}");
        };
        check("", "notes", "read", false, false);
        check("*", "notes", "read", true, true);
        check("notes:read", "notes", "read", true, true);
        check("notes:read", "notes", "delete", true, false);
        check("notes:read", "notes2", "read", false, false);
        check("notes:read notes:delete", "notes", "delete", true, true);
        check("notes:*", "notes", "delete", true, true);
        check("notes:*", "files", "stat", false, false);
        check("files:stat *", "notes", "read", true, true);
    }

    #[test]
    fn scopes_are_read_as_they_are_written() {
        for text in ["*", "notes:*", "notes:read", "http_request:get-it"] {
            assert_eq!(text.parse::<AccessScope>().map(|scope| scope.to_string()).as_deref(), Ok(text));
        }
        for bad in [
            "",
            ":",
            "notes",
            "notes:",
            ":read",
            "*:read",
            "*:*",
            "notes:re*",
            "a:b:c",
            "no tes:read",
            "nötes:*",
        ] {
            assert_eq!(bad.parse::<AccessScope>(), Err(InvalidScope), "{bad}");
        }
    }

    #[test]
    fn equal_scopes_in_another_order_are_equal_rights() {
        let rights =
            |scopes: [&str; 2]| CallerRights::from_scopes(scopes.map(|scope| scope.parse().unwrap()));
        assert_eq!(rights(["a:b", "c:*"]), rights(["c:*", "a:b"]));
        assert_eq!(rights(["a:b", "*"]), CallerRights::all());
    }
}

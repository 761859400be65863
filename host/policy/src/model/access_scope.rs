//! Scopes of a token.

use std::{fmt, str::FromStr};

/// One scope of a token: `facade:action`, `facade:*`, or `*` for everything.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AccessScope {
    facade: Option<String>,
    action: Option<String>,
}

impl AccessScope {
    /// Scope `*`.
    pub const ALL: Self = Self { facade: None, action: None };

    /// Returns true if it allows this action of a facade.
    pub fn allows(&self, facade: &str, action: &str) -> bool {
        self.reaches(facade) && self.action.as_deref().is_none_or(|only| only == action)
    }

    /// Name of the only action that it allows. `None`: all actions.
    pub fn action(&self) -> Option<&str> {
        self.action.as_deref()
    }

    /// Returns true if it allows any action of a facade.
    pub fn reaches(&self, facade: &str) -> bool {
        self.facade.as_deref().is_none_or(|only| only == facade)
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
    fn scopes_parse_and_display_alike() {
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
}

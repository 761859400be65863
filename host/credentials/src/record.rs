//! The content of one credential.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{oauth::OAuthGrant, time::now, value::check_value};

/// Owner of a credential, as the operator names it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CallerName {
    /// The local user: stdio and the command line.
    Local,
    /// The principal of a token.
    Named(String),
}

impl fmt::Display for CallerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Local => f.write_str("(local user)"),
            Self::Named(name) => f.write_str(name),
        }
    }
}

/// One credential with its owner.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredCredential {
    /// Owner.
    pub caller: CallerName,
    /// The secret value.
    pub value: String,
    /// Time of its storing, in seconds since 1970 (UTC).
    pub stored: u64,
    /// What an authorization server issued beside it; none for other credentials.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oauth: Option<OAuthGrant>,
}

impl fmt::Debug for StoredCredential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoredCredential")
            .field("caller", &self.caller)
            .field("stored", &self.stored)
            .finish_non_exhaustive()
    }
}

impl StoredCredential {
    /// Creates a credential that is stored now. White space around the value is dropped.
    ///
    /// # Errors
    ///
    /// If it does not have from 8 to 4096 visible ASCII characters and spaces; the rule is to be read after its name.
    pub fn new(caller: CallerName, value: &str) -> Result<Self, &'static str> {
        let value = value.trim();
        check_value(value)?;
        Ok(Self { caller, value: value.to_owned(), stored: now(), oauth: None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_fits_a_header() {
        for (value, expected) in [
            ("12345678", true),
            ("  1234 678 \n", true),
            ("1234567", false),
            ("1234567\n8", false),
            ("123456é8", false),
            (&"x".repeat(4096), true),
            (&"x".repeat(4097), false),
        ] {
            assert_eq!(StoredCredential::new(CallerName::Local, value).is_ok(), expected, "{value:?}");
        }
    }

    #[test]
    fn a_credential_is_not_shown() {
        let stored = StoredCredential::new(CallerName::Named("ada".into()), "hunter2-hunter2").unwrap();
        assert!(!format!("{stored:?}").contains("hunter2"));
    }
}

//! The content of one credential.

use std::{fmt, time::SystemTime};

use serde::{Deserialize, Serialize};

/// Bytes of the shortest credential. A shorter one would match ordinary text of responses, in which it is redacted.
const SHORTEST: usize = 8;
/// Bytes of the longest.
const LONGEST: usize = 4 << 10;

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
    /// See [`check_value`].
    pub fn new(caller: CallerName, value: &str) -> Result<Self, &'static str> {
        let value = value.trim();
        check_value(value)?;
        let stored = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
        Ok(Self { caller, value: value.to_owned(), stored })
    }
}

/// Checks a credential's value: from 8 to 4096 visible ASCII characters and spaces, since it is sent in a header.
///
/// # Errors
///
/// The rule that it breaks, to be read after its name.
pub fn check_value(value: &str) -> Result<(), &'static str> {
    if !(SHORTEST..=LONGEST).contains(&value.len()) {
        return Err("must have from 8 to 4096 characters");
    }
    if !value.chars().all(|c| matches!(c, ' '..='~')) {
        return Err("must contain only visible ASCII characters and spaces");
    }
    Ok(())
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

//! Revoked tokens, as they are recorded in the state folder or the database.

use std::time::{SystemTime, UNIX_EPOCH};

use data_encoding::HEXLOWER;
use loggia_policy::settings::credential::TokenHash;
use loggia_server::auth::RevokedTokens;
use loggia_state::{
    ChangeCondition, ChangeOperation, HostRecords, StateChange, StateError, StateFolder, StateSpace,
    StateStore,
};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// Entries that are read at once.
const PAGE: u32 = 1000;

/// What is revoked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RevokedCredential {
    /// A token of the settings, by its hash.
    Token(TokenHash),
    /// The tokens of an authorization server that were issued to a caller so far.
    Caller(String),
}

/// A revocation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenRevocation {
    /// What is revoked.
    pub what: RevokedCredential,
    /// Name of the caller, if it is known.
    pub name: Option<String>,
    /// Time, in seconds since 1970.
    pub at: u64,
}

impl TokenRevocation {
    /// Revokes from now on.
    pub fn new(what: RevokedCredential, name: Option<String>) -> Self {
        let at = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        Self { what, name, at }
    }

    /// Key of the record: a caller's name may be longer than a key.
    fn key(&self) -> String {
        match &self.what {
            RevokedCredential::Token(hash) => format!("token/{}", HEXLOWER.encode(hash)),
            RevokedCredential::Caller(name) => format!("caller/{}", HEXLOWER.encode(&Sha256::digest(name))),
        }
    }
}

/// The record of revocations, which servers with the same state folder or database share.
#[derive(Clone)]
pub struct RevocationRecord(StateStore);

impl RevocationRecord {
    /// Uses the record of a state folder, or of its database.
    pub fn new(folder: &StateFolder) -> Self {
        Self(folder.records(HostRecords::Revocations))
    }

    /// Records a revocation. It is forgotten at a time (in seconds since 1970), if the token has expired by then.
    ///
    /// # Errors
    ///
    /// [`StateError`]; nothing is revoked then.
    pub fn add(&self, revocation: &TokenRevocation, until: Option<u64>) -> Result<(), StateError> {
        let value = serde_json::to_vec(revocation).map_err(|error| StateError::Invalid(error.to_string()))?;
        let operation = match until {
            Some(until) => ChangeOperation::PutUntil(value, until.saturating_mul(1000)),
            None => ChangeOperation::Put(value),
        };
        let change = StateChange { key: revocation.key(), expect: ChangeCondition::Any, operation };
        self.0.commit(StateSpace::Shared, vec![change]).map(|_| ())
    }

    /// Returns a number that changes with each revocation.
    ///
    /// # Errors
    ///
    /// [`StateError`].
    pub fn revision(&self) -> Result<u64, StateError> {
        self.0.commit(StateSpace::Shared, Vec::new())
    }

    /// Lists all revocations, the oldest first.
    ///
    /// # Errors
    ///
    /// [`StateError`]; [`StateError::Moved`] if there was another one meanwhile.
    pub fn list(&self) -> Result<Vec<TokenRevocation>, StateError> {
        let (mut listed, mut after, mut at) = (Vec::new(), None::<String>, None);
        loop {
            let page = self.0.scan(StateSpace::Shared, "", after.as_deref(), PAGE, at)?;
            for entry in &page.items {
                let read = serde_json::from_slice::<TokenRevocation>(&entry.value);
                listed.push(read.map_err(|error| {
                    StateError::Storage(format!("the record of revoked tokens is damaged: {error}"))
                })?);
            }
            after = page.items.last().map(|entry| entry.key.clone());
            at = Some(page.revision);
            if !page.more {
                listed.sort_by(|one, other| one.at.cmp(&other.at).then_with(|| one.name.cmp(&other.name)));
                return Ok(listed);
            }
        }
    }
}

/// Converts revocations for the server.
pub fn to_revoked(revocations: &[TokenRevocation]) -> RevokedTokens {
    let mut revoked = RevokedTokens::default();
    for TokenRevocation { what, at, .. } in revocations {
        match what {
            RevokedCredential::Token(hash) => revoked.add_token(*hash),
            RevokedCredential::Caller(name) => {
                revoked.add_caller(name.clone(), i64::try_from(*at).unwrap_or(i64::MAX));
            }
        }
    }
    revoked
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn revocations_are_listed_until_their_tokens_expire() {
        let place = tempfile::tempdir().unwrap();
        let folder = StateFolder::open(place.path()).unwrap();
        let record = RevocationRecord::new(&folder);
        assert_eq!((record.revision().unwrap(), record.list().unwrap()), (0, Vec::new()));
        let revoke =
            |what, name: Option<&str>, at| TokenRevocation { what, name: name.map(str::to_owned), at };
        let token = revoke(RevokedCredential::Token([7; 32]), Some("ada"), 10);
        let caller = revoke(RevokedCredential::Caller("https://id#bob".into()), Some("https://id#bob"), 5);
        let expired = revoke(RevokedCredential::Token([8; 32]), None, 1);
        record.add(&token, Some(u64::MAX)).unwrap();
        let before = record.revision().unwrap();
        record.add(&caller, None).unwrap();
        assert_ne!(record.revision().unwrap(), before);
        record.add(&expired, Some(1)).unwrap();
        assert_eq!(record.list().unwrap(), [caller, token]);
        assert!(folder.names().unwrap().is_empty(), "it is no store of a plugin");
        let many: Vec<TokenRevocation> = (0..1100)
            .map(|n| revoke(RevokedCredential::Caller(format!("https://id#{n}")), None, 20))
            .collect();
        many.iter().for_each(|revocation| record.add(revocation, None).unwrap());
        assert_eq!(record.list().unwrap().len(), 1102);
    }
}

//! Ids of sessions that hold what the session needs, sealed for their owner.

use std::{sync::Arc, time::Duration};

use loggia_gate::access::Caller;
use rmcp::{model::InitializeRequestParams, transport::common::server_side_http::SessionId};
use serde::{Deserialize, Serialize};

use crate::seal::{ValueSealer, random_bytes};

/// Lifetime of an id.
const ID_TTL: Duration = Duration::from_secs(30 * 24 * 3600);
/// Longest id in bytes: proxies limit headers, mostly to 8 KiB.
const MAX_ID: usize = 3072;

/// Seals and opens ids.
pub struct SessionSealer(Arc<ValueSealer>);

/// What an id holds. The number makes it unique.
#[derive(Serialize, Deserialize)]
struct SealedSession<T> {
    number: u64,
    client: T,
}

impl SessionSealer {
    /// Creates a sealer with this key.
    pub fn new(values: Arc<ValueSealer>) -> Self {
        Self(values)
    }

    /// Seals a new id. Returns `None` if the client has more to say of itself than fits.
    pub fn seal(&self, client: &InitializeRequestParams, owner: &Caller) -> Option<SessionId> {
        let number = u64::from_be_bytes(random_bytes());
        let sealed = self.0.seal(&SealedSession { number, client }, &associated_data(owner), ID_TTL)?;
        (sealed.len() <= MAX_ID).then(|| sealed.into())
    }

    /// Opens an id. Returns `None` if it was modified, has expired, or belongs to another owner or state folder.
    pub fn open(&self, id: &SessionId, owner: &Caller) -> Option<InitializeRequestParams> {
        let fits = id.len() <= MAX_ID;
        let sealed = fits.then(|| self.0.open(id, &associated_data(owner)))?;
        sealed.map(|SealedSession { client, .. }| client)
    }
}

fn associated_data(owner: &Caller) -> String {
    format!("session of {owner:?}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_bound_to_owner_and_secret() {
        let sealer = |byte: u8| {
            SessionSealer::new(Arc::new(ValueSealer::new(Some(Arc::new(move || Some([byte; 32]))))))
        };
        let mut client = InitializeRequestParams::default();
        client.client_info.name = "tea".into();
        let ada = Caller::Named("ada".into());
        let id = sealer(1).seal(&client, &ada).unwrap();
        assert_ne!(sealer(1).seal(&client, &ada).unwrap(), id, "each is unique");
        let opened = sealer(1).open(&id, &ada).unwrap();
        assert_eq!(opened.client_info.name, "tea");
        assert!(sealer(2).open(&id, &ada).is_none());
        assert!(sealer(1).open(&id, &Caller::Named("bob".into())).is_none());
        assert!(sealer(1).open(&id, &Caller::Anonymous).is_none());
        assert!(sealer(1).open(&SessionId::from(format!("{id}x")), &ada).is_none());
        assert!(id.bytes().all(|byte| byte.is_ascii_graphic()), "{id}");
        client.client_info.name = "x".repeat(MAX_ID);
        assert!(sealer(1).seal(&client, &ada).is_none());
    }
}

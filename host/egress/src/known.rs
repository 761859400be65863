//! Secrets of one plugin, or of one caller of it, that were read so far: each response is searched for them.

use std::{collections::VecDeque, sync::Arc};

use http::HeaderValue;
use parking_lot::Mutex;

use crate::{
    redact::SecretPatterns,
    secret::{CredentialOwner, HeaderSecret, SecretSource},
};

/// Values of one secret that are searched for: the current one, and the previous one, which an upstream may still echo after a
/// rotation.
const VALUES: usize = 2;

/// Known secrets of one plugin.
///
/// An upstream that was sent a secret may echo it in any later response, at another path and to a request without it. So
/// responses are searched for all secrets of the plugin, not only for that of their request.
///
/// All requests of the plugin share the lock. It is held to compare or replace a value, and while patterns are built after a
/// rotation; never across an await.
#[derive(Default)]
pub(crate) struct KnownSecrets(Mutex<SecretValues>);

#[derive(Default)]
struct SecretValues {
    /// Values by the secret's index in the grants; the newest last.
    values: Vec<VecDeque<Value>>,
    /// Patterns of all values; none without values.
    patterns: Option<Arc<SecretPatterns>>,
}

#[derive(PartialEq, Eq)]
struct Value {
    secret: String,
    header: HeaderValue,
    /// Bytes of the header before the secret.
    public: usize,
}

impl KnownSecrets {
    /// Adds a value of a secret.
    pub(crate) fn learn(&self, at: usize, secret: &HeaderSecret, value: String, header: &HeaderValue) {
        let mut seen = self.0.lock();
        if seen.values.len() <= at {
            seen.values.resize_with(at + 1, VecDeque::new);
        }
        let value = Value { secret: value, header: header.clone(), public: secret.public() };
        let values = &mut seen.values[at];
        if values.back() == Some(&value) {
            return;
        }
        // No code logs it; if one does by mistake, it is redacted, even after a rotation. The list is bounded, and callers must
        // not fill it.
        if secret.source != SecretSource::Caller {
            loggia_text::keep_secret(&value.secret);
        }
        values.retain(|known| *known != value);
        if values.len() == VALUES {
            values.pop_front();
        }
        values.push_back(value);
        let mut patterns = SecretPatterns::default();
        for value in seen.values.iter().flatten() {
            patterns.add(value.secret.as_bytes(), value.header.as_bytes(), value.public);
        }
        seen.patterns = Some(Arc::new(patterns));
    }

    /// Reads a secret that was not read yet. One that cannot be read was not sent by this host either.
    pub(crate) async fn ensure(&self, at: usize, secret: &HeaderSecret, owner: Option<&CredentialOwner>) {
        if self.0.lock().values.get(at).is_some_and(|values| !values.is_empty()) {
            return;
        }
        if let Ok((value, header)) = secret.load(owner).await {
            self.learn(at, secret, value, &header);
        }
    }

    /// Returns the patterns that must not appear in a response.
    pub(crate) fn patterns(&self) -> Option<Arc<SecretPatterns>> {
        self.0.lock().patterns.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_looked_for_until_it_has_been_replaced_twice() {
        let known = KnownSecrets::default();
        let secret = HeaderSecret {
            host: "api.test".into(),
            port: 443,
            header: "x-key".into(),
            format: "{}".into(),
            source: SecretSource::File("key".into()),
        };
        assert!(known.patterns().is_none());
        for turn in ["first-value", "second-value", "second-value", "third-value"] {
            known.learn(1, &secret, turn.to_owned(), &HeaderValue::from_str(turn).expect("a value"));
        }
        let hides = |text: &str| known.patterns().expect("some").mask(text.as_bytes()).is_some();
        assert_eq!(["first-value", "second-value", "third-value"].map(hides), [false, true, true]);
    }
}

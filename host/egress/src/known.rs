//! The secrets of one plugin, as far as they were read: what is looked for in every answer that it gets.

use std::{collections::VecDeque, sync::Arc};

use http::HeaderValue;
use parking_lot::Mutex;

use crate::{redact::Patterns, secret::Secret};

/// Values of one secret that are looked for: the one in use, and the one before it, which an upstream may still echo
/// after a rotation.
const VALUES: usize = 2;

/// An upstream that was sent a secret may echo it in any later answer, at another path and to a request without it. So
/// answers are not searched for what their request carried, but for all secrets of the plugin.
#[derive(Default)]
pub(crate) struct KnownSecrets(Mutex<Seen>);

#[derive(Default)]
struct Seen {
    /// By the secret's place among the grants; the newest value last.
    values: Vec<VecDeque<Value>>,
    /// Of all values. None where there is none.
    patterns: Option<Arc<Patterns>>,
}

#[derive(PartialEq, Eq)]
struct Value {
    secret: String,
    header: HeaderValue,
    /// Bytes of the header before the secret.
    public: usize,
}

impl KnownSecrets {
    /// Looks for this value from now on.
    pub(crate) fn learn(&self, at: usize, secret: String, header: &HeaderValue, public: usize) {
        let mut seen = self.0.lock();
        if seen.values.len() <= at {
            seen.values.resize_with(at + 1, VecDeque::new);
        }
        let (values, value) = (&mut seen.values[at], Value { secret, header: header.clone(), public });
        if values.back() == Some(&value) {
            return;
        }
        // Nothing logs it; should something do so by mistake, it is taken out, though it was rotated meanwhile.
        loggia_text::keep_secret(&value.secret);
        values.retain(|known| *known != value);
        if values.len() == VALUES {
            values.pop_front();
        }
        values.push_back(value);
        let mut patterns = Patterns::default();
        for value in seen.values.iter().flatten() {
            patterns.add(value.secret.as_bytes(), value.header.as_bytes(), value.public);
        }
        seen.patterns = Some(Arc::new(patterns));
    }

    /// Reads a secret that has not been read yet. One that cannot be read now was not sent by this host either.
    pub(crate) async fn ensure(&self, at: usize, secret: &Secret) {
        if self.0.lock().values.get(at).is_some_and(|values| !values.is_empty()) {
            return;
        }
        if let Ok((value, header)) = secret.load().await {
            self.learn(at, value, &header, secret.public());
        }
    }

    /// What must not come back.
    pub(crate) fn patterns(&self) -> Option<Arc<Patterns>> {
        self.0.lock().patterns.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_looked_for_until_it_has_been_replaced_twice() {
        let known = KnownSecrets::default();
        assert!(known.patterns().is_none());
        for turn in ["first-value", "second-value", "second-value", "third-value"] {
            known.learn(1, turn.to_owned(), &HeaderValue::from_str(turn).expect("a value"), 0);
        }
        let hides = |text: &str| known.patterns().expect("some").mask(text.as_bytes()).is_some();
        assert_eq!(["first-value", "second-value", "third-value"].map(hides), [false, true, true]);
    }
}

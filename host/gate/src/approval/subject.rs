//! Pure: the digest of what is approved.

use data_encoding::HEXLOWER;
use loggia_facade::Object;
use serde::Serialize;
use sha2::{Digest, Sha256};

/// Everything that a decision is about. If any of it changes, the decision is void.
#[derive(Serialize)]
pub(crate) struct ApprovalSubject<'a> {
    /// The run, or something random: the same call made twice needs two decisions.
    pub(crate) call: &'a str,
    pub(crate) caller: &'a str,
    pub(crate) facade: &'a str,
    pub(crate) action: &'a str,
    /// Validated parameters, with secrets.
    pub(crate) params: &'a Object,
    /// Artifact that answers.
    pub(crate) artifact: &'a str,
    /// Rules of the policy.
    pub(crate) policy: &'a str,
    /// The question, if it is a form.
    pub(crate) form: Option<(&'a str, &'a Object)>,
}

impl ApprovalSubject<'_> {
    /// SHA-256 of the JSON text, in hexadecimal.
    pub(crate) fn digest(&self) -> String {
        // Names, numbers and JSON always serialise.
        let text = serde_json::to_vec(self).unwrap_or_default();
        HEXLOWER.encode(&Sha256::digest(text))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_part_changes_the_digest() {
        let (none, some) = (Object::new(), Object::from_iter([("a".to_owned(), 1.into())]));
        let digest = |part: usize| {
            let text = |own: usize| if part == own { "other" } else { "same" };
            ApprovalSubject {
                call: text(1),
                caller: text(2),
                facade: text(3),
                action: text(4),
                params: if part == 5 { &some } else { &none },
                artifact: text(6),
                policy: text(7),
                form: (part == 8).then_some(("same", &none)),
            }
            .digest()
        };
        let digests: BTreeSet<String> = (0..=8).map(digest).collect();
        assert_eq!(digests.len(), 9);
        assert_eq!(digest(0), digest(0));
    }
}

//! Tokens that are refused although the settings, or the authorization server, still allow them.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use loggia_policy::settings::credential::TokenHash;
use tokio::sync::watch;

/// The list of revoked tokens.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RevokedTokens {
    /// Hashes of own tokens.
    own: HashSet<TokenHash>,
    /// Callers of an authorization server, with the time of the latest revocation in seconds since 1970.
    callers: HashMap<String, i64>,
}

impl RevokedTokens {
    /// Revokes an own token.
    pub fn add_token(&mut self, hash: TokenHash) {
        self.own.insert(hash);
    }

    /// Revokes the tokens that were issued to a caller until a time, in seconds since 1970.
    pub fn add_caller(&mut self, name: String, until: i64) {
        let latest = self.callers.entry(name).or_insert(until);
        *latest = until.max(*latest);
    }

    fn contains(&self, token: &RevocableToken) -> bool {
        match token {
            RevocableToken::Own(hash) => self.own.contains(hash),
            RevocableToken::Foreign { caller, issued } => {
                self.callers.get(caller).is_some_and(|until| issued <= until)
            }
        }
    }
}

/// A token that was accepted.
#[derive(Debug, Clone)]
pub(super) enum RevocableToken {
    /// One of the settings.
    Own(TokenHash),
    /// One of an authorization server, with the time of its issue.
    Foreign { caller: String, issued: i64 },
}

/// Watches the list for one token.
#[derive(Debug, Clone)]
pub(super) struct RevocationWatch {
    pub token: RevocableToken,
    pub list: watch::Receiver<Arc<RevokedTokens>>,
}

impl RevocationWatch {
    /// Whether the token is on the list.
    pub(super) fn is_revoked(&self) -> bool {
        self.list.borrow().contains(&self.token)
    }

    /// Waits until the token is on the list.
    pub(super) async fn revoked(mut self) {
        let Self { token, list } = &mut self;
        if list.wait_for(|list| list.contains(token)).await.is_err() {
            // The server ends.
            std::future::pending().await
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn watches_end_once_their_token_is_listed() {
        let foreign = |issued| RevocableToken::Foreign { caller: "https://id#ada".into(), issued };
        let list = watch::Sender::<Arc<RevokedTokens>>::default();
        let watch = |token| RevocationWatch { token, list: list.subscribe() };
        let cases = [
            (RevocableToken::Own([1; 32]), true),
            (RevocableToken::Own([2; 32]), false),
            (foreign(99), true),
            (foreign(100), true),
            (foreign(101), false),
            (foreign(i64::MIN), true),
            (RevocableToken::Foreign { caller: "https://id#bob".into(), issued: 1 }, false),
        ];
        let watches: Vec<_> = cases.iter().map(|(token, _)| watch(token.clone())).collect();
        assert!(watches.iter().all(|watch| !watch.is_revoked()));
        let mut revoked = RevokedTokens::default();
        revoked.add_token([1; 32]);
        revoked.add_caller("https://id#ada".into(), 100);
        revoked.add_caller("https://id#ada".into(), 50);
        list.send_replace(Arc::new(revoked));
        for (watch, (token, ends)) in watches.into_iter().zip(cases) {
            assert_eq!(watch.is_revoked(), ends, "{token:?}");
            let ended = futures_util::FutureExt::now_or_never(watch.revoked()).is_some();
            assert_eq!(ended, ends, "{token:?}");
        }
    }
}

//! What an authorization server issued beside an access token.

use oauth2::{TokenResponse, basic::BasicTokenResponse};
use serde::{Deserialize, Serialize};

use crate::{time::now, value::check_value};

/// Time before its expiry at which an access token is replaced.
const EARLY: u64 = 60;

/// Grant of an authorization server.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct OAuthGrant {
    /// Token that gets the next access token; none if the server issued none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refresh: Option<RefreshSecret>,
    /// Expiry of the access token, in seconds since 1970 (UTC); unknown if the server did not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires: Option<u64>,
}

/// A refresh token. Its `Debug` output hides it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RefreshSecret(pub(crate) String);

impl std::fmt::Debug for RefreshSecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("RefreshSecret")
    }
}

impl OAuthGrant {
    /// Whether the access token should be replaced at this time.
    pub(crate) fn is_due(&self, now: u64) -> bool {
        self.refresh.is_some() && self.expires.is_some_and(|expires| expires.saturating_sub(EARLY) <= now)
    }

    /// Time from which the access token has to be replaced, or has expired.
    pub(crate) fn usable_until(&self) -> u64 {
        let early = if self.refresh.is_some() { EARLY } else { 0 };
        self.expires.map_or(u64::MAX, |expires| expires.saturating_sub(early))
    }

    /// Whether the access token has expired.
    pub(crate) fn has_expired(&self, now: u64) -> bool {
        self.expires.is_some_and(|expires| expires <= now)
    }
}

/// Reads the access token and the grant of a response. A server that issues no new refresh token keeps the previous one
/// valid.
pub(super) fn read_response(
    response: &BasicTokenResponse,
    previous: Option<RefreshSecret>,
) -> Result<(String, OAuthGrant), &'static str> {
    let value = response.access_token().secret().clone();
    check_value(&value).map_err(|_| "the access token cannot be sent in a header")?;
    let refresh = response.refresh_token().map(|token| RefreshSecret(token.secret().clone())).or(previous);
    let expires = response.expires_in().map(|lifetime| now().saturating_add(lifetime.as_secs()));
    Ok((value, OAuthGrant { refresh, expires }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_replaced_before_they_expire() {
        let grant = |refresh: bool, expires| OAuthGrant {
            refresh: refresh.then(|| RefreshSecret("refresh".into())),
            expires,
        };
        for (grant, due, expired) in [
            (grant(true, Some(1_061)), false, false),
            (grant(true, Some(1_060)), true, false),
            (grant(true, Some(1_000)), true, true),
            (grant(true, Some(0)), true, true),
            (grant(true, None), false, false),
            (grant(false, Some(1_010)), false, false),
            (grant(false, Some(1_000)), false, true),
        ] {
            assert_eq!((grant.is_due(1_000), grant.has_expired(1_000)), (due, expired), "{grant:?}");
        }
        assert!(!format!("{:?}", grant(true, None)).contains("refresh\""));
    }
}

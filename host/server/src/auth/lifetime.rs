//! Lifetime of a token. Notification streams end with it, which would otherwise outlive the token by days.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::{revocations::RevocationWatch, token};

/// Longest sleep before the wall clock is checked again, since it may be adjusted.
const MAX_SLEEP: Duration = Duration::from_secs(30);

/// Lifetime of a token; unlimited by default.
#[derive(Debug, Clone, Default)]
pub struct TokenLifetime {
    /// Cancelled when the settings have the token no more.
    pub(super) removed: Option<CancellationToken>,
    /// The list of revoked tokens.
    pub(super) revocations: Option<RevocationWatch>,
    /// Expiry in seconds since 1970.
    pub(super) expires: Option<i64>,
}

impl TokenLifetime {
    /// Waits until the token is revoked or has expired.
    pub async fn ended(self) {
        let removed = async {
            match &self.removed {
                Some(removed) => removed.cancelled().await,
                None => std::future::pending().await,
            }
        };
        let revoked = async {
            match self.revocations {
                Some(revocations) => revocations.revoked().await,
                None => std::future::pending().await,
            }
        };
        let expired = async {
            let Some(expires) = self.expires else { return std::future::pending().await };
            while let Ok(left @ 1..) = u64::try_from(expires.saturating_sub(token::now())) {
                tokio::time::sleep(MAX_SLEEP.min(Duration::from_secs(left))).await;
            }
        };
        tokio::select! {
            () = removed => {}
            () = revoked => {}
            () = expired => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_lifetime_ends_on_expiry_or_revocation() {
        let revoked = CancellationToken::new();
        revoked.cancel();
        for (removed, expires, ends) in [
            (None, None, false),
            (None, Some(token::now() + 3600), false),
            (Some(CancellationToken::new()), Some(token::now() + 3600), false),
            (None, Some(token::now() - 1), true),
            (None, Some(i64::MIN), true),
            (Some(revoked), Some(i64::MAX), true),
        ] {
            let over = TokenLifetime { removed: removed.clone(), expires, revocations: None }.ended();
            let over = tokio::time::timeout(Duration::from_millis(20), over).await.is_ok();
            assert_eq!(over, ends, "{removed:?} {expires:?}");
        }
    }
}

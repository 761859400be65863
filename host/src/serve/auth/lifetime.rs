//! When what was opened with a token ends: streams on which clients listen would otherwise outlive it by days.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::token;

/// The longest sleep until a moment of the clock on the wall, which may be set meanwhile.
const MAX_SLEEP: Duration = Duration::from_secs(30);

/// When it ends; never, where nothing is said.
#[derive(Debug, Clone, Default)]
pub struct TokenLifetime {
    /// When the token is taken away.
    pub(super) revoked: Option<CancellationToken>,
    /// When it has expired, in seconds since 1970.
    pub(super) expires: Option<i64>,
}

impl TokenLifetime {
    /// Waits for it.
    pub async fn ended(self) {
        let revoked = async {
            match &self.revoked {
                Some(revoked) => revoked.cancelled().await,
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
        let taken = CancellationToken::new();
        taken.cancel();
        for (revoked, expires, ends) in [
            (None, None, false),
            (None, Some(token::now() + 3600), false),
            (Some(CancellationToken::new()), Some(token::now() + 3600), false),
            (None, Some(token::now() - 1), true),
            (None, Some(i64::MIN), true),
            (Some(taken), Some(i64::MAX), true),
        ] {
            let over = TokenLifetime { revoked: revoked.clone(), expires }.ended();
            let over = tokio::time::timeout(Duration::from_millis(20), over).await.is_ok();
            assert_eq!(over, ends, "{revoked:?} {expires:?}");
        }
    }
}

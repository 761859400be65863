//! Values that pass through clients: sealed, so that a host takes back only what one with the same secret has issued.

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use rmcp::model::{RequestStateCodec, SealOptions};
use serde::{Serialize, de::DeserializeOwned};
use sha2::{Digest, Sha256};

/// Supplies a secret that survives restarts, and that all hosts of a fleet share. May block for reading a file or a database.
pub type SealSecret = Arc<dyn Fn() -> Option<[u8; 32]> + Send + Sync>;

/// Seals values. The key comes from the secret; without a secret, it is one of this process.
#[derive(Default)]
pub struct ValueSealer {
    secret: Option<SealSecret>,
    /// Set at first use: not every server seals anything.
    codec: OnceLock<RequestStateCodec>,
}

impl ValueSealer {
    /// Creates a sealer.
    pub fn new(secret: Option<SealSecret>) -> Self {
        Self { secret, codec: OnceLock::new() }
    }

    /// Obtains the key, on a thread that may block.
    pub async fn prepare(self: Arc<Self>) {
        // It cannot fail: whatever goes wrong, there is a key of this process.
        let _ = tokio::task::spawn_blocking(move || _ = self.codec()).await;
    }

    /// Seals a value, bound to this text.
    pub fn seal<T: Serialize>(&self, value: &T, bound: &str, ttl: Duration) -> Option<String> {
        let options = SealOptions::new().associated_data(bound.as_bytes()).ttl(ttl);
        self.codec().seal_json_with(value, &options).ok()
    }

    /// Opens a value. Returns `None` if it was modified, has expired, or was sealed with another key or bound to another text.
    pub fn open<T: DeserializeOwned>(&self, sealed: &str, bound: &str) -> Option<T> {
        self.codec().open_json_with(sealed, bound.as_bytes()).ok()
    }

    fn codec(&self) -> &RequestStateCodec {
        self.codec.get_or_init(|| {
            let secret = self.secret.as_ref().and_then(|secret| secret()).unwrap_or_else(random_bytes);
            // The secret has other uses, so it is not the key itself.
            let key = Sha256::new().chain_update(b"loggia request state\0").chain_update(secret).finalize();
            RequestStateCodec::try_new(key.to_vec())
                .unwrap_or_else(|e| unreachable!("the key is long enough: {e}"))
        })
    }
}

/// Returns unpredictable bytes.
pub(crate) fn random_bytes<const N: usize>() -> [u8; N] {
    let mut random = [0; N];
    getrandom::fill(&mut random).unwrap_or_else(|e| unreachable!("the kernel gave no random bits: {e}"));
    random
}

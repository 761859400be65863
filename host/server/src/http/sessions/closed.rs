//! Ids that clients have given up. A sealed id would be valid until it expires.

use std::collections::{HashSet, VecDeque};

use rmcp::transport::common::server_side_http::SessionId;
use sha2::{Digest, Sha256};

/// Ids that are remembered. An older one is valid again, for its owner alone, who has given it up.
const MAX_CLOSED: usize = 4096;

/// The latest ids that clients have given up, by their digests.
#[derive(Default)]
pub struct ClosedSessions {
    digests: HashSet<[u8; 32]>,
    order: VecDeque<[u8; 32]>,
}

impl ClosedSessions {
    /// Adds an id.
    pub fn insert(&mut self, id: &SessionId) {
        let digest = digest_of(id);
        if !self.digests.insert(digest) {
            return;
        }
        self.order.push_back(digest);
        if self.order.len() > MAX_CLOSED
            && let Some(oldest) = self.order.pop_front()
        {
            self.digests.remove(&oldest);
        }
    }

    /// Returns true if an id was added.
    pub fn contains(&self, id: &SessionId) -> bool {
        !self.digests.is_empty() && self.digests.contains(&digest_of(id))
    }
}

fn digest_of(id: &SessionId) -> [u8; 32] {
    Sha256::digest(id.as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_ids_are_remembered() {
        let mut closed = ClosedSessions::default();
        let id = |n: usize| SessionId::from(n.to_string());
        for n in 0..=MAX_CLOSED {
            closed.insert(&id(n));
            closed.insert(&id(n));
        }
        assert!(!closed.contains(&id(0)));
        assert!((1..=MAX_CLOSED).all(|n| closed.contains(&id(n))));
        assert_eq!((closed.order.len(), closed.digests.len()), (MAX_CLOSED, MAX_CLOSED));
    }
}

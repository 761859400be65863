//! Roots of a stdio client: asked when a call first needs them, and again after the client announced a change.

#![expect(deprecated, reason = "2026-07-28 deprecates roots; clients of older revisions have them")]

use std::{
    fmt,
    path::PathBuf,
    sync::{
        OnceLock,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use futures_util::{FutureExt, future::BoxFuture};
use loggia_facade::{ClientRoot, ClientRoots, MAX_ROOTS, RefusedRoot, RootSource};
use loggia_text::mention;
use rmcp::{
    Peer, RoleServer, ServiceError,
    model::{ClientResult, ListRootsRequest, Root, ServerRequest},
    service::PeerRequestOptions,
};
use tokio::{sync::Mutex, time::Instant};
use url::Url;

/// Timeout of `roots/list`. Clients answer from memory; a call must not wait for one that never does.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);
/// Time after which a client that failed to answer is asked again: the calls in between do not wait for it.
const RETRY_AFTER: Duration = Duration::from_secs(30);
/// Maximum number of characters of a root or an error of the client in a message.
const MENTION: usize = 200;

/// Why a client without a handshake is not asked.
const NEWER_CLIENT: &str =
    "the host asks for roots only up to revision 2025-11-25 of MCP, and the client speaks a newer one";

/// Roots of the only client of a stdio server.
#[derive(Default)]
pub struct SessionRoots {
    /// Set by the handshake.
    peer: OnceLock<Peer<RoleServer>>,
    /// Number of changes that the client announced. The transport adds to it as it reads, so that a call that the client
    /// sent after its announcement sees it.
    changes: AtomicU64,
    /// The last answer. The lock is held while the client is asked, so that calls which need the roots at the same time ask
    /// once; the others find the answer. A holder waits only for the client, with a timeout, and takes no other lock.
    answer: Mutex<Option<RootsAnswer>>,
}

struct RootsAnswer {
    roots: ClientRoots,
    /// Number of announced changes before the client was asked.
    change: u64,
    /// Until when a failure counts as the answer; `None` for roots.
    expires: Option<Instant>,
}

impl fmt::Debug for SessionRoots {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SessionRoots")
    }
}

impl SessionRoots {
    /// Sets the client to ask; only the first counts.
    pub fn set_peer(&self, peer: &Peer<RoleServer>) {
        self.peer.get_or_init(|| peer.clone());
    }

    /// Records that the client announced a change of its roots.
    pub fn mark_changed(&self) {
        self.changes.fetch_add(1, Ordering::Release);
    }

    async fn list(&self) -> ClientRoots {
        let mut answer = self.answer.lock().await;
        let change = self.changes.load(Ordering::Acquire);
        let is_current = |answer: &&RootsAnswer| {
            answer.change == change && answer.expires.is_none_or(|expires| Instant::now() < expires)
        };
        if let Some(answer) = answer.as_ref().filter(is_current) {
            return answer.roots.clone();
        }
        let (roots, expires) = match self.ask().await {
            Ok(roots) => (to_client_roots(roots), None),
            Err(reason) => (ClientRoots::absent(reason), Some(Instant::now() + RETRY_AFTER)),
        };
        *answer = Some(RootsAnswer { roots: roots.clone(), change, expires });
        roots
    }

    /// Asks the client.
    ///
    /// # Errors
    ///
    /// The reason for which there are no roots, for the caller.
    async fn ask(&self) -> Result<Vec<Root>, String> {
        // Clients of 2026-07-28 begin without a handshake; the host may not send them requests.
        let peer = self.peer.get().ok_or(NEWER_CLIENT)?;
        let client = peer.peer_info().ok_or(NEWER_CLIENT)?;
        if client.capabilities.roots.is_none() {
            return Err("it does not support roots".to_owned());
        }
        let request = ServerRequest::ListRootsRequest(ListRootsRequest::default());
        let sent = peer.send_cancellable_request(request, PeerRequestOptions::with_timeout(ANSWER_TIMEOUT));
        let response = match sent.await {
            Ok(sent) => sent.await_response().await,
            Err(error) => Err(error),
        };
        match response {
            Ok(ClientResult::ListRootsResult(result)) => Ok(result.roots),
            Ok(_) => Err("its response to `roots/list` has no list of roots".to_owned()),
            Err(ServiceError::McpError(error)) => {
                tracing::warn!(
                    "the client answered `roots/list` with an error: {}",
                    mention(&error.message, MENTION)
                );
                Err("it answered `roots/list` with an error".to_owned())
            }
            Err(ServiceError::Timeout { .. }) => {
                let seconds = ANSWER_TIMEOUT.as_secs();
                Err(format!("it did not answer `roots/list` within {seconds} seconds"))
            }
            Err(_) => Err("it has disconnected".to_owned()),
        }
    }
}

impl RootSource for SessionRoots {
    fn roots(&self) -> BoxFuture<'_, ClientRoots> {
        self.list().boxed()
    }
}

/// Converts the client's list. Roots that no host could use are refused here.
fn to_client_roots(listed: Vec<Root>) -> ClientRoots {
    let mut roots = ClientRoots::default();
    if listed.is_empty() {
        return ClientRoots::absent("its list is empty; open a folder in the client");
    }
    let more = listed.len().saturating_sub(MAX_ROOTS);
    for root in listed.into_iter().take(MAX_ROOTS) {
        match parse_uri(&root.uri) {
            Ok(path) => roots.roots.push(ClientRoot { path, name: root.name }),
            Err(reason) => {
                tracing::warn!("a root of the client is left out: {} {reason}", mention(&root.uri, MENTION));
                roots.refused.push(RefusedRoot::without_path(&root.uri, root.name.as_deref(), reason));
            }
        }
    }
    if more > 0 {
        tracing::warn!("{more} roots of the client are left out: at most {MAX_ROOTS} are used");
        let reason = format!("are too many: at most {MAX_ROOTS} are used");
        roots.refused.push(RefusedRoot { root: format!("{more} further roots"), reason });
    }
    roots
}

fn parse_uri(uri: &str) -> Result<PathBuf, &'static str> {
    let url = Url::parse(uri).ok().filter(|url| url.scheme() == "file").ok_or("is not a `file://` URI")?;
    url.to_file_path().map_err(|()| "is on another machine")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_local_file_uris_are_roots() {
        for (uri, expected) in [
            ("file:///home/ada/work", Ok("/home/ada/work")),
            ("file:///home/ada/my%20work/%C3%A9", Ok("/home/ada/my work/é")),
            ("file://localhost/srv", Ok("/srv")),
            ("FILE:///srv/../etc", Ok("/etc")),
            ("file:///srv/%2e%2e/etc", Ok("/etc")),
            ("file:///", Ok("/")),
            ("file://example.com/srv", Err("is on another machine")),
            ("https://example.com/srv", Err("is not a `file://` URI")),
            ("/srv", Err("is not a `file://` URI")),
            ("", Err("is not a `file://` URI")),
        ] {
            assert_eq!(parse_uri(uri), expected.map(PathBuf::from), "{uri}");
        }
    }

    #[test]
    fn at_most_sixteen_roots_are_used() {
        let listed = |n: usize| (0..n).map(|n| Root::new(format!("file:///srv/{n}"))).collect();
        assert_eq!(to_client_roots(listed(16)).refused, []);
        let roots = to_client_roots(listed(40));
        assert_eq!(roots.roots.len(), 16);
        assert_eq!(roots.refused[0].to_string(), "24 further roots are too many: at most 16 are used");
        let hostile =
            to_client_roots(vec![Root::new(format!("x\u{1b}[31m\n\u{202e}{}", "y".repeat(100_000)))]);
        let refused = hostile.refused[0].to_string();
        assert!(refused.len() < 100 && !refused.contains(['\u{1b}', '\n', '\u{202e}']), "{refused}");
    }
}

//! Connections of single callers, each with its caller's own credential.

use std::{
    collections::HashMap,
    sync::{Arc, Weak},
    time::Duration,
};

use loggia_facade::ScopeKey;
use parking_lot::Mutex;
use tokio::time::Instant;

use super::link::UpstreamLink;
use crate::{
    runtimes::UpstreamRuntimes,
    spec::{CallerHeader, TransportSpec, UpstreamSpec},
};

/// Callers whose connections are kept.
const KEPT: usize = 256;
/// Time without calls after which a connection ends.
const IDLE: Duration = Duration::from_secs(10 * 60);
/// Time between two looks for idle connections.
const LOOK: Duration = Duration::from_secs(60);

/// A credential with the key of its owner.
pub struct CallerCredential {
    /// Key of the caller.
    pub caller: ScopeKey,
    /// The secret value.
    pub value: String,
}

/// Connections of the callers of one upstream.
///
/// An MCP session belongs to the credential that opened it, so callers share none.
pub(crate) struct CallerLinks {
    spec: Arc<UpstreamSpec>,
    runtimes: UpstreamRuntimes,
    /// Locked to find, add and drop a connection; never across an await. Calls hold theirs beyond that.
    kept: Mutex<HashMap<ScopeKey, KeptLink>>,
}

struct KeptLink {
    value: String,
    used: Instant,
    link: Arc<CallerLink>,
}

/// The connection of one caller. It ends when neither a call nor [`CallerLinks`] holds it.
pub(crate) struct CallerLink(Arc<UpstreamLink>);

impl CallerLink {
    /// The connection.
    pub(crate) fn link(&self) -> &Arc<UpstreamLink> {
        &self.0
    }
}

impl Drop for CallerLink {
    fn drop(&mut self) {
        self.0.stop();
    }
}

impl CallerLinks {
    /// Prepares connections with a caller's header; `None` if the upstream needs none.
    pub(crate) fn new(spec: &Arc<UpstreamSpec>, runtimes: &UpstreamRuntimes) -> Option<Arc<Self>> {
        caller_header(spec)?;
        let links =
            Arc::new(Self { spec: Arc::clone(spec), runtimes: runtimes.clone(), kept: Mutex::default() });
        runtimes.calls.spawn(drop_idle(Arc::downgrade(&links)));
        Some(links)
    }

    /// Returns the connection of a caller with this credential. A changed credential gets another connection.
    pub(crate) fn link(&self, credential: &CallerCredential) -> Arc<CallerLink> {
        let mut kept = self.kept.lock();
        let now = Instant::now();
        if let Some(found) = kept.get_mut(&credential.caller).filter(|found| found.value == credential.value)
        {
            found.used = now;
            return Arc::clone(&found.link);
        }
        if kept.len() >= KEPT {
            let oldest = kept.iter().min_by_key(|(_, kept)| kept.used).map(|(caller, _)| caller.clone());
            oldest.map(|oldest| kept.remove(&oldest));
        }
        // An error message of the server may hold it, and would be logged.
        loggia_text::keep_secret(&credential.value);
        let spec = Arc::new(with_credential(&self.spec, &credential.value));
        let link = Arc::new(CallerLink(UpstreamLink::new(spec, self.runtimes.clone())));
        let value = credential.value.clone();
        kept.insert(credential.caller.clone(), KeptLink { value, used: now, link: Arc::clone(&link) });
        link
    }

    /// Ends all connections.
    pub(crate) fn stop(&self) {
        self.kept.lock().drain().for_each(|(_, kept)| kept.link.0.stop());
    }
}

/// Drops connections without calls, as long as there is an upstream.
async fn drop_idle(links: Weak<CallerLinks>) {
    loop {
        tokio::time::sleep(LOOK).await;
        let Some(links) = links.upgrade() else { return };
        links.kept.lock().retain(|_, kept| kept.used.elapsed() < IDLE || Arc::strong_count(&kept.link) > 1);
    }
}

/// Returns the header that carries credentials of callers.
fn caller_header(spec: &UpstreamSpec) -> Option<&CallerHeader> {
    match &spec.transport {
        TransportSpec::Http(http) => http.caller_header.as_ref(),
        TransportSpec::Stdio(_) => None,
    }
}

/// Adds a caller's header, in place of the operator's of the same name.
fn with_credential(spec: &UpstreamSpec, value: &str) -> UpstreamSpec {
    let mut spec = spec.clone();
    if let TransportSpec::Http(http) = &mut spec.transport
        && let Some(CallerHeader { name, format }) = http.caller_header.take()
    {
        http.headers.retain(|other, _| !other.eq_ignore_ascii_case(&name));
        http.headers.insert(name, format.replacen("{}", value, 1));
    }
    spec
}

#[cfg(test)]
mod tests {
    use tokio::runtime::Handle;

    use super::*;
    use crate::spec::HttpSpec;

    fn spec() -> UpstreamSpec {
        let caller_header = Some(CallerHeader { name: "authorization".into(), format: "Bearer {}".into() });
        let headers = [("Authorization".to_owned(), "Bearer operator".to_owned())].into();
        let http = HttpSpec { url: "http://127.0.0.1:9/mcp".into(), headers, caller_header };
        UpstreamSpec::new("shop", TransportSpec::Http(http))
    }

    #[test]
    fn a_callers_header_replaces_the_operators() {
        let TransportSpec::Http(http) = with_credential(&spec(), "secret-{}").transport else { panic!() };
        assert_eq!(http.headers, [("authorization".to_owned(), "Bearer secret-{}".to_owned())].into());
        assert_eq!(http.caller_header, None);
    }

    #[tokio::test]
    async fn callers_and_credentials_have_links_of_their_own() {
        let runtimes = UpstreamRuntimes::single(&Handle::current());
        let links = CallerLinks::new(&Arc::new(spec()), &runtimes).expect("a header");
        let link = |caller: u8, value: &str| {
            links.link(&CallerCredential { caller: ScopeKey([caller; 32]), value: value.to_owned() })
        };
        let ada = link(1, "value-of-ada");
        assert!(Arc::ptr_eq(&ada, &link(1, "value-of-ada")));
        assert!(!Arc::ptr_eq(&ada, &link(2, "value-of-ada")), "another caller, if with the same value");
        let changed = link(1, "next-of-ada");
        assert!(!Arc::ptr_eq(&ada, &changed));
        assert!(Arc::ptr_eq(&changed, &link(1, "next-of-ada")));
        let old = Arc::clone(ada.link());
        assert_eq!(Arc::strong_count(&ada), 1, "only its call holds it");
        drop(ada);
        old.stopped().await;
        for caller in 0..=255 {
            link(caller, "filled-up");
        }
        let last = link(3, "one-more-value");
        assert!(links.kept.lock().len() <= KEPT);
        links.stop();
        last.link().stopped().await;
    }
}

//! Where keys come from.

use std::{
    fmt,
    fs::File,
    io::Read,
    net::IpAddr,
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use axum::http::{Method, Request, StatusCode};
use futures_util::{FutureExt, future::BoxFuture};
use http_body_util::{BodyExt, Empty};
use loggia_egress::{
    BodyIn, EgressClient, EgressGrants, EgressLimits, EgressMode, HostPattern, HttpRule, NameResolver,
    RuleDestination, SendError, SendTimeouts, UrlScheme,
};
use url::Url;

use super::{file::Watched, keys::KeysError, pace::Pace, settings::Jwks};

/// Bytes of a set of keys.
const SIZE: usize = 256 << 10;
/// How long a fetch may take.
const TIME: Duration = Duration::from_secs(5);

/// A file costs next to nothing to look at.
const FILE: Pace =
    Pace { refresh: Duration::from_secs(5), gap: Duration::from_secs(1), retry: Duration::from_secs(5) };
/// Keys change every few weeks or months.
const URL: Pace =
    Pace { refresh: Duration::from_secs(3600), gap: Duration::from_secs(60), retry: Duration::from_secs(5) };

/// Why no keys came.
#[derive(Debug, thiserror::Error)]
pub(super) enum SourceError {
    /// Of a file.
    #[error("{0}")]
    File(#[from] std::io::Error),
    /// A folder, a pipe, a device.
    #[error("it is no file")]
    NoFile,
    /// Of either.
    #[error("it is larger than {} KiB", SIZE >> 10)]
    Large,
    /// Of a host.
    #[error("{0}")]
    Send(#[from] SendError),
    /// `http://` is for this machine alone.
    #[error("its name does not lead to this machine")]
    Elsewhere,
    /// Redirects are not followed: what was named is what is trusted.
    #[error("the answer has the status {0}")]
    Status(u16),
    /// It took too long.
    #[error("no answer within {} s", TIME.as_secs())]
    Time,
    /// No keys.
    #[error("{0}")]
    Keys(#[from] KeysError),
    /// None of any use, where that is surely a mistake.
    #[error("none of its keys checks a signature: RSA from 2048 bits on, P-256, P-384 and Ed25519 are known")]
    Useless,
}

/// Where keys come from; printed, how the operator calls it.
pub(super) trait Source: fmt::Display + Send + Sync + 'static {
    /// The text of the set; none where it is what it was.
    fn look(&self) -> BoxFuture<'_, Result<Option<Vec<u8>>, SourceError>>;
}

/// The source that the settings name, and how often to look.
pub(super) fn of(jwks: &Jwks) -> (Box<dyn Source>, Pace) {
    match jwks {
        Jwks::File(path) => {
            (Box::new(InFile(Arc::new(Mutex::new(Watched::new(path.clone(), Duration::ZERO))))), FILE)
        }
        Jwks::Url(url) => (Box::new(AtUrl { url: url.clone() }), URL),
    }
}

struct InFile(Arc<Mutex<Watched>>);

impl InFile {
    fn file(&self) -> MutexGuard<'_, Watched> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Source for InFile {
    fn look(&self) -> BoxFuture<'_, Result<Option<Vec<u8>>, SourceError>> {
        let file = Self(Arc::clone(&self.0));
        let looking = tokio::task::spawn_blocking(move || file.file().look(read));
        async move { looking.await.map_err(std::io::Error::other)? }.boxed()
    }
}

impl fmt::Display for InFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.file().path().display().fmt(f)
    }
}

/// Reads a file of keys.
pub(super) fn read(path: &Path) -> Result<Vec<u8>, SourceError> {
    // To open a pipe would wait for who writes to it.
    if !std::fs::metadata(path)?.is_file() {
        return Err(SourceError::NoFile);
    }
    let mut text = Vec::new();
    File::open(path)?.take(SIZE as u64 + 1).read_to_end(&mut text)?;
    if text.len() > SIZE { Err(SourceError::Large) } else { Ok(text) }
}

struct AtUrl {
    url: Url,
}

impl Source for AtUrl {
    fn look(&self) -> BoxFuture<'_, Result<Option<Vec<u8>>, SourceError>> {
        async move {
            let fetched = tokio::time::timeout(TIME, fetch(&self.url)).await;
            fetched.map_err(|_| SourceError::Time)?.map(Some)
        }
        .boxed()
    }
}

impl fmt::Display for AtUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A query may hold a key of the operator's.
        write!(f, "{}{}", self.url.origin().ascii_serialization(), self.url.path())
    }
}

/// Fetches a set, by the client that plugins' requests go through: bounded, over checked TLS, without proxies and
/// redirects.
async fn fetch(url: &Url) -> Result<Vec<u8>, SourceError> {
    let no_url = || SendError::Protocol("no URL");
    let to = RuleDestination::parse(&url.origin().ascii_serialization()).map_err(|_| no_url())?;
    let addresses = addresses(&to).await?;
    if to.scheme == UrlScheme::Http && !addresses.iter().all(|address| address.to_canonical().is_loopback()) {
        return Err(SourceError::Elsewhere);
    }
    // A plugin's request goes to no private address that its policy does not name. Here the operator named the host, and
    // many an authorization server is on a private network: wherever the name leads is meant.
    let rule = |host: HostPattern| {
        let to = RuleDestination { host, ..to.clone() };
        HttpRule { to, methods: Some(vec![Method::GET.to_string()]), reads: Vec::new() }
    };
    let named = addresses.iter().map(|address| rule(HostPattern::Address(address.to_canonical())));
    let grants = EgressGrants { rules: named.chain([rule(to.host.clone())]).collect(), secrets: Vec::new() };
    let limits =
        EgressLimits { requests: 1, at_once: 1, request: 0, response: SIZE, time: TIME, redirects: 0 };
    let client = EgressClient::setup(grants, limits).resolver(Arc::new(Found(addresses))).build();
    let request = Request::get(url.as_str()).header("accept", "application/json");
    let body: BodyIn = Empty::new().map_err(|never| match never {}).boxed_unsync();
    let request = request.body(body).map_err(|_| no_url())?;
    let response =
        client.call(EgressMode::Reads).send(request, SendTimeouts::default()).await.map_err(unsent)?;
    if response.status() != StatusCode::OK {
        return Err(SourceError::Status(response.status().as_u16()));
    }
    let body = response.into_body().collect().await.map_err(unsent)?;
    Ok(body.to_bytes().into())
}

fn unsent(error: SendError) -> SourceError {
    match error {
        SendError::TooLarge { .. } => SourceError::Large,
        error => error.into(),
    }
}

/// Where a host's name leads.
async fn addresses(to: &RuleDestination) -> Result<Vec<IpAddr>, SourceError> {
    match &to.host {
        HostPattern::Address(address) => Ok(vec![*address]),
        HostPattern::Name(name) | HostPattern::Below(name) => {
            let found = tokio::net::lookup_host((name.as_str(), to.port)).await;
            let found = found.map_err(|_| SendError::Dns(name.clone()))?;
            Ok(found.map(|address| address.ip()).collect())
        }
    }
}

/// Addresses that have been looked up.
struct Found(Vec<IpAddr>);

impl NameResolver for Found {
    fn resolve(&self, _: &str) -> loggia_egress::IoFuture<Vec<IpAddr>> {
        let found = self.0.clone();
        Box::pin(async move { Ok(found) })
    }
}

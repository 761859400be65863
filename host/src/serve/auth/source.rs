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
    BodyIn, Client, Destination, Grants, HostPattern, Limits, Mode, Resolve, Rule, Scheme, SendError,
    Timeouts,
};
use url::Url;

use super::{fetch_schedule::FetchSchedule, file::WatchedFile, keys::KeysError, settings::JwksLocation};

/// Bytes of a set of keys.
const MAX_SIZE: usize = 256 << 10;
/// How long a fetch may take.
const FETCH_TIMEOUT: Duration = Duration::from_secs(5);

/// A file costs next to nothing to look at.
const FILE_SCHEDULE: FetchSchedule = FetchSchedule {
    refresh: Duration::from_secs(5),
    gap: Duration::from_secs(1),
    retry: Duration::from_secs(5),
};
/// Keys change every few weeks or months.
const URL_SCHEDULE: FetchSchedule = FetchSchedule {
    refresh: Duration::from_secs(3600),
    gap: Duration::from_secs(60),
    retry: Duration::from_secs(5),
};

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
    #[error("it is larger than {} KiB", MAX_SIZE >> 10)]
    Large,
    /// Of a host.
    #[error("{0}")]
    Send(#[from] SendError),
    /// `http://` is for this machine alone.
    #[error("its name does not lead to this machine")]
    NotLoopback,
    /// Redirects are not followed: what was named is what is trusted.
    #[error("the answer has the status {0}")]
    Status(u16),
    /// It took too long.
    #[error("no answer within {} s", FETCH_TIMEOUT.as_secs())]
    Timeout,
    /// No keys.
    #[error("{0}")]
    Keys(#[from] KeysError),
    /// None of any use, where that is surely a mistake.
    #[error("none of its keys checks a signature: RSA from 2048 bits on, P-256, P-384 and Ed25519 are known")]
    NoUsableKey,
}

/// Where keys come from; printed, how the operator calls it.
pub(super) trait KeySource: fmt::Display + Send + Sync + 'static {
    /// The text of the set; none where it is what it was.
    fn fetch(&self) -> BoxFuture<'_, Result<Option<Vec<u8>>, SourceError>>;
}

/// The source that the settings name, and how often to look.
pub(super) fn from_location(jwks: &JwksLocation) -> (Box<dyn KeySource>, FetchSchedule) {
    match jwks {
        JwksLocation::File(path) => (
            Box::new(FileSource(Arc::new(Mutex::new(WatchedFile::new(path.clone(), Duration::ZERO))))),
            FILE_SCHEDULE,
        ),
        JwksLocation::Url(url) => (Box::new(UrlSource { url: url.clone() }), URL_SCHEDULE),
    }
}

struct FileSource(Arc<Mutex<WatchedFile>>);

impl FileSource {
    fn file(&self) -> MutexGuard<'_, WatchedFile> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl KeySource for FileSource {
    fn fetch(&self) -> BoxFuture<'_, Result<Option<Vec<u8>>, SourceError>> {
        let file = Self(Arc::clone(&self.0));
        let looking = tokio::task::spawn_blocking(move || file.file().read_if_changed(read_key_file));
        async move { looking.await.map_err(std::io::Error::other)? }.boxed()
    }
}

impl fmt::Display for FileSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.file().path().display().fmt(f)
    }
}

/// Reads a file of keys.
pub(super) fn read_key_file(path: &Path) -> Result<Vec<u8>, SourceError> {
    // To open a pipe would wait for who writes to it.
    if !std::fs::metadata(path)?.is_file() {
        return Err(SourceError::NoFile);
    }
    let mut text = Vec::new();
    File::open(path)?.take(MAX_SIZE as u64 + 1).read_to_end(&mut text)?;
    if text.len() > MAX_SIZE { Err(SourceError::Large) } else { Ok(text) }
}

struct UrlSource {
    url: Url,
}

impl KeySource for UrlSource {
    fn fetch(&self) -> BoxFuture<'_, Result<Option<Vec<u8>>, SourceError>> {
        async move {
            let fetched = tokio::time::timeout(FETCH_TIMEOUT, fetch(&self.url)).await;
            fetched.map_err(|_| SourceError::Timeout)?.map(Some)
        }
        .boxed()
    }
}

impl fmt::Display for UrlSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A query may hold a key of the operator's.
        write!(f, "{}{}", self.url.origin().ascii_serialization(), self.url.path())
    }
}

/// Fetches a set, by the client that plugins' requests go through: bounded, over checked TLS, without proxies and
/// redirects.
async fn fetch(url: &Url) -> Result<Vec<u8>, SourceError> {
    let no_url = || SendError::Protocol("no URL");
    let to = Destination::parse(&url.origin().ascii_serialization()).map_err(|_| no_url())?;
    let addresses = resolve_host(&to).await?;
    if to.scheme == Scheme::Http && !addresses.iter().all(|address| address.to_canonical().is_loopback()) {
        return Err(SourceError::NotLoopback);
    }
    // A plugin's request goes to no private address that its policy does not name. Here the operator named the host, and
    // many an authorization server is on a private network: wherever the name leads is meant.
    let rule = |host: HostPattern| {
        let to = Destination { host, ..to.clone() };
        Rule { to, methods: Some(vec![Method::GET.to_string()]), reads: Vec::new() }
    };
    let named = addresses.iter().map(|address| rule(HostPattern::Address(address.to_canonical())));
    let grants = Grants { rules: named.chain([rule(to.host.clone())]).collect(), secrets: Vec::new() };
    let limits =
        Limits { requests: 1, at_once: 1, request: 0, response: MAX_SIZE, time: FETCH_TIMEOUT, redirects: 0 };
    let client = Client::setup(grants, limits).resolver(Arc::new(ResolvedAddresses(addresses))).build();
    let request = Request::get(url.as_str()).header("accept", "application/json");
    let body: BodyIn = Empty::new().map_err(|never| match never {}).boxed_unsync();
    let request = request.body(body).map_err(|_| no_url())?;
    let response =
        client.call(Mode::Reads).send(request, Timeouts::default()).await.map_err(to_source_error)?;
    if response.status() != StatusCode::OK {
        return Err(SourceError::Status(response.status().as_u16()));
    }
    let body = response.into_body().collect().await.map_err(to_source_error)?;
    Ok(body.to_bytes().into())
}

fn to_source_error(error: SendError) -> SourceError {
    match error {
        SendError::TooLarge { .. } => SourceError::Large,
        error => error.into(),
    }
}

/// Where a host's name leads.
async fn resolve_host(to: &Destination) -> Result<Vec<IpAddr>, SourceError> {
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
struct ResolvedAddresses(Vec<IpAddr>);

impl Resolve for ResolvedAddresses {
    fn resolve(&self, _: &str) -> loggia_egress::Pending<Vec<IpAddr>> {
        let found = self.0.clone();
        Box::pin(async move { Ok(found) })
    }
}

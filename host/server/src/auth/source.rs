//! Sources of keys: a file or a URL.

use std::{
    fmt,
    fs::File,
    io::Read,
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use axum::http::{Method, Request, StatusCode};
use futures_util::{FutureExt, future::BoxFuture};
use http_body_util::{BodyExt, Empty};
use loggia_egress::{BodyIn, EgressLimits, EgressMode, OperatorClient, SendError, SendTimeouts};
use loggia_policy::settings::JwksLocation;
use url::Url;

use super::{fetch_schedule::FetchSchedule, file::WatchedFile, keys::KeysError};

/// Maximum size of a key set in bytes.
const MAX_SIZE: usize = 256 << 10;
/// Timeout of a fetch.
const FETCH_TIMEOUT: Duration = Duration::from_secs(5);

/// A file is cheap to check.
const FILE_SCHEDULE: FetchSchedule = FetchSchedule {
    refresh: Duration::from_secs(5),
    gap: Duration::from_secs(1),
    retry: Duration::from_secs(5),
};
/// Authorization servers rotate keys every few weeks or months.
const URL_SCHEDULE: FetchSchedule = FetchSchedule {
    refresh: Duration::from_secs(3600),
    gap: Duration::from_secs(60),
    retry: Duration::from_secs(5),
};

/// Error of fetching keys.
#[derive(Debug, thiserror::Error)]
pub(super) enum SourceError {
    /// The file cannot be read.
    #[error("{0}")]
    File(#[from] std::io::Error),
    /// The path is a folder, a pipe or a device.
    #[error("it is not a regular file")]
    NoFile,
    /// The key set is too large.
    #[error("it is larger than {} KiB", MAX_SIZE >> 10)]
    Large,
    /// The request failed.
    #[error("{0}")]
    Send(#[from] SendError),
    /// `http://` is only allowed for loopback.
    #[error("its name does not resolve to loopback")]
    NotLoopback,
    /// Redirects are not followed, since only the configured URL is trusted.
    #[error("the response has the status {0}")]
    Status(u16),
    /// The fetch timed out.
    #[error("no response within {} s", FETCH_TIMEOUT.as_secs())]
    Timeout,
    /// The key set is malformed.
    #[error("{0}")]
    Keys(#[from] KeysError),
    /// No key is usable, which is surely a mistake in a file.
    #[error("none of its keys is usable: RSA of at least 2048 bits, P-256, P-384 and Ed25519 are supported")]
    NoUsableKey,
}

/// A source of keys. Displays as its path or URL.
pub(super) trait KeySource: fmt::Display + Send + Sync + 'static {
    /// Fetches the key set; returns `None` if it has not changed.
    fn fetch(&self) -> BoxFuture<'_, Result<Option<Vec<u8>>, SourceError>>;
}

/// Creates the source of this location, with its schedule.
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

/// Reads a key file.
pub(super) fn read_key_file(path: &Path) -> Result<Vec<u8>, SourceError> {
    // Opening a pipe would block until it has a writer.
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
        // Omit the query, which may contain an API key.
        write!(f, "{}{}", self.url.origin().ascii_serialization(), self.url.path())
    }
}

/// Fetches a set through the egress client of plugins: bounded, with verified TLS, without proxies and redirects.
async fn fetch(url: &Url) -> Result<Vec<u8>, SourceError> {
    let limits = EgressLimits {
        requests: 1,
        at_once: 1,
        request: 0,
        response: MAX_SIZE,
        time: FETCH_TIMEOUT,
        redirects: 0,
    };
    let OperatorClient { client, is_private } = OperatorClient::resolve(url, &Method::GET, limits).await?;
    if !is_private {
        return Err(SourceError::NotLoopback);
    }
    let request = Request::get(url.as_str()).header("accept", "application/json");
    let body: BodyIn = Empty::new().map_err(|never| match never {}).boxed_unsync();
    let request = request.body(body).map_err(|_| SendError::Protocol("no URL"))?;
    let response = client
        .call(EgressMode::Reads)
        .send(request, SendTimeouts::default())
        .await
        .map_err(to_source_error)?;
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

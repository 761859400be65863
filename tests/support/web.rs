//! Loopback servers for a guest's HTTP requests; they record connections and requests.

use std::{
    collections::BTreeMap,
    convert::Infallible,
    pin::Pin,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use anyhow::Result;
use base64::{Engine, prelude::BASE64_STANDARD};
use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt;
use hyper::{
    Request, Response, body::Incoming, header::HeaderName, server::conn::http1, service::service_fn,
};
use hyper_util::rt::TokioIo;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use rustls::pki_types::PrivateKeyDer;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpListener,
    sync::watch,
    task::JoinSet,
};
use tokio_rustls::TlsAcceptor;

/// A request as the server saw it.
#[derive(Debug, Clone, Default)]
pub struct Asked {
    /// GET, …
    pub method: String,
    /// Path with the query.
    pub path: String,
    /// Headers, by lower-case name.
    pub headers: BTreeMap<String, String>,
    /// All of it.
    pub body: Vec<u8>,
}

/// Response of the server to a request.
pub enum Answer {
    /// This status, these headers, this body.
    Plain(u16, Vec<(&'static str, String)>, Vec<u8>),
    /// The head, a little of the body, and no more.
    Stalled,
    /// A body without end.
    Endless,
    /// No response.
    Never,
    /// 200, once this many requests are in progress; waits a little longer for excess ones.
    Together(usize),
}

impl Answer {
    /// 200 with this text.
    pub fn text(text: impl Into<Vec<u8>>) -> Self {
        Self::Plain(200, vec![("content-type", "text/plain".into())], text.into())
    }

    /// 302 to this URL.
    pub fn redirect(to: impl Into<String>) -> Self {
        Self::Plain(302, vec![("location", to.into())], Vec::new())
    }

    /// The request's headers, in the body and in a header of its own.
    pub fn echo(asked: &Asked) -> Self {
        let body = format!("{:?}", asked.headers).into_bytes();
        let sent = asked.headers.get("authorization").cloned().unwrap_or_default();
        Self::Plain(200, vec![("x-echo", sent)], body)
    }
}

/// Grace period for a request that must not arrive.
const GRACE: Duration = Duration::from_millis(200);

type Routes = dyn Fn(&Asked) -> Answer + Send + Sync;

/// An HTTP server that stops with the test.
pub struct Web {
    /// Port, on 127.0.0.1.
    pub port: u16,
    seen: Arc<Seen>,
    _serving: JoinSet<()>,
}

struct Seen {
    connections: AtomicUsize,
    asked: Mutex<Vec<Asked>>,
    now: AtomicUsize,
    most: watch::Sender<usize>,
}

impl Seen {
    fn asked(&self) -> MutexGuard<'_, Vec<Asked>> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Web {
    /// Answers like this, over plain HTTP.
    pub async fn start(routes: impl Fn(&Asked) -> Answer + Send + Sync + 'static) -> Result<Self> {
        Self::serve(None, Arc::new(routes)).await
    }

    /// Like [`Web::start`] over TLS, with a certificate for this name from that authority.
    pub async fn secure(
        authority: &Authority,
        name: &str,
        routes: impl Fn(&Asked) -> Answer + Send + Sync + 'static,
    ) -> Result<Self> {
        Self::serve(Some(authority.acceptor(name)?), Arc::new(routes)).await
    }

    /// A server that must not be connected to.
    pub async fn trap() -> Result<Self> {
        Self::start(|_| Answer::text("trapped")).await
    }

    async fn serve(tls: Option<TlsAcceptor>, routes: Arc<Routes>) -> Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let port = listener.local_addr()?.port();
        let seen = Arc::new(Seen {
            connections: AtomicUsize::new(0),
            asked: Mutex::default(),
            now: AtomicUsize::new(0),
            most: watch::Sender::new(0),
        });
        let mut serving = JoinSet::new();
        let told = seen.clone();
        serving.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                told.connections.fetch_add(1, Ordering::SeqCst);
                let (seen, routes, tls) = (told.clone(), routes.clone(), tls.clone());
                connections.spawn(async move {
                    match tls {
                        None => talk(stream, seen, routes).await,
                        Some(tls) => {
                            if let Ok(stream) = tls.accept(stream).await {
                                talk(stream, seen, routes).await;
                            }
                        }
                    }
                });
            }
        });
        Ok(Self { port, seen, _serving: serving })
    }

    /// `http://127.0.0.1:PORT` and the path.
    pub fn url(&self, path: &str) -> String {
        self.at("http", "127.0.0.1", path)
    }

    /// URL with another scheme or host.
    pub fn at(&self, scheme: &str, host: &str, path: &str) -> String {
        format!("{scheme}://{host}:{}{path}", self.port)
    }

    /// Connections so far.
    pub fn connections(&self) -> usize {
        self.seen.connections.load(Ordering::SeqCst)
    }

    /// Requests so far.
    pub fn asked(&self) -> Vec<Asked> {
        self.seen.asked().clone()
    }

    /// The last request.
    pub fn last(&self) -> Asked {
        self.asked().pop().unwrap_or_default()
    }

    /// Number of requests in progress: neither answered nor aborted.
    pub fn now(&self) -> usize {
        self.seen.now.load(Ordering::SeqCst)
    }

    /// Maximum number of concurrent requests.
    pub fn most_at_once(&self) -> usize {
        *self.seen.most.borrow()
    }
}

/// A request that leaves, answered or broken off.
struct Leaves(Arc<Seen>);

impl Drop for Leaves {
    fn drop(&mut self) {
        self.0.now.fetch_sub(1, Ordering::SeqCst);
    }
}

async fn talk(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    seen: Arc<Seen>,
    routes: Arc<Routes>,
) {
    let service = service_fn(move |request| answer(request, seen.clone(), routes.clone()));
    // A guest that gives up breaks the connection off.
    let _ended = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
}

async fn answer(
    request: Request<Incoming>,
    seen: Arc<Seen>,
    routes: Arc<Routes>,
) -> Result<Response<Given>, hyper::Error> {
    let (head, body) = request.into_parts();
    let value = |value: &hyper::header::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    let asked = Asked {
        method: head.method.to_string(),
        path: head.uri.to_string(),
        headers: head.headers.iter().map(|(name, held)| (name.to_string(), value(held))).collect(),
        body: body.collect().await?.to_bytes().into(),
    };
    seen.asked().push(asked.clone());
    let now = seen.now.fetch_add(1, Ordering::SeqCst) + 1;
    let _leaves = Leaves(seen.clone());
    seen.most.send_if_modified(|most| now > std::mem::replace(most, now.max(*most)));
    let (status, headers, body) = match routes(&asked) {
        Answer::Plain(status, headers, body) => (status, headers, Given::Whole(Some(body.into()))),
        Answer::Stalled => (200, Vec::new(), Given::Stalled(Some("a little".into()))),
        Answer::Endless => (200, Vec::new(), Given::Endless),
        Answer::Never => std::future::pending().await,
        Answer::Together(many) => {
            let mut most = seen.most.subscribe();
            most.wait_for(|most| *most >= many).await.map(drop).ok();
            tokio::time::timeout(GRACE, most.wait_for(|most| *most > many)).await.map(drop).ok();
            (200, Vec::new(), Given::Whole(None))
        }
    };
    let mut response = Response::new(body);
    *response.status_mut() = status.try_into().expect("a status");
    for (name, value) in headers {
        let value = value.try_into().expect("a header");
        response.headers_mut().append(HeaderName::from_static(name), value);
    }
    Ok(response)
}

enum Given {
    Whole(Option<Bytes>),
    Stalled(Option<Bytes>),
    Endless,
}

impl Body for Given {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let frame = |bytes| Some(Ok(Frame::data(bytes)));
        match &mut *self {
            Self::Whole(left) => Poll::Ready(left.take().and_then(frame)),
            Self::Stalled(left) => left.take().map_or(Poll::Pending, |bytes| Poll::Ready(frame(bytes))),
            Self::Endless => Poll::Ready(frame(Bytes::from_static(&[b'x'; 4 << 10]))),
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Whole(None))
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(left) => SizeHint::with_exact(left.as_ref().map_or(0, Bytes::len) as u64),
            _ => SizeHint::new(),
        }
    }
}

/// A private certificate authority.
pub struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    /// A new one of this name.
    pub fn new(name: &str) -> Result<Self> {
        let mut params = CertificateParams::new(Vec::new())?;
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, name);
        Ok(Self(CertifiedIssuer::self_signed(params, KeyPair::generate()?)?))
    }

    /// Certificate in PEM.
    pub fn pem(&self) -> String {
        let text = BASE64_STANDARD.encode(self.0.der());
        format!("-----BEGIN CERTIFICATE-----\n{text}\n-----END CERTIFICATE-----\n")
    }

    fn acceptor(&self, name: &str) -> Result<TlsAcceptor> {
        let key = KeyPair::generate()?;
        let certificate = CertificateParams::new(vec![name.to_owned()])?.signed_by(&key, &self.0)?;
        let private = PrivateKeyDer::Pkcs8(key.serialize_der().into());
        let config =
            rustls::ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
                .with_safe_default_protocol_versions()?
                .with_no_client_auth()
                .with_single_cert(vec![certificate.der().clone()], private)?;
        Ok(Arc::new(config).into())
    }
}

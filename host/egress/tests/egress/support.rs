//! Local upstreams that behave as a test requires, and count requests.

use std::{
    collections::HashMap,
    io,
    net::{IpAddr, SocketAddr},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use loggia_egress::{
    AddressDialer, BodyIn, BodyOut, CallEgress, EgressGrants, HttpRule, IoFuture, NameResolver,
    RuleDestination, SendError, SendTimeouts,
};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

/// Response of an upstream.
pub enum Answer {
    /// These parts, each flushed, on a connection that stays open.
    Parts(Vec<Vec<u8>>),
    /// Nothing.
    Silence,
    /// This, then zeros endlessly.
    Endless(Vec<u8>),
    /// This, then nothing more.
    Stall(Vec<u8>),
    /// This, then a byte now and then, endlessly.
    Drip(Vec<u8>),
    /// 200, as soon as this many requests wait for it together.
    Together(Arc<tokio::sync::Barrier>),
}

/// 200 with this body.
pub fn ok(body: &str) -> Answer {
    whole("200 OK", "", body)
}

pub fn whole(status: &str, headers: &str, body: &str) -> Answer {
    let length = body.len();
    Answer::Parts(vec![
        format!("HTTP/1.1 {status}\r\ncontent-length: {length}\r\n{headers}\r\n{body}").into(),
    ])
}

#[derive(Default)]
pub struct Counts {
    pub connections: AtomicUsize,
    /// Connections that ended.
    pub ended: AtomicUsize,
    pub running: AtomicUsize,
    pub most: AtomicUsize,
    /// Heads of requests.
    pub seen: Mutex<Vec<String>>,
}

pub struct Upstream {
    pub address: SocketAddr,
    pub counts: Arc<Counts>,
}

impl Upstream {
    pub async fn start(answer: impl Fn(&str) -> Answer + Send + Sync + 'static) -> Self {
        Self::serve(None, answer).await
    }

    pub async fn serve(
        tls: Option<tokio_rustls::TlsAcceptor>,
        answer: impl Fn(&str) -> Answer + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let counts = Arc::new(Counts::default());
        let (shared, answer) = (counts.clone(), Arc::new(answer));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                shared.connections.fetch_add(1, SeqCst);
                let (shared, answer, tls) = (shared.clone(), answer.clone(), tls.clone());
                tokio::spawn(async move {
                    match tls {
                        None => drop(talk(stream, shared.clone(), answer).await),
                        Some(tls) => {
                            if let Ok(stream) = tls.accept(stream).await {
                                let _ = talk(stream, shared.clone(), answer).await;
                            }
                        }
                    }
                    shared.ended.fetch_add(1, SeqCst);
                });
            }
        });
        Self { address, counts }
    }

    pub fn connections(&self) -> usize {
        self.counts.connections.load(SeqCst)
    }

    /// Waits until that many connections have ended.
    pub async fn ended(&self, connections: usize) {
        let ended = async {
            while self.counts.ended.load(SeqCst) < connections {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(std::time::Duration::from_secs(60), ended).await.expect("connections end");
    }

    pub fn seen(&self) -> Vec<String> {
        self.counts.seen.lock().expect("no panic").clone()
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}

async fn talk<S: AsyncRead + AsyncWrite + Unpin>(
    mut stream: S,
    counts: Arc<Counts>,
    answer: Arc<impl Fn(&str) -> Answer>,
) -> io::Result<()> {
    loop {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await?);
        }
        let head = String::from_utf8_lossy(&head).into_owned();
        counts.seen.lock().expect("no panic").push(head.clone());
        let now = counts.running.fetch_add(1, SeqCst) + 1;
        counts.most.fetch_max(now, SeqCst);
        let parts = match answer(&head) {
            Answer::Parts(parts) => parts,
            Answer::Silence => return hold(stream).await,
            Answer::Stall(part) => {
                stream.write_all(&part).await?;
                return hold(stream).await;
            }
            Answer::Endless(part) => {
                stream.write_all(&part).await?;
                loop {
                    stream.write_all(&[0; 8192]).await?;
                }
            }
            Answer::Drip(part) => {
                stream.write_all(&part).await?;
                loop {
                    tokio::time::sleep(std::time::Duration::from_millis(5)).await;
                    stream.write_all(b"x").await?;
                }
            }
            Answer::Together(barrier) => {
                barrier.wait().await;
                vec![b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n".to_vec()]
            }
        };
        counts.running.fetch_sub(1, SeqCst);
        for part in parts {
            stream.write_all(&part).await?;
            stream.flush().await?;
            tokio::task::yield_now().await;
        }
    }
}

/// Until the other side hangs up.
async fn hold<S: AsyncRead + Unpin>(mut stream: S) -> io::Result<()> {
    while stream.read(&mut [0; 1024]).await? > 0 {}
    Ok(())
}

/// Answers from a list per name, repeating the last one.
#[derive(Default)]
pub struct Names {
    answers: Mutex<HashMap<String, Vec<Vec<IpAddr>>>>,
    pub asked: AtomicUsize,
}

impl Names {
    pub fn new(names: &[(&str, &[&[&str]])]) -> Arc<Self> {
        let list = |answer: &&[&str]| answer.iter().map(|text| text.parse().expect("an address")).collect();
        let answers =
            names.iter().map(|(name, answers)| ((*name).to_owned(), answers.iter().map(list).collect()));
        Arc::new(Self { answers: Mutex::new(answers.collect()), asked: AtomicUsize::new(0) })
    }
}

impl NameResolver for Names {
    fn resolve(&self, name: &str) -> IoFuture<Vec<IpAddr>> {
        self.asked.fetch_add(1, SeqCst);
        let mut answers = self.answers.lock().expect("no panic");
        let found =
            answers.get_mut(name).map(|list| if list.len() > 1 { list.remove(0) } else { list[0].clone() });
        Box::pin(async move { found.ok_or_else(|| io::Error::other("no such name")) })
    }
}

/// Notes what it is asked to connect to, and connects to one upstream whatever that is.
pub struct Detour {
    pub to: SocketAddr,
    pub asked: Mutex<Vec<SocketAddr>>,
}

impl Detour {
    pub fn new(to: SocketAddr) -> Arc<Self> {
        Arc::new(Self { to, asked: Mutex::default() })
    }
}

impl AddressDialer for Detour {
    fn dial(&self, to: SocketAddr) -> IoFuture<TcpStream> {
        self.asked.lock().expect("no panic").push(to);
        Box::pin(TcpStream::connect(self.to))
    }
}

pub fn grants(to: &[&str]) -> EgressGrants {
    let rule =
        |to: &&str| HttpRule { to: RuleDestination::parse(to).expect(to), methods: None, reads: Vec::new() };
    EgressGrants { rules: to.iter().map(rule).collect(), secrets: Vec::new() }
}

pub fn body(bytes: impl Into<Bytes>) -> BodyIn {
    Full::new(bytes.into()).map_err(|never| match never {}).boxed_unsync()
}

pub fn get(url: &str) -> Request<BodyIn> {
    Request::get(url).body(body("")).expect("a request")
}

/// Sends, and reads the whole of the answer.
pub async fn fetch(call: &CallEgress, request: Request<BodyIn>) -> Result<Response<Bytes>, SendError> {
    read(call.send(request, SendTimeouts::default()).await?).await
}

pub async fn read(response: Response<BodyOut>) -> Result<Response<Bytes>, SendError> {
    let (head, body) = response.into_parts();
    Ok(Response::from_parts(head, body.collect().await?.to_bytes()))
}

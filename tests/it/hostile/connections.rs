//! Unauthenticated clients that only connect, up to the connection limit and beyond.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use anyhow::{Context, Result};
use loggia_tests::{
    Folder, Served, Token, eventually,
    lingers::{go, lingers, runs, wait},
    wire::{self, Line},
};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::{Value, json};
use tokio::{io::AsyncReadExt, net::TcpStream};

/// Sockets of one client: more than the server's default connection limit.
const SILENT: usize = 1200;
/// Default connection limit of a server.
const MOST: f64 = 1024.0;

fn add() -> Value {
    json!({"action": "add", "a": 1, "b": 2})
}

/// Each of the sockets is a descriptor of the test's.
fn raise_open_files() -> Result<()> {
    let most = getrlimit(Resource::Nofile).maximum;
    anyhow::ensure!(most.is_none_or(|most| most > 2 * SILENT as u64), "too few descriptors: {most:?}");
    Ok(setrlimit(Resource::Nofile, Rlimit { current: most, maximum: most })?)
}

/// H46, H73.
#[tokio::test]
async fn silent_sockets_lock_no_caller_out() -> Result<()> {
    raise_open_files()?;
    let folder = Folder::with(&["lingers", "echo"]);
    let data = lingers(&folder, "lingers");
    let ada = Token::new("ada", &["*"]).await?;
    // No connection times out while the test runs.
    let served =
        Served::configured(&folder, "[http]\nheader-time = '1h'\nidle-time = '1h'\n", &[&ada]).await?;
    let (host, own) = (&served.host, served.host.authority().to_owned());
    // A call in progress and an idle connection survive the flood.
    let mut under_way = Line::open(&own).await?;
    under_way.write(wire::call(host, &ada.header(), 1, "lingers", &wait("mark"))).await?;
    runs(&data, "mark").await;
    let mut rests = Line::open(&own).await?;
    rests.write(wire::call(host, &ada.header(), 2, "echo", &add())).await?;
    assert_eq!(rests.answer().await?.envelope()?["data"], 3.0);

    let closed: &'static AtomicUsize = Box::leak(Box::default());
    let mut strangers = tokio::task::JoinSet::new();
    for _ in 0..SILENT {
        let own = own.clone();
        strangers.spawn(async move {
            loop {
                if let Ok(mut stream) = TcpStream::connect(&own).await {
                    drop(stream.read(&mut [0]).await);
                    closed.fetch_add(1, Ordering::Relaxed);
                }
                // Or it would run out of ports before the server runs out of connections.
                tokio::time::sleep(Duration::from_secs(3)).await;
            }
        });
    }
    // Only the connection limit closes them.
    eventually(async || match closed.load(Ordering::Relaxed) {
        0 => Err("none was closed".to_owned()),
        _ => Ok(()),
    })
    .await;
    for n in 0..20 {
        let told = wire::answered(host, &ada.header(), "echo", &add()).await;
        let told = told.with_context(|| format!("call {n} among {SILENT} silent sockets"))?;
        assert_eq!(told.envelope()?["data"], 3.0, "{told:?}");
    }
    eventually(async || match closed.load(Ordering::Relaxed) {
        few @ 0..100 => Err(format!("{few} were closed")),
        _ => Ok(()),
    })
    .await;
    rests.write(wire::call(host, &ada.header(), 3, "echo", &add())).await?;
    assert_eq!(rests.answer().await?.envelope()?["data"], 3.0);
    go(&data, "gone")?;
    assert_eq!(under_way.answer().await?.envelope()?["data"], "gone");
    assert!(served.figure("loggia_http_connections").await?.context("a figure")? <= MOST);
    Ok(())
}

/// H73: connections per address are limited; a new one replaces the oldest silent one.
#[tokio::test]
async fn one_address_has_only_its_share_of_connections() -> Result<()> {
    const SHARE: usize = 4;
    let folder = Folder::with(&["echo"]);
    let ada = Token::new("ada", &["*"]).await?;
    // If set explicitly, the limit applies to loopback too.
    let settings = format!("[http]\nheader-time = '1h'\nconnections-per-address = {SHARE}\n");
    let served = Served::configured(&folder, &settings, &[&ada]).await?;
    let host = &served.host;
    let mut silent = Vec::new();
    for _ in 0..2 * SHARE {
        silent.push(Line::open(host.authority()).await?);
    }
    let newest = silent.split_off(SHARE);
    for line in silent {
        assert_eq!(line.end().await?, "");
    }
    served.figures("loggia_http_connections", |open| open == SHARE as f64).await;
    // An authenticated caller behind the same address replaces the silent ones, one by one …
    let mut known = Vec::new();
    for _ in 0..SHARE {
        let mut line = Line::open(host.authority()).await?;
        line.write(wire::call(host, &ada.header(), 1, "echo", &add())).await?;
        assert_eq!(line.answer().await?.envelope()?["data"], 3.0);
        known.push(line);
    }
    for line in newest {
        assert_eq!(line.end().await?, "");
    }
    // … and once all connections are authenticated, a further one is refused and none is closed.
    assert_eq!(Line::open(host.authority()).await?.end().await?, "");
    for line in &mut known {
        line.write(wire::call(host, &ada.header(), 2, "echo", &add())).await?;
        assert_eq!(line.answer().await?.envelope()?["data"], 3.0);
    }
    served.logs(|line| line.contains("WARN") && line.contains("http.connections-per-address")).await;
    Ok(())
}

//! Clients that send nothing, or too little, or never read, and more of them than the connection limit.

use anyhow::{Context, Result};
use loggia_tests::{
    Folder, HttpHost, Served, Token, eventually, memory, signal,
    wire::{self, Line},
};
use rustix::process::Signal;
use serde_json::{Value, json};
use tokio::net::{TcpSocket, TcpStream};

fn add() -> Value {
    json!({"action": "add", "a": 1, "b": 2})
}

/// H47.
#[tokio::test]
async fn slow_requests_are_disconnected() -> Result<()> {
    let folder = Folder::with(&["echo"]);
    let host =
        HttpHost::configured(&folder, "[http]\nheader-time = '3s'\nidle-time = '3s'\nbody-time = '3s'")
            .await?;
    let call = wire::call(&host, "", 1, "echo", &add());
    let (head, body) = call.split_once("\r\n\r\n").context("a head")?;
    let mut slow = Vec::new();
    for begun in [String::new(), "P".into(), head[..40].to_owned(), format!("{head}\r\n")] {
        let mut line = Line::open(host.authority()).await?;
        line.write(&begun).await?;
        slow.push((begun, line));
    }
    // After an answer, with nothing or half a head more.
    for begun in ["", "POST /mcp HTTP/1.1\r\nHost: "] {
        let mut line = Line::open(host.authority()).await?;
        line.write(&call).await?;
        assert_eq!(line.answer().await?.envelope()?["data"], 3.0);
        line.write(begun).await?;
        slow.push((begun.to_owned(), line));
    }
    // A head, and some or none of the body.
    let mut bodies = Vec::new();
    for begun in ["", &body[..9]] {
        let mut line = Line::open(host.authority()).await?;
        line.write(format!("{head}\r\n\r\n{begun}")).await?;
        bodies.push(line);
    }
    for (begun, line) in slow {
        let told = line.end().await.with_context(|| begun.clone())?;
        // hyper may send a reason.
        assert!(told.is_empty() || told.starts_with("HTTP/1.1 408"), "{begun}: {told}");
    }
    for line in bodies {
        let told = line.rest().await?;
        assert_eq!((told.status, told.body.as_str()), (408, "the body did not arrive within 3 s"));
    }
    assert_eq!(wire::answered(&host, "", "echo", &add()).await?.envelope()?["data"], 3.0);
    Ok(())
}

/// H47: authenticated connections may idle, but a request that has begun must arrive; unauthenticated ones time out
/// like headers.
#[tokio::test]
async fn only_authenticated_connections_may_idle_long() -> Result<()> {
    let folder = Folder::with(&["echo"]);
    let ada = Token::new("ada", &["*"]).await?;
    let served = Served::configured(&folder, "[http]\nheader-time = '3s'\nidle-time = '1h'", &[&ada]).await?;
    let host = &served.host;
    let call = wire::call(host, &ada.header(), 1, "echo", &add());
    let mut rests = Line::open(host.authority()).await?;
    rests.write(&call).await?;
    assert_eq!(rests.answer().await?.status, 200);
    let own = host.authority();
    let elsewhere = format!("GET /nowhere HTTP/1.1\r\nHost: {own}\r\n\r\n");
    let anywhere = "GET /mcp HTTP/1.1\r\nHost: evil.example.com\r\n\r\n".to_owned();
    let unknown = wire::call(host, "", 1, "echo", &add());
    let mut over = Vec::new();
    for (asked, status, begun) in [
        (&unknown, 401, ""),
        (&elsewhere, 404, ""),
        (&anywhere, 403, ""),
        (&call, 200, "P"),
        (&call, 200, &call[..40]),
    ] {
        let mut line = Line::open(own).await?;
        line.write(asked).await?;
        assert_eq!(line.head().await?.status, status, "{asked}");
        line.write(begun).await?;
        over.push(line);
    }
    for line in over {
        line.end().await?;
    }
    // It has been idle for longer than all of them.
    rests.write(&call).await?;
    assert_eq!(rests.answer().await?.envelope()?["data"], 3.0);
    Ok(())
}

/// H47: a client that sends a byte now and then sends something, but not a head in time.
#[tokio::test]
async fn bytewise_headers_are_disconnected() -> Result<()> {
    let folder = Folder::with(&["echo"]);
    let host = HttpHost::configured(&folder, "[http]\nheader-time = '3s'\nidle-time = '3s'").await?;
    let call = wire::call(&host, "", 1, "echo", &add());
    for answered in [false, true] {
        let mut line = Line::open(host.authority()).await?;
        if answered {
            line.write(&call).await?;
            line.answer().await?;
        }
        line.write("POST /mcp HTTP/1.1\r\nX: ").await?;
        // Each byte is awaited, as such a client would do, however long it takes.
        let trickle = async {
            let mut clock = tokio::time::interval(std::time::Duration::from_millis(20));
            while line.write("x").await.is_ok() {
                clock.tick().await;
            }
        };
        tokio::time::timeout(loggia_tests::PATIENCE, trickle).await.context("it is never cut off")?;
    }
    Ok(())
}

/// H47.
#[tokio::test]
async fn further_connections_wait_until_one_is_closed() -> Result<()> {
    const MOST: usize = 4;
    let folder = Folder::with(&["echo"]);
    let served = Served::configured(&folder, &format!("[http]\nconnections = {MOST}"), &[]).await?;
    let host = &served.host;
    let call = wire::call(host, "", 1, "echo", &add());
    let mut there = Vec::new();
    for _ in 0..MOST {
        let mut line = Line::open(host.authority()).await?;
        line.write(&call).await?;
        line.answer().await?;
        there.push(line);
    }
    let mut fifth = Line::open(host.authority()).await?;
    fifth.write(&call).await?;
    // The others are answered as before, for longer than the fifth would have needed.
    for _ in 0..20 {
        for line in &mut there {
            line.write(&call).await?;
            assert_eq!(line.answer().await?.envelope()?["data"], 3.0);
        }
    }
    assert_eq!(served.figure("loggia_http_connections").await?, Some(MOST as f64));
    let nothing = fifth.stream.try_read(&mut [0]).map_err(|error| error.kind());
    assert_eq!(nothing, Err(std::io::ErrorKind::WouldBlock));
    drop(there.pop());
    assert_eq!(fifth.answer().await?.envelope()?["data"], 3.0);
    Ok(())
}

/// Connects a client with minimal receive buffers.
async fn deaf(host: &HttpHost) -> Result<TcpStream> {
    let socket = TcpSocket::new_v4()?;
    socket.set_recv_buffer_size(4096)?;
    Ok(socket.connect(host.authority().parse()?).await?)
}

/// H47.
#[tokio::test]
async fn clients_that_never_read_are_disconnected() -> Result<()> {
    const DEAF: usize = 8;
    let folder = Folder::with(&["misbehaves", "echo"]);
    folder.write("misbehaves.toml", "[limits]\nresult = \"4MiB\"\n");
    let served = Served::configured(&folder, "[http]\nwrite-time = '3s'", &[]).await?;
    let host = &served.host;
    let process = host.child.id().context("it ended")?;
    let flood = wire::call(host, "", 1, "misbehaves", &json!({"action": "flood"}));
    // A large answer.
    let told = wire::answered(host, "", "misbehaves", &json!({"action": "flood"})).await?;
    assert!(told.status == 200 && told.body.len() > 2 << 20, "{} {:.600}", told.head, told.body);
    let mut after = Vec::new();
    for round in 0..3 {
        let mut kept = Vec::new();
        for _ in 0..DEAF {
            let mut line = Line::from(deaf(host).await?);
            line.write(&flood).await?;
            kept.push(line);
        }
        // A client that reads is answered meanwhile.
        assert_eq!(wire::answered(host, "", "echo", &add()).await?.envelope()?["data"], 3.0);
        let name = "loggia_calls_total{tool=\"misbehaves\",action=\"flood\",outcome=\"ok\"}";
        served.figures(name, |calls| calls == (1 + (round + 1) * DEAF) as f64).await;
        served.figures("loggia_http_connections", |open| open == 0.0).await;
        // The allocator's spare memory does not count; SIGUSR1 releases it.
        let lines =
            || served.log.lock().expect("a log").iter().filter(|line| line.contains("vitals")).count();
        signal(&host.child, Signal::USR1)?;
        eventually(async || if lines() > round { Ok(()) } else { Err("no vitals".to_owned()) }).await;
        after.push(memory(process, "VmRSS")?);
    }
    assert!(after[2] < after[0] + (16 << 20), "{after:?}");
    Ok(())
}

/// H47.
#[tokio::test]
async fn oversized_headers_are_refused_with_the_limit() -> Result<()> {
    let folder = Folder::with(&["echo"]);
    let host = HttpHost::start(folder.path()).await?;
    let wide = HttpHost::configured(&folder, "[http]\nhead = '256KiB'").await?;
    let (long, many) = (format!("X-Long: {}\r\n", "x".repeat(100 << 10)), "X: 1\r\n".repeat(200));
    for (host, more, limit) in [(&host, &long, "32KiB"), (&host, &many, "32KiB"), (&wide, &many, "256KiB")] {
        // Also after an answer on the same connection.
        for answered in [false, true] {
            let mut line = Line::open(host.authority()).await?;
            if answered {
                line.write(wire::call(host, "", 1, "echo", &add())).await?;
                assert_eq!(line.answer().await?.status, 200);
            }
            // It may refuse the rest with a reason.
            drop(line.write(wire::call(host, more, 2, "echo", &add())).await);
            let told = line.rest().await?;
            assert_eq!((told.status, told.header("connection")), (431, Some("close")), "{told:?}");
            let said = format!("may have {limit} and 100 headers at most");
            assert!(told.body.contains(&said) && told.body.contains("`http.head`"), "{told:?}");
        }
    }
    assert_eq!(wire::answered(&wide, &long, "echo", &add()).await?.status, 200);
    // A quarter of it is allowed: tokens are long.
    let long = format!("X-Long: {}\r\n", "x".repeat(24 << 10));
    assert_eq!(wire::answered(&host, &long, "echo", &add()).await?.status, 200);
    Ok(())
}

/// Browsers, and clients with a wrong path, learn the endpoint's address.
#[tokio::test]
async fn unknown_paths_point_to_the_endpoint() -> Result<()> {
    let folder = Folder::with(&["echo"]);
    let host = HttpHost::start(folder.path()).await?;
    let own = host.authority();
    for first in ["GET /", "GET /sse", "POST /"] {
        let request =
            format!("{first} HTTP/1.1\r\nHost: {own}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
        let told = wire::send(own, request.as_bytes()).await?;
        assert_eq!(
            (told.status, told.header("content-type")),
            (404, Some("text/plain; charset=utf-8")),
            "{first}"
        );
        assert!(told.body.contains("/mcp"), "{told:?}");
    }
    Ok(())
}

/// Disconnecting clients are normal: nothing is logged.
#[tokio::test]
async fn a_client_that_goes_away_is_no_error() -> Result<()> {
    let folder = Folder::with(&["echo"]);
    let served = Served::start(&folder, |command| {
        command.env("LOGGIA_LOG", "debug");
    })
    .await?;
    let host = &served.host;
    // The address is logged a moment before all tasks run.
    assert_eq!(wire::answered(host, "", "echo", &add()).await?.status, 200);
    let tasks = "loggia_tasks{runtime=\"io\"}";
    let before = served.figure(tasks).await?.context("tasks")?;
    let of_session = wire::session(host, "", wire::INITIALIZE).await?;
    let wait = json!({"action": "wait", "ms": 60000});
    let listen = json!({"notifications": {"toolsListChanged": true}});
    let listen = wire::request(7, "subscriptions/listen", listen);
    for (asked, said) in [
        (wire::post(host, &wire::named("subscriptions/listen", ""), &listen), "subscriptions/acknowledged"),
        (wire::post(host, &of_session, &wire::in_session(2, "echo", &wait)), "event-stream"),
    ] {
        let mut line = Line::open(host.authority()).await?;
        line.write(asked).await?;
        line.until(said).await?;
    }
    let goodbye = format!(
        "DELETE /mcp HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n{of_session}\r\n",
        host.authority()
    );
    assert_eq!(wire::send(host.authority(), goodbye.as_bytes()).await?.status, 204);
    served.figures(tasks, |now| now <= before).await;
    // Log lines are in order, so this line comes after all others.
    assert_eq!(wire::answered(host, "", "echo", &add()).await?.status, 200);
    served.logs(|line| line.contains("echo.add: ok")).await;
    let log = served.log.lock().expect("a log");
    let wrong: Vec<_> = log.iter().filter(|line| line.contains("ERROR") || line.contains(" WARN ")).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
    Ok(())
}

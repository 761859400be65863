//! Over sockets: what is slow, what is large, what is much.

use std::{
    sync::{Arc, atomic::Ordering::SeqCst},
    time::Duration,
};

use http::Request;
use loggia_egress::{
    EgressClient, EgressLimits,
    EgressMode::{Reads, Writes},
    ExchangePhase, MessagePart, RequestRefusal, SendError, SendTimeouts,
};

use crate::{
    support::{Answer, Upstream, body, fetch, get, grants, read},
    wire::limits,
};

/// H28.
#[tokio::test]
async fn what_is_slow_times_out() {
    let slow = Upstream::start(|head| match head {
        head if head.contains("/drip/head") => Answer::Drip(b"HTTP/1.1 200 OK\r\nx: ".to_vec()),
        head if head.contains("/drip/body") => Answer::Drip(b"HTTP/1.1 200 OK\r\n\r\n".to_vec()),
        head if head.contains("/drip/chunk") => {
            Answer::Drip(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nffff\r\n".to_vec())
        }
        head if head.contains("/stall") => {
            Answer::Stall(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf".to_vec())
        }
        _ => Answer::Silence,
    })
    .await;
    let call = EgressClient::new(
        grants(&[&slow.url()]),
        EgressLimits { time: Duration::from_millis(150), ..limits() },
    )
    .call(Reads);
    let total = SendError::Timeout(ExchangePhase::Total);
    assert_eq!(fetch(&call, get(&slow.url())).await.expect_err("no head"), total);
    // A byte now and then is no way to hold a call for longer.
    for path in ["/stall", "/drip/head", "/drip/body", "/drip/chunk"] {
        assert_eq!(
            fetch(&call, get(&format!("{}{path}", slow.url()))).await.expect_err(path),
            total,
            "{path}"
        );
    }

    let call = EgressClient::new(grants(&[&slow.url()]), limits()).call(Reads);
    let short = Some(Duration::from_millis(50));
    let send = |path: &str, timeouts| {
        let sending = call.send(get(&format!("{}{path}", slow.url())), timeouts);
        async move { read(sending.await?).await }
    };
    let first = send("/", SendTimeouts { first_byte: short, ..SendTimeouts::default() }).await;
    assert_eq!(first.expect_err("no head"), SendError::Timeout(ExchangePhase::FirstByte));
    let between = send("/stall", SendTimeouts { between_bytes: short, ..SendTimeouts::default() }).await;
    assert_eq!(between.expect_err("no end"), SendError::Timeout(ExchangePhase::BetweenBytes));
}

/// H24, H28.
#[tokio::test]
async fn what_is_large_is_refused() {
    let upstream = Upstream::start(|head| match head {
        head if head.contains("/chunks") => {
            let head = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
            Answer::Parts(
                std::iter::once(head.into()).chain((0..1001).map(|_| b"1\r\nx\r\n".to_vec())).collect(),
            )
        }
        head if head.contains("/chunk") => {
            Answer::Endless(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nffffffffffff\r\n".to_vec())
        }
        head if head.contains("/line") => {
            Answer::Stall(format!("HTTP/1.1 200 OK\r\na: {}\r\n\r\n", "x".repeat(1 << 20)).into())
        }
        head if head.contains("/fields") => {
            Answer::Stall(format!("HTTP/1.1 200 OK\r\n{}\r\n", "a:\r\n".repeat(40_000)).into())
        }
        head if head.contains("/endless") => Answer::Endless(b"HTTP/1.1 200 OK\r\n\r\n".to_vec()),
        head if head.contains("/declared") => {
            Answer::Stall(b"HTTP/1.1 200 OK\r\ncontent-length: 1001\r\n\r\n".to_vec())
        }
        head if head.contains("/head") => {
            Answer::Stall(format!("HTTP/1.1 200 OK\r\na: {}\r\n\r\n", "x".repeat(40_000)).into())
        }
        head if head.contains("/many") => {
            Answer::Stall(format!("HTTP/1.1 200 OK\r\n{}\r\n", "a: b\r\n".repeat(2000)).into())
        }
        head if head.contains("/junk") => Answer::Stall(b"SSH-2.0-OpenSSH_9.9\r\n\r\n".to_vec()),
        _ => Answer::Stall(Vec::new()),
    })
    .await;
    let small = EgressLimits { request: 1000, response: 1000, ..limits() };
    let call = EgressClient::new(grants(&[&upstream.url()]), small).call(Writes);
    let response = SendError::TooLarge { what: MessagePart::Response, limit: 1000 };
    let head = SendError::TooLarge { what: MessagePart::ResponseHead, limit: 32 << 10 };
    let junk = SendError::Protocol("it is not HTTP");
    let answers = [
        ("/endless", response.clone()),
        ("/declared", response.clone()),
        ("/chunks", response.clone()),
        ("/chunk", response),
        ("/head", head.clone()),
        ("/line", head.clone()),
        ("/fields", head.clone()),
        ("/many", head),
        ("/junk", junk),
    ];
    for (path, error) in answers {
        assert_eq!(
            fetch(&call, get(&format!("{}{path}", upstream.url()))).await.expect_err(path),
            error,
            "{path}"
        );
    }
    let post = |body| Request::post(upstream.url()).body(body).expect("a request");
    let error = fetch(&call, post(body(vec![0; 1001]))).await.expect_err("too large");
    assert_eq!(error, SendError::TooLarge { what: MessagePart::Request, limit: 1000 });
    let mut declared = post(body(""));
    declared.headers_mut().insert("content-length", "1001".parse().expect("a value"));
    let error = call.admit(&declared.into_parts().0).err().expect("too large");
    assert_eq!(error, SendError::TooLarge { what: MessagePart::Request, limit: 1000 });
    for declared in ["5", "999"] {
        let mut request = post(body("four"));
        request.headers_mut().insert("content-length", declared.parse().expect("a value"));
        assert_eq!(fetch(&call, request).await.expect_err("another length"), SendError::Body);
    }
    let mut long = get(&upstream.url());
    long.headers_mut().insert("x", "x".repeat(33 << 10).parse().expect("a value"));
    assert!(matches!(
        fetch(&call, long).await,
        Err(SendError::TooLarge { what: MessagePart::RequestHead, .. })
    ));
    let mut other = get(&upstream.url());
    other.headers_mut().insert("host", "other.example".parse().expect("a value"));
    assert!(matches!(fetch(&call, other).await, Err(SendError::Denied(RequestRefusal::Header { .. }))));
}

/// H29.
#[tokio::test]
async fn a_call_sends_so_many_requests_and_so_many_at_once() {
    let barrier = Arc::new(tokio::sync::Barrier::new(6));
    let upstream = Upstream::start(move |_| Answer::Together(barrier.clone())).await;
    let client = EgressClient::new(grants(&[&upstream.url()]), EgressLimits { requests: 30, ..limits() });
    let call = client.call(Reads);
    let mut running = tokio::task::JoinSet::new();
    for _ in 0..40 {
        let (call, request) = (call.clone(), get(&upstream.url()));
        running.spawn(async move { fetch(&call, request).await });
    }
    let done = running.join_all().await;
    assert_eq!(done.iter().filter(|done| done.is_ok()).count(), 30);
    assert_eq!(done.iter().filter(|done| matches!(done, Err(SendError::TooMany(30)))).count(), 10);
    assert_eq!(upstream.counts.most.load(SeqCst), 6);
    assert!(upstream.connections() <= 12, "{} connections", upstream.connections());
    client.call(Reads).admit(&get(&upstream.url()).into_parts().0).expect("another call has its own count");
}

#[tokio::test]
async fn what_waits_when_a_call_ends_is_not_sent() {
    let upstream = Upstream::start(|_| Answer::Silence).await;
    let client = EgressClient::new(grants(&[&upstream.url()]), EgressLimits { at_once: 1, ..limits() });
    let call = client.call(Reads);
    let mut first = Box::pin(fetch(&call, get(&upstream.url())));
    let mut waits = Box::pin(fetch(&call, get(&upstream.url())));
    tokio::select! {
        biased;
        _ = &mut first => panic!("nothing answers"),
        _ = &mut waits => panic!("it has no turn"),
        () = std::future::ready(()) => {}
    }
    call.end();
    drop(first);
    assert!(matches!(waits.await, Err(SendError::Closed)));
}

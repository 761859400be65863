//! Over sockets: what is connected to, what is kept.

use std::{
    collections::BTreeSet,
    net::IpAddr,
    sync::{Arc, atomic::Ordering::SeqCst},
    time::Duration,
};

use bytes::Bytes;
use http::Request;
use loggia_egress::{
    EgressClient, EgressLimits,
    EgressMode::{Reads, Writes},
    InterfaceAddresses, RequestRefusal, SendError, SendTimeouts,
};

use crate::support::{Answer, Detour, Names, Upstream, body, fetch, get, grants, ok, read, whole};

pub fn limits() -> EgressLimits {
    EgressLimits { time: Duration::from_secs(10), ..EgressLimits::default() }
}

#[tokio::test]
async fn a_request_goes_out_as_the_host_wants_it() {
    let upstream = Upstream::start(|_| ok("hello")).await;
    let call = EgressClient::new(grants(&[&upstream.url()]), limits()).call(Reads);
    let mut request = get(&format!("{}/a?b=c", upstream.url()));
    for (name, value) in [
        ("connection", "x-hop"),
        ("x-hop", "1"),
        ("te", "trailers"),
        ("proxy-authorization", "p"),
        ("x-mine", "1"),
    ] {
        request.headers_mut().insert(name, value.parse().expect("a value"));
    }
    let response = fetch(&call, request).await.expect("an answer");
    assert_eq!(response.body(), "hello");
    let seen = upstream.seen().remove(0);
    let expected = format!(
        "GET /a?b=c HTTP/1.1\r\nx-mine: 1\r\nhost: {}\r\nuser-agent: loggia/{}\r\n\r\n",
        upstream.address,
        env!("CARGO_PKG_VERSION")
    );
    assert_eq!(seen, expected);
}

#[tokio::test]
async fn no_header_makes_another_method_of_a_request() {
    let upstream = Upstream::start(|_| ok("hello")).await;
    let call = EgressClient::new(grants(&[&upstream.url()]), limits()).call(Reads);
    for name in [
        "X-HTTP-Method-Override",
        "x-http-method",
        "x-method-override",
        "X-HTTP-Verb",
        "X-Original-Method",
        "X-Tunneled-Method",
    ] {
        let mut request = get(&upstream.url());
        let name: http::HeaderName = name.parse().expect("a name");
        request.headers_mut().insert(name, "DELETE".parse().expect("a value"));
        let refused = fetch(&call, request).await.expect_err("refused").to_string();
        assert!(refused.contains("would make another method of the request"), "{refused}");
    }
    for query in [
        "_method=DELETE",
        "a=b&%5Fmethod=delete",
        "a;_METHOD=put",
        "X-HTTP-Method-Override=DELETE",
        "_method",
    ] {
        let refused = fetch(&call, get(&format!("{}/?{query}", upstream.url()))).await.expect_err(query);
        assert!(refused.to_string().contains("would make another method of the request"), "{refused}");
    }
    assert_eq!(upstream.connections(), 0);
    for query in ["method=x", "q=_method", "a_method=1"] {
        fetch(&call, get(&format!("{}/?{query}", upstream.url()))).await.expect(query);
    }
}

/// H26.
#[tokio::test]
async fn the_connection_goes_to_what_was_checked_and_to_nothing_else() {
    let trap = Upstream::start(|_| ok("trapped")).await;
    let upstream = Upstream::start(|_| whole("200 OK", "connection: close\r\n", "fine")).await;
    let port = trap.address.port();
    let names = Names::new(&[(
        "api.example.com",
        &[&["93.184.215.14"], &["127.0.0.1"], &["10.0.0.1", "93.184.215.15"]],
    )]);
    let dialer = Detour::new(upstream.address);
    let url = format!("http://api.example.com:{port}");
    let client =
        EgressClient::setup(grants(&[&url]), limits()).resolver(names.clone()).dialer(dialer.clone()).build();
    let call = client.call(Reads);

    assert_eq!(fetch(&call, get(&url)).await.expect("an answer").body(), "fine");
    let refused = fetch(&call, get(&url)).await.expect_err("rebound");
    assert!(matches!(refused, SendError::Denied(RequestRefusal::Leads { .. })), "{refused}");
    assert!(
        refused.to_string().contains("resolves to an address that is not public")
            && !refused.to_string().contains("127.")
    );
    fetch(&call, get(&url)).await.expect("the public one of two");
    let asked: Vec<String> = dialer.asked.lock().expect("no panic").iter().map(ToString::to_string).collect();
    assert_eq!(asked, [format!("93.184.215.14:{port}"), format!("93.184.215.15:{port}")]);
    assert_eq!((trap.connections(), names.asked.load(SeqCst)), (0, 3));
}

/// H91.
#[tokio::test]
async fn a_name_leads_to_no_address_of_this_machine_and_every_refusal_reads_alike() {
    struct Own;
    impl InterfaceAddresses for Own {
        fn addresses(&self) -> Option<Arc<[IpAddr]>> {
            Some([20, 21].map(|own| IpAddr::from([93, 184, 215, own])).into())
        }
    }
    let upstream = Upstream::start(|_| whole("200 OK", "connection: close\r\n", "fine")).await;
    let port = upstream.address.port();
    let named = |address: &'static str| {
        let names = Names::new(&[("api.example.com", &[&[address]])]);
        let url = format!("http://api.example.com:{port}");
        let dialer = Detour::new(upstream.address);
        let granted = grants(&[&url, &format!("http://93.184.215.21:{port}")]);
        let client =
            EgressClient::setup(granted, limits()).resolver(names).dialer(dialer).interfaces(Arc::new(Own));
        (client.build(), url)
    };
    let mut texts = BTreeSet::new();
    for (address, class) in [
        ("93.184.215.20", "an address of this machine"),
        ("127.0.0.1", "a loopback address"),
        ("10.0.0.1", "a private address"),
        ("169.254.1.1", "a link-local address"),
        ("169.254.169.254", "a cloud metadata address"),
    ] {
        let (client, url) = named(address);
        let refused = fetch(&client.call(Writes), get(&url)).await.expect_err(address);
        let SendError::Denied(refusal) = &refused else { panic!("{refused}") };
        assert_eq!(refusal.class().map(|class| class.to_string()).as_deref(), Some(class));
        texts.insert(refused.to_string());
    }
    assert_eq!(texts.len(), 1, "{texts:?}");
    assert_eq!(upstream.connections(), 0);
    for address in ["93.184.215.21", "93.184.215.22"] {
        let (client, url) = named(address);
        assert_eq!(fetch(&client.call(Reads), get(&url)).await.expect(address).body(), "fine");
    }
}

/// H25.
#[tokio::test]
async fn a_name_leads_to_no_address_that_is_not_public_though_the_name_is_granted() {
    let addresses = [
        "127.0.0.1",
        "127.1.2.3",
        "::1",
        "0.0.0.0",
        "::",
        "10.0.0.1",
        "172.16.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "169.254.1.1",
        "192.0.0.192",
        "100.64.0.1",
        "100.100.100.200",
        "168.63.129.16",
        "::ffff:10.0.0.1",
        "::ffff:127.0.0.1",
        "::127.0.0.1",
        "64:ff9b::a00:1",
        "64:ff9b:1::808:808",
        "64:ff9b::a9fe:a9fe",
        "2002:7f00:1::",
        "fd00:ec2::254",
        "fd00::1",
        "fe80::1",
        "ff02::1",
        "224.0.0.1",
        "255.255.255.255",
        "198.18.0.1",
        "192.0.2.1",
    ];
    let upstream = Upstream::start(|_| ok("trapped")).await;
    for address in addresses {
        for name in ["api.example.com", "localhost.", "metadata.google.internal", "LOCALHOST"] {
            let known = name.trim_end_matches('.').to_ascii_lowercase();
            let names = Names::new(&[(&known, &[&[address]])]);
            let dialer = Detour::new(upstream.address);
            // The number of another machine opens no way to this one.
            let granted = grants(&[&format!("http://{known}"), "http://10.9.9.9"]);
            let client =
                EgressClient::setup(granted, limits()).resolver(names.clone()).dialer(dialer.clone()).build();
            let refused =
                fetch(&client.call(Writes), get(&format!("http://{name}/"))).await.expect_err(address);
            assert!(
                matches!(refused, SendError::Denied(RequestRefusal::Leads { .. })),
                "{name} at {address}: {refused}"
            );
            let dialed = dialer.asked.lock().expect("no panic").clone();
            assert!(dialed.is_empty() && names.asked.load(SeqCst) == 1, "{name} at {address}: {dialed:?}");
        }
    }
    assert_eq!(upstream.connections(), 0);
}

/// H25, H27.
#[tokio::test]
async fn metadata_is_out_of_reach_by_name_number_and_redirect() {
    let places = [
        "http://169.254.169.254/",
        "http://[::ffff:169.254.169.254]/",
        "http://[fd00:ec2::254]/",
        "http://127.0.0.1:1/",
        "http://2852039166/",
        "http://0xa9fea9fe/",
        "http://metadata.google.internal/",
        "file:///etc/passwd",
        "http://user@api.example.com/",
    ];
    let upstream = Upstream::start(move |head| {
        let n: usize = head.split(['/', ' ']).nth(2).and_then(|n| n.parse().ok()).expect("a number");
        whole("302 Found", &format!("location: {}\r\n", places[n]), "")
    })
    .await;
    let names = Names::new(&[
        ("api.example.com", &[&["93.184.215.14"]]),
        ("metadata.google.internal", &[&["169.254.169.254"]]),
    ]);
    let dialer = Detour::new(upstream.address);
    let granted = grants(&["http://api.example.com", "http://metadata.google.internal"]);
    let many = EgressLimits { redirects: 5, requests: 100, ..limits() };
    let client = EgressClient::setup(granted, many).resolver(names).dialer(dialer.clone()).build();
    let call = client.call(Reads);
    for (n, place) in places.iter().enumerate() {
        if let Ok(uri) = place.parse::<http::Uri>() {
            let mut request = get("http://api.example.com/");
            *request.uri_mut() = uri;
            let direct = fetch(&call, request).await.expect_err(place);
            assert!(matches!(direct, SendError::Denied(_)), "{place}: {direct}");
        }
        let hop = fetch(&call, get(&format!("http://api.example.com/{n}"))).await.expect_err(place);
        assert!(matches!(hop, SendError::Denied(_)), "{place}: {hop}");
    }
    let asked = dialer.asked.lock().expect("no panic").clone();
    assert!(asked.iter().all(|to| to.to_string() == "93.184.215.14:80"), "{asked:?}");
}

/// H27.
#[tokio::test]
async fn redirects_are_the_guests_unless_the_operator_wants_them_followed() {
    let other = Upstream::start(|_| ok("there")).await;
    let to = other.url();
    let upstream = Upstream::start(move |head| match head {
        head if head.contains("/loop") => whole("302 Found", "location: /loop\r\n", ""),
        head if head.starts_with("POST /see") => whole("303 See Other", "location: /end\r\n", ""),
        head if head.starts_with("POST") => whole("307 Temporary Redirect", "location: /end\r\n", ""),
        head if head.contains("/end") => ok("end"),
        _ => whole("302 Found", &format!("location: {to}/x\r\n"), ""),
    })
    .await;
    let granted = grants(&[&upstream.url(), &other.url()]);
    let request = |path: &str| {
        let mut request = get(&format!("{}{path}", upstream.url()));
        request.headers_mut().insert("authorization", "guest".parse().expect("a value"));
        request.headers_mut().insert("cookie", "guest".parse().expect("a value"));
        request
    };
    let call = EgressClient::new(granted.clone(), limits()).call(Writes);
    assert_eq!(fetch(&call, request("/away")).await.expect("an answer").status(), 302);
    assert_eq!(other.connections(), 0);

    let call = EgressClient::new(granted, EgressLimits { redirects: 3, ..limits() }).call(Writes);
    assert_eq!(fetch(&call, request("/away")).await.expect("an answer").body(), "there");
    assert!(!other.seen()[0].contains("guest"), "{:?}", other.seen());
    assert_eq!(fetch(&call, request("/loop")).await.expect("the last one").status(), 302);
    let post =
        |path: &str| Request::post(format!("{}{path}", upstream.url())).body(body("")).expect("a request");
    assert_eq!(fetch(&call, post("/see")).await.expect("an answer").body(), "end");
    assert_eq!(fetch(&call, post("/keep")).await.expect("an answer").status(), 307);
}

#[tokio::test]
async fn connections_are_kept_and_replaced() {
    let upstream = Upstream::start(|head| match head {
        head if head.contains("/close") => {
            Answer::Parts(vec![b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n".to_vec()])
        }
        head if head.contains("/half") => {
            Answer::Stall(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf".to_vec())
        }
        _ => ok("x"),
    })
    .await;
    let client = EgressClient::new(grants(&[&upstream.url()]), limits());
    for _ in 0..3 {
        fetch(&client.call(Reads), get(&upstream.url())).await.expect("an answer");
        tokio::task::yield_now().await;
    }
    assert_eq!(upstream.connections(), 1);
    let call = client.call(Reads);
    // A body that is dropped takes its connection with it.
    let half =
        call.send(get(&format!("{}/half", upstream.url())), SendTimeouts::default()).await.expect("a head");
    drop(half);
    fetch(&call, get(&format!("{}/close", upstream.url()))).await.expect("an answer");
    fetch(&call, get(&upstream.url())).await.expect("an answer");
    assert_eq!(upstream.connections(), 3);
}

#[tokio::test]
async fn a_ticket_is_for_the_request_that_was_admitted() {
    let upstream = Upstream::start(|_| ok("x")).await;
    let call = EgressClient::new(grants(&[&upstream.url()]), limits()).call(Reads);
    let ticket = call.admit(&get(&upstream.url()).into_parts().0).expect("admitted");
    let other = Request::post(upstream.url()).body(body(Bytes::new())).expect("a request");
    let error = ticket.send(other, SendTimeouts::default()).await.map(drop).expect_err("refused");
    assert_eq!(error, SendError::Denied(RequestRefusal::Changed));
    assert_eq!(upstream.connections(), 0);
}

#[tokio::test]
async fn failures_have_names() {
    // A port without a listener, which no other process can take.
    let gone = tokio::net::TcpSocket::new_v4().expect("a socket");
    gone.bind(([127, 0, 0, 1], 0).into()).expect("a port");
    let url = format!("http://{}", gone.local_addr().expect("an address"));
    let names = Names::new(&[]);
    let client = EgressClient::setup(grants(&[&url, "http://no.example"]), limits()).resolver(names).build();
    let call = client.call(Reads);
    assert_eq!(fetch(&call, get(&url)).await.expect_err("closed"), SendError::Connect(url));
    assert_eq!(
        fetch(&call, get("http://no.example")).await.expect_err("unknown"),
        SendError::Dns("no.example".into())
    );
}

#[test]
fn connections_live_on_the_runtime_they_are_given() {
    let runtime = || {
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime")
    };
    let (network, first, second) = (runtime(), runtime(), runtime());
    let upstream = network.block_on(Upstream::start(|_| ok("x")));
    let client =
        EgressClient::setup(grants(&[&upstream.url()]), limits()).runtime(network.handle().clone()).build();
    first.block_on(fetch(&client.call(Reads), get(&upstream.url()))).expect("an answer");
    // The connection outlives the runtime of the request that it was made for.
    first.shutdown_background();
    for _ in 0..3 {
        second.block_on(fetch(&client.call(Reads), get(&upstream.url()))).expect("an answer");
    }
    assert!(upstream.connections() <= 2, "{} connections", upstream.connections());
}

#[tokio::test]
async fn no_time_is_too_long_to_wait() {
    let upstream = Upstream::start(|_| ok("x")).await;
    let endless = EgressLimits { time: Duration::MAX, ..limits() };
    let call = EgressClient::new(grants(&[&upstream.url()]), endless).call(Reads);
    let ever = Some(Duration::MAX);
    let timeouts = SendTimeouts { connect: ever, first_byte: ever, between_bytes: ever };
    read(call.send(get(&upstream.url()), timeouts).await.expect("a head")).await.expect("an answer");
}

#[tokio::test]
async fn whatever_is_dropped_ends_its_connection() {
    let upstream = Upstream::start(|head| match head {
        head if head.contains("/half") => Answer::Stall(b"HTTP/1.1 200 OK\r\n\r\nhalf".to_vec()),
        head if head.contains("/endless") => Answer::Endless(b"HTTP/1.1 200 OK\r\n\r\n".to_vec()),
        _ => Answer::Silence,
    })
    .await;
    let client =
        EgressClient::new(grants(&[&upstream.url()]), EgressLimits { response: 1 << 16, ..limits() });
    let call = client.call(Reads);
    let send = |path: &str| call.send(get(&format!("{}{path}", upstream.url())), SendTimeouts::default());
    let silent = tokio::spawn(send("/silent"));
    while upstream.seen().is_empty() {
        tokio::task::yield_now().await;
    }
    silent.abort();
    upstream.ended(1).await;
    drop(send("/half").await.expect("a head"));
    upstream.ended(2).await;
    read(send("/endless").await.expect("a head")).await.expect_err("too large");
    upstream.ended(3).await;
    // A client that is dropped takes its waiting connections along.
    let kept = Upstream::start(|_| ok("x")).await;
    let client = EgressClient::new(grants(&[&kept.url()]), limits());
    fetch(&client.call(Reads), get(&kept.url())).await.expect("an answer");
    drop(client);
    kept.ended(1).await;
}

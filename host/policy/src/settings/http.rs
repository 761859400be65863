//! `[http]`.

use std::net::SocketAddr;

use super::{
    quantity::{Size, Span, within},
    table::table,
    value::{SettingValue, SettingsReader, list, text},
};
use crate::document::{field::Field, tree::Text};

/// Maximum `body`, equal to the maximum size of a message on stdio.
const MAX_BODY: Size = Size(16 << 20);
/// Minimum `head`, which hyper requires.
const MIN_HEAD: Size = Size(8 << 10);
/// Maximum `head`, which bounds the memory of each connection.
const MAX_HEAD: Size = Size(1 << 20);
const MAX_CONNECTIONS: usize = 65_536;
/// Maximum `questions`.
const MAX_QUESTIONS: u32 = 16;
const SECOND: Span = Span::seconds(1);
const HOUR: Span = Span::seconds(60 * 60);
const WEEK: Span = Span::seconds(7 * 24 * 60 * 60);

table! {
    /// HTTP, served at `/mcp`.
    pub struct Http {
        /// Address to listen on. Port 0 selects a free port.
        listen: SocketAddr = SocketAddr::from(([127, 0, 0, 1], 8080));
        /// Allow unauthenticated callers although other machines can reach the server: on an address that is not
        /// loopback, behind a proxy (`hosts`), or if `[auth]` has no credential.
        allow_anonymous: bool = false;
        /// Host names under which requests may reach this server, besides its own address and localhost. Behind a
        /// proxy, the public name.
        hosts: Vec<String> = Vec::new(), list(text(host));
        /// Other origins whose pages may send requests (CORS), such as `https://chat.example.com`.
        origins: Vec<String> = Vec::new(), list(text(origin));
        /// Maximum number of open connections. At the limit, the oldest connection without an authenticated request is closed for
        /// a new one; if there is none, new connections wait.
        connections: usize = 1024, within(1, MAX_CONNECTIONS);
        /// Maximum number of open connections from one address (IPv6: one /64). Default 64; loopback addresses have no limit by
        /// default, since a local proxy connects for all its clients. 0 disables the limit, for a proxy on another machine.
        connections_per_address: Option<usize> = None, within(0, MAX_CONNECTIONS);
        /// How long the server accepts connections after SIGTERM, SIGINT or SIGHUP, while `/readyz` answers 503. Set it
        /// to the time that a load balancer needs to notice; `drain` begins afterwards.
        drain_delay: Span = Span::seconds(0), within(Span::seconds(0), HOUR);
        /// Maximum size of request headers, tokens included. A request has at most 100 headers.
        head: Size = Size(32 << 10), within(MIN_HEAD, MAX_HEAD);
        /// Timeout for request headers: for the first request from the time of connecting, for others from their first
        /// byte.
        header_time: Span = Span::seconds(10), within(SECOND, HOUR);
        /// Timeout for idle connections; `header-time` if the last request was not authenticated.
        idle_time: Span = Span::seconds(75), within(SECOND, WEEK);
        /// Timeout for a client that does not read its response.
        write_time: Span = Span::seconds(30), within(SECOND, HOUR);
        /// Timeout for the request body.
        body_time: Span = Span::seconds(30), within(SECOND, HOUR);
        /// Maximum size of a request body.
        body: Size = Size(4 << 20), within(Size(1 << 10), MAX_BODY);
        /// Maximum number of sessions in memory, of clients before 2026-07-28. At the limit, the longest-idle session is evicted;
        /// sessions that listen or are busy come last. An evicted session is restored when its client comes back.
        sessions: usize = 1024, within(1, MAX_CONNECTIONS);
        /// Idle time after which a session hibernates: no message and no pending request. The next request wakes it. A
        /// hibernating session takes little memory, and its client still receives change notifications.
        session_sleep: Span = Span::seconds(10), within(SECOND, HOUR);
        /// Time after which a session without messages, on which no client listens, is evicted. Its id stays valid for 30 days.
        session_idle: Span = Span::seconds(24 * 60 * 60), within(SECOND, WEEK);
        /// Limits per caller.
        per_caller: PerCaller = PerCaller::default(), per_caller;
    }
}

table! {
    /// Limits per caller. Anonymous callers are counted by address (IPv6: by /64). By default, anonymous callers on
    /// loopback have only the limits `runs` and `questions`.
    #[derive(Copy)]
    pub struct PerCaller {
        /// Requests per second, on average. Default 50; 0 is unlimited.
        rate: Option<u32> = None;
        /// Requests in one burst, 1 or more. Default twice the rate. Needs a `rate`.
        burst: Option<u32> = None, within(1, u32::MAX);
        /// Concurrent requests, without streams. Default 32; 0 is unlimited.
        concurrency: Option<u32> = None;
        /// Open streams on which a client waits for notifications. Default 16; 0 is unlimited.
        streams: Option<u32> = None;
        /// Unfinished calls that may outlive their request, whether the caller waits for them or not. Default 10, also for anonymous
        /// callers; 0 is unlimited.
        runs: Option<u32> = None;
        /// Calls that wait for a person's answer, 1 to 16. Default 4; anonymous callers on loopback have 32 open questions together.
        questions: Option<u32> = None, within(1, MAX_QUESTIONS);
    }
}

/// Reads `[http.per-caller]`.
fn per_caller(field: &Field<'_>, reader: &mut SettingsReader<'_>) -> Option<PerCaller> {
    let limits = PerCaller::read(field, reader)?;
    if limits.burst.is_some() && limits.rate.is_none_or(|rate| rate == 0) {
        reader.report_key(field, "rate", "must be 1 or more if `burst` is set");
    }
    Some(limits)
}

fn host(text: &Text) -> Result<String, String> {
    let rule = "must be a host name, such as \"tools.example.com\"";
    if is_host(&text.value) { Ok(text.value.clone()) } else { Err(format!("{rule} (got {})", text.quoted())) }
}

fn origin(text: &Text) -> Result<String, String> {
    let page = &text.value;
    let host = page.strip_prefix("https://").or_else(|| page.strip_prefix("http://"));
    let rule = "must be an origin, such as \"https://chat.example.com\"";
    if host.is_some_and(is_host) { Ok(page.clone()) } else { Err(format!("{rule} (got {})", text.quoted())) }
}

/// Returns true if a text is a host, optionally with a port.
fn is_host(text: &str) -> bool {
    text.parse::<http::uri::Authority>().is_ok_and(|authority| !authority.as_str().contains('@'))
}

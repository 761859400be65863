//! `[http]`.

use std::{net::SocketAddr, num::NonZero};

use loggia_gate::flow::CallerQuotas;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Size, Span};

/// Serving over HTTP, at `/mcp`.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Http {
    /// Where it listens. Port 0 is any that is free.
    pub listen: SocketAddr,
    /// Serve callers without a token where other machines reach the server: on an address that is not loopback, behind a
    /// proxy (`hosts`), or where `[auth]` names no credential.
    pub allow_anonymous: bool,
    /// Names by which requests may call this server, beside its own address and localhost: behind a proxy, the public one.
    pub hosts: Vec<String>,
    /// Pages of other origins that may send requests, such as `https://chat.example.com`. Browsers are told so (CORS).
    pub origins: Vec<String>,
    /// Maximum number of open connections. At the limit, the oldest connection without an authenticated request is closed for
    /// a new one; if there is none, new connections wait.
    pub connections: usize,
    /// Maximum number of open connections from one address (IPv6: one /64). Default 64; loopback addresses have no limit by
    /// default, since a local proxy connects for all its clients. 0 disables the limit, for a proxy on another machine.
    pub connections_per_address: Option<usize>,
    /// How long the server accepts connections after SIGTERM, SIGINT or SIGHUP, while `/readyz` answers 503. Set it to the time
    /// that a load balancer needs to notice. Then `drain` begins.
    pub drain_delay: Span,
    /// Maximum size of a request's head, tokens included. A head has at most 100 headers.
    pub head: Size,
    /// How long a client may take to send the head of a request: of its first one once it has connected, of others from their
    /// first byte.
    pub header_time: Span,
    /// How long a connection may wait for its next request to begin; `header-time` where its last one was not a known caller's.
    pub idle_time: Span,
    /// How long a client may take to read some of what it is sent.
    pub write_time: Span,
    /// How long it may take to send the body.
    pub body_time: Span,
    /// Largest body.
    pub body: Size,
    /// Sessions at once, of clients before 2026-07-28; the idlest makes room for another, one that listens or is busy last.
    pub sessions: usize,
    /// How long a session stays awake of which nothing is heard, and no request is under way; its next request wakes it. While it
    /// sleeps, it takes little memory, and its client still hears of changes.
    pub session_sleep: Span,
    /// How long a session lasts of which nothing is heard, and on which nobody listens.
    pub session_idle: Span,
    /// What one caller may ask for.
    pub per_caller: PerCaller,
}

/// Limits per caller. Anonymous callers are counted by address (IPv6: by /64). By default, anonymous callers on loopback have
/// no limits but `runs`.
#[derive(Debug, Clone, Copy, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct PerCaller {
    /// Requests per second, on average. Default 50; 0 is unlimited.
    pub rate: Option<u32>,
    /// Requests in one burst, 1 or more. Default twice the rate. Needs a `rate`.
    pub burst: Option<u32>,
    /// Concurrent requests, streams not counted. Default 32; 0 is unlimited.
    pub concurrency: Option<u32>,
    /// Open streams on which a client waits for notifications. Default 16; 0 is unlimited.
    pub streams: Option<u32>,
    /// Unfinished calls that may outlive their request, whether the caller waits for them or not. Default 10, also for anonymous
    /// callers; 0 is unlimited.
    pub runs: Option<u32>,
    /// Calls that wait for a person's answer, 1 to 16. Default 4; anonymous callers on loopback have 32 open questions together.
    pub questions: Option<u32>,
}

impl PerCaller {
    /// What the gate holds each caller to.
    pub fn quotas(&self) -> CallerQuotas {
        let usual = CallerQuotas::default();
        CallerQuotas {
            runs: self.runs.map_or(usual.runs, |runs| NonZero::new(runs as usize)),
            parked: self.questions.map_or(usual.parked, |questions| questions as usize),
        }
    }
}

impl Default for Http {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 8080)),
            allow_anonymous: false,
            hosts: Vec::new(),
            origins: Vec::new(),
            connections: 1024,
            connections_per_address: None,
            drain_delay: Span::seconds(0),
            head: Size(32 << 10),
            header_time: Span::seconds(10),
            idle_time: Span::seconds(75),
            write_time: Span::seconds(30),
            body_time: Span::seconds(30),
            body: Size(4 << 20),
            sessions: 1024,
            session_sleep: Span::seconds(10),
            session_idle: Span::seconds(24 * 60 * 60),
            per_caller: PerCaller::default(),
        }
    }
}

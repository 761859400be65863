//! `[http]`.

use std::{net::SocketAddr, num::NonZero};

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Size, Span};
use crate::gate::Quotas;

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
    /// Connections at once. For a further one the oldest makes room of which no known caller has asked anything; where there is
    /// none, it waits to be accepted.
    pub connections: usize,
    /// Connections at once of one address, IPv6 by /64; further ones are closed. Left out, 64, but any number from loopback, where
    /// a proxy on this machine connects for all its clients. 0 is any number: for a proxy on another machine.
    pub connections_per_address: Option<usize>,
    /// How long connections are still taken after the server was told to end, while `/readyz` already says 503: as long as a
    /// load balancer takes to notice. Then `drain` begins.
    pub drain_delay: Span,
    /// Largest head of a request, tokens included; it has at most 100 headers.
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

/// What one caller may ask for. Callers without a name are told apart by their address, IPv6 by /64; those on loopback are
/// not bounded where the file does not say, but for their `runs` and `questions`.
#[derive(Debug, Clone, Copy, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct PerCaller {
    /// Requests a second, in the long run. Left out, 50. 0 is as many as it likes.
    pub rate: Option<u32>,
    /// Requests that it may send at once after a rest, 1 or more. Left out, twice the rate. Needs a `rate`.
    pub burst: Option<u32>,
    /// Requests that may be answered at once, streams not counted. Left out, 32. 0 is as many as it likes.
    pub concurrency: Option<u32>,
    /// Streams that may be open at once, on which a client waits for news. Left out, 16. 0 is as many as it likes.
    pub streams: Option<u32>,
    /// Calls that may outlive their request and have not ended, whether their caller waits for them or not; 10 for every
    /// caller, with a name or without. 0 is as many as it likes.
    pub runs: Option<u32>,
    /// Calls that may wait for a person's answer at once, 1 to 16; 4 for every caller but those on loopback without a name.
    pub questions: Option<u32>,
}

impl PerCaller {
    /// What the gate holds each caller to.
    pub fn quotas(&self) -> Quotas {
        let usual = Quotas::default();
        Quotas {
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

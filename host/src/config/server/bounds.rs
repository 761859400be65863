//! What a value of `loggia.toml` must be beside its kind.

use std::time::Duration;

use loggia_sandbox::engine::STACK_CEILING;
use loggia_text::units::{format_bytes, format_duration};

use super::{Http, Mistake, Span, settings::Settings};

/// The least stack that a plugin can do with.
pub const STACK_LEAST: u64 = 64 << 10;
/// A message on stdio is no larger either.
const BODY_MOST: u64 = 16 << 20;
/// What hyper can do with, and what each connection may then hold.
const HEAD_LEAST: u64 = 8 << 10;
const HEAD_MOST: u64 = 1 << 20;
const CONNECTIONS_MOST: usize = 65_536;
/// As many as one caller may have open.
const QUESTIONS_MOST: usize = 16;
const HOUR: Duration = Duration::from_secs(60 * 60);
const WEEK: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// What is out of bounds.
pub fn mistakes(settings: &Settings) -> Vec<Mistake> {
    let mut mistakes = Vec::new();
    let mut tell =
        |key: &str, said: Option<String>| mistakes.extend(said.map(|said| Mistake::new(key, said)));
    tell("wasm-stack", size(settings.wasm_stack.0, STACK_LEAST, STACK_CEILING as u64));
    tell("drain", time(settings.drain, Duration::ZERO, HOUR));
    tell("publish.token-budget", count(settings.publish.token_budget.unwrap_or(1), 1, usize::MAX));
    if let Some(http) = &settings.http {
        of_http(http, &mut tell);
    }
    mistakes
}

fn of_http(http: &Http, tell: &mut impl FnMut(&str, Option<String>)) {
    let second = Duration::from_secs(1);
    tell("http.connections", count(http.connections, 1, CONNECTIONS_MOST));
    tell(
        "http.connections-per-address",
        count(http.connections_per_address.unwrap_or(0), 0, CONNECTIONS_MOST),
    );
    tell("http.drain-delay", time(http.drain_delay, Duration::ZERO, HOUR));
    tell("http.head", size(http.head.0, HEAD_LEAST, HEAD_MOST));
    tell("http.sessions", count(http.sessions, 1, CONNECTIONS_MOST));
    tell("http.header-time", time(http.header_time, second, HOUR));
    tell("http.body-time", time(http.body_time, second, HOUR));
    tell("http.idle-time", time(http.idle_time, second, WEEK));
    tell("http.write-time", time(http.write_time, second, HOUR));
    tell("http.session-sleep", time(http.session_sleep, second, HOUR));
    tell("http.session-idle", time(http.session_idle, second, WEEK));
    tell("http.body", size(http.body.0, 1 << 10, BODY_MOST));
    let pace = http.per_caller;
    let alone = pace.burst.is_some() && pace.rate.is_none_or(|rate| rate == 0);
    tell("http.per-caller.rate", alone.then(|| "must be 1 or more where there is a `burst`".into()));
    tell("http.per-caller.burst", count(pace.burst.unwrap_or(1) as usize, 1, usize::MAX));
    tell("http.per-caller.questions", count(pace.questions.unwrap_or(1) as usize, 1, QUESTIONS_MOST));
    for (at, host) in http.hosts.iter().enumerate() {
        tell(&format!("http.hosts.{at}"), host_name(host));
    }
    for (at, page) in http.origins.iter().enumerate() {
        tell(&format!("http.origins.{at}"), origin(page));
    }
}

fn size(bytes: u64, least: u64, most: u64) -> Option<String> {
    let said = || format!("must be {} to {}", format_bytes(least), format_bytes(most));
    (!(least..=most).contains(&bytes)).then(said)
}

fn time(span: Span, least: Duration, most: Duration) -> Option<String> {
    let said = || format!("must be {} to {}", format_duration(least), format_duration(most));
    (!(least..=most).contains(&span.0)).then(said)
}

fn count(number: usize, least: usize, most: usize) -> Option<String> {
    let said = || match most {
        usize::MAX => format!("must be {least} or more"),
        most => format!("must be {least} to {most}"),
    };
    (!(least..=most).contains(&number)).then(said)
}

fn host_name(host: &str) -> Option<String> {
    let parsed = host.parse::<http::uri::Authority>();
    let is_one = parsed.is_ok_and(|authority| !authority.as_str().contains('@'));
    (!is_one).then(|| format!("is no host: write a name as in \"tools.example.com\", not {host:.80?}"))
}

fn origin(page: &str) -> Option<String> {
    let rest = page.strip_prefix("https://").or_else(|| page.strip_prefix("http://"));
    let is_one = rest.is_some_and(|rest| host_name(rest).is_none());
    (!is_one).then(|| {
        format!("is no origin: write scheme and host as in \"https://chat.example.com\", not {page:.80?}")
    })
}

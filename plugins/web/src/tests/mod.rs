//! The facade as its callers meet it.

mod failures;
mod hostile;
mod looking;
mod pdf;
mod reading;
mod robots;
mod search;

use loggia_sdk::{
    prelude::*,
    testing::{self, Host},
};

use crate::Web;

/// The site of the tests.
const SITE: &str = "https://site.example";

/// A host that has this site, without a robots.txt.
fn site(answer: impl Fn(&http::Request) -> http::Response + 'static) -> Host {
    Host::new().http("*", SITE, move |request| {
        let is_robots = request.url.ends_with("/robots.txt");
        Ok(if is_robots { http::Response::new(404) } else { answer(request) })
    })
}

/// A file of `pages/`.
fn page(name: &str) -> Vec<u8> {
    std::fs::read(format!("{}/src/tests/pages/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

/// A reply as its caller reads it.
fn shown(reply: &Reply<Value>) -> String {
    let mut text = format!("{:#}", reply.data);
    if let Some(message) = &reply.message {
        text.push_str(&format!("\n+ {message}"));
    }
    if let Some(next) = &reply.next {
        text.push_str(&format!("\n> {} {}", next.action, Value::Object(next.params.clone())));
    }
    text
}

/// Renders a failure with all that teaches.
fn told(failure: &Failure) -> String {
    let mut text = failure.to_string();
    if let Some(hint) = &failure.hint {
        text.push_str(&format!("\n    {hint}"));
    }
    if let Some(wait) = failure.retry_after {
        text.push_str(&format!("\n    after {} s", wait.as_secs()));
    }
    if let Some(details) = &failure.details {
        text.push_str(&format!("\n    {details}"));
    }
    text
}

#[test]
fn the_host_accepts_the_facade() {
    insta::assert_snapshot!(testing::outline(&Web));
}

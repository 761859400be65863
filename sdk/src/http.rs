//! Requests over HTTP, sent by the host. Needs the feature `http`.
//!
//! The policy grants destinations: `http = ["https://api.example.com"]`. Other requests are `denied`, and so are
//! requests other than GET and HEAD while a `read` action runs, unless the policy declares them as reading. The host
//! resolves names, checks addresses, speaks TLS, adds the secrets that the policy binds to a host, and limits the
//! number, size and duration of a call's requests.
//!
//! ```
//! use loggia_sdk::{http::{self, Response}, prelude::*, testing::Host};
//!
//! #[derive(Deserialize, Serialize, JsonSchema)]
//! struct Issue {
//!     number: u64,
//!     title: String,
//! }
//!
//! struct Issues;
//!
//! /// Issues of a project.
//! #[facade(needs("http: https://api.example.com", "there they are"))]
//! impl Issues {
//!     /// List the open ones.
//!     #[action(read, open_world)]
//!     fn list(&self, #[param(default = 20)] limit: u32) -> Result<Vec<Issue>> {
//!         http::get("https://api.example.com/issues").query(&[("limit", limit)]).send()?.ok()?.json()
//!     }
//! }
//!
//! let host = Host::new().http("GET", "https://api.example.com/issues", |request| {
//!     assert!(request.url.ends_with("?limit=20"));
//!     Ok(Response::new(200).with_json(&json!([{"number": 7, "title": "It leaks."}])))
//! });
//! let reply = host.call(&Issues, "list", json!({})).unwrap();
//! assert_eq!(reply.data[0]["title"], "It leaks.");
//! ```
//!
//! [`send`](Request::send) waits for the whole response. A response of any status is a success; [`ok`](Response::ok)
//! turns those from 300 on into failures. [`send_all`] sends several requests at once.

#[cfg(not(target_family = "wasm"))]
mod double;
#[cfg(target_family = "wasm")]
mod guest;
mod request;
mod response;
mod trouble;
mod url;

pub use request::Request;
pub use response::Response;

#[cfg(not(target_family = "wasm"))]
pub(crate) use double::Route;
use url::Url;

#[cfg(not(target_family = "wasm"))]
use self::double as port;
#[cfg(target_family = "wasm")]
use self::guest as port;
use crate::{Failure, Result};

/// A GET request.
pub fn get(url: impl Into<String>) -> Request {
    Request::new("GET", url)
}

/// A HEAD request.
pub fn head(url: impl Into<String>) -> Request {
    Request::new("HEAD", url)
}

/// A POST request.
pub fn post(url: impl Into<String>) -> Request {
    Request::new("POST", url)
}

/// A PUT request.
pub fn put(url: impl Into<String>) -> Request {
    Request::new("PUT", url)
}

/// A PATCH request.
pub fn patch(url: impl Into<String>) -> Request {
    Request::new("PATCH", url)
}

/// A DELETE request.
pub fn delete(url: impl Into<String>) -> Request {
    Request::new("DELETE", url)
}

/// Number of concurrent requests: a host's default limit.
#[cfg(target_family = "wasm")]
const AT_ONCE: usize = 6;

/// Sends several requests at once and waits for all; the responses are in the order of the requests. Up to six are sent
/// concurrently, the others as these end.
pub fn send_all(requests: Vec<Request>) -> Vec<Result<Response>> {
    let mut answers: Vec<Option<Result<Response>>> = Vec::new();
    let mut ready = Vec::new();
    for request in requests {
        answers.push(match prepare(request) {
            Ok(prepared) => {
                ready.push(prepared);
                None
            }
            Err(failure) => Some(Err(failure)),
        });
    }
    let mut sent = port::send_all(ready).into_iter();
    let lost = || Err(Failure::internal("the host gave no answer"));
    answers.into_iter().map(|answer| answer.or_else(|| sent.next()).unwrap_or_else(lost)).collect()
}

/// A well-formed request with its destination.
pub(crate) struct Prepared {
    pub request: Request,
    #[cfg_attr(not(target_family = "wasm"), allow(dead_code))]
    pub url: Url,
}

fn prepare(mut request: Request) -> Result<Prepared> {
    if let Some(fault) = request.fault.take() {
        return Err(fault);
    }
    let url = Url::parse(&request.url)?;
    Ok(Prepared { request, url })
}

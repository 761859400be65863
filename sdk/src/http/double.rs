//! Requests over HTTP, by a test.

use std::rc::Rc;

use super::{Prepared, Request, Response, trouble::Trouble};
use crate::{
    Effect, Result,
    testing::{Host, current},
};

/// Response of a server.
type Answer = Rc<dyn Fn(&Request) -> Result<Response>>;

/// Response to requests of a method to a URL, or to all that start with it.
#[derive(Clone)]
pub(crate) struct Route {
    method: String,
    url: String,
    /// Whether a `read` action may send it, with any method.
    reads: bool,
    answer: Answer,
}

impl Route {
    fn takes(&self, request: &Request) -> bool {
        (self.method == "*" || self.method == request.method) && request.url.starts_with(&self.url)
    }
}

pub(super) fn send_all(requests: Vec<Prepared>) -> Vec<Result<Response>> {
    requests.into_iter().map(send).collect()
}

fn send(Prepared { request, url }: Prepared) -> Result<Response> {
    // The response is computed outside the borrow, as it may use the host itself.
    let route = current(|host| {
        host.sent.push(request.clone());
        let only_reads = host.effect == Some(Effect::Read) && !matches!(&*request.method, "GET" | "HEAD");
        let routes = host.routes.iter().filter(|route| (route.reads || !only_reads) && route.takes(&request));
        routes.max_by_key(|route| route.url.len()).cloned()
    });
    match route.flatten() {
        Some(route) => (route.answer)(&request).map(|response| response.of(&url)),
        None => Err(Trouble::Denied.failure(&request.method, &url)),
    }
}

impl Host {
    /// Sets the response to HTTP requests of this method (`*` is any) to this URL, or to any that starts with it; the
    /// longest match applies. Other requests are `denied`, as if the policy did not grant them.
    ///
    /// ```
    /// # use loggia_sdk::{http::{self, Response}, prelude::*, testing::Host};
    /// let host = Host::new()
    ///     .http("GET", "https://api.example.com/", |_| Ok(Response::new(404)))
    ///     .http("GET", "https://api.example.com/slow", |_| Err(Failure::timed_out("timed out")));
    /// let get = |path: &str| host.run(|| http::get(format!("https://api.example.com/{path}")).send()?.ok());
    /// assert_eq!(get("users").unwrap_err().code, "not_found");
    /// assert_eq!(get("slow").unwrap_err().code, "timed_out");
    /// assert_eq!(host.sent()[0].url, "https://api.example.com/users");
    /// ```
    #[must_use]
    pub fn http(
        self,
        method: impl Into<String>,
        url: impl Into<String>,
        answer: impl Fn(&Request) -> Result<Response> + 'static,
    ) -> Self {
        let route = Route { method: method.into(), url: url.into(), reads: false, answer: Rc::new(answer) };
        self.with(|host| host.routes.push(route))
    }

    /// Declares that requests of this method only read, like `reads` in the policy: `read` actions may send them.
    /// Applies to earlier calls of [`http`](Self::http) with that method.
    ///
    /// ```
    /// # use loggia_sdk::{http::{self, Response}, prelude::*, testing::Host};
    /// # struct Places;
    /// # /// Places.
    /// # #[facade]
    /// # impl Places {
    /// /// Find a place.
    /// #[action(read)]
    /// fn find(&self, name: String) -> Result<Value> {
    ///     http::post("https://api.example.com/search").json(&json!({"name": name})).send()?.ok()?.json()
    /// }
    /// # }
    /// let host = Host::new().http("POST", "https://api.example.com/search", |_| Ok(Response::new(200).with_json(&json!([]))));
    /// assert_eq!(host.call(&Places, "find", json!({"name": "Rome"})).unwrap_err().code, "denied");
    /// assert!(host.reads("POST").call(&Places, "find", json!({"name": "Rome"})).is_ok());
    /// ```
    #[must_use]
    pub fn reads(self, method: &str) -> Self {
        self.with(|host| {
            for route in host.routes.iter_mut().filter(|route| route.method == method) {
                route.reads = true;
            }
        })
    }

    /// The HTTP requests it sent, denied ones too.
    pub fn sent(&self) -> Vec<Request> {
        self.double().sent.clone()
    }
}

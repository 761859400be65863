//! Native implementation of [`crate::http`]: responses prepared by a test.

use std::rc::Rc;

use crate::{
    Effect, Result,
    http::{Prepared, Request, Response, Trouble},
    testing::port::current,
};

/// Response of a server.
type Answer = Rc<dyn Fn(&Request) -> Result<Response>>;

/// Response to requests of a method to a URL, or to all that start with it.
#[derive(Clone)]
pub(super) struct Route {
    pub method: String,
    pub url: String,
    /// Whether a `read` action may send it, with any method.
    pub reads: bool,
    pub answer: Answer,
}

impl Route {
    fn takes(&self, request: &Request) -> bool {
        (self.method == "*" || self.method == request.method) && request.url.starts_with(&self.url)
    }
}

pub(crate) fn send_all(requests: Vec<Prepared>) -> Vec<Result<Response>> {
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

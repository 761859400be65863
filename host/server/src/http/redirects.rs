//! `/oauth/callback`: browsers that an authorization server sends back at the end of a caller's login.
//!
//! The route needs no authentication: a browser has no token of this server. The host decides what a query means. Pages may not be
//! read by other origins, cached or framed, nor do they tell others the address.

use std::sync::Arc;

use axum::{
    Router,
    extract::{RawQuery, Request, State},
    http::{
        HeaderName, HeaderValue, StatusCode,
        header::{
            ALLOW, CACHE_CONTROL, CONTENT_SECURITY_POLICY, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
            X_FRAME_OPTIONS,
        },
    },
    middleware::{Next, from_fn, from_fn_with_state},
    response::{Html, IntoResponse, Response},
    routing::get,
};
use futures_util::future::BoxFuture;

use super::per_caller::{self, CallerLimits};
use crate::endpoint::CALLBACK_PATH;

/// Bytes of a query. Authorization codes are shorter.
const MAX_QUERY: usize = 8 << 10;

/// Headers of each page.
const HEADERS: [(HeaderName, &str); 5] = [
    (CACHE_CONTROL, "no-store"),
    (REFERRER_POLICY, "no-referrer"),
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (X_FRAME_OPTIONS, "DENY"),
    (CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'"),
];

/// Answers browsers that return from an authorization server.
pub trait BrowserReturns: Send + Sync + 'static {
    /// Answers a browser that came back with this query.
    fn answer(&self, query: String) -> BoxFuture<'static, ReturnPage>;
}

/// Page for a browser that came back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReturnPage {
    /// Whether the query belonged to a login.
    pub is_known: bool,
    /// HTML.
    pub html: String,
}

/// Builds the route. Requests count as those of unauthenticated callers.
pub(super) fn router(returns: Arc<dyn BrowserReturns>, limits: Arc<CallerLimits>) -> Router {
    // Unlike `get` alone: a request for the headers of a page must not use up the login.
    let methods = get(show_page).head(refuse_head);
    Router::new()
        .route(CALLBACK_PATH, methods)
        .with_state(returns)
        .layer(from_fn_with_state(limits, per_caller::limit_unauthenticated))
        .layer(from_fn(set_headers))
}

async fn show_page(State(returns): State<Arc<dyn BrowserReturns>>, RawQuery(query): RawQuery) -> Response {
    let query = query.unwrap_or_default();
    if query.len() > MAX_QUERY {
        return (StatusCode::URI_TOO_LONG, "the query is too long\n").into_response();
    }
    let ReturnPage { is_known, html } = returns.answer(query).await;
    let status = if is_known { StatusCode::OK } else { StatusCode::BAD_REQUEST };
    (status, Html(html)).into_response()
}

async fn refuse_head() -> Response {
    (StatusCode::METHOD_NOT_ALLOWED, [(ALLOW, "GET")]).into_response()
}

async fn set_headers(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    response.headers_mut().extend(HEADERS.map(|(name, value)| (name, HeaderValue::from_static(value))));
    response
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use axum::{body::Body, extract::ConnectInfo, http::Method};
    use futures_util::FutureExt;
    use loggia_policy::settings::PerCaller;
    use tower::ServiceExt;

    use super::*;

    /// Knows every query but that of "x".
    struct Known;

    impl BrowserReturns for Known {
        fn answer(&self, query: String) -> BoxFuture<'static, ReturnPage> {
            async move { ReturnPage { is_known: query != "x", html: format!("<p>{query}") } }.boxed()
        }
    }

    async fn send(router: &Router, method: Method, query: &str) -> Response {
        let request = Request::builder().method(method).uri(format!("{CALLBACK_PATH}?{query}"));
        let mut request = request.body(Body::empty()).unwrap();
        let peer: SocketAddr = "192.0.2.1:9".parse().unwrap();
        request.extensions_mut().insert(ConnectInfo(peer));
        router.clone().oneshot(request).await.unwrap()
    }

    #[tokio::test]
    async fn pages_are_private_to_the_browser() {
        let router = router(Arc::new(Known), Arc::new(CallerLimits::new(PerCaller::default(), None)));
        let long = "y".repeat(MAX_QUERY + 1);
        for (method, query, status) in [
            (Method::GET, "state=1", 200),
            (Method::GET, "x", 400),
            (Method::GET, &*long, 414),
            (Method::HEAD, "state=1", 405),
            (Method::POST, "state=1", 405),
        ] {
            let response = send(&router, method.clone(), query).await;
            assert_eq!(response.status(), status, "{method}");
            for (name, value) in HEADERS {
                assert_eq!(response.headers()[&name], value, "{method} {name}");
            }
        }
    }

    #[tokio::test]
    async fn returns_are_limited_by_address() {
        let rate = PerCaller { rate: Some(1), burst: Some(3), ..PerCaller::default() };
        let router = router(Arc::new(Known), Arc::new(CallerLimits::new(rate, None)));
        let mut statuses = Vec::new();
        for _ in 0..4 {
            statuses.push(send(&router, Method::GET, "state=1").await.status().as_u16());
        }
        assert_eq!(statuses, [200, 200, 200, 429]);
    }
}

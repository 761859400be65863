//! Server cards and their list: documents that everyone may read, without a token and from pages of any origin.
//!
//! Headers and caching are those of "Security Considerations" in `docs/discovery.md` of the server card extension.

use std::sync::Arc;

use axum::{
    Router,
    extract::{Request, State},
    http::{
        HeaderMap, HeaderName, HeaderValue, StatusCode,
        header::{
            ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
            ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ALLOW, CACHE_CONTROL, CONTENT_TYPE, ETAG,
            IF_NONE_MATCH,
        },
    },
    middleware::{Next, from_fn, from_fn_with_state},
    response::{IntoResponse, Response},
    routing::get,
};
use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};

use super::per_caller::{self, CallerLimits};
use crate::card::PublicDocument;

/// Headers of each response, so that pages can read refusals, too.
const CORS: [(HeaderName, &str); 4] = [
    (ACCESS_CONTROL_ALLOW_ORIGIN, "*"),
    (ACCESS_CONTROL_ALLOW_METHODS, "GET, HEAD"),
    (ACCESS_CONTROL_ALLOW_HEADERS, "Content-Type, If-None-Match"),
    (ACCESS_CONTROL_EXPOSE_HEADERS, "ETag"),
];
const METHODS: &str = "GET, HEAD, OPTIONS";
const CACHING: &str = "public, max-age=3600";

/// A document with its entity tag.
#[derive(Debug)]
struct TaggedDocument {
    document: PublicDocument,
    /// Hash of the body, so that servers with the same settings have the same one.
    tag: String,
}

/// Builds the routes. Requests count as those of unauthenticated callers.
pub(super) fn router(documents: Vec<PublicDocument>, limits: Arc<CallerLimits>) -> Router {
    documents
        .into_iter()
        .fold(Router::new(), |router, document| {
            let path = document.path.clone();
            let tag = to_tag(&document.body);
            let methods = get(show).options(answer_preflight).fallback(refuse_method);
            router.route(&path, methods.with_state(Arc::new(TaggedDocument { document, tag })))
        })
        .layer(from_fn_with_state(limits, per_caller::limit_unauthenticated))
        .layer(from_fn(set_headers))
}

async fn show(State(tagged): State<Arc<TaggedDocument>>, headers: HeaderMap) -> Response {
    let TaggedDocument { document, tag } = &*tagged;
    let validators = [(ETAG, tag.as_str()), (CACHE_CONTROL, CACHING)];
    match is_known(&headers, tag) {
        true => (StatusCode::NOT_MODIFIED, validators).into_response(),
        false => (validators, [(CONTENT_TYPE, document.media_type)], document.body.clone()).into_response(),
    }
}

async fn answer_preflight() -> Response {
    (StatusCode::NO_CONTENT, [(ALLOW, METHODS), (ACCESS_CONTROL_MAX_AGE, "3600")]).into_response()
}

async fn refuse_method() -> Response {
    (StatusCode::METHOD_NOT_ALLOWED, [(ALLOW, METHODS)], "this document can only be read (GET)\n")
        .into_response()
}

async fn set_headers(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    response.headers_mut().extend(CORS.map(|(name, value)| (name, HeaderValue::from_static(value))));
    response
}

/// Returns the entity tag of a body: its hash.
fn to_tag(body: &str) -> String {
    let digits: String = HEXLOWER.encode(&Sha256::digest(body));
    format!("\"{digits}\"")
}

/// Whether the client has the document with this tag. Compares weakly (RFC 9110, 13.1.2): a proxy that compresses makes tags weak.
fn is_known(headers: &HeaderMap, tag: &str) -> bool {
    let listed = headers.get_all(IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    let mut tags = listed.flat_map(|value| value.split(',')).map(str::trim);
    tags.any(|known| known == "*" || known.strip_prefix("W/").unwrap_or(known) == tag)
}

#[cfg(test)]
mod tests {
    use axum::{
        body::Body,
        http::{Method, request::Builder},
    };
    use loggia_policy::settings::PerCaller;
    use tower::ServiceExt;

    use super::*;

    fn routes(rate: PerCaller) -> Router {
        let document =
            PublicDocument { path: "/x".into(), media_type: "application/x+json", body: "{}".into() };
        router(vec![document], Arc::new(CallerLimits::new(rate, None)))
    }

    async fn send(router: &Router, request: Builder) -> (Response<()>, String) {
        let mut request = request.uri("/x").body(Body::empty()).unwrap();
        let peer: std::net::SocketAddr = "192.0.2.1:9".parse().unwrap();
        request.extensions_mut().insert(axum::extract::ConnectInfo(peer));
        let (parts, body) = router.clone().oneshot(request).await.unwrap().into_parts();
        let body = axum::body::to_bytes(body, usize::MAX).await.unwrap();
        (Response::from_parts(parts, ()), String::from_utf8(body.into()).unwrap())
    }

    #[tokio::test]
    async fn pages_of_all_origins_may_read() {
        let router = routes(PerCaller::default());
        for (method, status, body) in [
            (Method::GET, 200, "{}"),
            (Method::HEAD, 200, ""),
            (Method::OPTIONS, 204, ""),
            (Method::POST, 405, "this document can only be read (GET)\n"),
            (Method::DELETE, 405, "this document can only be read (GET)\n"),
        ] {
            let request = Request::builder().method(method.clone()).header("origin", "https://a.example");
            let (response, text) = send(&router, request).await;
            assert_eq!((response.status().as_u16(), &*text), (status, body), "{method}");
            for (name, value) in CORS {
                assert_eq!(response.headers()[&name], value, "{method} {name}");
            }
            assert_eq!(response.headers().contains_key(ETAG), status == 200, "{method}");
            assert_eq!(response.headers().contains_key(CACHE_CONTROL), status == 200, "{method}");
            assert_eq!(response.headers().get(ALLOW).is_some(), status != 200, "{method}");
            assert!(!response.headers().contains_key("access-control-allow-credentials"));
        }
    }

    #[tokio::test]
    async fn a_known_document_is_not_sent_again() {
        let router = routes(PerCaller::default());
        let (first, _) = send(&router, Request::builder()).await;
        assert_eq!(first.headers()[CONTENT_TYPE], "application/x+json");
        let tag = first.headers()[ETAG].to_str().unwrap();
        assert!(tag.len() == 66 && tag.starts_with('"') && tag.ends_with('"'), "{tag}");
        for (known, status) in [
            (tag.to_owned(), 304),
            (format!("W/{tag}"), 304),
            (format!("\"other\", W/{tag}"), 304),
            ("*".to_owned(), 304),
            ("\"other\"".to_owned(), 200),
            (tag.trim_matches('"').to_owned(), 200),
            (String::new(), 200),
        ] {
            for method in [Method::GET, Method::HEAD] {
                let request = Request::builder().method(method.clone()).header(IF_NONE_MATCH, &known);
                let (response, body) = send(&router, request).await;
                assert_eq!(response.status(), status, "{method} {known}");
                assert_eq!(response.headers()[ETAG], tag, "{method} {known}");
                assert_eq!(response.headers()[CACHE_CONTROL], CACHING, "{method} {known}");
                assert_eq!(response.headers().contains_key(CONTENT_TYPE), status == 200, "{method} {known}");
                assert!(status == 200 || body.is_empty());
            }
        }
    }

    #[tokio::test]
    async fn readers_are_limited_by_address() {
        let router = routes(PerCaller { rate: Some(1), burst: Some(3), ..PerCaller::default() });
        let mut statuses = Vec::new();
        for _ in 0..4 {
            statuses.push(send(&router, Request::builder()).await.0.status().as_u16());
        }
        assert_eq!(statuses, [200, 200, 200, 429]);
    }
}

//! A server made from a description, on loopback. It knows nothing of how the facade builds requests: it matches paths,
//! decodes what it gets, and answers with what it understood.

use std::{net::SocketAddr, sync::Arc};

use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::{
    body::{Bytes, Incoming},
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use loggia_api::{ApiDescription, ApiOperation, BodyForm, ParameterPlace};
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// Starts the server on a port of its own.
pub async fn serve(listener: TcpListener, description: Arc<ApiDescription>) {
    loop {
        let Ok((stream, _)) = listener.accept().await else { return };
        let description = description.clone();
        tokio::spawn(async move {
            let service = service_fn(move |request| answer(description.clone(), request));
            // A client that goes away ends its connection, no more.
            let _ = hyper::server::conn::http1::Builder::new()
                .serve_connection(TokioIo::new(stream), service)
                .await;
        });
    }
}

/// A listener, with its address.
pub async fn listen() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    (listener, address)
}

async fn answer(
    description: Arc<ApiDescription>,
    request: Request<Incoming>,
) -> hyper::Result<Response<Full<Bytes>>> {
    let (head, body) = request.into_parts();
    let body = body.collect().await?.to_bytes();
    let base = url::Url::parse(&description.server).expect("a URL");
    let path = head.uri.path().strip_prefix(base.path().trim_end_matches('/')).unwrap_or_default().to_owned();
    let found = description
        .operations
        .iter()
        .filter(|operation| operation.method.as_str() == head.method.as_str())
        .filter_map(|operation| Some((operation, captures(&operation.path, operation, &path)?)))
        // As servers do, a literal segment goes before a parameter.
        .min_by_key(|(operation, _)| operation.path.matches('{').count());
    let (status, answer) = match found {
        None => {
            (StatusCode::NOT_FOUND, json!({"message": format!("no operation at {} {path}", head.method)}))
        }
        Some((operation, path)) => {
            let query: Vec<(String, String)> =
                url::form_urlencoded::parse(head.uri.query().unwrap_or_default().as_bytes())
                    .into_owned()
                    .collect();
            let media =
                head.headers.get("content-type").map(|value| value.to_str().expect("text").to_owned());
            let answer = json!({"action": operation.action, "path": path, "query": query, "media": media,
                "body": understood(operation, &body), "accept": head.headers["accept"].to_str().expect("text")});
            (StatusCode::OK, answer)
        }
    };
    let mut response = Response::new(Full::new(Bytes::from(answer.to_string())));
    *response.status_mut() = status;
    response.headers_mut().insert("content-type", "application/json".parse().expect("a value"));
    Ok(response)
}

/// The values of a path's parameters, if it has this form.
fn captures(template: &str, operation: &ApiOperation, path: &str) -> Option<Value> {
    let mut out = serde_json::Map::new();
    capture(template, operation, path, &mut out).then_some(Value::Object(out))
}

fn capture(
    template: &str,
    operation: &ApiOperation,
    path: &str,
    out: &mut serde_json::Map<String, Value>,
) -> bool {
    let Some((literal, rest)) = template.split_once('{') else { return template == path };
    let Some(path) = path.strip_prefix(literal) else { return false };
    let (name, rest) = rest.split_once('}').expect("a brace");
    let is_path = operation.parameters.iter().any(|parameter| {
        parameter.place == ParameterPlace::Path && parameter.name == name && parameter.reserved
    });
    let mut ends: Vec<usize> = path.match_indices('/').map(|(at, _)| at).chain([path.len()]).collect();
    if !is_path {
        ends.truncate(1);
    }
    // A parameter may be a part of its segment.
    let next = rest.split('{').next().unwrap_or_default();
    if !next.starts_with('/') && !next.is_empty() {
        let end = ends.last().copied().unwrap_or(path.len());
        ends = path[..end].match_indices(next).map(|(at, _)| at).collect();
    }
    ends.into_iter().rev().any(|end| {
        let value = &path[..end];
        let decoded: String = value
            .split('/')
            .map(|part| {
                url::form_urlencoded::parse(format!("x={}", part.replace('+', "%2B")).as_bytes())
                    .next()
                    .expect("a pair")
                    .1
                    .into_owned()
            })
            .collect::<Vec<_>>()
            .join("/");
        out.insert(name.to_owned(), decoded.into());
        !value.is_empty() && capture(rest, operation, &path[end..], out)
    })
}

/// The body as the description's form reads it.
fn understood(operation: &ApiOperation, bytes: &[u8]) -> Value {
    let Some(body) = &operation.body else { return json!(bytes.len()) };
    match body.form {
        BodyForm::Json if bytes.is_empty() => Value::Null,
        BodyForm::Json => serde_json::from_slice(bytes).expect("JSON"),
        BodyForm::Form => {
            let pairs: Vec<(String, String)> = url::form_urlencoded::parse(bytes).into_owned().collect();
            json!(pairs)
        }
        _ => String::from_utf8_lossy(bytes).into_owned().into(),
    }
}

//! Fetches a document from a URL that the operator gives.

use std::time::Duration;

use anyhow::{anyhow, ensure};
use http::{Method, Request, StatusCode};
use http_body_util::{BodyExt, Empty};
use loggia_egress::{BodyIn, EgressLimits, EgressMode, OperatorClient, SendTimeouts};
use url::Url;

const TIMEOUT: Duration = Duration::from_secs(60);

/// Fetches a document through the egress client of plugins: bounded, with verified TLS, without proxies, and with redirects
/// within its host only.
pub async fn fetch(location: &str, most: usize) -> anyhow::Result<Vec<u8>> {
    let url = Url::parse(location)?;
    let limits =
        EgressLimits { requests: 8, at_once: 1, request: 0, response: most, time: TIMEOUT, redirects: 5 };
    let OperatorClient { client, .. } = OperatorClient::resolve(&url, &Method::GET, limits).await?;
    let body: BodyIn = Empty::new().map_err(|never| match never {}).boxed_unsync();
    let request = Request::get(url.as_str()).body(body)?;
    let response =
        client.call(EgressMode::Reads).send(request, SendTimeouts::default()).await.map_err(|error| {
            anyhow!("{error}; if it redirects to another host, download it and import the file")
        })?;
    ensure!(response.status() == StatusCode::OK, "the server answered {}", response.status());
    let body = response.into_body().collect().await.map_err(|error| anyhow!("{error}"))?;
    Ok(body.to_bytes().into())
}

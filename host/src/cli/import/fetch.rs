//! Fetches a document from a URL that the operator gives.

use std::{net::IpAddr, sync::Arc, time::Duration};

use anyhow::{Context, anyhow, ensure};
use futures_util::FutureExt;
use http::{Method, Request, StatusCode};
use http_body_util::{BodyExt, Empty};
use loggia_egress::{
    BodyIn, EgressClient, EgressGrants, EgressLimits, EgressMode, HostPattern, HttpRule, IoFuture,
    NameResolver, RuleDestination, SendTimeouts,
};
use url::Url;

const TIMEOUT: Duration = Duration::from_secs(60);

/// Fetches a document through the egress client of plugins: bounded, with verified TLS, without proxies, and with redirects
/// within its host only.
pub async fn fetch(location: &str, most: usize) -> anyhow::Result<Vec<u8>> {
    let url = Url::parse(location)?;
    let to = RuleDestination::parse(&url.origin().ascii_serialization()).map_err(|reason| anyhow!(reason))?;
    let addresses = match &to.host {
        HostPattern::Address(address) => vec![*address],
        HostPattern::Name(name) | HostPattern::Below(name) => {
            tokio::net::lookup_host((name.as_str(), to.port))
                .await
                .context("its host cannot be resolved")?
                .map(|address| address.ip())
                .collect()
        }
    };
    // The operator chose the host, which may be on a private network, so all of its addresses are granted.
    let rule = |host: HostPattern| {
        let to = RuleDestination { host, ..to.clone() };
        HttpRule { to, methods: Some(vec![Method::GET.to_string()]), reads: Vec::new() }
    };
    let named = addresses.iter().map(|address| rule(HostPattern::Address(address.to_canonical())));
    let grants = EgressGrants { rules: named.chain([rule(to.host.clone())]).collect(), secrets: Vec::new() };
    let limits =
        EgressLimits { requests: 8, at_once: 1, request: 0, response: most, time: TIMEOUT, redirects: 5 };
    let client = EgressClient::setup(grants, limits).resolver(Arc::new(ResolvedAddresses(addresses))).build();
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

/// Addresses that were resolved before.
struct ResolvedAddresses(Vec<IpAddr>);

impl NameResolver for ResolvedAddresses {
    fn resolve(&self, _: &str) -> IoFuture<Vec<IpAddr>> {
        let found = self.0.clone();
        async move { Ok(found) }.boxed()
    }
}

//! Requests to a URL that the operator chose: keys, documents, tokens.

use std::{net::IpAddr, sync::Arc};

use url::Url;

use crate::{
    EgressClient, EgressGrants, EgressLimits, HostPattern, HttpRule, IoFuture, NameResolver, RuleDestination,
    SendError, UrlScheme,
};

/// A client for the host of one URL, with verified TLS and without proxies.
#[derive(Debug)]
pub struct OperatorClient {
    /// The client. It may send to this host only.
    pub client: EgressClient,
    /// True if requests are encrypted, or do not leave this machine.
    pub is_private: bool,
}

impl OperatorClient {
    /// Resolves the host of a URL and creates a client for requests of one method to it.
    ///
    /// Egress refuses private addresses that are not granted. Here the operator chose the host, which may be on a private
    /// network, so all addresses of its name are granted.
    ///
    /// # Errors
    ///
    /// If the URL is not one of http or https, or its name cannot be resolved.
    pub async fn resolve(url: &Url, method: &http::Method, limits: EgressLimits) -> Result<Self, SendError> {
        let no_url = |_| SendError::Protocol("the URL is not one of http or https");
        let to = RuleDestination::parse(&url.origin().ascii_serialization()).map_err(no_url)?;
        let addresses = addresses(&to).await?;
        let is_local = addresses.iter().all(|address| address.to_canonical().is_loopback());
        let rule = |host: HostPattern| {
            let to = RuleDestination { host, ..to.clone() };
            HttpRule { to, methods: Some(vec![method.to_string()]), reads: Vec::new() }
        };
        let named = addresses.iter().map(|address| rule(HostPattern::Address(address.to_canonical())));
        let rules = named.chain([rule(to.host.clone())]).collect();
        let grants = EgressGrants { rules, secrets: Vec::new() };
        let client = EgressClient::setup(grants, limits).resolver(Arc::new(ResolvedAddresses(addresses)));
        Ok(Self { client: client.build(), is_private: to.scheme == UrlScheme::Https || is_local })
    }
}

async fn addresses(to: &RuleDestination) -> Result<Vec<IpAddr>, SendError> {
    match &to.host {
        HostPattern::Address(address) => Ok(vec![*address]),
        // No URL has a pattern as its host.
        HostPattern::Any => Ok(Vec::new()),
        HostPattern::Name(name) | HostPattern::Below(name) => {
            let found = tokio::net::lookup_host((name.as_str(), to.port)).await;
            let found = found.map_err(|_| SendError::Dns(name.clone()))?;
            Ok(found.map(|address| address.ip()).collect())
        }
    }
}

/// Addresses that were resolved before.
struct ResolvedAddresses(Vec<IpAddr>);

impl NameResolver for ResolvedAddresses {
    fn resolve(&self, _: &str) -> IoFuture<Vec<IpAddr>> {
        let found = self.0.clone();
        Box::pin(async move { Ok(found) })
    }
}

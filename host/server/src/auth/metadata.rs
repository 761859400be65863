//! OAuth protected resource metadata (RFC 9728).

use axum::{Router, http::header::CONTENT_TYPE, routing::get};
use serde_json::json;

use super::settings::OAuthConfig;
use crate::endpoint::PATH;

/// Well-known path.
const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";

/// The metadata document and its paths.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResourceMetadata {
    url: String,
    paths: Vec<String>,
    body: String,
}

impl ResourceMetadata {
    pub(super) fn new(oauth: &OAuthConfig) -> Self {
        let own = oauth.url.path().trim_end_matches('/');
        let url = format!("{}{WELL_KNOWN}{own}", oauth.url.origin().ascii_serialization());
        // A proxy may rewrite the path, so it is served under the local one, too.
        let mut paths: Vec<String> = ["", PATH, own].map(|path| format!("{WELL_KNOWN}{path}")).into();
        paths.sort();
        paths.dedup();
        let mut body = json!({
            "resource": oauth.resource,
            "authorization_servers": [oauth.issuer],
            "bearer_methods_supported": ["header"],
            "resource_name": "Loggia",
        });
        if !oauth.scopes.is_empty() {
            body["scopes_supported"] = json!(oauth.scopes);
        }
        Self { url, paths, body: body.to_string() }
    }

    /// Returns its URL, as challenges name it.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Returns the paths at which it is served.
    pub fn paths(&self) -> &[String] {
        &self.paths
    }

    /// Returns the JSON document.
    pub fn body(&self) -> &str {
        &self.body
    }

    /// Builds the routes, without authentication.
    pub fn router<S: Clone + Send + Sync + 'static>(&self) -> Router<S> {
        // The operator's path may have a segment that begins with a colon.
        self.paths.iter().fold(Router::new().without_v07_checks(), |router, path| {
            let body = self.body.clone();
            router.route(path, get(async move || ([(CONTENT_TYPE, "application/json")], body)))
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use loggia_policy::settings::JwksLocation;

    use super::*;

    #[test]
    fn metadata_paths_follow_rfc_9728() {
        let check = |resource: &str, url: &str, paths: &[&str]| {
            let metadata = ResourceMetadata::new(&OAuthConfig {
                resource: resource.into(),
                url: resource.parse().unwrap(),
                issuer: "https://id.example.com/".into(),
                audience: "x".into(),
                jwks: JwksLocation::File("x".into()),
                algorithms: Vec::new(),
                leeway: Duration::ZERO,
                scopes: Vec::new(),
                allow_star: false,
            });
            assert_eq!(metadata.url(), url);
            let expected: Vec<_> = paths.iter().map(|path| format!("{WELL_KNOWN}{path}")).collect();
            assert_eq!(metadata.paths(), expected, "{resource}");
            let body: serde_json::Value = serde_json::from_str(metadata.body()).unwrap();
            assert_eq!(body["resource"], resource);
            assert_eq!(body["authorization_servers"], json!(["https://id.example.com/"]));
            assert_eq!(body.get("scopes_supported"), None);
            drop(metadata.router::<()>());
        };
        check("https://h/mcp", "https://h/.well-known/oauth-protected-resource/mcp", &["", "/mcp"]);
        check(
            "https://h:8443/mcp/",
            "https://h:8443/.well-known/oauth-protected-resource/mcp",
            &["", "/mcp"],
        );
        check("https://h", "https://h/.well-known/oauth-protected-resource", &["", "/mcp"]);
        let own = "https://h/.well-known/oauth-protected-resource/tools/mcp";
        check("https://h/tools/mcp", own, &["", "/mcp", "/tools/mcp"]);
        let odd = "https://h/.well-known/oauth-protected-resource/:a/*b/%7Bc%7D";
        check("https://h/:a/*b/{c}", odd, &["", "/:a/*b/%7Bc%7D", "/mcp"]);
    }
}

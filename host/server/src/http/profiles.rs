//! Profiles: parts of the tools, each at a path of its own, `/mcp/NAME`.

use std::{collections::BTreeMap, sync::Arc};

use axum::{
    extract::Request,
    http::StatusCode,
    response::{IntoResponse, Response},
};

use crate::{endpoint::PATH, mcp::ServedEndpoint};

/// What is served at each path.
#[derive(Debug, Default)]
pub struct ServedPaths {
    /// At `/mcp`, for callers that are bound to no profile.
    pub main: Arc<ServedEndpoint>,
    /// Profiles by their names.
    pub profiles: BTreeMap<String, Arc<ServedEndpoint>>,
}

/// Why a request gets no endpoint.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum PathRefusal {
    #[error("not found: there is no profile of this name; MCP clients connect to {PATH} or {PATH}/PROFILE\n")]
    Unknown,
    #[error("forbidden: the token is bound to the profile `{0}`; connect to {PATH}/{0}\n")]
    Bound(String),
    #[error("forbidden: the token is bound to the profile `{0}`, which this server does not have\n")]
    Missing(String),
}

impl IntoResponse for PathRefusal {
    fn into_response(self) -> Response {
        let status = match self {
            Self::Unknown => StatusCode::NOT_FOUND,
            Self::Bound(_) | Self::Missing(_) => StatusCode::FORBIDDEN,
        };
        (status, self.to_string()).into_response()
    }
}

impl ServedPaths {
    /// Finds what a path serves to a caller. Profiles of other callers are not revealed to one that is bound.
    fn find(&self, path: &str, bound: Option<&str>) -> Result<&Arc<ServedEndpoint>, PathRefusal> {
        let name = path.strip_prefix(PATH).unwrap_or(path).trim_matches('/');
        match bound {
            None if name.is_empty() => Ok(&self.main),
            None => self.profiles.get(name).ok_or(PathRefusal::Unknown),
            Some(bound) if name.is_empty() || name == bound => {
                self.profiles.get(bound).ok_or_else(|| PathRefusal::Missing(bound.to_owned()))
            }
            Some(bound) => Err(PathRefusal::Bound(bound.to_owned())),
        }
    }

    /// Attaches what the path of a request serves to its caller, who may be bound to a profile.
    pub fn select_profile(&self, request: &mut Request, bound: Option<&str>) -> Result<(), PathRefusal> {
        let endpoint = Arc::clone(self.find(request.uri().path(), bound)?);
        request.extensions_mut().insert(endpoint);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_serves_its_profile_to_those_who_may_use_it() {
        let endpoint = |text: &str| {
            Arc::new(ServedEndpoint { instructions: Some(text.to_owned()), ..ServedEndpoint::default() })
        };
        let profiles = ["a", "b"].map(|name| (name.to_owned(), endpoint(name))).into();
        let paths = ServedPaths { main: endpoint("main"), profiles };
        let bound = |name: &str| Err(PathRefusal::Bound(name.to_owned()));
        for (path, token, expected) in [
            ("/mcp", None, Ok("main")),
            ("/mcp/", None, Ok("main")),
            ("/mcp/a", None, Ok("a")),
            ("/mcp/a/", None, Ok("a")),
            ("/mcp/c", None, Err(PathRefusal::Unknown)),
            ("/mcp/a/b", None, Err(PathRefusal::Unknown)),
            ("/mcp", Some("a"), Ok("a")),
            ("/mcp/a", Some("a"), Ok("a")),
            ("/mcp/b", Some("a"), bound("a")),
            ("/mcp/c", Some("a"), bound("a")),
            ("/mcp", Some("c"), Err(PathRefusal::Missing("c".to_owned()))),
        ] {
            let found =
                paths.find(path, token).map(|found| found.instructions.as_deref().unwrap_or_default());
            assert_eq!(found, expected, "{path} {token:?}");
        }
    }
}

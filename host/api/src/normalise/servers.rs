//! Base URLs.

use loggia_facade::Object;
use serde_json::Value;
use url::Url;

use crate::description::check_server;

/// Reads the first of `servers` that can be used.
///
/// `origin` is the URL of the document, against which relative URLs are resolved.
///
/// # Errors
///
/// Why none can be used.
pub(super) fn read_server(owner: &Object, origin: Option<&Url>) -> Result<Option<String>, String> {
    let mut problem = None;
    let servers = owner.get("servers").and_then(Value::as_array);
    for server in servers.into_iter().flatten() {
        match resolve(server, origin) {
            Ok(server) => return Ok(Some(server)),
            Err(reason) => problem = problem.or(Some(reason)),
        }
    }
    problem.map_or(Ok(None), Err)
}

fn resolve(server: &Value, origin: Option<&Url>) -> Result<String, String> {
    let mut url = server.get("url").and_then(Value::as_str).unwrap_or("/").trim().to_owned();
    for (name, variable) in server.get("variables").and_then(Value::as_object).into_iter().flatten() {
        if let Some(default) = variable.get("default").and_then(Value::as_str) {
            url = url.replace(&format!("{{{name}}}"), default);
        }
    }
    if url.starts_with("//") {
        url = format!("{}:{url}", origin.map_or("https", Url::scheme));
    } else if !url.contains("://") {
        let origin = origin.ok_or_else(|| format!("the server `{url}` is relative; name the whole URL"))?;
        url = origin.join(&url).map_err(|error| error.to_string())?.to_string();
    }
    tidy(&url)
}

/// Checks a base URL, and drops the slash at its end.
///
/// # Errors
///
/// The mistake.
pub(super) fn tidy(url: &str) -> Result<String, String> {
    let url = url.trim_end_matches('/');
    check_server(url)
        .map_err(|reason| format!("the server `{}` {reason}", loggia_text::mention(url, 100)))?;
    Ok(url.to_owned())
}

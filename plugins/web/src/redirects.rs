//! Redirects, followed here and not by the host, because the final URL must be known.

use loggia_sdk::{http::Response, prelude::*};
use url::Url;

use crate::{address, refusal};

/// Maximum number of redirects.
const REDIRECTS: usize = 5;

/// A response, and how it was reached.
#[derive(Debug)]
pub struct Visit {
    /// URL that gave the response.
    pub url: Url,
    /// URLs that redirected, in order.
    pub redirects: Vec<String>,
    /// Of any status.
    pub response: Response,
}

/// Sends a request, and follows its redirects.
pub fn follow(url: &Url, mut send: impl FnMut(&Url) -> Result<Response>) -> Result<Visit> {
    let mut url = url.clone();
    let mut redirects: Vec<String> = Vec::new();
    loop {
        let response = send(&url).map_err(|failure| refusal::after_redirects(failure, &redirects, &url))?;
        let target = match response.header("location") {
            Some(location) if is_redirect(response.status) => target(&url, location)?,
            _ => return Ok(Visit { url, redirects, response }),
        };
        redirects.push(url.into());
        url = target;
        if redirects.len() > REDIRECTS {
            return Err(Failure::unavailable(format!(
                "{} redirects more than {REDIRECTS} times",
                redirects[0]
            ))
            .hint("The site redirects in a circle, as some do without cookies."));
        }
    }
}

fn is_redirect(status: u16) -> bool {
    matches!(status, 301 | 302 | 303 | 307 | 308)
}

fn target(from: &Url, location: &str) -> Result<Url> {
    let to = address::resolve(from, location).map(address::without_fragment).ok_or_else(|| {
        Failure::unavailable(format!("{from} redirects to something that is not a page of the web"))
            .details(json!({"location": untrusted::short(location, 200)}))
    })?;
    if from.scheme() == "https" && to.scheme() == "http" {
        return Err(Failure::denied(format!("access denied: {from} redirects from https to http"))
            .hint("A secure page is not continued over an insecure connection. Call it with the target's URL if that is meant.")
            .details(json!({"location": to.as_str()})));
    }
    Ok(to)
}

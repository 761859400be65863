//! Checks of the address that a client connects to.

use std::{collections::BTreeMap, env, fs};

use loggia_server::ENDPOINT_PATH;
use loggia_text::keep_secret;
use loggia_upstream::{EndpointAnswer, HttpSpec};
use url::Url;

use super::finding::DoctorFinding;
use crate::{
    facts::{ClientRow, HttpForm, TokenForm},
    reading::AddressEntry,
};

const AUTHORIZATION: &str = "Authorization";

/// Builds the requests that the client would send. None if it could not.
pub fn check_address(
    client: &ClientRow,
    address: &AddressEntry,
    findings: &mut Vec<DoctorFinding>,
) -> Option<HttpSpec> {
    match Url::parse(&address.url) {
        Ok(url) if matches!(url.scheme(), "http" | "https") => {}
        _ => {
            findings.push(DoctorFinding::problem(
                "the address is not an URL",
                "write it as http://HOST:PORT/mcp",
            ));
            return None;
        }
    }
    let mut headers = BTreeMap::new();
    for (name, value) in &address.headers {
        let is_token = name.eq_ignore_ascii_case(AUTHORIZATION);
        let expanded = expand(client, value, address.file.is_some(), findings);
        if is_token && expanded == *value && !value.is_empty() && address.file.is_none() {
            keep_secret(value.split_once(' ').map_or(value, |(_, token)| token));
            findings.push(DoctorFinding::warning(
                "the entry holds a token, which everyone who reads the file can use",
                format!("`loggia client add {} … --token-env NAME --replace`", client.name),
            ));
        }
        headers.insert(name.clone(), expanded);
    }
    if let Some(variable) = &address.variable
        && let Some(token) = read_variable(client, variable, findings)
    {
        headers.insert(AUTHORIZATION.to_owned(), format!("Bearer {token}"));
    }
    if let Some(file) = &address.file {
        match fs::read_to_string(file) {
            Ok(token) => {
                keep_secret(token.trim());
                headers.insert(AUTHORIZATION.to_owned(), format!("Bearer {}", token.trim()));
            }
            Err(error) => findings.push(DoctorFinding::problem(
                format!("the token cannot be read from {file}: {error}"),
                "write the token into this file",
            )),
        }
    }
    Some(HttpSpec { url: address.url.clone(), headers, caller_header: None })
}

/// Replaces references to variables, as the client does.
fn expand(client: &ClientRow, value: &str, reads_file: bool, findings: &mut Vec<DoctorFinding>) -> String {
    let (before, after) = match &client.http {
        HttpForm::Native(TokenForm::Reference(before, after)) => (*before, *after),
        // Those of the bridge, and of Goose.
        _ => ("${", "}"),
    };
    let (mut out, mut rest) = (String::new(), value);
    while let Some((head, tail)) = rest.split_once(before) {
        let Some((name, tail)) = tail.split_once(after).filter(|_| !reads_file) else { break };
        out.push_str(head);
        out.push_str(&read_variable(client, name.trim(), findings).unwrap_or_default());
        rest = tail;
    }
    out.push_str(rest);
    if let Some(at) = out.find("${") {
        let end = out[at..].find('}').map_or(out.len(), |end| at + end + 1);
        if !reads_file {
            findings.push(DoctorFinding::problem(
                format!("{} sends {} as it is", client.title, &out[at..end]),
                format!("write the variable as {before}NAME{after}"),
            ));
        }
    }
    out
}

fn read_variable(client: &ClientRow, name: &str, findings: &mut Vec<DoctorFinding>) -> Option<String> {
    match env::var(name) {
        Ok(value) if !value.is_empty() => {
            keep_secret(&value);
            Some(value)
        }
        _ => {
            findings.push(DoctorFinding::problem(
                format!("the variable {name}, which holds the token, is not set here"),
                format!(
                    "set it where {} is started; a desktop does not read the files of a shell",
                    client.title
                ),
            ));
            None
        }
    }
}

/// Why an address cannot be used. The `reason` is that of the connection.
pub fn explain_answer(
    client: &ClientRow,
    spec: &HttpSpec,
    answer: EndpointAnswer,
    reason: &str,
) -> DoctorFinding {
    let url = Url::parse(&spec.url).ok();
    let place = url.as_ref().map_or_else(String::new, |url| {
        let port = url.port_or_known_default().map(|port| format!(":{port}"));
        format!("{}{}", url.host_str().unwrap_or_default(), port.unwrap_or_default())
    });
    let path = url.as_ref().map_or("", Url::path);
    let has_token = spec.headers.keys().any(|name| name.eq_ignore_ascii_case(AUTHORIZATION));
    match answer {
        EndpointAnswer::Refused => DoctorFinding::problem(
            format!("nothing listens on {place}"),
            format!("start the server: `loggia serve DIR --http {place}`; or correct the address"),
        ),
        EndpointAnswer::Tls(why) => DoctorFinding::problem(
            format!("TLS with {place} fails: {why}"),
            "use http:// if the server has no certificate; else one for this host, of an authority that the client knows \
             (NODE_EXTRA_CA_CERTS for many)",
        ),
        EndpointAnswer::Unreachable(why) => DoctorFinding::problem(
            format!("{place} cannot be reached: {why}"),
            "check the address and the network",
        ),
        EndpointAnswer::Status(401, _) if has_token => DoctorFinding::problem(
            "the server refuses the token (401)",
            "check the token's value; `loggia token new NAME` makes another one",
        ),
        EndpointAnswer::Status(401, _) => DoctorFinding::problem(
            "the server requires a token (401), and the entry has none",
            format!("`loggia client add {} --url {} --token-env NAME --replace`", client.name, spec.url),
        ),
        EndpointAnswer::Status(403, text) => DoctorFinding::problem(
            format!("the server forbids the request (403): {text}"),
            "allow the host or the origin in the server's settings (`http.hosts`, `http.origins`), or the token's scopes",
        ),
        EndpointAnswer::Status(404, _) => DoctorFinding::problem(
            format!("there is no MCP server at the path {path} (404)"),
            format!("Loggia serves at {ENDPOINT_PATH}: correct the address"),
        ),
        EndpointAnswer::Status(status, text) if !(200..300).contains(&status) => DoctorFinding::problem(
            format!("the server answers with HTTP {status}: {text}"),
            "look at the server's log",
        ),
        EndpointAnswer::Status(..) => DoctorFinding::problem(
            format!("the server cannot be used: {reason}"),
            "check that the address is that of an MCP server",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::find_client;

    #[test]
    fn each_answer_has_a_remedy() {
        let spec = |header: &[&str]| HttpSpec {
            url: "http://127.0.0.1:8080/mpc".into(),
            headers: header.iter().map(|name| ((*name).to_owned(), "Bearer x".to_owned())).collect(),
            caller_header: None,
        };
        for (headers, answer, text, remedy) in [
            (&[][..], EndpointAnswer::Refused, "nothing listens on 127.0.0.1:8080", "loggia serve DIR"),
            (
                &[],
                EndpointAnswer::Tls("expired".into()),
                "TLS with 127.0.0.1:8080 fails: expired",
                "certificate",
            ),
            (&[], EndpointAnswer::Status(401, String::new()), "the entry has none", "--token-env NAME"),
            (
                &["authorization"],
                EndpointAnswer::Status(401, String::new()),
                "refuses the token (401)",
                "token new",
            ),
            (&[], EndpointAnswer::Status(403, "Origin".into()), "(403): Origin", "http.origins"),
            (&[], EndpointAnswer::Status(404, String::new()), "at the path /mpc (404)", "/mcp"),
            (&[], EndpointAnswer::Status(502, "bad".into()), "HTTP 502: bad", "log"),
            (&[], EndpointAnswer::Status(200, String::new()), "cannot be used: why", "MCP server"),
        ] {
            let finding = explain_answer(find_client("cursor").unwrap(), &spec(headers), answer, "why");
            let [level, found, does] = finding.to_row();
            assert!(level == "problem" && found.contains(text) && does.contains(remedy), "{found} {does}");
        }
    }

    #[test]
    fn references_are_replaced_as_the_client_does() {
        // Cargo sets CARGO_PKG_NAME.
        for (client, value, expected, problems) in [
            ("cursor", "Bearer ${env:CARGO_PKG_NAME}", "Bearer loggia-clients", 0),
            ("cursor", "Bearer ${CARGO_PKG_NAME}", "Bearer ${CARGO_PKG_NAME}", 1),
            ("claude-code", "Bearer ${CARGO_PKG_NAME}", "Bearer loggia-clients", 0),
            ("goose", "Bearer ${ CARGO_PKG_NAME }", "Bearer loggia-clients", 0),
            ("claude-code", "Bearer ${LOGGIA_NOT_SET}", "Bearer ", 1),
            ("claude-code", "plain", "plain", 0),
        ] {
            let mut findings = Vec::new();
            let expanded = expand(find_client(client).unwrap(), value, false, &mut findings);
            assert_eq!((expanded.as_str(), findings.len()), (expected, problems), "{client} {value}");
        }
    }
}

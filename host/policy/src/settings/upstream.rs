//! `[upstream.NAME]`: other MCP servers.

use std::{collections::BTreeMap, fmt, path::PathBuf};

use super::{
    kind::ValueKind,
    quantity::{Size, Span, within},
    table::table,
    value::{SettingValue, SettingsReader, list, text, values},
    web_url::{is_loopback, web_url},
};
use crate::document::{field::Field, tree::Text};

const SECOND: Span = Span::seconds(1);
const TEN_MINUTES: Span = Span::seconds(10 * 60);
const MESSAGE_LEAST: Size = Size(64 << 10);
const MESSAGE_MOST: Size = Size(64 << 20);

table! {
    /// Another MCP server, which is served as one facade named NAME: a program that Loggia starts (`command`), or a server at
    /// a `url`. Its policy is `NAME.toml` in the plugin folder. `loggia upstream import` writes these tables from the
    /// configuration of an MCP client.
    pub struct Upstream {
        /// The program: a path, or a name that is looked up in PATH. It is not sandboxed: it has the rights of this server.
        command: Option<String> = None, text(not_empty);
        /// Arguments of the program.
        args: Vec<String> = Vec::new();
        /// Environment variables of the program. It inherits only PATH, HOME, USER, LOGNAME, SHELL, TERM, TMPDIR, TZ, LANG, LC_ALL,
        /// LC_CTYPE, SSL_CERT_DIR and SSL_CERT_FILE.
        env: BTreeMap<String, HiddenText> = BTreeMap::new();
        /// Working directory of the program. Default: that of this server.
        cwd: Option<PathBuf> = None;
        /// URL of the server (streamable HTTP), instead of `command`.
        url: Option<String> = None, text(url);
        /// Headers of each request to the server, such as `authorization`. A caller's token is never forwarded.
        headers: BTreeMap<String, HiddenText> = BTreeMap::new(), headers;
        /// Header of calls that carries the caller's own credential, stored by `loggia credential set NAME`. Tools are listed
        /// with `headers` alone. Requires an `https://` URL, or one of this machine.
        caller_header: Option<CallerHeader> = None;
        /// Tools to serve, by their original names; `*` matches any characters. Default: all.
        include: Vec<String> = Vec::new(), list(text(not_empty));
        /// Tools to omit; overrides `include`.
        exclude: Vec<String> = Vec::new(), list(text(not_empty));
        /// New names and descriptions of tools, by original name. The original name stays an alias.
        overrides: BTreeMap<String, ToolOverride> = BTreeMap::new();
        /// Summary of the facade, instead of the server's own.
        summary: Option<String> = None, text(not_empty);
        /// Timeout for connecting and listing the tools. The first start of a program may download it.
        connect_time: Span = Span::seconds(60), within(SECOND, TEN_MINUTES);
        /// Maximum size of one message from the server.
        message: Size = Size(16 << 20), within(MESSAGE_LEAST, MESSAGE_MOST);
    }
}

table! {
    /// A header with the caller's own credential.
    pub struct CallerHeader {
        /// Name of the header, such as `authorization`.
        name: String, text(header_name);
        /// Its value; `{}` is replaced by the credential.
        format: String = "{}".to_owned(), text(format);
    }
}

table! {
    /// A new name or description of a tool.
    pub struct ToolOverride {
        /// Name of the action.
        name: Option<String> = None, text(not_empty);
        /// Description of the action.
        description: Option<String> = None, text(not_empty);
    }
}

/// A text that may be secret. Its `Debug` output hides it.
#[derive(Clone, PartialEq, Eq)]
pub struct HiddenText(pub String);

impl fmt::Debug for HiddenText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("<hidden>")
    }
}

values! {
    HiddenText, ValueKind::Text, text(|text| Ok::<_, &str>(HiddenText(text.value.clone())));
}

/// Reads `[upstream]`.
pub(super) fn upstreams(
    field: &Field<'_>,
    reader: &mut SettingsReader<'_>,
) -> Option<BTreeMap<String, Upstream>> {
    let mut upstreams = BTreeMap::new();
    for (name, field) in field.entries(&mut reader.problems) {
        if !is_name(name) {
            reader.report::<()>(
                &field,
                "must have a name of at most 32 lowercase letters, digits, `_` and `-` that begins with a letter",
            );
        }
        let Some(upstream) = Upstream::read(&field, reader) else { continue };
        check_transport(&field, &upstream, reader);
        upstreams.insert(name.to_owned(), upstream);
    }
    Some(upstreams)
}

/// Checks that the keys belong to one transport.
fn check_transport(field: &Field<'_>, upstream: &Upstream, reader: &mut SettingsReader<'_>) {
    let Some(table) = field.table() else { return };
    let has = |key: &str| table.get(key).is_some();
    match (has("command"), has("url")) {
        (false, false) => reader.report_key(field, "command", "is missing: set `command` or `url`"),
        (true, true) => reader.report_key(field, "url", "excludes `command`: set only one of them"),
        (true, false) if !upstream.headers.is_empty() => {
            reader.report_key(field, "headers", "needs a `url`; a program gets its credentials by `env`");
        }
        (true, false) if upstream.caller_header.is_some() => {
            reader.report_key(field, "caller-header", "needs a `url`");
        }
        (false, true) => {
            if upstream.caller_header.is_some() && !upstream.url.as_deref().is_some_and(is_private) {
                reader.report_key(field, "caller-header", "needs an https:// URL, or one of this machine");
            }
            for key in ["args", "env", "cwd"].into_iter().filter(|key| has(key)) {
                reader.report_key(field, key, "needs a `command`");
            }
        }
        (true, false) => {}
    }
}

pub(super) fn not_empty(text: &Text) -> Result<String, &'static str> {
    if text.value.is_empty() { Err("is empty") } else { Ok(text.value.clone()) }
}

fn url(text: &Text) -> Result<String, &'static str> {
    const FORM: &str = "must be an http:// or https:// URL without a user name and password";
    web_url(&text.value).map(|_| text.value.clone()).ok_or(FORM)
}

/// Returns true if requests to a URL are encrypted, or do not leave this machine.
fn is_private(url: &str) -> bool {
    web_url(url).is_some_and(|url| url.scheme() == "https" || is_loopback(&url))
}

fn header_name(text: &Text) -> Result<String, &'static str> {
    let name: Option<http::HeaderName> = text.value.parse().ok();
    name.map(|name| name.as_str().to_owned()).ok_or("is not a header name")
}

fn format(text: &Text) -> Result<String, &'static str> {
    let is_visible = text.value.chars().all(|c| matches!(c, ' '..='~'));
    match text.value.matches("{}").count() {
        1 if is_visible => Ok(text.value.clone()),
        1 => Err("must contain only visible ASCII characters and spaces"),
        _ => Err("must contain {} exactly once, the placeholder for the credential"),
    }
}

pub(super) fn headers(
    field: &Field<'_>,
    reader: &mut SettingsReader<'_>,
) -> Option<BTreeMap<String, HiddenText>> {
    let headers: BTreeMap<String, HiddenText> = BTreeMap::read(field, reader)?;
    for (name, HiddenText(value)) in &headers {
        let Some(field) = field.table().and_then(|table| table.get(name)) else { continue };
        // Messages do not show values: they are secrets.
        if name.parse::<http::HeaderName>().is_err() {
            reader.report::<()>(&field, "is not a header name");
        } else if value.parse::<http::HeaderValue>().is_err() {
            reader.report::<()>(&field, "has a value with characters that a header cannot contain");
        }
    }
    Some(headers)
}

/// `^[a-z][a-z0-9_-]{0,31}$`
pub(super) fn is_name(text: &str) -> bool {
    let rest = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | '-');
    text.len() <= 32 && text.starts_with(|c: char| c.is_ascii_lowercase()) && text.chars().all(rest)
}

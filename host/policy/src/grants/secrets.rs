//! `secrets`: headers that the host adds to requests, invisible to guests.

use std::net::IpAddr;

use loggia_egress::{HeaderSecret, HostPattern, HttpRule, RuleDestination, SecretSource};
use loggia_facade::Effect;

use super::{
    destination::{PLACEHOLDER_HOST, covers, secret_hosts},
    grant::{Grant, GrantReading, WantedGrant, WantedGrants, toml_list, toml_text},
};
use crate::{
    document::{
        PolicySetting,
        field::{Field, Fields},
        key::{Key, names},
        problem::Problems,
        tree::Text,
    },
    model::Policy,
};

/// `grants.secrets`.
pub(super) struct SecretsGrant;

const KEY: Key = Key {
    name: "secrets",
    kind: "list of tables",
    default: Some("[]"),
    means: "headers that the host adds to the plugin's HTTPS requests to exactly one host. The plugin never sees the \
            value, and cannot set such a header itself",
    example: r#"[{ from-env = "GITHUB_TOKEN", host = "api.github.com", header = "Authorization", format = "Bearer {}" }]"#,
    inner: &[
        Key {
            name: "from-env",
            kind: "name",
            default: Some(""),
            means: "the host's environment variable with the secret",
            example: "\"GITHUB_TOKEN\"",
            inner: &[],
        },
        Key {
            name: "from-file",
            kind: "path",
            default: Some(""),
            means: "the file with the secret, read for each request; surrounding white space is ignored",
            example: "\"~/.secrets/github\"",
            inner: &[],
        },
        Key {
            name: "per-caller",
            kind: "true or false",
            default: Some("false"),
            means: "whether the secret is the caller's own, set by `loggia credential set`; instead of `from-env` and \
                    `from-file`",
            example: "false",
            inner: &[],
        },
        Key {
            name: "host",
            kind: "host",
            default: None,
            means: "the host that receives it, with `:port` if that is not 443; an https entry of `http` must allow \
                    it",
            example: "\"api.github.com\"",
            inner: &[],
        },
        Key {
            name: "header",
            kind: "name",
            default: None,
            means: "the name of the header",
            example: "\"Authorization\"",
            inner: &[],
        },
        Key {
            name: "format",
            kind: "string",
            default: Some("\"{}\""),
            means: "the value of the header; `{}` is replaced by the secret",
            example: "\"Bearer {}\"",
            inner: &[],
        },
    ],
};

/// Reads the key. The rules must allow the host of each secret; `None` if they are invalid.
fn read(
    field: &Field<'_>,
    rules: Option<&[HttpRule]>,
    setting: &PolicySetting<'_>,
    problems: &mut Problems,
) -> Vec<HeaderSecret> {
    let mut secrets: Vec<HeaderSecret> = Vec::new();
    for item in field.items(problems) {
        let Some(secret) = read_secret(&item, rules, setting, problems) else { continue };
        let same = |other: &HeaderSecret| {
            (&other.host, other.port, &other.header) == (&secret.host, secret.port, &secret.header)
        };
        if secrets.iter().any(same) {
            item.report("has two secrets for the same header of the same host", problems);
        } else {
            secrets.push(secret);
        }
    }
    secrets
}

fn read_secret(
    item: &Field<'_>,
    rules: Option<&[HttpRule]>,
    setting: &PolicySetting<'_>,
    problems: &mut Problems,
) -> Option<HeaderSecret> {
    let fields = item.fields(names(KEY.inner), problems)?;
    // Read all keys before returning, so that all problems are reported.
    let source = read_source(item, &fields, setting, problems);
    let host = fields.required("host", problems).and_then(|field| read_host(&field, rules, problems));
    let header = fields.required("header", problems).and_then(|field| read_header(&field, problems));
    let format = match fields.get("format") {
        Some(field) => read_format(&field, problems),
        None => Some("{}".to_owned()),
    };
    let (host, port) = host?;
    let secret = HeaderSecret { host, port, header: header?, format: format?, source: source? };
    if let Err(reason) = secret.check() {
        item.report(format!("is invalid: {reason}"), problems);
        return None;
    }
    Some(secret)
}

fn read_source(
    item: &Field<'_>,
    fields: &Fields<'_>,
    setting: &PolicySetting<'_>,
    problems: &mut Problems,
) -> Option<SecretSource> {
    let per_caller = fields.get("per-caller").map(|field| field.flag(problems)).unwrap_or(Some(false))?;
    match (fields.get("from-env"), fields.get("from-file")) {
        (None, None) if per_caller => Some(SecretSource::Caller),
        (Some(_), _) | (_, Some(_)) if per_caller => {
            item.report("has `per-caller` and another source of the secret; use one of them", problems);
            None
        }
        (Some(field), None) => {
            let text = field.text(problems)?;
            let name = &text.value;
            let subject = format!("({}) is an environment variable that is", text.quoted());
            let Some(value) = (setting.variable)(name) else {
                field.report(format!("{subject} not set"), problems);
                return None;
            };
            let value = value.trim();
            if value.is_empty() || value.contains(char::is_control) {
                field.report(format!("{subject} empty or contains control characters"), problems);
                return None;
            }
            Some(SecretSource::Value(name.clone(), value.to_owned()))
        }
        (None, Some(field)) => setting.path(&field, problems).map(SecretSource::File),
        (None, None) if fields.has_unknown_key() => None,
        (None, None) => {
            item.report("needs `from-env`, `from-file` or `per-caller`, the source of the secret", problems);
            None
        }
        (Some(_), Some(_)) => {
            item.report("has both `from-env` and `from-file`; use one of them", problems);
            None
        }
    }
}

/// Reads a host with an optional port, which one of the rules must allow.
fn read_host(
    field: &Field<'_>,
    rules: Option<&[HttpRule]>,
    problems: &mut Problems,
) -> Option<(String, u16)> {
    let text = field.text(problems)?;
    let quoted = text.quoted();
    let rule = "must be a single host, optionally with a port, like \"api.github.com\"";
    let is_host = !text.value.contains(['/', '@', '?', '#', '*']);
    let to = is_host.then(|| RuleDestination::parse(&format!("https://{}", text.value)).ok()).flatten();
    let host = to.and_then(|to| match &to.host {
        HostPattern::Name(name) => Some((name.clone(), to)),
        HostPattern::Address(IpAddr::V6(address)) => Some((format!("[{address}]"), to)),
        HostPattern::Address(address) => Some((address.to_string(), to)),
        HostPattern::Below(_) | HostPattern::Any => None,
    });
    let Some((name, to)) = host else {
        field.report(format!("{rule} (got {quoted})"), problems);
        return None;
    };
    if rules.is_some_and(|rules| !rules.iter().any(|rule| covers(&rule.to, &to))) {
        let reason = "is not allowed over HTTPS: add it to `grants.http`";
        field.report(format!("({quoted}) {reason}"), problems);
        return None;
    }
    Some((name, to.port))
}

fn read_header(field: &Field<'_>, problems: &mut Problems) -> Option<String> {
    let text = field.text(problems)?;
    let is_token_char = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    if text.value.is_empty() || !text.value.chars().all(is_token_char) {
        field.report(
            format!("must be the name of a header, like \"Authorization\" (got {})", text.quoted()),
            problems,
        );
        return None;
    }
    // `HeaderSecret::check` rejects headers that the host sets itself.
    Some(text.value.to_ascii_lowercase())
}

fn read_format(field: &Field<'_>, problems: &mut Problems) -> Option<String> {
    let Text { value, .. } = field.text(problems)?;
    if value.matches("{}").count() != 1 {
        field.report("must contain {} exactly once, the placeholder for the secret", problems);
        return None;
    }
    if !value.chars().all(|c| matches!(c, ' '..='~')) {
        field.report("must contain only visible ASCII characters and spaces", problems);
        return None;
    }
    Some(value.clone())
}

impl Grant for SecretsGrant {
    fn key(&self) -> &'static Key {
        &KEY
    }

    fn read(&self, field: &Field<'_>, reading: &mut GrantReading<'_>) {
        let GrantReading { granted, setting, problems, has_invalid_rules } = reading;
        let http = &mut granted.grants.http;
        let rules = (!*has_invalid_rules).then_some(http.rules.as_slice());
        http.secrets = read(field, rules, setting, problems);
    }

    fn is_given(&self, policy: &Policy) -> bool {
        !policy.grants.http.secrets.is_empty()
    }

    fn covers(&self, policy: &Policy, want: &WantedGrant<'_>) -> bool {
        // The name of the secret in a file is unknown.
        let fits = |source: &SecretSource| match source {
            SecretSource::Value(name, _) => want.word().is_none_or(|word| word == name),
            SecretSource::File(_) | SecretSource::Caller => true,
        };
        policy.grants.http.secrets.iter().any(|secret| fits(&secret.source))
    }

    fn explain(&self, policy: &Policy, _worst: Effect) -> Vec<String> {
        policy.grants.http.secrets.iter().map(explain).collect()
    }

    fn draft(&self, wants: &WantedGrants<'_>) -> Option<String> {
        let hosts = secret_hosts(wants);
        let mut names: Vec<&str> = Vec::new();
        let mut secrets = Vec::new();
        for want in wants.wanted(KEY.name) {
            let name = want.word().filter(|word| is_variable(word)).unwrap_or("TOKEN");
            if names.contains(&name) {
                continue;
            }
            names.push(name);
            // A host cannot have two secrets in the same header.
            let (header, format) = match names.len() {
                1 => ("Authorization".to_owned(), ", format = \"Bearer {}\""),
                n => (format!("X-Secret-{n}"), ""),
            };
            let mut words = want.detail.unwrap_or_default().split_whitespace();
            let named = words.find_map(|word| hosts.iter().find(|host| *host == word));
            let host = toml_text(named.or(hosts.first()).map_or(PLACEHOLDER_HOST, String::as_str));
            let (name, header) = (toml_text(name), toml_text(&header));
            secrets.push(format!("{{ from-env = {name}, host = {host}, header = {header}{format} }}"));
        }
        (!secrets.is_empty()).then(|| toml_list(secrets.into_iter()))
    }
}

fn explain(secret: &HeaderSecret) -> String {
    let from = match &secret.source {
        SecretSource::Value(name, _) => format!("the secret {name}"),
        SecretSource::File(path) => format!("the secret in {}", path.display()),
        SecretSource::Caller => "each caller's own credential".to_owned(),
    };
    let port = if secret.port == 443 { String::new() } else { format!(":{}", secret.port) };
    let HeaderSecret { host, header, .. } = secret;
    format!("have the host send {from} to {host}{port} in the header {header}, without seeing it")
}

/// Returns true if a word looks like the variable of a secret.
fn is_variable(word: &str) -> bool {
    let is_variable_char = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    word.chars().all(is_variable_char) && !word.starts_with(|c: char| c.is_ascii_digit())
}

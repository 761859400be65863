//! `http`: destinations and methods of requests.

use loggia_egress::{HostPattern, HttpRule, RuleDestination};
use loggia_facade::Effect;

use super::{
    destination::{PLACEHOLDER_HOST, covers, secret_hosts, wanted_destination},
    grant::{Grant, GrantReading, WantedGrant, WantedGrants, join, toml_list, toml_text},
};
use crate::{
    document::{
        field::{Field, Fields},
        key::{Key, names},
        problem::Problems,
    },
    model::Policy,
};

/// Methods that a `read` action may send to every granted destination.
const READ_METHODS: [&str; 2] = ["GET", "HEAD"];
/// Methods that cannot be granted: CONNECT opens a tunnel that rules cannot inspect, and TRACE returns headers that
/// proxies added.
const FORBIDDEN_METHODS: [&str; 2] = ["CONNECT", "TRACE"];

/// `grants.http`.
pub(super) struct HttpGrant;

pub(crate) const KEY: Key = Key {
    name: "http",
    kind: "list of strings or tables",
    default: Some("[]"),
    means: "destinations of HTTP requests: a scheme, a host and optionally a port; `https://*.example.com` matches \
            every subdomain, `https://*` every public host. A string allows all methods. Private, loopback and link-local addresses, and the \
            machine's own, are refused, whatever name resolves to them, unless an entry is that address. A `read` \
            action sends only GET and HEAD. A GET that changes something on the server counts as reading, so do not \
            grant such a URL to a plugin that is meant to read",
    example: r#"["https://api.github.com", { url = "https://api.example.com", methods = ["GET", "POST"], reads = ["POST"] }]"#,
    inner: &[
        Key {
            name: "url",
            kind: "destination",
            default: None,
            means: "the destination",
            example: "\"https://*.example.com:8443\"",
            inner: &[],
        },
        Key {
            name: "methods",
            kind: "list of methods",
            default: Some(""),
            means: "the allowed methods; default: all",
            example: r#"["GET", "POST"]"#,
            inner: &[],
        },
        Key {
            name: "reads",
            kind: "list of methods",
            default: Some("[]"),
            means: "methods besides GET and HEAD that only read at this destination, so that `read` actions may use \
                    them: for example search by POST",
            example: r#"["POST"]"#,
            inner: &[],
        },
    ],
};

fn read(field: &Field<'_>, problems: &mut Problems) -> Vec<HttpRule> {
    field.items(problems).iter().filter_map(|item| read_rule(item, problems)).collect()
}

fn read_rule(item: &Field<'_>, problems: &mut Problems) -> Option<HttpRule> {
    if !item.is_table() {
        let to = destination(item, problems)?;
        return Some(HttpRule { to, methods: None, reads: Vec::new() });
    }
    let fields = item.fields(names(KEY.inner), problems)?;
    let to = fields.required("url", problems).and_then(|field| destination(&field, problems));
    let allowed = methods(&fields, "methods", problems);
    if let Some(field) = fields.get("methods").filter(Field::is_empty_list) {
        field.report("is empty, so no request is allowed; omit it to allow all methods", problems);
    }
    let reads = methods(&fields, "reads", problems).unwrap_or_default();
    if let (Some(allowed), Some(field)) = (&allowed, fields.get("reads")) {
        for method in reads.iter().filter(|method| !allowed.contains(method) && !is_read_method(method)) {
            field.report(format!("contains {method}, which `methods` does not allow"), problems);
        }
    }
    Some(HttpRule { to: to?, methods: allowed, reads })
}

fn is_read_method(method: &str) -> bool {
    READ_METHODS.contains(&method)
}

fn destination(field: &Field<'_>, problems: &mut Problems) -> Option<RuleDestination> {
    let text =
        field.text_as("a destination in quotes, like \"https://api.example.com\", or a table", problems)?;
    match RuleDestination::parse(&text.value) {
        Ok(to) => Some(to),
        Err(reason) if text.written.is_none() => {
            field.report(reason, problems);
            None
        }
        // The reason may quote the value, which is from the environment.
        Err(_) => {
            field.report(
                format!("({}) is not a destination like \"https://api.example.com\"", text.quoted()),
                problems,
            );
            None
        }
    }
}

fn methods(fields: &Fields<'_>, key: &str, problems: &mut Problems) -> Option<Vec<String>> {
    let mut methods = Vec::new();
    for (field, text) in fields.get(key)?.texts(problems) {
        let is_method_char = |c: char| c.is_ascii_uppercase() || c == '-';
        let quoted = text.quoted();
        if text.value.is_empty() || text.value.len() > 32 || !text.value.chars().all(is_method_char) {
            field.report(
                format!("must contain methods in upper case, like \"POST\" (got {quoted})"),
                problems,
            );
        } else if FORBIDDEN_METHODS.contains(&text.value.as_str()) {
            field.report(format!("contains {quoted}, which cannot be granted"), problems);
        } else if !methods.contains(&text.value) {
            methods.push(text.value.clone());
        }
    }
    Some(methods)
}

impl Grant for HttpGrant {
    fn key(&self) -> &'static Key {
        &KEY
    }

    fn read(&self, field: &Field<'_>, reading: &mut GrantReading<'_>) {
        let before = reading.problems.len();
        reading.granted.grants.http.rules = read(field, reading.problems);
        reading.has_invalid_rules = reading.problems.len() > before;
    }

    fn is_given(&self, policy: &Policy) -> bool {
        !policy.grants.http.rules.is_empty()
    }

    fn covers(&self, policy: &Policy, want: &WantedGrant<'_>) -> bool {
        let rules = &policy.grants.http.rules;
        match wanted_destination(want) {
            Some((_, to)) => rules.iter().any(|rule| covers(&rule.to, &to)),
            None => !rules.is_empty(),
        }
    }

    fn explain(&self, policy: &Policy, worst: Effect) -> Vec<String> {
        policy.grants.http.rules.iter().map(|rule| explain(rule, worst)).collect()
    }

    fn draft(&self, wants: &WantedGrants<'_>) -> Option<String> {
        // A secret requires a host that `http` grants.
        let has_secrets = wants.has("secrets");
        if !wants.has(KEY.name) && !has_secrets {
            return None;
        }
        let named = wants.wanted(KEY.name).filter_map(|want| Some(wanted_destination(&want)?.0.to_owned()));
        let mut named: Vec<String> = named.collect();
        if named.is_empty() || (has_secrets && secret_hosts(wants).is_empty()) {
            named.push(format!("https://{PLACEHOLDER_HOST}"));
        }
        Some(toml_list(named.iter().map(|text| toml_text(text))))
    }
}

/// Lists the destinations to which actions up to this effect can send requests.
pub fn sends(policy: &Policy, worst: Effect) -> Vec<String> {
    let rules = policy.grants.http.rules.iter();
    let sending = rules.filter(|rule| worst > Effect::Read || !read_methods(rule).is_empty());
    sending.map(|rule| rule.to.to_string()).collect()
}

fn explain(rule: &HttpRule, worst: Effect) -> String {
    let to = match rule.to.host {
        HostPattern::Any => format!("every public host ({})", rule.to),
        _ => rule.to.to_string(),
    };
    let read_methods = read_methods(rule);
    if worst == Effect::Read {
        return match read_methods.as_slice() {
            [] => format!("send no requests to {to}: its actions only read, and no granted method does"),
            methods => format!("send {} requests to {to}", join(methods)),
        };
    }
    let sent = match &rule.methods {
        Some(methods) => format!("send {} requests to {to}", join(methods)),
        None => format!("send requests to {to}"),
    };
    let is_for_reading = |method: &String| read_methods.contains(&method.as_str());
    if rule.methods.as_ref().is_some_and(|methods| methods.iter().all(is_for_reading)) {
        sent
    } else if read_methods.is_empty() {
        format!("{sent}; its read actions send none")
    } else {
        format!("{sent}; its read actions send only {}", join(&read_methods))
    }
}

/// Lists the methods that `read` actions may send.
fn read_methods(rule: &HttpRule) -> Vec<&str> {
    let allowed = |method: &str| rule.methods.as_ref().is_none_or(|some| some.iter().any(|m| m == method));
    let mut methods: Vec<&str> = READ_METHODS.into_iter().filter(|method| allowed(method)).collect();
    methods.extend(rule.reads.iter().map(String::as_str).filter(|method| !READ_METHODS.contains(method)));
    methods
}

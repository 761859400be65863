//! `http`: where a plugin may send requests, and by which methods.

use loggia_egress::{Destination, HostPattern, Rule};

use crate::config::policy::{
    field::{Field, Fields},
    key::{Key, names},
    problem::Problems,
};

/// The methods that a `read` action may send anywhere.
const READING: [&str; 2] = ["GET", "HEAD"];
/// One opens a tunnel that no rule sees into, the other hands back what proxies added on the way.
const REFUSED: [&str; 2] = ["CONNECT", "TRACE"];

/// The key.
pub const KEY: Key = Key {
    name: "http",
    kind: "list of strings or tables",
    default: Some("[]"),
    means: "where it may send requests: a scheme, a host and perhaps a port, `https://*.example.com` for every name below \
            one. A string allows every method. Private, loopback and link-local addresses, and those of this machine's own \
            interfaces, are refused, whatever name leads to them, unless an entry is that very address. A `read` action \
            sends GET and HEAD only; a GET by which a server changes something counts as reading, so grant no such URL to a \
            plugin that is to read",
    example: r#"["https://api.github.com", { url = "https://api.example.com", methods = ["GET", "POST"], reads = ["POST"] }]"#,
    inner: &[
        Key {
            name: "url",
            kind: "destination",
            default: None,
            means: "where to",
            example: "\"https://*.example.com:8443\"",
            inner: &[],
        },
        Key {
            name: "methods",
            kind: "list of methods",
            default: Some(""),
            means: "by which methods; without it, by all",
            example: r#"["GET", "POST"]"#,
            inner: &[],
        },
        Key {
            name: "reads",
            kind: "list of methods",
            default: Some("[]"),
            means: "methods beside GET and HEAD that only read there, so that a `read` action may send them: a search by POST",
            example: r#"["POST"]"#,
            inner: &[],
        },
    ],
};

/// Reads the key.
pub fn read(field: &Field<'_>, problems: &mut Problems) -> Vec<Rule> {
    field.items(problems).iter().filter_map(|item| rule(item, problems)).collect()
}

fn rule(item: &Field<'_>, problems: &mut Problems) -> Option<Rule> {
    if !item.is_table() {
        let to = destination(item, problems)?;
        return Some(Rule { to, methods: None, reads: Vec::new() });
    }
    let fields = item.fields(names(KEY.inner), problems)?;
    let to = fields.needed("url", problems).and_then(|field| destination(&field, problems));
    let allowed = methods(&fields, "methods", problems);
    if let Some(field) = fields.get("methods").filter(Field::is_empty_list) {
        field.wrong("allows nothing; leave it out to allow every method", problems);
    }
    let reads = methods(&fields, "reads", problems).unwrap_or_default();
    if let (Some(allowed), Some(field)) = (&allowed, fields.get("reads")) {
        for method in reads.iter().filter(|method| !allowed.contains(method) && !is_reading(method)) {
            field.wrong(format!("names {method}, which `methods` does not allow"), problems);
        }
    }
    Some(Rule { to: to?, methods: allowed, reads })
}

fn is_reading(method: &str) -> bool {
    READING.contains(&method)
}

fn destination(field: &Field<'_>, problems: &mut Problems) -> Option<Destination> {
    let text =
        field.text_of("a destination in quotes, like \"https://api.example.com\", or a table", problems)?;
    match Destination::parse(&text.value) {
        Ok(to) => Some(to),
        Err(said) if text.written.is_none() => {
            field.wrong(said, problems);
            None
        }
        // What is wrong with it may quote it.
        Err(_) => {
            field.wrong(
                format!("({}) is no destination like \"https://api.example.com\"", text.shown()),
                problems,
            );
            None
        }
    }
}

fn methods(fields: &Fields<'_>, key: &str, problems: &mut Problems) -> Option<Vec<String>> {
    let mut methods = Vec::new();
    for (field, text) in fields.get(key)?.texts(problems) {
        let named = |c: char| c.is_ascii_uppercase() || c == '-';
        let shown = text.shown();
        if text.value.is_empty() || text.value.len() > 32 || !text.value.chars().all(named) {
            field.wrong(format!("must name methods in capitals, like \"POST\" (it is {shown})"), problems);
        } else if REFUSED.contains(&text.value.as_str()) {
            field.wrong(format!("names {shown}, which no plugin may send"), problems);
        } else if !methods.contains(&text.value) {
            methods.push(text.value.clone());
        }
    }
    Some(methods)
}

/// Whether all requests to one destination are among those to another.
pub fn covers(granted: &Destination, to: &Destination) -> bool {
    let is_below = |name: &str, parent: &str| {
        name.strip_suffix(parent).is_some_and(|rest| rest.len() > 1 && rest.ends_with('.'))
    };
    let is_host = match (&granted.host, &to.host) {
        (HostPattern::Below(parent), HostPattern::Name(name)) => is_below(name, parent),
        (HostPattern::Below(parent), HostPattern::Below(name)) => name == parent || is_below(name, parent),
        (granted, host) => granted == host,
    };
    granted.scheme == to.scheme && granted.port == to.port && is_host
}

#[cfg(test)]
mod tests {
    use loggia_egress::Scheme;

    use super::*;

    #[test]
    fn a_destination_covers_its_host_or_what_lies_below() {
        let name = |name: &str| HostPattern::Name(name.to_owned());
        let below = |name: &str| HostPattern::Below(name.to_owned());
        let check = |scheme, granted: &HostPattern, port, host: &HostPattern, expected: bool| {
            let granted = Destination { scheme, host: granted.clone(), port };
            let to = Destination { scheme: Scheme::Https, host: host.clone(), port: 443 };
            assert_eq!(covers(&granted, &to), expected, "{granted:?} {to:?}");
        };
        check(Scheme::Https, &name("example.com"), 443, &name("example.com"), true);
        check(Scheme::Http, &name("example.com"), 443, &name("example.com"), false);
        check(Scheme::Https, &name("example.com"), 8443, &name("example.com"), false);
        check(Scheme::Https, &name("example.com"), 443, &name("api.example.com"), false);
        check(Scheme::Https, &below("example.com"), 443, &name("api.example.com"), true);
        check(Scheme::Https, &below("example.com"), 443, &name("a.b.example.com"), true);
        check(Scheme::Https, &below("example.com"), 443, &name("example.com"), false);
        check(Scheme::Https, &below("example.com"), 443, &name(".example.com"), false);
        check(Scheme::Https, &below("example.com"), 443, &name("badexample.com"), false);
        check(Scheme::Https, &below("example.com"), 443, &below("example.com"), true);
        check(Scheme::Https, &below("example.com"), 443, &below("a.example.com"), true);
        check(Scheme::Https, &below("a.example.com"), 443, &below("example.com"), false);
        check(Scheme::Https, &name("a.example.com"), 443, &below("example.com"), false);
        let address = HostPattern::Address([10, 0, 0, 1].into());
        check(Scheme::Https, &address, 443, &address, true);
        check(Scheme::Https, &address, 443, &HostPattern::Address([10, 0, 0, 2].into()), false);
    }
}

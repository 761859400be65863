//! Destinations of requests, which `http` and `secrets` share.

use loggia_egress::{HostPattern, RuleDestination, UrlScheme};

use super::grant::{WantedGrant, WantedGrants};

/// Placeholder in drafts for a host that the plugin does not name.
pub(super) const PLACEHOLDER_HOST: &str = "api.example.com";

/// Returns the destination that a plugin requests, verbatim and parsed.
pub(super) fn wanted_destination<'a>(want: &WantedGrant<'a>) -> Option<(&'a str, RuleDestination)> {
    let text = want.word()?;
    Some((text, RuleDestination::parse(text).ok()?))
}

/// Lists the single hosts that a plugin requests over HTTPS. Drafts grant secrets for these.
pub(super) fn secret_hosts(wants: &WantedGrants<'_>) -> Vec<String> {
    let named = wants.wanted("http").filter_map(|want| wanted_destination(&want));
    let hosts = named.filter_map(|(_, to)| {
        let HostPattern::Name(name) = to.host else { return None };
        let port = if to.port == 443 { String::new() } else { format!(":{}", to.port) };
        (to.scheme == UrlScheme::Https).then(|| format!("{name}{port}"))
    });
    hosts.collect()
}

/// Returns true if a granted destination includes all requests to another one.
pub(super) fn covers(granted: &RuleDestination, to: &RuleDestination) -> bool {
    let is_below = |name: &str, parent: &str| {
        name.strip_suffix(parent).is_some_and(|rest| rest.len() > 1 && rest.ends_with('.'))
    };
    let is_host = match (&granted.host, &to.host) {
        (HostPattern::Any, to) => !matches!(to, HostPattern::Address(_)),
        (HostPattern::Below(parent), HostPattern::Name(name)) => is_below(name, parent),
        (HostPattern::Below(parent), HostPattern::Below(name)) => name == parent || is_below(name, parent),
        (granted, host) => granted == host,
    };
    granted.scheme == to.scheme && granted.port == to.port && is_host
}

#[cfg(test)]
mod tests {
    use loggia_egress::UrlScheme;

    use super::*;

    #[test]
    fn a_destination_covers_its_host_or_subdomains() {
        let name = |name: &str| HostPattern::Name(name.to_owned());
        let below = |name: &str| HostPattern::Below(name.to_owned());
        let check = |scheme, granted: &HostPattern, port, host: &HostPattern, expected: bool| {
            let granted = RuleDestination { scheme, host: granted.clone(), port };
            let to = RuleDestination { scheme: UrlScheme::Https, host: host.clone(), port: 443 };
            assert_eq!(covers(&granted, &to), expected, "{granted:?} {to:?}");
        };
        check(UrlScheme::Https, &name("example.com"), 443, &name("example.com"), true);
        check(UrlScheme::Http, &name("example.com"), 443, &name("example.com"), false);
        check(UrlScheme::Https, &name("example.com"), 8443, &name("example.com"), false);
        check(UrlScheme::Https, &name("example.com"), 443, &name("api.example.com"), false);
        check(UrlScheme::Https, &below("example.com"), 443, &name("api.example.com"), true);
        check(UrlScheme::Https, &below("example.com"), 443, &name("a.b.example.com"), true);
        check(UrlScheme::Https, &below("example.com"), 443, &name("example.com"), false);
        check(UrlScheme::Https, &below("example.com"), 443, &name(".example.com"), false);
        check(UrlScheme::Https, &below("example.com"), 443, &name("badexample.com"), false);
        check(UrlScheme::Https, &below("example.com"), 443, &below("example.com"), true);
        check(UrlScheme::Https, &below("example.com"), 443, &below("a.example.com"), true);
        check(UrlScheme::Https, &below("a.example.com"), 443, &below("example.com"), false);
        check(UrlScheme::Https, &name("a.example.com"), 443, &below("example.com"), false);
        for (host, expected) in
            [(name("a.example"), true), (below("example"), true), (HostPattern::Any, true)]
        {
            check(UrlScheme::Https, &HostPattern::Any, 443, &host, expected);
            check(UrlScheme::Http, &HostPattern::Any, 80, &host, false);
        }
        check(UrlScheme::Https, &below("example.com"), 443, &HostPattern::Any, false);
        check(UrlScheme::Https, &HostPattern::Any, 443, &HostPattern::Address([1, 1, 1, 1].into()), false);
        let address = HostPattern::Address([10, 0, 0, 1].into());
        check(UrlScheme::Https, &address, 443, &address, true);
        check(UrlScheme::Https, &address, 443, &HostPattern::Address([10, 0, 0, 2].into()), false);
    }
}

//! Which requests a policy allows, and what a refusal says.

use std::net::IpAddr;

use http::{Method, Uri};
use loggia_egress::{
    AddressClass, EgressGrants,
    EgressMode::{self, Reads, Writes},
    HttpRule, RequestTarget, RuleDestination, policy,
};

fn rule(to: &str, methods: Option<&[&str]>, reads: &[&str]) -> HttpRule {
    let own = |list: &[&str]| list.iter().map(|m| (*m).to_owned()).collect();
    HttpRule { to: RuleDestination::parse(to).expect(to), methods: methods.map(own), reads: own(reads) }
}

fn grants() -> EgressGrants {
    EgressGrants {
        rules: vec![
            rule("https://api.example.com", None, &[]),
            rule("https://*.wild.example", None, &[]),
            rule("https://some.example:8443", Some(&["GET", "PUT"]), &["POST"]),
            rule("http://localhost:8080", None, &[]),
            rule("http://127.0.0.1:8080", None, &[]),
            rule("http://[::1]:9000", None, &[]),
            rule("https://93.184.215.21", None, &[]),
            rule("https://*:9443", None, &[]),
        ],
        secrets: Vec::new(),
    }
}

/// "ok", or a part of the refusal.
fn check(mode: EgressMode, method: &str, url: &str, expected: &str) {
    let verdict = url.parse::<Uri>().map_err(|error| error.to_string()).and_then(|uri| {
        let method = Method::from_bytes(method.as_bytes()).expect("a method");
        let target = RequestTarget::parse(&uri).map_err(|refusal| refusal.to_string())?;
        policy::check(&grants(), mode, &method, &target).map_err(|refusal| refusal.to_string())?;
        Ok(())
    });
    match verdict {
        Ok(()) => assert_eq!(expected, "ok", "{method} {url} was allowed"),
        Err(why) => assert!(why.contains(expected), "{method} {url}: {why}"),
    }
}

#[test]
fn requests_match_rules_exactly() {
    let granted = [
        (Reads, "GET", "https://api.example.com/x?y"),
        (Reads, "HEAD", "https://API.example.com.:443/"),
        (Writes, "DELETE", "https://api.example.com"),
        (Reads, "GET", "https://a.wild.example/"),
        (Reads, "GET", "https://a.b.wild.example/"),
        (Writes, "PUT", "https://some.example:8443/"),
        (Reads, "POST", "https://some.example:8443/"),
        (Writes, "POST", "https://some.example:8443/"),
        (Reads, "GET", "http://localhost:8080/"),
        (Reads, "GET", "http://127.0.0.1:8080/"),
        (Reads, "GET", "http://[::1]:9000/"),
        (Reads, "GET", "https://a.b.example:9443/"),
        (Reads, "GET", "https://localhost:9443/"),
    ];
    for (mode, method, url) in granted {
        check(mode, method, url, "ok");
    }
    let refused = [
        (Writes, "GET", "https://evilapi.example.com/", "is not granted"),
        (Writes, "GET", "https://example.com/", "is not granted"),
        (Writes, "GET", "https://api.example.com.evil.org/", "is not granted"),
        (Writes, "GET", "https://wild.example/", "is not granted"),
        (Writes, "GET", "https://evilwild.example/", "is not granted"),
        (Writes, "GET", "https://.wild.example/", "is empty"),
        (Writes, "GET", "http://api.example.com/", "(https://api.example.com is)"),
        (Writes, "GET", "https://api.example.com:8443/", "http = [\"https://api.example.com:8443\"]"),
        (Writes, "GET", "https://api.example.com@127.0.0.1/", "user name"),
        (Writes, "GET", "https://u:p@api.example.com/", "user name"),
        (Writes, "GET", "http://127.0.0.1:8081/", "(http://127.0.0.1:8080 is)"),
        (Writes, "GET", "https://127.0.0.1:8080/", "is not granted"),
        (Writes, "GET", "http://127.0.0.2:8080/", "is not granted"),
        (Writes, "GET", "http://[::1]:8080/", "is not granted"),
        (Writes, "GET", "http://2130706433:8080/", "write 127.0.0.1"),
        (Writes, "GET", "http://0x7f.1:8080/", "write 127.0.0.1"),
        (Writes, "GET", "http://127.1:8080/", "write 127.0.0.1"),
        (Writes, "GET", "http://[::ffff:127.0.0.1]:8080/", "write 127.0.0.1"),
        (Writes, "GET", "http://0.0.0.0:8080/", "is not granted"),
        (Writes, "GET", "http://169.254.169.254/", "is not granted"),
        (Writes, "GET", "http://metadata.google.internal/", "is not granted"),
        (Writes, "GET", "http://[fd00:ec2::254]/", "is not granted"),
        (Writes, "GET", "ftp://api.example.com/", "http and https"),
        (Writes, "GET", "/relative", "absolute"),
        (Writes, "TRACE", "https://api.example.com/", "never sent"),
        (Writes, "CONNECT", "https://api.example.com/", "never sent"),
        (Writes, "DELETE", "https://some.example:8443/", "`methods`"),
        (Reads, "PUT", "https://some.example:8443/", "only reads"),
        (Reads, "POST", "https://api.example.com/", "`reads`"),
        (Reads, "get", "https://api.example.com/", "only reads"),
        (Reads, "OPTIONS", "https://api.example.com/", "only reads"),
        (Writes, "HEAD", "https://some.example:8443/", "`methods`"),
        (Writes, "GET", "https://127.0.0.1:9443/", "is not granted"),
        (Writes, "GET", "https://8.8.8.8:9443/", "is not granted"),
        (Writes, "GET", "http://a.b.example:9443/", "is not granted"),
        (Reads, "POST", "https://a.b.example:9443/", "`reads`"),
    ];
    for (mode, method, url, why) in refused {
        check(mode, method, url, why);
    }
}

/// H25.
#[test]
fn an_address_that_is_not_public_must_be_granted_by_number() {
    let target = |url: &str| RequestTarget::parse(&url.parse().expect(url)).expect(url);
    let own = ["93.184.215.20", "93.184.215.21", "2606:4700::20", "198.51.100.7"]
        .map(|own| own.parse().expect(own));
    let table = [
        ("http://localhost:8080", "127.0.0.1", None),
        ("http://localhost:8080", "::ffff:127.0.0.1", None),
        ("http://localhost:8080", "::1", Some(AddressClass::Loopback)),
        ("http://localhost:9000", "::1", None),
        ("https://localhost:8080", "127.0.0.1", Some(AddressClass::Loopback)),
        ("http://localhost:8081", "127.0.0.1", Some(AddressClass::Loopback)),
        ("https://api.example.com", "93.184.215.14", None),
        ("https://api.example.com", "10.0.0.1", Some(AddressClass::Private)),
        ("http://localhost:8080", "64:ff9b::7f00:1", Some(AddressClass::Loopback)),
        // This machine's own, though they are public; granted by number they are as good as any.
        ("https://api.example.com", "93.184.215.20", Some(AddressClass::Own)),
        ("https://api.example.com", "::ffff:93.184.215.20", Some(AddressClass::Own)),
        ("https://api.example.com", "64:ff9b::5db8:d714", Some(AddressClass::Own)),
        ("https://api.example.com", "2606:4700::20", Some(AddressClass::Own)),
        ("https://api.example.com", "2606:4700::21", None),
        ("https://api.example.com", "198.51.100.7", Some(AddressClass::Documentation)),
        ("https://a.b.example:9443", "10.0.0.1", Some(AddressClass::Private)),
        ("https://localhost:9443", "127.0.0.1", Some(AddressClass::Loopback)),
        ("https://a.b.example:9443", "93.184.215.14", None),
        ("https://93.184.215.21", "93.184.215.21", None),
        ("http://93.184.215.21", "93.184.215.21", Some(AddressClass::Own)),
    ];
    let verdict = |own: Option<&[IpAddr]>, url: &str, address: &str| {
        policy::check_address(&grants(), own, &target(url), address.parse().expect(address)).err()
    };
    for (url, address, refused) in table {
        assert_eq!(verdict(Some(&own), url, address), refused, "{url} at {address}");
    }
    // Where this machine's addresses cannot be listed, any public one may be its own.
    for (url, address, refused) in [
        ("https://api.example.com", "93.184.215.14", Some(AddressClass::Own)),
        ("https://api.example.com", "10.0.0.1", Some(AddressClass::Private)),
        ("https://93.184.215.21", "93.184.215.21", None),
    ] {
        assert_eq!(verdict(None, url, address), refused, "{url} at {address}, own addresses unknown");
    }
}

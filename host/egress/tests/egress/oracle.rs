//! The rules against naive ones that are written in another way.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use http::Method;
use loggia_egress::{AddressClass, RuleDestination, EgressGrants, UrlHost, EgressMode, HttpRule, RequestTarget, policy};
use proptest::prelude::*;

/// Everything that is not the public internet, without addresses inside others.
const NOT_PUBLIC_V4: &str = "0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 \
    192.0.2.0/24 192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4 \
    168.63.129.16/32";
const NOT_PUBLIC_V6: &str = "2001::/23 2001:db8::/32 2002::/16 3fff::/20";

fn bits(address: IpAddr) -> String {
    match address {
        IpAddr::V4(address) => address.octets().iter().map(|b| format!("{b:08b}")).collect(),
        IpAddr::V6(address) => address.octets().iter().map(|b| format!("{b:08b}")).collect(),
    }
}

fn within(address: IpAddr, list: &str) -> bool {
    list.split_whitespace().any(|cidr| {
        let (base, length) = cidr.split_once('/').expect("a CIDR");
        let length: usize = length.parse().expect("a length");
        bits(base.parse().expect("an address"))[..length] == bits(address)[..length]
    })
}

fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(_) => !within(address, NOT_PUBLIC_V4),
        IpAddr::V6(v6) => {
            let o = v6.octets();
            let tail = IpAddr::from([o[12], o[13], o[14], o[15]]);
            if within(address, "::ffff:0:0/96 64:ff9b::/96") {
                return is_public(tail);
            }
            let isatap = ["00005efe", "02005efe"]
                .contains(&o[8..12].iter().map(|b| format!("{b:02x}")).collect::<String>().as_str());
            within(address, "2000::/3") && !within(address, NOT_PUBLIC_V6) && (!isatap || is_public(tail))
        }
    }
}

fn v4() -> impl Strategy<Value = Ipv4Addr> {
    let edges =
        NOT_PUBLIC_V4.split_whitespace().map(|cidr| cidr.split('/').next().expect("a base").to_owned());
    let edge = proptest::sample::select(edges.collect::<Vec<_>>());
    let near = (edge, -2i64..1 << 17).prop_map(|(base, off)| {
        let base = i64::from(u32::from(base.parse::<Ipv4Addr>().expect("an address")));
        Ipv4Addr::from(u32::try_from((base + off).clamp(0, i64::from(u32::MAX))).expect("clamped"))
    });
    prop_oneof![any::<u32>().prop_map(Ipv4Addr::from), near]
}

fn v6() -> impl Strategy<Value = Ipv6Addr> {
    let prefixes = vec![
        "::",
        "::ffff:0:0",
        "::ffff:0:0:0",
        "64:ff9b::",
        "64:ff9b:1::",
        "2002::",
        "2001::",
        "2001:db8::",
        "3fff::",
        "fe80::",
        "fec0::",
        "fc00::",
        "ff00::",
        "100::",
        "2606:4700::5efe:0:0",
        "2606:4700::200:5efe:0:0",
        "2606:4700::",
        "5f00::",
        "2001:200::",
    ];
    let near = (proptest::sample::select(prefixes), v4(), 0u32..100).prop_map(|(prefix, v4, shift)| {
        let prefix = u128::from(prefix.parse::<Ipv6Addr>().expect("an address"));
        Ipv6Addr::from(prefix | (u128::from(u32::from(v4)) << if shift < 50 { 0 } else { shift - 12 }))
    });
    prop_oneof![any::<u128>().prop_map(Ipv6Addr::from), near]
}

fn name() -> impl Strategy<Value = String> {
    "(api|evil|a)?(\\.)?(example|wild)(\\.(com|org|example)){1,2}"
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4096, failure_persistence: None, ..Default::default() })]

    #[test]
    fn only_the_public_internet_is_public(v4 in v4(), v6 in v6()) {
        for address in [IpAddr::from(v4), v6.into(), v4.to_ipv6_mapped().into()] {
            prop_assert_eq!(AddressClass::classify(address) == AddressClass::Public, is_public(address), "{}", address);
        }
    }

    #[test]
    fn hosts_never_panic_and_keep_their_form(text in "(\\PC{0,12}|[0-9a-fx.:\\[\\]%@-]{0,20})") {
        if let Ok((host, _)) = UrlHost::parse_with_port(&text) {
            prop_assert_eq!(UrlHost::parse(&host.to_string()), Ok(host));
        }
        let _ = RuleDestination::parse(&format!("https://{text}"));
    }

    #[test]
    fn a_request_passes_as_a_simple_reader_would_say(
        granted in name(), below in any::<bool>(), asked in name(), secure in any::<bool>(),
        port in proptest::sample::select(vec![80u16, 443, 8443]),
        method in proptest::sample::select(vec!["GET", "HEAD", "POST", "PUT"]),
        methods in proptest::option::of(proptest::sample::subsequence(vec!["GET", "POST", "PUT"], 0..3)),
        reads in proptest::sample::subsequence(vec!["POST", "PUT"], 0..2), reading in any::<bool>(),
    ) {
        let star = if below { "*." } else { "" };
        let Ok(to) = RuleDestination::parse(&format!("https://{star}{granted}")) else { return Ok(()) };
        let scheme = if secure { "https" } else { "http" };
        let uri = format!("{scheme}://{asked}:{port}/").parse().expect("a URL");
        let Ok(target) = RequestTarget::parse(&uri) else { return Ok(()) };
        let own = |list: &[&str]| list.iter().map(|m| (*m).to_owned()).collect::<Vec<_>>();
        let rule = HttpRule { to, methods: methods.as_deref().map(own), reads: own(&reads) };
        let grants = EgressGrants { rules: vec![rule], secrets: Vec::new() };
        let mode = if reading { EgressMode::Reads } else { EgressMode::Writes };
        let passed = policy::check(&grants, mode, &Method::try_from(method).expect("a method"), &target).is_ok();

        let host = if below { asked.ends_with(&format!(".{granted}")) } else { asked == granted };
        let listed = methods.is_none_or(|list| list.contains(&method)) || reads.contains(&method);
        let reads = !reading || method == "GET" || method == "HEAD" || reads.contains(&method);
        prop_assert_eq!(passed, host && secure && port == 443 && listed && reads);
    }
}

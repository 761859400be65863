//! Tables of addresses, hosts and destinations, most of them attempts to get past the rules.

use loggia_egress::{AddressClass, RuleDestination, UrlHost};

/// H25.
#[test]
fn addresses_have_the_class_of_what_they_lead_to() {
    use AddressClass::*;
    let table = [
        ("8.8.8.8", Public),
        ("1.1.1.1", Public),
        ("172.15.0.1", Public),
        ("172.32.0.1", Public),
        ("100.63.0.1", Public),
        ("100.128.0.1", Public),
        ("192.167.0.1", Public),
        ("223.255.255.255", Public),
        ("2606:4700::1111", Public),
        ("::ffff:8.8.8.8", Public),
        ("64:ff9b::808:808", Public),
        ("127.0.0.1", Loopback),
        ("127.255.255.254", Loopback),
        ("::1", Loopback),
        ("::ffff:127.0.0.1", Loopback),
        ("::127.0.0.1", Loopback),
        ("::ffff:0:127.0.0.1", Loopback),
        ("64:ff9b::7f00:1", Loopback),
        ("2002:7f00:1::", Loopback),
        ("2001:0:1:2:3:4:80ff:fffe", Loopback),
        ("2606:4700::5efe:7f00:1", Loopback),
        ("10.0.0.1", Private),
        ("172.16.0.1", Private),
        ("172.31.255.255", Private),
        ("192.168.1.1", Private),
        ("::ffff:10.0.0.1", Private),
        ("64:ff9b::a00:1", Private),
        ("64:ff9b:1::a00:1", Private),
        ("64:ff9b:1::808:808", Private),
        ("2002:a00:1::1", Private),
        ("fc00::1", Private),
        ("fdff::1", Private),
        ("fec0::1", Private),
        ("2606:4700::200:5efe:a00:1", Private),
        ("169.254.1.1", LinkLocal),
        ("fe80::1", LinkLocal),
        ("febf::1", LinkLocal),
        ("100.64.0.1", CarrierGrade),
        ("100.127.255.255", CarrierGrade),
        ("169.254.169.254", Metadata),
        ("169.254.170.2", Metadata),
        ("100.100.100.200", Metadata),
        ("192.0.0.192", Metadata),
        ("168.63.129.16", Metadata),
        ("fd00:ec2::254", Metadata),
        ("fd20:ce::254", Metadata),
        ("::ffff:169.254.169.254", Metadata),
        ("64:ff9b::a9fe:a9fe", Metadata),
        ("2002:a9fe:a9fe::", Metadata),
        ("224.0.0.1", Multicast),
        ("239.255.255.255", Multicast),
        ("ff02::1", Multicast),
        ("255.255.255.255", Broadcast),
        ("0.0.0.0", Unspecified),
        ("0.1.2.3", Unspecified),
        ("::", Unspecified),
        ("192.0.2.1", Documentation),
        ("198.51.100.1", Documentation),
        ("203.0.113.1", Documentation),
        ("2001:db8::1", Documentation),
        ("3fff::1", Documentation),
        ("198.18.0.1", Benchmark),
        ("198.19.255.255", Benchmark),
        ("2001:2::1", Benchmark),
        ("192.0.0.1", Reserved),
        ("192.88.99.1", Reserved),
        ("240.0.0.1", Reserved),
        ("::808:808", Reserved),
        ("2002:808:808::1", Reserved),
        ("2001:0:1:2:3:4:f7f7:f7f7", Reserved),
        ("100::1", Reserved),
        ("2001:10::1", Reserved),
        ("2001:20::1", Reserved),
        ("5f00::1", Reserved),
        ("4000::1", Reserved),
        ("64:ff9b:2::1", Reserved),
    ];
    for (address, class) in table {
        assert_eq!(AddressClass::classify(address.parse().expect(address)), class, "{address}");
    }
}

/// H25.
#[test]
fn hosts_have_one_form() {
    let table = [
        ("api.example.com", "api.example.com"),
        ("API.Example.COM", "api.example.com"),
        ("localhost.", "localhost"),
        ("xn--bcher-kva.example", "xn--bcher-kva.example"),
        ("my_service", "my_service"),
        ("1.2.3.4.example", "1.2.3.4.example"),
        ("127.0.0.1", "127.0.0.1"),
        ("[::1]", "[::1]"),
        ("[0:0:0:0:0:0:0:1]", "[::1]"),
        ("0x.example", "0x.example"),
    ];
    for (text, canonical) in table {
        assert_eq!(UrlHost::parse(text).expect(text).to_string(), canonical);
    }
    let refused = [
        ("2130706433", "write 127.0.0.1"),
        ("0x7f.1", "write 127.0.0.1"),
        ("0x7f.0.1", "write 127.0.0.1"),
        ("0", "write 0.0.0.0"),
        ("0x", "write 0.0.0.0"),
        ("2852039166", "write 169.254.169.254"),
        ("0xa9fea9fe", "write 169.254.169.254"),
        ("0251.0376.0251.0376", "write 169.254.169.254"),
        ("0xa9.254.0251.254", "write 169.254.169.254"),
        ("169.254.43518", "write 169.254.169.254"),
        ("[::ffff:10.0.0.1]", "write 10.0.0.1"),
        ("[::ffff:a9fe:a9fe]", "write 169.254.169.254"),
        ("4294967296", "unusual notation"),
        ("127.1", "write 127.0.0.1"),
        ("0177.0.0.1", "write 127.0.0.1"),
        ("0x7f000001", "write 127.0.0.1"),
        ("127.0.0.1.", "write 127.0.0.1"),
        ("017700000001", "write 127.0.0.1"),
        ("127.0.0.01", "write 127.0.0.1"),
        ("0X7F.0.0.1", "write 127.0.0.1"),
        ("[::ffff:127.0.0.1]", "write 127.0.0.1"),
        ("[::ffff:7f00:1]", "write 127.0.0.1"),
        ("256.1.1.1", "unusual notation"),
        ("1.2.3.4.5", "unusual notation"),
        ("example.1", "unusual notation"),
        ("08.1.1.1", "unusual notation"),
        ("[fe80::1%eth0]", "without a zone"),
        ("[fe80::1%25eth0]", "without a zone"),
        ("::1", "in brackets"),
        ("[127.0.0.1]", "in brackets"),
        ("[::1", "in brackets"),
        ("bücher.example", "write xn--bcher-kva.example"),
        ("127。0。0。1", "write 127.0.0.1"),
        ("①②⑦.0.0.1", "write 127.0.0.1"),
        ("api.exаmple.com", "write api.xn--"),
        ("", "is empty"),
        (".", "is empty"),
        ("a..b", "is empty"),
        ("a.b..", "is empty"),
        ("-a.b", "\"-\""),
        ("%6cocalhost", "'%'"),
        ("a b", "' '"),
        ("a\0b", "'\\0'"),
        ("a\\b", "'\\\\'"),
        ("*.a.b", "'*'"),
    ];
    for (text, why) in refused {
        let error = UrlHost::parse(text).expect_err(text).to_string();
        assert!(error.contains(why), "{text}: {error}");
    }
}

#[test]
fn destinations_are_read_strictly_and_shown_canonically() {
    let table = [
        ("https://api.example.com", "https://api.example.com"),
        ("HTTPS://API.example.COM.:443", "https://api.example.com"),
        ("https://*.example.com:8443", "https://*.example.com:8443"),
        ("https://*", "https://*"),
        ("http://*:8080", "http://*:8080"),
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
        ("http://[::1]:9000", "http://[::1]:9000"),
        ("http://localhost:80", "http://localhost"),
        ("http://169.254.169.254", "http://169.254.169.254"),
        ("https://example.com:80", "https://example.com:80"),
    ];
    for (text, shown) in table {
        let parsed = RuleDestination::parse(text).expect(text);
        assert_eq!(parsed.to_string(), shown);
        assert_eq!(RuleDestination::parse(shown).expect(shown), parsed);
    }
    let refused = [
        ("api.example.com", "write scheme"),
        ("ftp://a.b", "other than http"),
        ("wss://a.b", "other than http"),
        ("https://a.b/", "\"https://a.b\""),
        ("https://a.b/c?d", "path, query"),
        ("https://a.b#c", "fragment"),
        ("https://u:p@a.b", "user name"),
        ("http://api.example.com@127.0.0.1/", "path"),
        ("https://**", "`*`"),
        ("https://*:0", "port"),
        ("https://*.com", "top-level"),
        ("https://a.*.com", "`*`"),
        ("https://*a.com", "`*`"),
        ("https://*.*.com", "`*`"),
        ("https://*.127.0.0.1", "address"),
        ("https://*.[::1]", "address"),
        ("http://0x7f.1", "write \"http://127.0.0.1\""),
        ("http://2130706433", "write \"http://127.0.0.1\""),
        ("http://127.1:80", "write \"http://127.0.0.1\""),
        ("https://a.b:0", "port"),
        ("https://a.b:", "port"),
        ("https://a.b:65536", "port"),
        ("https://a.b:080", "port"),
        ("https://a.b:+80", "port"),
        ("https://bücher.example", "write \"https://xn--bcher-kva.example\""),
        ("http://0.0.0.0", "unspecified"),
        ("http://[::]", "unspecified"),
        ("http://224.0.0.1", "multicast"),
        ("http://255.255.255.255", "broadcast"),
        ("https:///", "path"),
        ("https://", "is empty"),
        ("", "write scheme"),
        ("https://a b", "' '"),
        ("https://a%2eb", "'%'"),
        ("https://[fe80::1%25eth0]", "zone"),
        ("https://a.b:1:2", "brackets"),
    ];
    for (text, why) in refused {
        let error = RuleDestination::parse(text).expect_err(text);
        assert!(error.contains(why), "{text}: {error}");
    }
}

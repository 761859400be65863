use super::*;

#[test]
fn addresses_are_accepted_and_foreign_names_are_refused() {
    let names = ["loggia.internal".to_owned()];
    let check = |host: &str, expected: bool| assert_eq!(is_own(host, &names), expected, "{host}");
    for own in [
        "localhost",
        "LOCALHOST:9090",
        "127.0.0.1:9090",
        "10.1.2.3",
        "[::1]:9090",
        "[::1]",
        "Loggia.internal:1",
    ] {
        check(own, true);
    }
    for other in [
        "evil.com",
        "evil.com:9090",
        "",
        ":9090",
        "localhost.evil.com",
        "127.0.0.1.evil.com:80",
        "::1",
        "localhost:x",
        "localhost:99999",
        "[127.0.0.1]",
        "[::1",
        "[::1]x",
        "user@localhost",
        "127.1",
    ] {
        check(other, false);
    }
}

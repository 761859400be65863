//! Replaces what was found in a text.

use crate::{
    cards, emails, ibans, keys,
    kind::DataKind::{self, ApiKey, BearerToken, Card, Email, Iban, Jwt, Phone, PrivateKey, UrlPassword},
    phones, private_keys,
    scan::Found,
    tokens, urls,
};

/// Finds one kind in a text, in order and without overlaps.
type Finder = fn(&str) -> Vec<Found>;

/// In the order of their importance: where two overlap, the first one names what is masked.
const FINDERS: [(DataKind, Finder); 9] = [
    (PrivateKey, private_keys::find),
    (Jwt, tokens::find_jwts),
    (BearerToken, tokens::find_bearers),
    (ApiKey, keys::find),
    (UrlPassword, urls::find_passwords),
    (Iban, ibans::find),
    (Card, cards::find),
    (Email, emails::find),
    (Phone, phones::find),
];

/// Masks a text; `None` if it holds nothing of the kinds that are not kept.
pub fn mask(text: &str, kept: &[DataKind]) -> Option<String> {
    let mut found: Vec<(Found, DataKind)> = Vec::new();
    for (kind, find) in FINDERS.iter().filter(|(kind, _)| !kept.contains(kind)) {
        for range in find(text) {
            let overlaps = found.iter().any(|(other, _)| other.start < range.end && range.start < other.end);
            if !overlaps {
                found.push((range, *kind));
            }
        }
    }
    if found.is_empty() {
        return None;
    }
    found.sort_by_key(|(range, _)| range.start);
    let (mut masked, mut at) = (String::with_capacity(text.len()), 0);
    for (range, kind) in found {
        masked.push_str(&text[at..range.start]);
        masked.push_str(kind.mask());
        at = range.end;
    }
    masked.push_str(&text[at..]);
    Some(masked)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Not written out, so that no scanner takes them for real ones.
    fn key(prefix: &str, tail: usize) -> String {
        format!("{prefix}{}", "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7".repeat(4).get(..tail).unwrap())
    }

    fn pem(kind: &str) -> String {
        format!("-----BEGIN {kind}-----\nMIIEvQ==\n-----END {kind}-----")
    }

    #[test]
    fn secrets_are_masked() {
        let aws = format!("AKIA{}", "A1B2C3D4E5F6G7H8");
        let jwt =
            format!("eyJ{}.eyJ{}.{}", "hbGciOiJIUzI1NiJ9", "zdWIiOiIxMjM0NTY3ODkwIn0", "dozjgNryP4J3jVmN");
        for (text, masked) in [
            (format!("key={aws}"), "key=[masked API key]"),
            (key("ghp_", 36), "[masked API key]"),
            (key("github_pat_", 40), "[masked API key]"),
            (key("glpat-", 20), "[masked API key]"),
            (format!("({})", key("xoxb-", 30)), "([masked API key])"),
            (key("sk-", 48), "[masked API key]"),
            (key("sk-ant-api03-", 60), "[masked API key]"),
            (key("sk_live_", 24), "[masked API key]"),
            (key("AIza", 35), "[masked API key]"),
            (key("hf_", 34), "[masked API key]"),
            (key("loggia_", 48), "[masked API key]"),
            (format!("Authorization: Bearer {}", key("", 24)), "Authorization: Bearer [masked token]"),
            (format!("bearer {}.", key("", 24)), "bearer [masked token]."),
            ("authorization: Basic YWRhOmh1bnRlcjI=".to_owned(), "authorization: Basic [masked token]"),
            (format!("t: {jwt}!"), "t: [masked JWT]!"),
            (format!("a {} b", pem("RSA PRIVATE KEY")), "a [masked private key] b"),
            (pem("OPENSSH PRIVATE KEY"), "[masked private key]"),
            (pem("PGP PRIVATE KEY BLOCK"), "[masked private key]"),
            ("x -----BEGIN PRIVATE KEY-----\nMIIE (cut)".to_owned(), "x [masked private key]"),
            ("postgres://ada:hunter2@db/x".to_owned(), "postgres://ada:***@db/x"),
            ("see https://u:p%40@a.example:1/?q=@".to_owned(), "see https://u:***@a.example:1/?q=@"),
            ("redis://:hunter2@cache:6379".to_owned(), "redis://:***@cache:6379"),
        ] {
            assert_eq!(mask(&text, &[]).as_deref(), Some(masked), "{text}");
        }
    }

    #[test]
    fn personal_data_is_masked() {
        for (text, masked) in [
            ("ada.l+x@mail.example.com, bob@b.org.", "[masked e-mail], [masked e-mail]."),
            ("<mailto:ada@example.com>", "<mailto:[masked e-mail]>"),
            ("jürgen@müller.example", "[masked e-mail]"),
            ("+49 30 1234567", "[masked phone]"),
            ("+1 (555) 123-4567; tel:+441632960961", "[masked phone]; tel:[masked phone]"),
            ("(555) 223-4567 or 555-223-4567", "[masked phone] or [masked phone]"),
            ("IBAN DE89 3704 0044 0532 0130 00.", "IBAN [masked IBAN]."),
            ("GB82WEST12345698765432", "[masked IBAN]"),
            ("4111 1111 1111 1111", "[masked card]"),
            ("card 5500-0000-0000-0004, 378282246310005", "card [masked card], [masked card]"),
        ] {
            assert_eq!(mask(text, &[]).as_deref(), Some(masked), "{text}");
        }
    }

    #[test]
    fn what_only_resembles_them_stays() {
        for text in [
            "",
            "a plain sentence, with 12 words or so.",
            // Keys.
            "AKIA",
            "AKIAshort",
            "XAKIAA1B2C3D4E5F6G7H8",
            "sk-this-is-a-long-css-class-name",
            "task-sk-1",
            "ghp_tooshort",
            "hf_model",
            "npm_config_registry",
            // Tokens.
            "the bearer of good news",
            "Bearer authentication-is-required",
            "eyJ.eyJ.x",
            "eyJhbGciOiJIUzI1NiJ9",
            "authorization: see below",
            // Keys that are public.
            "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----",
            "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
            // URLs.
            "https://a.example/x:y@z",
            "https://ada@a.example",
            "ratio 3://4",
            "ssh://git@a.example:22/x",
            // E-mail.
            "@mention",
            "a@b",
            "icon@2x.png",
            "left-pad@1.3.0",
            "git@github.com:org/repo.git",
            "x @ y.com",
            // Phones: dates, times, versions, addresses, sums.
            "2026-11-25T20:01:28+00:00",
            "1.2.3.4",
            "192.168.100.200",
            "2026-11-25",
            "x+12345678",
            "+1 2 3",
            "3f2504e0-4f89-11d3-9a0c-0305e82c3301",
            "123-456-7890",
            "555-123-45678",
            "1700000000000",
            // IBANs and cards with wrong check digits, and other numbers.
            "DE88 3704 0044 0532 0130 00",
            "DE89 3704",
            "XX89370400440532013000",
            "4111 1111 1111 1112",
            "0000 0000 0000 0000",
            "9999999999999995",
            "12345678901234567890123",
        ] {
            assert_eq!(mask(text, &[]), None, "{text}");
        }
    }

    #[test]
    fn overlapping_finds_are_masked_once() {
        let token = key("", 30);
        for (text, masked) in [
            (format!("Bearer sk-{token}"), "Bearer [masked token]"),
            (format!("https://u:sk-{token}@a.example"), "https://u:[masked API key]@a.example"),
            ("mailto://ada:x@example.com".to_owned(), "mailto://ada:***@example.com"),
        ] {
            assert_eq!(mask(&text, &[]).as_deref(), Some(masked), "{text}");
        }
    }

    #[test]
    fn long_and_odd_texts_take_linear_time() {
        for unit in
            ["@", "a@", "+1 ", "://a:", "eyJ.", "4", "4 ", "DE89 ", "Bearer ", "-----BEGIN ", "é", "sk-a"]
        {
            let _ = mask(&unit.repeat(20_000), &[]);
        }
    }
}

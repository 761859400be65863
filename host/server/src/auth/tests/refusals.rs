//! H48: requests without a valid token are refused, and nothing of what they sent is logged or echoed.

use axum::http::{HeaderMap, header::AUTHORIZATION};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD as B64};
use serde_json::json;

use super::*;

#[tokio::test]
async fn h48_bad_tokens_are_refused_and_never_logged() {
    let (log, _guard) = CapturedLog::start();
    let keys = SigningKeys::generate();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("keys.json"), keys.public().to_string()).unwrap();
    let [good, old, unknown] = [(); 3].map(|()| token::generate());
    let tokens = [("ci", good.as_str(), "2099-01-01"), ("old", old.as_str(), "2020-01-01")];
    let auth = authenticator("keys.json", &tokens, folder.path());
    let now = token::now();
    let garbage = B64.encode([0xff; 64]);
    let (eve, ada) = (keys.token(json!({"sub": "eve"})), keys.token(json!({})));
    let forged = format!("{}.{}", eve.rsplit_once('.').unwrap().0, ada.rsplit_once('.').unwrap().1);
    let other = SigningKeys::generate();
    let one = |token: &str| bearer(token);

    let refused: Vec<(&str, HeaderMap, String, u16, &str)> = vec![
        ("none", HeaderMap::new(), String::new(), 401, ""),
        (
            "another scheme",
            HeaderMap::from_iter([(AUTHORIZATION, "Basic YWRhOmxvdmVsYWNl".parse().unwrap())]),
            String::new(),
            401,
            "",
        ),
        ("garbage", one(&garbage), String::new(), 401, "invalid_token"),
        ("dots", one("...."), String::new(), 401, "invalid_token"),
        ("two dots", one(".."), String::new(), 401, "invalid_token"),
        ("100 KiB", one(&"a".repeat(100 << 10)), String::new(), 401, "invalid_token"),
        (
            "a long token that counts otherwise",
            one(&keys.token(json!({"x": "a".repeat(9000)}))),
            String::new(),
            401,
            "longer",
        ),
        ("ours, unknown", one(&unknown), String::new(), 401, "may have been revoked"),
        ("ours, expired", one(&old), String::new(), 401, "has expired"),
        ("ours, cut off", one(&good[..50]), String::new(), 401, "truncated"),
        ("expired", one(&keys.token(json!({"exp": now - 61}))), String::new(), 401, "has expired"),
        ("without expiry", one(&keys.token(json!({"exp": null}))), String::new(), 401, "lacks a claim"),
        (
            "expiry that is none",
            one(&keys.token(json!({"exp": "never"}))),
            String::new(),
            401,
            "lacks a claim",
        ),
        ("not yet valid", one(&keys.token(json!({"nbf": now + 90}))), String::new(), 401, "not valid yet"),
        (
            "issued tomorrow",
            one(&keys.token(json!({"iat": now + 86400}))),
            String::new(),
            401,
            "not valid yet",
        ),
        (
            "wrong audience",
            one(&keys.token(json!({"aud": "https://other.example.com/mcp"}))),
            String::new(),
            401,
            "another server",
        ),
        (
            "audience with more",
            one(&keys.token(json!({"aud": format!("{RESOURCE}/x")}))),
            String::new(),
            401,
            "another server",
        ),
        ("without audience", one(&keys.token(json!({"aud": null}))), String::new(), 401, "lacks a claim"),
        ("empty audience", one(&keys.token(json!({"aud": []}))), String::new(), 401, "another server"),
        (
            "wrong issuer",
            one(&keys.token(json!({"iss": "https://id.example.com"}))),
            String::new(),
            401,
            "another issuer",
        ),
        (
            "two issuers",
            one(&keys.token(json!({"iss": [ISSUER, "https://evil.example"]}))),
            String::new(),
            401,
            "invalid_token",
        ),
        ("without issuer", one(&keys.token(json!({"iss": null}))), String::new(), 401, "invalid_token"),
        (
            "without subject",
            one(&keys.token(json!({"sub": null}))),
            String::new(),
            401,
            "lacks a valid subject",
        ),
        (
            "subject of 256 bytes",
            one(&keys.token(json!({"sub": "a".repeat(256)}))),
            String::new(),
            401,
            "lacks a valid subject",
        ),
        ("alg none", one(&keys.headed(json!({"alg": "none"}))), String::new(), 401, "invalid_token"),
        (
            "alg none, no key",
            one(&keys.headed(json!({"alg": "none", "kid": null}))),
            String::new(),
            401,
            "invalid_token",
        ),
        (
            "HS256 by the public key",
            one(&keys.headed(json!({"alg": "HS256"}))),
            String::new(),
            401,
            "algorithm that is not allowed",
        ),
        (
            "HS256, a shared key",
            one(&keys.headed(json!({"alg": "HS256", "kid": "shared"}))),
            String::new(),
            401,
            "algorithm that is not allowed",
        ),
        (
            "a key for another algorithm",
            one(&keys.headed(json!({"kid": "pss"}))),
            String::new(),
            401,
            "for another purpose",
        ),
        (
            "a key of another type",
            one(&keys.headed(json!({"kid": "ec"}))),
            String::new(),
            401,
            "for another purpose",
        ),
        ("a key that seals", one(&keys.headed(json!({"kid": "sealing"}))), String::new(), 401, "unknown key"),
        ("unknown key", one(&keys.headed(json!({"kid": "other"}))), String::new(), 401, "unknown key"),
        (
            "a path for a key",
            one(&keys.headed(json!({"kid": "../../../../etc/passwd"}))),
            String::new(),
            401,
            "unknown key",
        ),
        (
            "a key that is no text",
            one(&keys.headed(json!({"kid": {"$ne": 1}}))),
            String::new(),
            401,
            "invalid_token",
        ),
        (
            "no key, which could be several",
            one(&keys.sign(&json!({"alg": "PS512"}), &claims(json!({})))),
            String::new(),
            401,
            "does not name its key",
        ),
        (
            "critical headers",
            one(&keys.headed(json!({"crit": ["b64"], "b64": true}))),
            String::new(),
            401,
            "critical",
        ),
        ("no critical headers", one(&keys.headed(json!({"crit": []}))), String::new(), 401, "critical"),
        (
            "an ID token's type",
            one(&keys.headed(json!({"typ": "id+jwt"}))),
            String::new(),
            401,
            "not an access token",
        ),
        ("a signature of something else", one(&forged), String::new(), 401, "signature is wrong"),
        (
            "somebody else's signature",
            one(&other.sign(&json!({"alg": "ES256", "kid": "ec"}), &claims(json!({})))),
            String::new(),
            401,
            "signature is wrong",
        ),
        (
            "a key that it brings along",
            one(&other.sign(
                &json!({"alg": "ES256", "kid": "ec", "jwk": other.public()["keys"][3]}),
                &claims(json!({})),
            )),
            String::new(),
            401,
            "signature is wrong",
        ),
        ("no scopes", one(&keys.token(json!({"scope": null}))), String::new(), 403, "insufficient_scope"),
        (
            "scopes of others",
            one(&keys.token(json!({"scope": "openid email"}))),
            String::new(),
            403,
            "insufficient_scope",
        ),
        ("in the URL", HeaderMap::new(), format!("access_token={good}"), 401, "never in the URL"),
        ("in the URL too", one(&good), format!("a=1&access_token={good}"), 401, "never in the URL"),
        (
            "two headers",
            HeaderMap::from_iter([(AUTHORIZATION, format!("Bearer {good}").parse().unwrap())]),
            String::new(),
            400,
            "one Authorization header",
        ),
    ];
    let mut sent = Vec::new();
    for (case, mut headers, query, status, says) in refused {
        if case == "two headers" {
            headers.append(AUTHORIZATION, format!("Bearer {good}").parse().unwrap());
        }
        let url = format!("/mcp?{query}");
        let (got, challenge, body) = authenticate(&auth, &headers, &url).await.expect_err(case);
        assert_eq!(got, status, "{case}: {body}");
        let metadata =
            "resource_metadata=\"https://tools.example.com/.well-known/oauth-protected-resource/mcp\"";
        assert!(challenge.starts_with("Bearer ") && challenge.contains(metadata), "{case}: {challenge}");
        assert!(challenge.contains("scope=\"notes:read\""), "{case}: {challenge}");
        assert_eq!(challenge.contains("error="), !says.is_empty(), "{case}: {challenge}");
        assert!(
            challenge.contains(says) && body.contains(says) && body.len() < 300,
            "{case}: {challenge} {body}"
        );
        let values = headers.get_all(AUTHORIZATION).iter().map(|value| value.to_str().unwrap().to_owned());
        sent.extend(values.chain([query]).map(|text| (case, text, format!("{challenge}{body}"))));
    }
    let logged = log.text();
    assert!(
        logged.contains("not authenticated") && logged.contains("expired"),
        "the log is captured: {logged}"
    );
    for (case, text, answer) in &sent {
        for part in secret_parts(text) {
            assert!(!logged.contains(part), "{case}: {part} was logged");
            assert!(!answer.contains(part), "{case}: {part} was echoed");
        }
    }
}

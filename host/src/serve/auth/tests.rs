//! H48: whoever sends no token that counts is told so, works nothing, and leaves no trace of what was sent.

use std::{
    io,
    path::Path,
    sync::{
        Arc, LazyLock, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use axum::{
    Router,
    body::to_bytes,
    http::{HeaderMap, Request, Uri, header::AUTHORIZATION},
    response::IntoResponse,
    routing::any,
};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD as B64};
use futures_util::future::join_all;
use hmac::{Hmac, KeyInit, Mac};
use loggia_gate::access::{Caller, Origin};
use ring::{
    rand::SystemRandom,
    rsa::{KeyPairComponents, PublicKeyComponents},
    signature::{
        ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair,
        KeyPair, RSA_PKCS1_SHA256, RSA_PSS_SHA512, RsaKeyPair,
    },
};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::*;

const ISSUER: &str = "https://id.example.com/";
const RESOURCE: &str = "https://tools.example.com/mcp";
const N: &str = "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ";

/// The key of RFC 7515, appendix A.2, which everybody knows: ring makes no RSA keys.
fn rsa() -> RsaKeyPair {
    let n = B64.decode(N).unwrap();
    let [d, p, q, dp, dq, qi] = [
        "Eq5xpGnNCivDflJsRQBXHx1hdR1k6Ulwe2JZD50LpXyWPEAeP88vLNO97IjlA7_GQ5sLKMgvfTeXZx9SE-7YwVol2NXOoAJe46sui395IW_GO-pWJ1O0BkTGoVEn2bKVRUCgu-GjBVaYLU6f3l9kJfFNS3E0QbVdxzubSu3Mkqzjkn439X0M_V51gfpRLI9JYanrC4D4qAdGcopV_0ZHHzQlBjudU2QvXt4ehNYTCBr6XCLQUShb1juUO1ZdiYoFaFQT5Tw8bGUl_x_jTj3ccPDVZFD9pIuhLhBOneufuBiB4cS98l2SR_RQyGWSeWjnczT0QU91p1DhOVRuOopznQ",
        "4BzEEOtIpmVdVEZNCqS7baC4crd0pqnRH_5IB3jw3bcxGn6QLvnEtfdUdiYrqBdss1l58BQ3KhooKeQTa9AB0Hw_Py5PJdTJNPY8cQn7ouZ2KKDcmnPGBY5t7yLc1QlQ5xHdwW1VhvKn-nXqhJTBgIPgtldC-KDV5z-y2XDwGUc",
        "uQPEfgmVtjL0Uyyx88GZFF1fOunH3-7cepKmtH4pxhtCoHqpWmT8YAmZxaewHgHAjLYsp1ZSe7zFYHj7C6ul7TjeLQeZD_YwD66t62wDmpe_HlB-TnBA-njbglfIsRLtXlnDzQkv5dTltRJ11BKBBypeeF6689rjcJIDEz9RWdc",
        "BwKfV3Akq5_MFZDFZCnW-wzl-CCo83WoZvnLQwCTeDv8uzluRSnm71I3QCLdhrqE2e9YkxvuxdBfpT_PI7Yz-FOKnu1R6HsJeDCjn12Sk3vmAktV2zb34MCdy7cpdTh_YVr7tss2u6vneTwrA86rZtu5Mbr1C1XsmvkxHQAdYo0",
        "h_96-mK1R_7glhsum81dZxjTnYynPbZpHziZjeeHcXYsXaaMwkOlODsWa7I9xXDoRwbKgB719rrmI2oKr6N3Do9U0ajaHF-NKJnwgjMd2w9cjz3_-kyNlxAr2v4IKhGNpmM5iIgOS1VZnOZ68m6_pbLBSp3nssTdlqvd0tIiTHU",
        "IYd7DHOhrWvxkwPQsRM2tOgrjbcrfvtQJipd-DlcxyVuuM9sQLdgjVk2oy26F0EmpScGLq2MowX7fhd_QJQ3ydy5cY7YIBi87w93IKLEdfnbJtoOPLUW0ITrJReOgo1cq9SbsxYawBgfp_gh6A5603k2-ZQwVK0JKSHuLFkuQ3U",
    ]
    .map(|text| B64.decode(text).unwrap());
    let public_key = PublicKeyComponents { n: &n[..], e: &[1, 0, 1][..] };
    RsaKeyPair::from_components(&KeyPairComponents {
        public_key,
        d: &d[..],
        p: &p[..],
        q: &q[..],
        dP: &dp[..],
        dQ: &dq[..],
        qInv: &qi[..],
    })
    .unwrap()
}

/// The keys of an authorization server.
struct Keys {
    random: SystemRandom,
    rsa: RsaKeyPair,
    ec: EcdsaKeyPair,
    ec384: EcdsaKeyPair,
    ed: Ed25519KeyPair,
}

impl Keys {
    fn make() -> Self {
        let random = SystemRandom::new();
        let ec = |way| {
            let made = EcdsaKeyPair::generate_pkcs8(way, &random).unwrap();
            EcdsaKeyPair::from_pkcs8(way, made.as_ref(), &random).unwrap()
        };
        let ed = Ed25519KeyPair::generate_pkcs8(&random).unwrap();
        Self {
            rsa: rsa(),
            ec: ec(&ECDSA_P256_SHA256_FIXED_SIGNING),
            ec384: ec(&ECDSA_P384_SHA384_FIXED_SIGNING),
            ed: Ed25519KeyPair::from_pkcs8(ed.as_ref()).unwrap(),
            random,
        }
    }

    fn public(&self) -> Value {
        let point =
            |key: &[u8]| key[1..].chunks(key.len() / 2).map(|half| B64.encode(half)).collect::<Vec<_>>();
        let (ec, ec384) = (point(self.ec.public_key().as_ref()), point(self.ec384.public_key().as_ref()));
        json!({"keys": [
            {"kty": "RSA", "kid": "rsa", "use": "sig", "n": N, "e": "AQAB"},
            {"kty": "RSA", "kid": "sealing", "use": "enc", "n": N, "e": "AQAB"},
            {"kty": "RSA", "kid": "pss", "alg": "PS512", "n": N, "e": "AQAB"},
            {"kty": "EC", "crv": "P-256", "kid": "ec", "alg": "ES256", "x": ec[0], "y": ec[1]},
            {"kty": "EC", "crv": "P-384", "kid": "ec384", "x": ec384[0], "y": ec384[1]},
            {"kty": "OKP", "crv": "Ed25519", "kid": "ed", "x": B64.encode(self.ed.public_key())},
            {"kty": "oct", "kid": "shared", "k": "AAAA"},
        ]})
    }

    /// A token with this header, signed as its `alg` says.
    fn sign(&self, header: &Value, claims: &Value) -> String {
        let message = format!("{}.{}", B64.encode(header.to_string()), B64.encode(claims.to_string()));
        let bytes = message.as_bytes();
        let by_rsa = |way: &'static dyn ring::signature::RsaEncoding| {
            let mut signature = vec![0; self.rsa.public().modulus_len()];
            self.rsa.sign(way, &self.random, bytes, &mut signature).unwrap();
            signature
        };
        let signature = match header["alg"].as_str().unwrap() {
            "RS256" => by_rsa(&RSA_PKCS1_SHA256),
            "PS512" => by_rsa(&RSA_PSS_SHA512),
            "ES256" => self.ec.sign(&self.random, bytes).unwrap().as_ref().to_vec(),
            "ES384" => self.ec384.sign(&self.random, bytes).unwrap().as_ref().to_vec(),
            "EdDSA" => self.ed.sign(bytes).as_ref().to_vec(),
            // With what anybody can read: the public key, in the form in which it is most often passed around.
            "HS256" => {
                let mut mac = Hmac::<sha2::Sha256>::new_from_slice(pem().as_bytes()).unwrap();
                mac.update(bytes);
                mac.finalize().into_bytes().to_vec()
            }
            "none" => Vec::new(),
            other => unreachable!("{other}"),
        };
        format!("{message}.{}", B64.encode(signature))
    }

    /// A token that counts, with something else in its claims.
    fn token(&self, other: Value) -> String {
        self.sign(&json!({"alg": "RS256", "kid": "rsa", "typ": "at+jwt"}), &claims(other))
    }

    /// A token that counts, with something else in its header.
    fn headed(&self, other: Value) -> String {
        let mut header = json!({"alg": "RS256", "kid": "rsa"});
        merge(&mut header, other);
        self.sign(&header, &claims(json!({})))
    }
}

fn pem() -> String {
    use base64::engine::general_purpose::STANDARD;
    // SubjectPublicKeyInfo of a modulus of 2048 bits and the exponent 65537.
    let mut der = B64.decode("MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA").unwrap();
    der.extend(B64.decode(N).unwrap());
    der.extend([2, 3, 1, 0, 1]);
    let lines: Vec<String> = STANDARD
        .encode(der)
        .as_bytes()
        .chunks(64)
        .map(|line| String::from_utf8_lossy(line).into_owned())
        .collect();
    format!("-----BEGIN PUBLIC KEY-----\n{}\n-----END PUBLIC KEY-----\n", lines.join("\n"))
}

fn merge(into: &mut Value, other: Value) {
    for (name, value) in other.as_object().unwrap() {
        match value {
            Value::Null => drop(into.as_object_mut().unwrap().remove(name)),
            value => into[name] = value.clone(),
        }
    }
}

/// Claims that count, with others in their place; null takes one away.
fn claims(other: Value) -> Value {
    let now = token::now();
    let mut claims = json!({
        "iss": ISSUER, "aud": RESOURCE, "sub": "ada", "exp": now + 600, "nbf": now - 5, "iat": now - 5,
        "scope": "openid notes:read notes:add",
    });
    merge(&mut claims, other);
    claims
}

/// Settings with keys at this place, and tokens of our own.
fn authenticator(jwks: &str, tokens: &[(&str, &str, &str)], base: &Path) -> Authenticator {
    let tokens: Vec<Value> = tokens
        .iter()
        .map(|(name, token, expires)| {
            json!({"name": name, "hash": token::hash(token), "scopes": ["notes:*"], "expires": expires})
        })
        .collect();
    let algorithms = ["RS256", "PS512", "ES256", "ES384", "EdDSA"];
    let auth = json!({
        "resource": RESOURCE,
        "tokens": tokens,
        "oauth": {"issuer": ISSUER, "jwks": jwks, "algorithms": algorithms, "scopes": ["notes:read"]},
    });
    Authenticator::new(&serde_json::from_value(auth).unwrap(), base).unwrap().unwrap()
}

fn bearer(token: &str) -> HeaderMap {
    HeaderMap::from_iter([(AUTHORIZATION, format!("Bearer {token}").parse().unwrap())])
}

async fn told(auth: &Authenticator, headers: &HeaderMap, url: &str) -> Result<Origin, (u16, String, String)> {
    match auth.authenticate(headers, &url.parse::<Uri>().unwrap()).await {
        Ok(admitted) => Ok(admitted.origin),
        Err(refusal) => {
            let response = refusal.into_response();
            let challenge =
                response.headers().get("www-authenticate").map(|value| value.to_str().unwrap().to_owned());
            let status = response.status().as_u16();
            let body = to_bytes(response.into_body(), 4096).await.unwrap();
            let body = String::from_utf8(body.to_vec()).unwrap();
            Err((status, challenge.unwrap_or_default(), body))
        }
    }
}

/// All that is logged, at every level.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Log {
    fn begin() -> (Self, tracing::subscriber::DefaultGuard) {
        /// With one subscriber alone, `tracing` asks only the thread that comes by first whether anybody listens, and
        /// that may be another test's.
        static SECOND: LazyLock<tracing::Dispatch> = LazyLock::new(|| {
            tracing::Dispatch::new(tracing_subscriber::fmt().with_writer(io::sink).finish())
        });
        LazyLock::force(&SECOND);
        let log = Self::default();
        let to = log.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_max_level(tracing::Level::TRACE)
            .with_writer(move || to.clone())
            .finish();
        (log, tracing::subscriber::set_default(subscriber))
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().unwrap()).into_owned()
    }
}

/// Each part of what was sent that would be worth something to a thief.
fn parts(sent: &str) -> impl Iterator<Item = &str> {
    sent.split(['.', ' ', '&', '=', '?']).filter(|part| part.len() >= 12)
}

#[tokio::test]
async fn h48_what_is_no_token_of_ours_is_refused_and_never_logged() {
    let (log, _guard) = Log::begin();
    let keys = Keys::make();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("keys.json"), keys.public().to_string()).unwrap();
    let [good, old, unknown] = [(); 3].map(|()| token::generate());
    let tokens = [("ci", good.as_str(), "2099-01-01"), ("old", old.as_str(), "2020-01-01")];
    let auth = authenticator("keys.json", &tokens, folder.path());
    let now = token::now();
    let garbage = B64.encode([0xff; 64]);
    let (eve, ada) = (keys.token(json!({"sub": "eve"})), keys.token(json!({})));
    let forged = format!("{}.{}", eve.rsplit_once('.').unwrap().0, ada.rsplit_once('.').unwrap().1);
    let other = Keys::make();
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
        ("ours, cut off", one(&good[..50]), String::new(), 401, "cut off"),
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
        ("without subject", one(&keys.token(json!({"sub": null}))), String::new(), 401, "whose it is"),
        (
            "subject of 256 bytes",
            one(&keys.token(json!({"sub": "a".repeat(256)}))),
            String::new(),
            401,
            "whose it is",
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
            "in a way that is not taken",
        ),
        (
            "HS256, a shared key",
            one(&keys.headed(json!({"alg": "HS256", "kid": "shared"}))),
            String::new(),
            401,
            "in a way that is not taken",
        ),
        (
            "a key for another algorithm",
            one(&keys.headed(json!({"kid": "pss"}))),
            String::new(),
            401,
            "for something else",
        ),
        (
            "a key of another type",
            one(&keys.headed(json!({"kid": "ec"}))),
            String::new(),
            401,
            "for something else",
        ),
        ("a key that seals", one(&keys.headed(json!({"kid": "sealing"}))), String::new(), 401, "not known"),
        ("unknown key", one(&keys.headed(json!({"kid": "other"}))), String::new(), 401, "not known"),
        (
            "a path for a key",
            one(&keys.headed(json!({"kid": "../../../../etc/passwd"}))),
            String::new(),
            401,
            "not known",
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
            "with which key",
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
            "no access token",
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
        let (got, challenge, body) = told(&auth, &headers, &url).await.expect_err(case);
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
    assert!(logged.contains("not authenticated") && logged.contains("expired"), "the log is heard: {logged}");
    for (case, text, answer) in &sent {
        for part in parts(text) {
            assert!(!logged.contains(part), "{case}: {part} was logged");
            assert!(!answer.contains(part), "{case}: {part} was told");
        }
    }
}

#[tokio::test]
async fn a_token_that_counts_says_who_calls_and_what_may_be_called() {
    let keys = Keys::make();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("keys.json"), keys.public().to_string()).unwrap();
    let made = token::generate();
    let auth = authenticator("keys.json", &[("ci", &made, "2099-01-01")], folder.path());
    assert!(auth.is_ready());
    let now = token::now();
    let ada = format!("{ISSUER}#ada");
    let signed = |header: Value| keys.sign(&header, &claims(json!({})));
    let cases = [
        (made.clone(), "ci", "notes:delete"),
        (keys.token(json!({})), &ada, "notes:read notes:add"),
        (keys.token(json!({"exp": now - 30})), &ada, "notes:read notes:add"),
        (keys.token(json!({"nbf": now + 30})), &ada, "notes:read notes:add"),
        (keys.token(json!({"aud": ["https://other.example.com", RESOURCE]})), &ada, "notes:read"),
        (keys.token(json!({"sub": "ci"})), &format!("{ISSUER}#ci"), "notes:read"),
        (
            keys.token(json!({"scope": null, "scp": ["notes:read", "x", "files:*"]})),
            &ada,
            "notes:read files:stat",
        ),
        (keys.token(json!({"scope": null, "scp": "notes:read *"})), &ada, "notes:read"),
        (signed(json!({"alg": "PS512", "kid": "pss"})), &ada, "notes:read"),
        (signed(json!({"alg": "ES256", "kid": "ec", "typ": "JWT"})), &ada, "notes:read"),
        (signed(json!({"alg": "ES384", "typ": "application/at+jwt"})), &ada, "notes:read"),
        (signed(json!({"alg": "EdDSA", "kid": "ed"})), &ada, "notes:read"),
    ];
    for (token, name, allowed) in &cases {
        let origin =
            told(&auth, &bearer(token), "/mcp").await.unwrap_or_else(|told| panic!("{name}: {told:?}"));
        assert_eq!(origin.caller, Caller::Named((*name).into()));
        for scope in allowed.split(' ') {
            let (facade, action) = scope.split_once(':').unwrap();
            assert!(origin.rights.allow(facade, action), "{name} {scope}");
        }
    }
    let origin = told(&auth, &bearer(&cases[1].0), "/mcp").await.unwrap();
    assert!(!origin.rights.allow("notes", "delete") && !origin.rights.reach("files"));

    let lower = HeaderMap::from_iter([(AUTHORIZATION, format!("bearer {made}").parse().unwrap())]);
    assert!(told(&auth, &lower, "/mcp").await.is_ok());
    let mut request =
        Request::get("/mcp").header(AUTHORIZATION, format!("Bearer {made}")).body(()).unwrap().into_parts().0;
    assert!(auth.admit(&mut request).await.is_ok());
    assert!(!format!("{:?}", request.headers).contains(&made), "the token goes no further");
    assert!(auth.admit(&mut request).await.is_err());
}

#[tokio::test]
async fn the_star_of_an_authorization_server_counts_only_where_the_settings_say_so() {
    let keys = Keys::make();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("keys.json"), keys.public().to_string()).unwrap();
    let check = async |allow_star: bool, scope: &str, expected: Option<bool>| {
        let auth = json!({
            "resource": RESOURCE,
            "oauth": {"issuer": ISSUER, "jwks": "keys.json", "algorithms": ["EdDSA"], "allow-star": allow_star},
        });
        let auth =
            Authenticator::new(&serde_json::from_value(auth).unwrap(), folder.path()).unwrap().unwrap();
        let token = keys.sign(&json!({"alg": "EdDSA", "kid": "ed"}), &claims(json!({"scope": scope})));
        let admitted = told(&auth, &bearer(&token), "/mcp").await.ok();
        let all = admitted.map(|origin| origin.rights.allow("any", "thing"));
        assert_eq!(all, expected, "{allow_star} {scope}");
    };
    check(false, "notes:read *", Some(false)).await;
    check(false, "*", None).await;
    check(true, "*", Some(true)).await;
    check(true, "notes:read", Some(false)).await;
}

/// An authorization server: what it answers, and what it was asked.
struct Issuer {
    at: String,
    asked: Arc<Mutex<Vec<String>>>,
    fetched: Arc<AtomicUsize>,
}

async fn issuer(answer: impl Fn() -> axum::response::Response + Clone + Send + Sync + 'static) -> Issuer {
    let (asked, fetched) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicUsize::new(0)));
    let (asks, fetches) = (asked.clone(), fetched.clone());
    let router = Router::new().fallback(any(move |uri: Uri| {
        asks.lock().unwrap().push(uri.path().to_owned());
        fetches.fetch_add(1, Ordering::SeqCst);
        let answer = answer();
        async move { answer }
    }));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await });
    Issuer { at, asked, fetched }
}

async fn eventually(mut so: impl AsyncFnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !so().await {
        assert!(Instant::now() < deadline);
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Until the keeper has looked: it says so in the log.
async fn until(log: &Log, said: &str) {
    eventually(async || log.text().contains(said)).await;
}

#[tokio::test]
async fn h48_a_flood_of_unknown_keys_fetches_once_and_no_other_place_ever() {
    let (log, _guard) = Log::begin();
    let keys = Arc::new(Keys::make());
    let public = keys.public().to_string();
    let issuer = issuer(move || public.clone().into_response()).await;
    let auth = authenticator(&format!("{}/keys?tenant=1", issuer.at), &[], Path::new("."));
    let good = bearer(&keys.token(json!({})));
    let (status, challenge, body) = told(&auth, &good, "/mcp").await.unwrap_err();
    assert_eq!((status, challenge.as_str()), (503, ""), "before the keys are there: {body}");
    let refusal = auth.authenticate(&good, &Uri::from_static("/mcp")).await.unwrap_err();
    assert_eq!(refusal.into_response().headers()["retry-after"], "5");
    assert!(!auth.is_ready());
    auth.start();
    until(&log, "were read from").await;
    assert!(auth.is_ready());
    assert!(told(&auth, &good, "/mcp").await.is_ok());

    let elsewhere = |other: Value| bearer(&keys.headed(other));
    let made_up: Vec<HeaderMap> =
        (0..200).map(|n| elsewhere(json!({"kid": format!("made up {n}")}))).collect();
    for told in join_all(made_up.iter().map(|headers| told(&auth, headers, "/mcp"))).await {
        assert_eq!(told.unwrap_err().0, 401);
    }
    let theirs = format!("{}/theirs", issuer.at);
    for header in
        [json!({"jku": theirs}), json!({"x5u": theirs}), json!({"kid": theirs}), json!({"kid": "/keys"})]
    {
        drop(told(&auth, &elsewhere(header), "/mcp").await);
    }
    assert_eq!(issuer.fetched.load(Ordering::SeqCst), 1);
    assert_eq!(*issuer.asked.lock().unwrap(), ["/keys"]);
    for part in parts(good[AUTHORIZATION].to_str().unwrap()) {
        assert!(!log.text().contains(part), "{part} was logged");
    }
}

#[tokio::test]
async fn an_answer_that_is_no_set_of_keys_is_none() {
    let moved = || (axum::http::StatusCode::FOUND, [("location", "/moved")]).into_response();
    let huge = || vec![b' '; (256 << 10) + 1].into_response();
    let many = || json!({ "keys": vec![json!({}); 65] }).to_string().into_response();
    for (answer, said) in [
        (moved as fn() -> axum::response::Response, "the answer has the status 302"),
        (huge, "larger than 256 KiB"),
        (many, "more than 64 keys"),
        (|| "<html>".into_response(), "no JSON object"),
    ] {
        let (log, _guard) = Log::begin();
        let issuer = issuer(answer).await;
        let auth = authenticator(&format!("{}/keys", issuer.at), &[], Path::new("."));
        auth.start();
        until(&log, said).await;
        assert!(!auth.is_ready());
        assert_eq!(*issuer.asked.lock().unwrap(), ["/keys"], "redirects are not followed");
    }
}

#[tokio::test]
async fn a_file_of_keys_is_read_again_when_it_changes() {
    let (log, _guard) = Log::begin();
    let (keys, newer) = (Keys::make(), Keys::make());
    let folder = tempfile::tempdir().unwrap();
    let (file, beside) = (folder.path().join("keys.json"), folder.path().join("beside"));
    std::fs::write(&file, keys.public().to_string()).unwrap();
    let auth = authenticator("keys.json", &[], folder.path());
    let signed =
        |keys: &Keys, kid: &str| bearer(&keys.sign(&json!({"alg": "EdDSA", "kid": kid}), &claims(json!({}))));
    let (old, new, other) = (signed(&keys, "ed"), signed(&newer, "ed2"), signed(&newer, "ed3"));
    assert!(told(&auth, &old, "/mcp").await.is_ok(), "before it is watched");
    auth.start();
    until(&log, "were read from").await;

    let mut public = newer.public();
    public["keys"][5]["kid"] = "ed2".into();
    std::fs::write(&beside, public.to_string()).unwrap();
    std::fs::rename(&beside, &file).unwrap();
    eventually(async || told(&auth, &new, "/mcp").await.is_ok()).await;
    assert!(told(&auth, &old, "/mcp").await.is_err());
    std::fs::write(&file, "half of a set").unwrap();
    eventually(async || {
        assert!(told(&auth, &other, "/mcp").await.is_err());
        log.text().contains("no JSON object")
    })
    .await;
    assert!(told(&auth, &new, "/mcp").await.is_ok(), "what was read before is used");
}

#[test]
fn a_file_without_keys_is_told_before_anything_is_served() {
    let folder = tempfile::tempdir().unwrap();
    let check = |jwks: &str, expected: &str| {
        let auth = json!({"resource": RESOURCE, "oauth": {"issuer": ISSUER, "jwks": jwks}});
        let problem = Authenticator::new(&serde_json::from_value(auth).unwrap(), folder.path())
            .unwrap_err()
            .to_string();
        assert!(problem.starts_with("`auth.oauth.jwks` names ") && problem.contains(expected), "{problem}");
    };
    std::fs::write(folder.path().join("rubbish"), "rubbish").unwrap();
    std::fs::write(folder.path().join("large"), vec![b' '; (256 << 10) + 1]).unwrap();
    std::fs::write(folder.path().join("secrets"), r#"{"keys": [{"kty": "oct", "k": "AAAA"}]}"#).unwrap();
    check("none", "No such file");
    check(".", "no file");
    check("rubbish", "no JSON object");
    check("large", "larger than 256 KiB");
    check("secrets", "none of its keys");
}

#[test]
fn without_settings_there_is_nobody_to_ask() {
    let none = Authenticator::new(&crate::config::server::Auth::default(), Path::new("."));
    assert!(none.unwrap().is_none());
}

#[tokio::test]
async fn the_metadata_is_served_to_everybody_by_get_alone() {
    let keys = Keys::make();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("keys.json"), keys.public().to_string()).unwrap();
    let auth = authenticator("keys.json", &[], folder.path());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = listener.local_addr().unwrap();
    let router: Router = auth.metadata().unwrap().router();
    tokio::spawn(async move { axum::serve(listener, router).await });
    let ask = async |line: &str| {
        use tokio::io::{AsyncReadExt, AsyncWriteExt};
        let mut stream = tokio::net::TcpStream::connect(at).await.unwrap();
        let request = format!("{line} HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        answer
    };
    for path in ["/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"] {
        let answer = ask(&format!("GET {path}")).await;
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 200") && head.contains("application/json"), "{head}");
        let body: Value = serde_json::from_str(body).unwrap();
        assert_eq!(
            body,
            json!({
                "resource": RESOURCE, "authorization_servers": [ISSUER], "bearer_methods_supported": ["header"],
                "resource_name": "Loggia", "scopes_supported": ["notes:read"],
            })
        );
        assert!(ask(&format!("POST {path}")).await.starts_with("HTTP/1.1 405"));
    }
    assert!(ask("GET /.well-known/oauth-protected-resource/other").await.starts_with("HTTP/1.1 404"));
}

//! Tokens of an authorization server: requirements, and the response to requests without one.

use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD as B64};
use loggia_tests::{
    Folder, Served, Token,
    web::{Answer, Web},
    wire,
};
use ring::{
    hmac,
    rand::SystemRandom,
    signature::{Ed25519KeyPair, KeyPair},
};
use serde_json::{Value, json};

use super::callers::{call_by_rmcp, keeps_quiet};

const ISSUER: &str = "https://id.example.com/";
const RESOURCE: &str = "https://tools.example.com/mcp";
const METADATA: &str = "https://tools.example.com/.well-known/oauth-protected-resource/mcp";

/// An authorization server's key.
pub(super) struct Key(Ed25519KeyPair);

impl Key {
    pub(super) fn new() -> Result<Self> {
        let failed = |_| anyhow::anyhow!("no key");
        let made = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).map_err(failed)?;
        Ok(Self(Ed25519KeyPair::from_pkcs8(made.as_ref()).map_err(|_| anyhow::anyhow!("no key"))?))
    }

    /// Public key set, as an authorization server publishes it.
    pub(super) fn set(&self) -> String {
        let x = B64.encode(self.0.public_key());
        json!({"keys": [{"kty": "OKP", "crv": "Ed25519", "kid": "one", "use": "sig", "x": x}]}).to_string()
    }

    /// Signs a token with this header and these claims by the `alg` of the header.
    fn sign(&self, header: &Value, claims: &Value) -> String {
        let message = format!("{}.{}", B64.encode(header.to_string()), B64.encode(claims.to_string()));
        let signature = match header["alg"].as_str() {
            Some("EdDSA") => self.0.sign(message.as_bytes()).as_ref().to_vec(),
            // With public data as the key.
            Some("HS256") => {
                let key = hmac::Key::new(hmac::HMAC_SHA256, self.0.public_key().as_ref());
                hmac::sign(&key, message.as_bytes()).as_ref().to_vec()
            }
            _ => Vec::new(),
        };
        format!("{message}.{}", B64.encode(signature))
    }

    /// A valid token except for these changes of header and claims.
    pub(super) fn token(&self, header: Value, claims: Value) -> String {
        let now = now();
        let mut its = json!({"iss": ISSUER, "aud": RESOURCE, "sub": "ada", "exp": now + 600, "iat": now,
            "scope": "openid echo:add"});
        let mut head = json!({"alg": "EdDSA", "kid": "one", "typ": "at+jwt"});
        for (into, other) in [(&mut its, claims), (&mut head, header)] {
            if let (Some(into), Value::Object(other)) = (into.as_object_mut(), other) {
                into.extend(other);
            }
        }
        self.sign(&head, &its)
    }
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_secs()
}

pub(super) fn settings(jwks: &str) -> String {
    format!(
        "[auth]\nresource = \"{RESOURCE}\"\n\n[auth.oauth]\nissuer = \"{ISSUER}\"\njwks = \"{jwks}\"\n\
         algorithms = [\"EdDSA\"]\nscopes = [\"echo:add\"]\n"
    )
}

/// H48.
#[tokio::test]
async fn issuer_and_audience_are_required() -> Result<()> {
    let folder = Folder::with(&["echo"]);
    let (key, other) = (Key::new()?, Key::new()?);
    std::fs::write(folder.beside("config").join("keys.json"), key.set())?;
    let ours = Token::new("ci", &["echo:*"]).await?;
    let served = Served::configured_with(&folder, &settings("keys.json"), &[&ours], |command| {
        command.env("LOGGIA_LOG", "trace,rmcp=trace,hyper=trace");
    })
    .await?;
    let none = || json!({});
    let good = key.token(none(), none());
    let eve = key.token(none(), json!({"sub": "eve"}));
    let with_anothers = |token: &str, signature: &str| -> Option<String> {
        Some(format!("{}.{}", token.rsplit_once('.')?.0, signature.rsplit_once('.')?.1))
    };
    let cases = [
        ("good", good.clone(), 200, "\"data\":3"),
        ("for several", key.token(none(), json!({"aud": ["x", RESOURCE]})), 200, "\"data\":3"),
        ("made here", ours.secret.clone(), 200, "\"data\":3"),
        (
            "for another server",
            key.token(none(), json!({"aud": "https://other.example.com/mcp"})),
            401,
            "invalid_token",
        ),
        ("for nobody", key.token(none(), json!({"aud": null})), 401, "invalid_token"),
        (
            "by another issuer",
            key.token(none(), json!({"iss": "https://id.example.com"})),
            401,
            "invalid_token",
        ),
        ("expired", key.token(none(), json!({"exp": now() - 3600})), 401, "expired"),
        ("without an end", key.token(none(), json!({"exp": null})), 401, "invalid_token"),
        ("not yet", key.token(none(), json!({"nbf": now() + 3600})), 401, "invalid_token"),
        ("unsigned", key.token(json!({"alg": "none"}), none()), 401, "invalid_token"),
        ("signed by what everybody knows", key.token(json!({"alg": "HS256"}), none()), 401, "invalid_token"),
        ("by another key", other.token(none(), none()), 401, "invalid_token"),
        (
            "by a key that it brings",
            other.token(json!({"jwk": serde_json::from_str::<Value>(&other.set())?["keys"][0]}), none()),
            401,
            "invalid_token",
        ),
        ("changed", with_anothers(&eve, &good).context("parts")?, 401, "invalid_token"),
        ("unknown key", key.token(json!({"kid": "two"}), none()), 401, "invalid_token"),
        ("an ID token", key.token(json!({"typ": "id+jwt"}), none()), 401, "invalid_token"),
        ("critical", key.token(json!({"crit": ["x"], "x": 1}), none()), 401, "invalid_token"),
        (
            "for something else",
            key.token(none(), json!({"scope": "openid profile"})),
            403,
            "insufficient_scope",
        ),
    ];
    let add = json!({"action": "add", "a": 1, "b": 2});
    for (what, token, status, said) in &cases {
        let headers = format!("Authorization: Bearer {token}\r\n");
        let told = wire::answered(&served.host, &headers, "echo", &add).await?;
        assert_eq!(told.status, *status, "{what}: {told:?}");
        assert!(told.body.contains(said), "{what}: {told:?}");
        let challenge = told.header("www-authenticate").unwrap_or_default().to_owned();
        assert_eq!(
            challenge.contains(&format!("resource_metadata=\"{METADATA}\"")),
            *status != 200,
            "{what}"
        );
        assert_eq!(challenge.contains("scope=\"echo:add\""), *status != 200, "{what}: {challenge}");
    }
    let secrets: Vec<&str> = cases.iter().map(|(_, token, _, _)| token.as_str()).collect();
    call_by_rmcp(&served, &format!("Authorization: Bearer {good}\r\n")).await?;
    keeps_quiet(&served, &secrets);
    // The log names the issuer and the subject.
    served.logs(|line| line.contains("https://id.example.com/#ada")).await;
    Ok(())
}

#[tokio::test]
async fn resource_metadata_is_public() -> Result<()> {
    let folder = Folder::with(&["echo"]);
    std::fs::write(folder.beside("config").join("keys.json"), Key::new()?.set())?;
    let served = Served::configured(&folder, &settings("keys.json"), &[]).await?;
    let own = served.host.authority();
    for path in ["/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"] {
        let asked = |host: &str| format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        let told = wire::send(own, asked(own).as_bytes()).await?;
        assert_eq!((told.status, told.header("content-type")), (200, Some("application/json")), "{told:?}");
        let expected = json!({"resource": RESOURCE, "authorization_servers": [ISSUER], "bearer_methods_supported": ["header"],
            "resource_name": "Loggia", "scopes_supported": ["echo:add"]});
        assert_eq!(told.message()?, expected);
        // DNS rebinding is rejected.
        assert_eq!(wire::send(own, asked("evil.example.com").as_bytes()).await?.status, 403);
    }
    let told = wire::ask(&served.host, "", wire::INITIALIZE).await?;
    let challenge = told.header("www-authenticate").context("a challenge")?;
    assert!(told.status == 401 && challenge.contains(METADATA) && !challenge.contains("error="), "{told:?}");
    // Other paths do not exist, and return 401 to requests without a token.
    let elsewhere =
        format!("GET /.well-known/openid-configuration HTTP/1.1\r\nHost: {own}\r\nConnection: close\r\n\r\n");
    assert!([401, 404].contains(&wire::send(own, elsewhere.as_bytes()).await?.status));
    Ok(())
}

/// H48: made-up key ids cause no additional work.
#[tokio::test]
async fn unknown_keys_trigger_one_fetch() -> Result<()> {
    const FLOOD: usize = 200;
    let folder = Folder::with(&["echo"]);
    let key = Key::new()?;
    let set = key.set();
    let server = Web::start(move |_| Answer::text(set.clone())).await?;
    let served = Served::configured(&folder, &settings(&server.url("/jwks")), &[]).await?;
    let add = json!({"action": "add", "a": 1, "b": 2});
    let told = async |token: String| {
        wire::answered(&served.host, &format!("Authorization: Bearer {token}\r\n"), "echo", &add).await
    };
    let good = async || anyhow::Ok(told(key.token(json!({}), json!({}))).await?.status);
    loggia_tests::eventually(async || match good().await {
        Ok(200) => Ok(()),
        other => Err(format!("{other:?}")),
    })
    .await;
    for n in 0..FLOOD {
        let told = told(key.token(json!({"kid": format!("k{n}")}), json!({}))).await?;
        assert_eq!(told.status, 401, "{n}: {told:?}");
    }
    assert_eq!(good().await?, 200);
    assert!(server.asked().len() <= 2, "{} looks", server.asked().len());
    Ok(())
}

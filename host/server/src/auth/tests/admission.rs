//! Valid tokens, and the rights that they give.

use axum::http::{HeaderMap, Request, header::AUTHORIZATION};
use loggia_gate::access::Caller;
use serde_json::{Value, json};

use super::*;

#[tokio::test]
async fn valid_tokens_give_name_and_rights() {
    let keys = SigningKeys::generate();
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
        let origin = authenticate(&auth, &bearer(token), "/mcp")
            .await
            .unwrap_or_else(|refused| panic!("{name}: {refused:?}"));
        assert_eq!(origin.caller, Caller::Named((*name).into()));
        for scope in allowed.split(' ') {
            let (facade, action) = scope.split_once(':').unwrap();
            assert!(origin.rights.allows(facade, action), "{name} {scope}");
        }
    }
    let origin = authenticate(&auth, &bearer(&cases[1].0), "/mcp").await.unwrap();
    assert!(!origin.rights.allows("notes", "delete") && !origin.rights.reaches("files"));

    let lower = HeaderMap::from_iter([(AUTHORIZATION, format!("bearer {made}").parse().unwrap())]);
    assert!(authenticate(&auth, &lower, "/mcp").await.is_ok());
    let mut request =
        Request::get("/mcp").header(AUTHORIZATION, format!("Bearer {made}")).body(()).unwrap().into_parts().0;
    assert!(auth.admit(&mut request).await.is_ok());
    assert!(!format!("{:?}", request.headers).contains(&made), "the token goes no further");
    assert!(auth.admit(&mut request).await.is_err());
}

#[tokio::test]
async fn a_star_scope_needs_allow_star() {
    let keys = SigningKeys::generate();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("keys.json"), keys.public().to_string()).unwrap();
    let check = async |allow_star: bool, scope: &str, expected: Option<bool>| {
        let auth = json!({
            "resource": RESOURCE,
            "oauth": {"issuer": ISSUER, "jwks": "keys.json", "algorithms": ["EdDSA"], "allow-star": allow_star},
        });
        let auth = Authenticator::new(&settings(auth, folder.path())).unwrap().unwrap();
        let token = keys.sign(&json!({"alg": "EdDSA", "kid": "ed"}), &claims(json!({"scope": scope})));
        let admitted = authenticate(&auth, &bearer(&token), "/mcp").await.ok();
        let all = admitted.map(|origin| origin.rights.allows("any", "thing"));
        assert_eq!(all, expected, "{allow_star} {scope}");
    };
    check(false, "notes:read *", Some(false)).await;
    check(false, "*", None).await;
    check(true, "*", Some(true)).await;
    check(true, "notes:read", Some(false)).await;
}

#[test]
fn no_settings_mean_no_authenticator() {
    let none = Authenticator::new(&Auth::default());
    assert!(none.unwrap().is_none());
}

#[tokio::test]
async fn revoked_tokens_are_refused() {
    let keys = SigningKeys::generate();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("keys.json"), keys.public().to_string()).unwrap();
    let made = token::generate();
    let auth = authenticator("keys.json", &[("ci", &made, "2099-01-01")], folder.path());
    let now = token::now();
    let issued = |at: Value| keys.token(json!({"iat": at}));
    let cases = [
        (made.clone(), false),
        (issued(json!(now - 200)), false),
        // The issuer's clock may be ahead by the leeway.
        (issued(json!(now - 50)), false),
        (issued(json!(now)), true),
        (issued(Value::Null), false),
        (keys.token(json!({"sub": "bob", "iat": now - 200})), true),
    ];
    for (token, _) in &cases {
        assert!(authenticate(&auth, &bearer(token), "/mcp").await.is_ok());
    }
    let opened = auth.authenticate(&bearer(&made), &"/mcp".parse().unwrap()).await.unwrap();
    let mut revoked = RevokedTokens::default();
    revoked.add_token(token::parse_hash(&token::hash(&made)).unwrap());
    revoked.add_caller(caller_name(ISSUER, "ada"), now - 100);
    auth.set_revoked(revoked);
    opened.lifetime.ended().await;
    for (number, (token, is_accepted)) in cases.iter().enumerate() {
        let answered = authenticate(&auth, &bearer(token), "/mcp").await;
        assert_eq!(answered.is_ok(), *is_accepted, "{number}");
        if let Err((status, challenge, _)) = answered {
            assert!(status == 401 && challenge.contains("the token has been revoked"), "{challenge}");
        }
    }
}

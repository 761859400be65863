//! The authenticator as requests see it.

mod admission;
mod keys;
mod metadata;
mod refusals;
mod signing;

use std::{
    io,
    path::Path,
    sync::{Arc, LazyLock, Mutex},
    time::{Duration, Instant},
};

use axum::{
    body::to_bytes,
    http::{HeaderMap, Uri, header::AUTHORIZATION},
    response::IntoResponse,
};
use loggia_gate::access::CallOrigin;
use serde_json::{Value, json};

use super::{
    tests::signing::{SigningKeys, claims},
    *,
};

const ISSUER: &str = "https://id.example.com/";
const RESOURCE: &str = "https://tools.example.com/mcp";

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
    Authenticator::new(&settings(auth, base)).unwrap().unwrap()
}

/// Parses `[auth]` of a settings file in this folder.
fn settings(auth: Value, folder: &Path) -> Auth {
    let text = toml::to_string(&json!({ "auth": auth })).unwrap();
    let setting = loggia_policy::PolicySetting { folder, home: None, variable: &|_| None };
    loggia_policy::settings::Settings::parse(&text, &setting).unwrap().auth.unwrap()
}

fn bearer(token: &str) -> HeaderMap {
    HeaderMap::from_iter([(AUTHORIZATION, format!("Bearer {token}").parse().unwrap())])
}

async fn authenticate(
    auth: &Authenticator,
    headers: &HeaderMap,
    url: &str,
) -> Result<CallOrigin, (u16, String, String)> {
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
struct CapturedLog(Arc<Mutex<Vec<u8>>>);

impl io::Write for CapturedLog {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl CapturedLog {
    fn start() -> (Self, tracing::subscriber::DefaultGuard) {
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
fn secret_parts(sent: &str) -> impl Iterator<Item = &str> {
    sent.split(['.', ' ', '&', '=', '?']).filter(|part| part.len() >= 12)
}

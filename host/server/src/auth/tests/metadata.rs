//! The metadata document over HTTP.

use axum::Router;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::*;

#[tokio::test]
async fn metadata_needs_no_token_and_takes_only_get() {
    let keys = SigningKeys::generate();
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

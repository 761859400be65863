//! Credentials of callers in the database of two servers.

use anyhow::{Result, ensure};
use loggia_postgres::testing::PrivateServer;
use loggia_tests::{Client, Era, Folder, Kind, Served, eventually, state};

use super::{Shop, credential, shown};

/// The base64 of 32 zero bytes.
const KEY: &str = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
/// Another one.
const OTHER: &str = "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=";

/// A second machine with the same files.
fn copy(shop: &Shop) -> Result<Folder> {
    let folder = Folder::new();
    for file in ["shop.api.toml", "shop.toml"] {
        folder.write(file, &std::fs::read_to_string(shop.folder.path().join(file))?);
    }
    Ok(folder)
}

#[tokio::test]
async fn a_credential_that_is_stored_once_counts_on_all_servers() -> Result<()> {
    let server = PrivateServer::shared();
    let options = server.options();
    let settings = format!("[state]\nurl = '{}'\nschema = '{}'\n", options.url, options.schema);
    let shop = Shop::open().await?;
    let second = copy(&shop)?;
    let serve = async |folder: &Folder, key: &str| {
        let tokens: Vec<_> = shop.tokens.iter().collect();
        let set = |command: &mut tokio::process::Command| {
            command.env("SSL_CERT_FILE", &shop.trusted).env("LOGGIA_CREDENTIAL_KEY", key);
        };
        Served::configured_with(folder, &settings, &tokens, set).await
    };
    let (one, other) = (serve(&shop.folder, KEY).await?, serve(&second, KEY).await?);
    let config = shop.folder.beside("config").join("loggia.toml").display().to_string();
    let set = ["set", "shop", "--caller", "caller-0", "--config", &config];
    let value = format!("{}\n", credential("shop", 0));
    // Without the servers' key, nothing is stored.
    let (code, text) = shop.command(&set, &value, None).await?;
    ensure!(
        code != Some(0) && text.contains("all servers need the same key: set LOGGIA_CREDENTIAL_KEY"),
        "{text}"
    );
    let (code, text) = shop.command(&set, &value, Some(KEY)).await?;
    ensure!(code == Some(0), "{text}");
    for served in [&one, &other] {
        let client = Client::http_by(&served.host, Era::Stateless, Kind::default(), &shop.tokens[0]).await?;
        assert_eq!(shown(&shop.owner(&client, "shop").await?), "shop of 0");
        client.end().await?;
        let client = Client::http_by(&served.host, Era::Stateless, Kind::default(), &shop.tokens[1]).await?;
        assert_eq!(shop.owner(&client, "shop").await?["ok"], false, "it is another caller's");
        client.end().await?;
    }
    let (schema, text) = (&options.schema, "credential-of");
    let plain = format!(
        "SELECT count(*) FROM {schema}.state WHERE position('{text}' IN encode(value, 'escape')) > 0"
    );
    assert_eq!(server.ask(&plain), "0");
    assert!(!state(shop.folder.path()).join("credentials").exists());
    // A server with another key cannot read it, and says so.
    let third = copy(&shop)?;
    let stranger = serve(&third, OTHER).await?;
    let client = Client::http_by(&stranger.host, Era::Stateless, Kind::default(), &shop.tokens[0]).await?;
    assert_eq!(shop.owner(&client, "shop").await?["ok"], false);
    client.end().await?;
    let remove = ["remove", "shop", "--caller", "caller-0", "--config", &config];
    let (code, text) = shop.command(&remove, "", Some(KEY)).await?;
    ensure!(code == Some(0), "{text}");
    let client = Client::http_by(&other.host, Era::Stateless, Kind::default(), &shop.tokens[0]).await?;
    eventually(async || match shop.owner(&client, "shop").await {
        Ok(envelope) if envelope["ok"] == false => Ok(()),
        other => Err(format!("{other:?}")),
    })
    .await;
    client.end().await
}

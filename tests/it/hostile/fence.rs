//! Folders whose files decide on permissions: no plugin may write there, whatever the order of events.

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use loggia_tests::{Client, Era, Folder, Served, Token, eventually, fixture, wire};
use serde_json::json;

use super::stage::check;

/// Error message for callers.
const REFUSED: &str = "`reaches` is unavailable: its policy grants a directory that no plugin may have";

/// Serves `reaches` with a policy that grants one directory.
fn granted(folder: &Folder, dir: &Path, access: &str) {
    let dirs = format!("[grants]\ndirs = [{{ path = {dir:?}, at = \"/data\", access = {access:?} }}]\n");
    folder.write("reaches.toml", &dirs);
}

/// A policy that adds a secret of this file to requests.
fn secret(file: &Path) -> String {
    format!(
        "[grants]\nhttp = [\"https://api.example.com\"]\nsecrets = [{{ from-file = {file:?}, host = \"api.example.com\", \
         header = \"authorization\" }}]\n"
    )
}

/// Output of `loggia check` for a folder.
async fn checked(folder: &Path) -> Result<String> {
    Ok(String::from_utf8(check(folder).await?.stdout)?)
}

/// Waits until `reaches` answers: with its granted directory or with the refusal.
async fn becomes(client: &Client, served: bool) {
    eventually(async || {
        let told = client.envelope("reaches", json!({"action": "dirs"})).await;
        let told = told.map_err(|error| error.to_string())?;
        if told["ok"] == served && (served || told["error"] == REFUSED) {
            Ok(())
        } else {
            Err(told.to_string())
        }
    })
    .await;
}

/// H64.
#[tokio::test]
async fn no_plugin_reaches_the_settings_or_keys() -> Result<()> {
    let keys = json!({"keys": [{"kty": "OKP", "crv": "Ed25519", "kid": "one", "x": "A".repeat(43)}]});
    let settings = "[auth]\nresource = \"https://tools.example.com/mcp\"\n[auth.oauth]\n\
                    issuer = \"https://id.example.com\"\njwks = \"../keys/keys.json\"\nalgorithms = [\"EdDSA\"]\n";
    let token = Token::new("ada", &["*"]).await?;
    for (dir, access, why) in [
        ("config", "read-write", Some("the folder of the settings file")),
        ("config", "read", Some("the folder of the settings file")),
        ("keys", "read-write", Some("the folder of the keys")),
        ("keys", "read", None),
        ("fine", "read-write", None),
    ] {
        let folder = Folder::with(&["reaches", "echo"]);
        fs::write(folder.beside("keys").join("keys.json"), keys.to_string())?;
        granted(&folder, &folder.beside(dir), access);
        let served = Served::configured(&folder, settings, &[&token]).await?;
        let asked = json!({"action": "dirs"});
        let told = wire::answered(&served.host, &token.header(), "reaches", &asked).await?.envelope()?;
        assert_eq!(told["ok"], why.is_none(), "{dir} {access}: {told}");
        if let Some(why) = why {
            assert_eq!(told["error"], REFUSED);
            served.logs(|line| line.contains(why)).await;
        }
    }
    Ok(())
}

/// H65.
#[tokio::test]
async fn no_plugin_reaches_the_secrets_of_another() -> Result<()> {
    let folder = Folder::with(&["reaches", "echo"]);
    let kept = folder.beside("kept");
    fs::write(kept.join("token"), "0123456789")?;
    fs::create_dir(kept.join("below"))?;
    symlink(kept.join("token"), folder.beside("links").join("token"))?;
    let good = secret(&kept.join("token"));
    for (policy, of, dir, access, refused) in [
        (good.clone(), "echo", "kept", "read", true),
        (good.clone(), "echo", "kept", "read-write", true),
        (good.clone(), "echo", "kept/below", "read-write", false),
        // The plugin of that policy may fail to load or be missing.
        (format!("{good}[limits]\nmemry = 1\n"), "echo", "kept", "read", true),
        (good.clone(), "absent", "kept", "read", true),
        (secret(&folder.beside("links").join("token")), "echo", "kept", "read", true),
        // Replacing the link would choose the secret.
        (secret(&folder.beside("links").join("token")), "echo", "links", "read-write", true),
        (secret(&folder.beside("links").join("token")), "echo", "links", "read", false),
        (String::new(), "echo", "kept", "read", false),
    ] {
        folder.write(&format!("{of}.toml"), &policy);
        granted(&folder, &folder.beside(dir), access);
        let said = checked(folder.path()).await?;
        let told = said.contains("reaches\tdoes not load: the policy grants");
        assert_eq!(told, refused, "{policy} {dir} {access}: {said}");
        folder.remove(&format!("{of}.toml"));
    }
    Ok(())
}

/// H66.
#[tokio::test]
async fn no_plugin_writes_to_targets_of_links() -> Result<()> {
    for link in ["brief.workflow.yaml", "brief.workflow.yml", "echo.toml", "other.wasm"] {
        let folder = Folder::with(&["reaches", "echo"]);
        let (first, last) = (folder.beside("first"), folder.beside("last"));
        fs::create_dir(last.join("below"))?;
        // Through two links; their targets may be missing.
        symlink("../first/link", folder.path().join(link))?;
        symlink(last.join("file"), first.join("link"))?;
        for (dir, access, refused) in [
            (&first, "read-write", true),
            (&last, "read-write", true),
            (&last, "read", false),
            (&last.join("below"), "read-write", false),
        ] {
            granted(&folder, dir, access);
            let said = checked(folder.path()).await?;
            let told = said.contains("reaches\tdoes not load: the policy grants");
            assert_eq!(told, refused, "{link} {dir:?} {access}: {said}");
        }
    }
    Ok(())
}

/// H67.
#[tokio::test]
async fn no_plugin_writes_through_links_to_plugins() -> Result<()> {
    let folder = Folder::with(&["reaches"]);
    let (links, more) = (folder.beside("links"), folder.beside("more"));
    symlink("../plugins", links.join("current"))?;
    symlink("../links", more.join("there"))?;
    for (path, dir, access, refused) in [
        ("links/current", &links, "read-write", true),
        ("links/current", &links, "read", false),
        ("links/current", &more, "read-write", false),
        ("more/there/current", &more, "read-write", true),
        ("more/there/current", &links, "read-write", true),
        ("plugins", &links, "read-write", false),
    ] {
        granted(&folder, dir, access);
        let said = checked(&folder.path().with_file_name(path)).await?;
        let told = said.contains("reaches\tdoes not load: the policy grants");
        assert_eq!(told, refused, "{path} {dir:?} {access}: {said}");
    }
    // A link on the path to another policy's directory must not be writable by a plugin either.
    folder.put("echo", &fixture("echo"));
    symlink("../fine", links.join("data"))?;
    folder.beside("fine");
    folder.write(
        "echo.toml",
        "[grants]\ndirs = [{ path = \"../links/data\", at = \"/data\", access = \"read\" }]\n",
    );
    granted(&folder, &links, "read-write");
    let said = checked(folder.path()).await?;
    assert!(said.contains("reaches\tdoes not load: the policy grants"), "{said}");
    Ok(())
}

/// H68: a link or a secret that is added while a plugin serves counts as if it had been there before.
#[tokio::test]
async fn the_fence_is_recomputed_when_plugins_change() -> Result<()> {
    type Event = fn(&Folder, &Path) -> Result<()>;
    let link: Event =
        |folder, builds| Ok(symlink(builds.join("echo.wasm"), folder.path().join("echo.wasm"))?);
    let workflow: Event =
        |folder, builds| Ok(symlink(builds.join("x"), folder.path().join("brief.workflow.yaml"))?);
    let others_secret: Event = |folder, builds| {
        folder.write("other.toml", &secret(&builds.join("token")));
        Ok(())
    };
    for (event, file) in
        [(link, "echo.wasm"), (workflow, "brief.workflow.yaml"), (others_secret, "other.toml")]
    {
        let folder = Folder::with(&["reaches"]);
        let builds = folder.beside("builds");
        fs::copy(fixture("echo"), builds.join("echo.wasm"))?;
        granted(&folder, &builds, "read-write");
        let (client, log) = Client::stdio_logged(folder.path(), |_| {}).await?;
        becomes(&client, true).await;
        event(&folder, &builds)?;
        becomes(&client, false).await;
        // A restart does not change it, …
        let restarted = Client::stdio(folder.path(), Era::Stateful).await?;
        becomes(&restarted, false).await;
        restarted.end().await?;
        // … and once it is removed, the plugin serves again.
        folder.remove(file);
        becomes(&client, true).await;
        // In the other order: the plugin is added later.
        folder.remove("reaches.wasm");
        event(&folder, &builds)?;
        folder.put("reaches", &fixture("reaches"));
        becomes(&client, false).await;
        client.end().await?;
        let log = log.await??;
        assert!(log.contains("the policy grants") && log.contains("builds"), "{file}: {log}");
    }
    Ok(())
}

/// H69.
#[tokio::test]
async fn a_dangling_policy_link_is_an_error() -> Result<()> {
    for target in ["nowhere.toml", "echo.toml"] {
        let folder = Folder::with(&["echo"]);
        let served = Served::start(&folder, |_| {}).await?;
        let add = json!({"action": "add", "a": 1, "b": 2});
        let answers = async |tool: &str| {
            eventually(async || match wire::answered(&served.host, "", tool, &add).await {
                Ok(told) if told.envelope().is_ok_and(|told| told["ok"] == true) => Ok(()),
                other => Err(format!("{other:?}")),
            })
            .await;
        };
        answers("echo").await;
        symlink(target, folder.path().join("echo.toml"))?;
        let said = checked(folder.path()).await?;
        let why = "echo.toml cannot be used: it is a symbolic link to";
        assert!(said.contains("echo\tdoes not load: the policy") && said.contains(why), "{said}");
        // A served plugin continues under its previous policy; a starting host does not serve it without one.
        served.logs(|line| line.contains(why) && line.contains("the previous version keeps serving")).await;
        answers("echo").await;
        let started = Client::stdio(folder.path(), Era::Stateful).await?;
        let told = started.envelope("echo", add.clone()).await?;
        assert_eq!(told["error"], "`echo` is unavailable: its policy cannot be used", "{told}");
        // Once the link resolves, its target is the policy.
        fs::remove_file(folder.path().join("echo.toml"))?;
        fs::write(folder.beside("policies").join("echo.toml"), "[expose]\nname = \"called\"\n")?;
        symlink("../policies/echo.toml", folder.path().join("echo.toml"))?;
        started.names_become(&["called"]).await;
        started.end().await?;
        answers("called").await;
    }
    Ok(())
}

#[tokio::test]
async fn no_plugin_gets_the_kernels_files() -> Result<()> {
    let folder = Folder::with(&["reaches"]);
    let dirs = ["/proc", "/proc/self", "/sys", "/sys/kernel", "/dev", "/dev/fd/../fd"].map(PathBuf::from);
    for dir in dirs.iter().filter(|dir| dir.is_dir()) {
        granted(&folder, dir, "read");
        let said = checked(folder.path()).await?;
        assert!(said.contains("lies in the system folder"), "{dir:?}: {said}");
    }
    // Another file system may be mounted there, and not by the kernel.
    if Path::new("/dev/shm").is_dir() {
        let memory = tempfile::tempdir_in("/dev/shm")?;
        granted(&folder, memory.path(), "read-write");
        let mounts = fs::read_to_string("/proc/self/mountinfo").context("the mounts")?;
        let is_own = mounts.lines().any(|line| line.split(' ').nth(4) == Some("/dev/shm"));
        let said = checked(folder.path()).await?;
        assert_eq!(said.contains("lies in the system folder"), !is_own, "{said}");
    }
    Ok(())
}

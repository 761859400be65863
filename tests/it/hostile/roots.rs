//! Roots that a client should not get: the machine's, the host's, and another's.

use std::{fs, os::unix::fs::symlink, path::PathBuf};

use anyhow::Result;
use loggia_tests::{Folder, RootsClient, roots, state};
use serde_json::json;

/// H97.
#[tokio::test]
async fn roots_lead_to_nothing_that_is_protected() -> Result<()> {
    let folder = Folder::with(&["reaches"]);
    let home = folder.path().parent().expect("a parent").to_owned();
    fs::create_dir_all(home.join("work/app"))?;
    fs::create_dir_all(home.join(".ssh"))?;
    fs::create_dir_all(home.join("keys"))?;
    fs::write(home.join("keys/token"), "0123456789")?;
    folder.write(
        "other.toml",
        "[grants]\nhttp = [\"https://api.example.com\"]\nsecrets = [{ from-file = \"../keys/token\", host = \
         \"api.example.com\", header = \"authorization\" }]\n",
    );
    symlink(folder.path(), home.join("work/plugins"))?;
    symlink("../.ssh", home.join("work/keys"))?;
    let outside = "is not below a directory that the policy allows";
    let fenced = "is a directory that no plugin may have";
    // The operator's bound is the whole folder, or one in it.
    for (bound, root, reason) in [
        ("work", PathBuf::from("/"), outside),
        ("work", PathBuf::from("/etc"), outside),
        ("work", PathBuf::from("/proc/self/root"), outside),
        ("work", home.join(".ssh"), outside),
        ("work", home.join("work/../.ssh"), outside),
        ("work", home.join("work/keys"), outside),
        ("work", home.join("work/plugins"), outside),
        ("work", home.join("work"), outside),
        ("", PathBuf::from("/"), outside),
        ("", home.clone(), outside),
        ("", folder.path().to_owned(), fenced),
        ("", home.join("work/plugins"), fenced),
        ("", state(folder.path()), fenced),
        ("", home.join("keys"), fenced),
    ] {
        let at = home.join(bound);
        let policy =
            format!("[grants]\ndirs = [{{ path = {at:?}, roots = true, at = \"/\", access = \"read\" }}]\n");
        folder.write("reaches.toml", &policy);
        fs::create_dir_all(state(folder.path()))?;
        let mut client = RootsClient::start(folder.path(), roots(&[&root])).await?;
        let told = client.envelope("reaches", json!({"action": "dirs"})).await?;
        assert_eq!(told["data"], json!([]), "{bound} {}: {told}", root.display());
        let message = told["message"].as_str().unwrap_or_default();
        assert!(message.contains(reason), "{bound} {}: {told}", root.display());
        // Even beside a good one.
        client.change(roots(&[&root, &home.join("work/app")])).await?;
        let told = client.envelope("reaches", json!({"action": "dirs"})).await?;
        assert_eq!(told["data"], json!(["/app"]), "{bound} {}: {told}", root.display());
        client.end().await?;
    }
    Ok(())
}

/// H97: what is protected later counts as if it had been protected before.
#[tokio::test]
async fn roots_follow_changes_of_policies() -> Result<()> {
    let folder = Folder::with(&["reaches"]);
    let work = folder.beside("work");
    fs::create_dir_all(work.join("app/keys"))?;
    fs::write(work.join("app/keys/token"), "0123456789")?;
    let policy =
        format!("[grants]\ndirs = [{{ path = {work:?}, roots = true, at = \"/\", access = \"read\" }}]\n");
    folder.write("reaches.toml", &policy);
    let mut client = RootsClient::start(folder.path(), roots(&[&work.join("app")])).await?;
    assert_eq!(client.envelope("reaches", json!({"action": "dirs"})).await?["data"], json!(["/app"]));
    let secret = format!(
        "[grants]\nhttp = [\"https://api.example.com\"]\nsecrets = [{{ from-file = {:?}, host = \"api.example.com\", \
         header = \"authorization\" }}]\n",
        work.join("app/keys/token")
    );
    folder.write("other.toml", &secret);
    assert_eq!(client.envelope("reaches", json!({"action": "dirs"})).await?["data"], json!([]));
    folder.remove("other.toml");
    assert_eq!(client.envelope("reaches", json!({"action": "dirs"})).await?["data"], json!(["/app"]));
    // A root that is exchanged for a link does not lead elsewhere.
    fs::rename(work.join("app"), work.join("moved"))?;
    symlink(folder.path(), work.join("app"))?;
    assert_eq!(client.envelope("reaches", json!({"action": "dirs"})).await?["data"], json!([]));
    client.end().await
}

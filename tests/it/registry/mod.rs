//! Plugins from registries: the real commands against Debian's registry, and against one that lies.

mod server;

use std::{collections::BTreeMap, fs, path::PathBuf};

use anyhow::{Result, ensure};
use base64::{Engine, prelude::BASE64_STANDARD};
use loggia_tests::{Client, Era, Folder, Served, binary, cache, eventually, fixture, state};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tempfile::TempDir;
use tokio::process::Command;

use self::server::{LyingRegistry, Registry};
use crate::reload::becomes;

/// An operator with a plugin folder, keys and settings.
struct Operator {
    folder: Folder,
    home: TempDir,
}

impl Operator {
    fn new() -> Result<Self> {
        Ok(Self { folder: Folder::new(), home: tempfile::tempdir()? })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    async fn loggia(&self, words: &[&str]) -> Result<(Option<i32>, String)> {
        let mut command = Command::new(binary());
        command.args(words).env("LOGGIA_STATE", state(self.folder.path())).env("LOGGIA_CACHE", cache());
        let output = command.env("DOCKER_CONFIG", self.home.path()).output().await?;
        Ok((output.status.code(), String::from_utf8([output.stdout, output.stderr].concat())?))
    }

    async fn run(&self, words: &[&str]) -> Result<String> {
        let (code, text) = self.loggia(words).await?;
        ensure!(code == Some(0), "{words:?}: {code:?} {text}");
        Ok(text)
    }

    /// Runs a command on the plugin folder.
    async fn managed(&self, words: &[&str]) -> Result<(Option<i32>, String)> {
        let folder = self.folder.path().display().to_string();
        self.loggia(&[words, &["--plugins", &folder]].concat()).await
    }

    /// Pushes a fixture; returns its reference with the digest.
    async fn push(&self, name: &str, reference: &str, more: &[&str]) -> Result<String> {
        let file = fixture(name).display().to_string();
        Ok(self.run(&[&["push", &*file, reference], more].concat()).await?.trim().to_owned())
    }

    /// Makes a key pair with openssl, and settings that trust it for repositories.
    async fn trust(&self, name: &str, from: &str) -> Result<()> {
        let (key, public) = (self.path(&format!("{name}.key")), self.path(&format!("{name}.pub")));
        let curve = ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out"];
        let made = Command::new("openssl").arg("genpkey").args(curve).arg(&key).output().await?;
        ensure!(made.status.success(), "{made:?}");
        let mut show = Command::new("openssl");
        show.args(["pkey", "-pubout", "-in"]).arg(&key).arg("-out").arg(&public);
        ensure!(show.output().await?.status.success());
        let table = format!("[trust.{name}]\nfrom = [{from:?}]\nkey = {public:?}\n");
        Ok(fs::write(self.path("loggia.toml"), table)?)
    }

    fn files(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder.path()).expect("a folder").flatten();
        let mut files: Vec<_> =
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        files.retain(|file| !file.starts_with('.'));
        files.sort();
        files
    }

    fn origin(&self, file: &str) -> Result<Value> {
        let text = fs::read_to_string(self.folder.path().join("origins.json"))?;
        Ok(serde_json::from_str::<Value>(&text)?["plugins"][file].clone())
    }
}

#[tokio::test]
async fn plugins_are_pushed_added_and_updated() -> Result<()> {
    let (registry, operator) = (Registry::start(false).await?, Operator::new()?);
    let tag = registry.reference("acme/version:1");
    let one = operator.push("version_one", &tag, &[]).await?;
    assert!(one.starts_with(&format!("{tag}@sha256:")), "{one}");
    assert_eq!(operator.push("version_one", &tag, &[]).await?, one, "the same plugin has the same digest");
    // A tag alone is no promise.
    let (code, text) = operator.managed(&["add", &tag]).await?;
    assert!(code == Some(1) && text.contains(&one) && text.contains("a tag can move"), "{code:?} {text}");
    assert_eq!(operator.files(), Vec::<String>::new());
    let (code, text) = operator.managed(&["add", &one]).await?;
    assert!(code == Some(0) && text.contains("version.wasm is oci://"), "{code:?} {text}");
    assert_eq!(operator.files(), ["origins.json", "version.wasm"]);
    assert_eq!(fs::read(operator.folder.path().join("version.wasm"))?, fs::read(fixture("version_one"))?);
    let (code, text) = operator.managed(&["update"]).await?;
    assert!(code == Some(0) && text.contains("version: is the newest"), "{code:?} {text}");
    // The tag moves. Without a terminal, the remedy is printed.
    let two = operator.push("version_text", &tag, &[]).await?;
    let (code, text) = operator.managed(&["update", "--check"]).await?;
    assert!(code == Some(0) && text.contains(&format!("\t{two}")), "{code:?} {text}");
    let (code, text) = operator.managed(&["update", "version"]).await?;
    assert!(code == Some(1) && text.contains(&two), "{code:?} {text}");
    assert_eq!(fs::read(operator.folder.path().join("version.wasm"))?, fs::read(fixture("version_one"))?);
    let (code, text) = operator.managed(&["add", &two]).await?;
    assert_eq!(code, Some(0), "{text}");
    assert_eq!(operator.origin("version.wasm")?["from"], json!(two));
    // Another repository does not replace it.
    let other = operator.push("version_one", &registry.reference("other/version:1"), &[]).await?;
    let (code, text) = operator.managed(&["add", &other]).await?;
    assert!(code == Some(1) && text.contains("version.wasm came from"), "{code:?} {text}");
    // What the operator changed is not replaced, and what did not come from a registry neither.
    operator.folder.put("version", &fixture("version_one"));
    operator.folder.put("echo", &fixture("echo"));
    for (words, expected) in [
        (["add", &one].as_slice(), "was changed since it came from"),
        (&["add", &one, "--name", "echo"], "came from no registry"),
        (&["add", &one, "--name", "../echo"], "is no name for a plugin's file"),
        (&["update", "echo"], "`echo` came from no registry"),
    ] {
        let (code, text) = operator.managed(words).await?;
        assert!(code != Some(0) && text.contains(expected), "{words:?}: {code:?} {text}");
    }
    Ok(())
}

/// H38: an update from a registry is a change like any other.
#[tokio::test]
async fn pulled_versions_wait_for_approval() -> Result<()> {
    let (registry, operator) = (Registry::start(false).await?, Operator::new()?);
    let tag = registry.reference("acme/version:1");
    let one = operator.push("version_one", &tag, &[]).await?;
    operator.managed(&["add", &one]).await?;
    let served = Served::start(&operator.folder, |command| {
        command.env("LOGGIA_PIN", "surface");
    })
    .await?;
    let client = Client::http(&served.host, Era::Stateful).await?;
    becomes(&client, "one").await;
    let two = operator.push("version_text", &tag, &[]).await?;
    operator.managed(&["add", &two]).await?;
    let waiting = eventually(async || {
        let text = operator.run(&["pending"]).await.map_err(|error| error.to_string())?;
        if text.contains("surface") { Ok(text) } else { Err(text) }
    });
    let reference =
        waiting.await.split('\t').find(|cell| cell.contains("version@sha256:")).map(str::to_owned);
    let reference = reference.expect("a version");
    let reference = reference.lines().last().expect("a line").to_owned();
    becomes(&client, "one").await;
    operator.run(&["approve", &reference]).await?;
    becomes(&client, "text").await;
    client.end().await
}

/// H126.
#[tokio::test]
async fn only_signed_artifacts_of_covered_repositories_are_added() -> Result<()> {
    let (registry, operator) = (Registry::start(false).await?, Operator::new()?);
    operator.trust("acme", &format!("{}/acme/*", registry.host)).await?;
    let config = operator.path("loggia.toml").display().to_string();
    let key = operator.path("acme.key").display().to_string();
    let add = async |reference: &str| operator.managed(&["add", reference, "--config", &config]).await;
    let tag = registry.reference("acme/version:1");
    let unsigned = operator.push("version_one", &tag, &[]).await?;
    for (what, reference, expected) in [
        ("unsigned, by its digest", &*unsigned, "it is not signed"),
        ("not covered", &registry.reference("other/version:1"), "no [trust] table covers"),
        ("missing", &registry.reference("acme/none:1"), "is not in the registry"),
    ] {
        let (code, text) = add(reference).await?;
        assert!(code == Some(1) && text.contains(expected), "{what}: {code:?} {text}");
    }
    // Signed by a stranger.
    let stranger = Operator::new()?;
    stranger.trust("mallory", "x.example/*").await?;
    let foreign = stranger.path("mallory.key").display().to_string();
    operator.push("version_one", &tag, &["--key", &foreign]).await?;
    let (code, text) = add(&tag).await?;
    assert!(code == Some(1) && text.contains("it is not signed by `acme`"), "{code:?} {text}");
    assert_eq!(operator.files(), Vec::<String>::new());
    // Signed by the right key: the tag is enough.
    operator.push("version_one", &tag, &["--key", &key]).await?;
    let (code, text) = add(&tag).await?;
    assert!(code == Some(0) && text.contains("signed by `acme`"), "{code:?} {text}");
    assert_eq!(operator.origin("version.wasm")?["signer"], json!("acme"));
    // The tag moves to another plugin without a signature: the old one stays.
    operator.push("version_effect", &tag, &[]).await?;
    let (code, text) = operator.managed(&["update", "--config", &config]).await?;
    assert!(code == Some(1) && text.contains("it is not signed"), "{code:?} {text}");
    assert_eq!(fs::read(operator.folder.path().join("version.wasm"))?, fs::read(fixture("version_one"))?);
    operator.push("version_effect", &tag, &["--key", &key]).await?;
    let (code, text) = operator.managed(&["update", "--config", &config]).await?;
    assert!(code == Some(0) && text.contains("signed by `acme`"), "{code:?} {text}");
    assert_eq!(fs::read(operator.folder.path().join("version.wasm"))?, fs::read(fixture("version_effect"))?);
    Ok(())
}

/// Cosign verifies what openssl does: the registry has the document, and the signature as an annotation.
#[tokio::test]
async fn openssl_verifies_a_pushed_signature() -> Result<()> {
    let (registry, operator) = (Registry::start(false).await?, Operator::new()?);
    operator.trust("acme", "x.example/*").await?;
    let key = operator.path("acme.key").display().to_string();
    let pushed = operator.push("echo", &registry.reference("acme/echo:1"), &["--key", &key]).await?;
    let digest = pushed.rsplit_once('@').expect("a digest").1;
    let url = |kind: &str, name: &str| format!("http://{}/v2/acme/echo/{kind}/{name}", registry.host);
    let accept = "application/vnd.oci.image.manifest.v1+json";
    let tag = format!("{}.sig", digest.replace(':', "-"));
    let manifest = get(&url("manifests", &tag), accept).await?;
    let layer = serde_json::from_slice::<Value>(&manifest)?["layers"][0].clone();
    assert_eq!(layer["mediaType"], "application/vnd.dev.cosign.simplesigning.v1+json");
    let document = get(&url("blobs", layer["digest"].as_str().expect("a digest")), "*/*").await?;
    let signed: Value = serde_json::from_slice(&document)?;
    assert_eq!(signed["critical"]["image"]["docker-manifest-digest"], json!(digest));
    let signature = layer["annotations"]["dev.cosignproject.cosign/signature"].as_str().expect("a signature");
    fs::write(operator.path("document"), &document)?;
    fs::write(operator.path("signature"), BASE64_STANDARD.decode(signature)?)?;
    let mut verify = Command::new("openssl");
    verify.args(["dgst", "-sha256", "-verify"]).arg(operator.path("acme.pub")).arg("-signature");
    let verified = verify.arg(operator.path("signature")).arg(operator.path("document")).output().await?;
    assert!(verified.status.success(), "{verified:?}");
    Ok(())
}

async fn get(url: &str, accept: &str) -> Result<Vec<u8>> {
    let output =
        Command::new("curl").args(["-sSf", "-H", &format!("accept: {accept}"), url]).output().await?;
    ensure!(output.status.success(), "{url}: {output:?}");
    Ok(output.stdout)
}

#[tokio::test]
async fn applications_of_spin_are_understood() -> Result<()> {
    let (registry, operator) = (Registry::start(false).await?, Operator::new()?);
    let pushed = operator.push("echo", &registry.reference("acme/app:1"), &["--layout", "spin"]).await?;
    let (code, text) = operator.managed(&["add", &pushed, "--component", "echo", "--name", "echo"]).await?;
    assert_eq!(code, Some(0), "{text}");
    assert_eq!(operator.origin("echo.wasm")?["component"], json!("echo"));
    let (code, text) = operator.managed(&["add", &pushed, "--component", "web"]).await?;
    assert!(code == Some(1) && text.contains("no component `web`; it has: echo"), "{code:?} {text}");
    Ok(())
}

#[tokio::test]
async fn registries_get_the_credentials_of_docker() -> Result<()> {
    let (registry, operator) = (Registry::start(true).await?, Operator::new()?);
    let tag = registry.reference("acme/echo:1");
    let file = fixture("echo").display().to_string();
    let (code, text) = operator.loggia(&["push", &file, &tag]).await?;
    assert!(code == Some(1) && text.contains("refused the credentials"), "{code:?} {text}");
    let login = |password: &str| {
        let auth = BASE64_STANDARD.encode(format!("ada:{password}"));
        let config = json!({"auths": {&registry.host: {"auth": auth}}});
        fs::write(operator.path("config.json"), config.to_string())
    };
    login("wrong")?;
    let (code, text) = operator.loggia(&["push", &file, &tag]).await?;
    assert!(code == Some(1) && text.contains("refused the credentials"), "{code:?} {text}");
    assert!(!text.contains("wrong"), "a password was printed: {text}");
    login("secret")?;
    let pushed = operator.push("echo", &tag, &[]).await?;
    let (code, text) = operator.managed(&["add", &pushed]).await?;
    assert_eq!(code, Some(0), "{text}");
    Ok(())
}

/// H127.
#[tokio::test]
async fn a_lying_registry_changes_no_plugin() -> Result<()> {
    let (operator, wasm) = (Operator::new()?, fs::read(fixture("echo"))?);
    let digest = |bytes: &[u8]| {
        Sha256::digest(bytes).iter().fold("sha256:".to_owned(), |text, byte| text + &format!("{byte:02x}"))
    };
    let manifest = |size: usize| {
        json!({
            "schemaVersion": 2,
            "config": {"mediaType": "application/vnd.wasm.config.v0+json", "digest": digest(b"{}"), "size": 2},
            "layers": [{"mediaType": "application/wasm", "digest": digest(&wasm), "size": size}],
        })
        .to_string()
        .into_bytes()
    };
    let blob: &'static str = digest(&wasm).leak();
    let (good, small, huge) = (manifest(wasm.len()), manifest(8), manifest(1 << 30));
    let names: Vec<&'static str> = [&good, &small, &huge].map(|text| &*digest(text).leak()).to_vec();
    let index = br#"{"schemaVersion":2,"manifests":[]}"#.to_vec();
    let index_name: &'static str = digest(&index).leak();
    let other = [&wasm[..wasm.len() - 1], b"x"].concat();
    type Answers = Vec<(&'static str, Vec<u8>)>;
    let cases: Vec<(&str, &str, Answers, &str)> = vec![
        ("another manifest", names[0], vec![(names[0], small.clone())], "digest"),
        ("another component", names[0], vec![(names[0], good.clone()), (blob, other)], "digest"),
        (
            "a longer component",
            names[1],
            vec![(names[1], small), (blob, wasm.clone())],
            "is larger than 8 bytes",
        ),
        (
            "a huge component",
            names[2],
            vec![(names[2], huge), (blob, wasm.clone())],
            "is larger than 134217728",
        ),
        ("an index", index_name, vec![(index_name, index)], "an index of artifacts"),
        ("no component", names[0], vec![(names[0], good)], "is not in the registry"),
        ("nothing", names[0], vec![], "is not in the registry"),
    ];
    for (what, name, answers, expected) in cases {
        let registry = LyingRegistry::start(BTreeMap::from_iter(answers)).await?;
        let reference = format!("oci://{}/acme/echo@{name}", registry.host);
        let (code, text) = operator.managed(&["add", &reference]).await?;
        assert!(code == Some(1) && text.to_lowercase().contains(expected), "{what}: {code:?} {text}");
        assert_eq!(operator.files(), Vec::<String>::new(), "{what}");
    }
    Ok(())
}

#[tokio::test]
async fn what_does_not_load_is_neither_pushed_nor_added() -> Result<()> {
    let (registry, operator) = (Registry::start(false).await?, Operator::new()?);
    let tag = registry.reference("acme/empty:1");
    let file = operator.path("empty.wasm");
    fs::write(&file, b"\0asm\x0d\0\x01\0")?;
    let (code, text) = operator.loggia(&["push", &file.display().to_string(), &tag]).await?;
    assert!(code == Some(10) && text.contains("does not load"), "{code:?} {text}");
    for (words, expected) in [
        (["push", "notes.txt", &tag], "pass a .wasm file"),
        (["push", "notes.wasm", "oci://ghcr.io/acme/notes"], "name a tag and no digest"),
        (["push", "notes.wasm", "ghcr.io/acme/notes:1"], "expected oci://HOST"),
    ] {
        let (code, text) = operator.loggia(&words).await?;
        assert!(code == Some(2) && text.contains(expected), "{words:?}: {code:?} {text}");
    }
    // A plugin of another contract.
    let foreign = operator.push("echo", &tag, &[]).await?;
    operator.folder.write("empty.toml", "nonsense = 1\n");
    let (code, text) = operator.managed(&["add", &foreign]).await?;
    assert!(code == Some(10) && text.contains("nothing was changed"), "{code:?} {text}");
    assert_eq!(operator.files(), ["empty.toml"]);
    Ok(())
}

//! Registries: Debian's, and one that lies.

use std::{collections::BTreeMap, fs, path::Path, process::Stdio, sync::Arc};

use anyhow::{Context, Result};
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::TcpListener,
    process::{Child, Command},
};

/// A password file for `ada`, `secret`.
const PASSWORDS: &str = "ada:$2b$04$.DZFpTNbJ3BcHFbYB0GcL./S4o5XH5tPfMR2wiFCyhaME12Ny3L0S\n";

/// Debian's registry on a free port of this machine.
pub struct Registry {
    pub host: String,
    _process: Child,
    _folder: TempDir,
}

impl Registry {
    /// Starts one; with `passwords`, for `ada` alone.
    pub async fn start(passwords: bool) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let path = |name: &str| folder.path().join(name);
        fs::write(path("passwords"), PASSWORDS)?;
        let auth = format!("auth: {{htpasswd: {{realm: test, path: {}}}}}\n", path("passwords").display());
        let config = format!(
            "version: 0.1\nlog: {{level: info}}\nstorage: {{filesystem: {{rootdirectory: {}}}}}\nhttp: {{addr: '127.0.0.1:0'}}\n{}",
            path("data").display(),
            if passwords { &auth } else { "" }
        );
        fs::write(path("config.yml"), config)?;
        let mut process = Command::new("docker-registry")
            .arg("serve")
            .arg(path("config.yml"))
            .env("OTEL_TRACES_EXPORTER", "none")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .context("Debian's docker-registry is missing: apt-get install docker-registry")?;
        let mut lines = BufReader::new(process.stderr.take().context("stderr")?).lines();
        let host = loop {
            let line = lines.next_line().await?.context("the registry ended")?;
            if let Some((_, rest)) = line.split_once("listening on ") {
                let end =
                    rest.find(|c: char| !c.is_ascii_digit() && c != '.' && c != ':').unwrap_or(rest.len());
                break rest[..end].to_owned();
            }
        };
        // A full pipe would stop it.
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        Ok(Self { host, _process: process, _folder: folder })
    }

    /// A reference to a repository of it, with a tag.
    pub fn reference(&self, path: &str) -> String {
        format!("oci://{}/{path}", self.host)
    }
}

/// Answers each path with what a test chose.
pub struct LyingRegistry {
    pub host: String,
}

impl LyingRegistry {
    pub async fn start(answers: BTreeMap<&'static str, Vec<u8>>) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let host = listener.local_addr()?.to_string();
        let answers = Arc::new(answers);
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let answers = Arc::clone(&answers);
                tokio::spawn(async move {
                    let (mut head, mut byte) = (Vec::new(), [0]);
                    while !head.ends_with(b"\r\n\r\n") && stream.read_exact(&mut byte).await.is_ok() {
                        head.push(byte[0]);
                    }
                    let head = String::from_utf8_lossy(&head).into_owned();
                    let path = head.split(' ').nth(1).unwrap_or_default();
                    let last = Path::new(path).file_name().map(|name| name.to_string_lossy().into_owned());
                    let body = match last.as_deref() {
                        Some("v2") => Some(&b"{}"[..]),
                        Some(last) => answers.get(last).map(Vec::as_slice),
                        None => None,
                    };
                    let (status, body) = body.map_or(("404 Not Found", &b"{}"[..]), |body| ("200 OK", body));
                    let kind = "application/vnd.oci.image.manifest.v1+json";
                    let head = format!(
                        "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
                        body.len()
                    );
                    let _ = stream.write_all(head.as_bytes()).await;
                    let _ = stream.write_all(body).await;
                });
            }
        });
        Ok(Self { host })
    }
}

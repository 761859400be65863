//! The folder that both hosts serve: its plugins and their policies.

use std::{
    fs,
    net::SocketAddr,
    path::{Path, PathBuf},
};

use anyhow::Result;
use loggia_tests::{Folder, fixture, plugin};

/// Content of the directory that `files` is granted.
pub const FILES: [(&str, &str); 3] =
    [("a.txt", "the first\n"), ("b.txt", "another\n"), ("c.txt", "the last one\n")];

/// Short limits for endless calls, so that many can be made.
const HASTY: &str = "cpu = \"200ms\"\nwall = \"2s\"\n";

/// A folder of plugins, their grants, and the server for their requests.
pub struct Site {
    folder: Folder,
    /// `http://127.0.0.1:PORT`.
    pub upstream: String,
}

impl Site {
    /// Everything in place.
    pub fn new(upstream: SocketAddr) -> Result<Self> {
        let folder = Folder::with(&["echo", "keeps", "misbehaves", "reaches", "hoards"]);
        let site = Self { folder, upstream: format!("http://{upstream}") };
        let data = site.folder.beside("data");
        for (name, text) in FILES {
            fs::write(data.join(name), text)?;
        }
        let granted = format!("dirs = [{{ path = {:?}, at = \"/data\", access = \"read-write\" }}]", data);
        let upstream = &site.upstream;
        site.folder.put("files", &plugin("files"));
        site.put_version(1);
        // The same guest as `misbehaves`; its breaker is on.
        site.folder.put("bitten", &fixture("misbehaves"));
        let policies = [
            ("files", format!("[grants]\n{granted}\n")),
            ("keeps", "[grants]\nstore = true\n".to_owned()),
            ("misbehaves", format!("[limits]\n{HASTY}{UNBROKEN}")),
            ("bitten", format!("[limits]\n{HASTY}[expose]\nname = \"bitten\"\n")),
            ("reaches", format!("[grants]\nhttp = [{upstream:?}]\n[limits]\n{UNBROKEN}")),
            ("hoards", format!("[grants]\n{granted}\n[limits]\n{HASTY}{UNBROKEN}")),
        ];
        for (name, policy) in policies {
            site.folder.write(&format!("{name}.toml"), &policy);
        }
        Ok(site)
    }

    /// The plugins.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Puts one of two versions of a plugin in place.
    pub fn put_version(&self, version: u64) {
        self.folder.put("version", &fixture(if version == 1 { "version_one" } else { "version_two" }));
    }

    /// Writes a file in the plugin folder.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<()> {
        Ok(fs::write(self.path(name), bytes)?)
    }

    /// Removes a file if it exists.
    pub fn remove(&self, name: &str) {
        let _ = fs::remove_file(self.path(name));
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

/// Disables the breaker: faults are intended.
const UNBROKEN: &str = "breaker-faults = 1000000\n";

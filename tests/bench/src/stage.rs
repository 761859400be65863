//! A temporary folder in which Loggia is set up: plugin folders, caches, versions, and the servers' entries.

use std::{
    fs,
    net::TcpListener,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use loggia_bench_tools::VERSION;
use tempfile::TempDir;

use crate::{
    builds::Builds,
    config::{Http, Reload, Server},
    patch::overwrite,
};

/// The name of the bench's facade.
pub const FACADE: &str = "bench";
/// Versions of the plugin for the reload measurement.
const VERSIONS: usize = 4;

/// The temporary folder with the measured programs. Removed on drop.
pub struct Stage {
    dir: TempDir,
    /// Measured programs.
    pub builds: Builds,
    /// The bench's plugin.
    pub guest: Vec<u8>,
}

impl Stage {
    /// An empty stage.
    pub fn new(builds: Builds) -> Result<Self> {
        let guest = fs::read(&builds.guest).with_context(|| format!("reading {}", builds.guest.display()))?;
        Ok(Self { dir: tempfile::Builder::new().prefix("loggia-bench-").tempdir()?, builds, guest })
    }

    /// A path within.
    pub fn at(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// The native server as the official SDK serves stdio, and over HTTP as fast as the SDK can.
    pub fn native(&self) -> Result<Server> {
        self.baseline("native", &[], &["--tuned"])
    }

    /// The native server with Loggia's transport settings: the remaining difference is Loggia's own cost.
    pub fn alike(&self) -> Result<Server> {
        self.baseline("alike", &["--pipes"], &["--nodelay", "--json"])
    }

    fn baseline(&self, name: &str, stdio: &[&str], http: &[&str]) -> Result<Server> {
        let binary = text(&self.builds.native);
        let addr = free_address()?;
        let command =
            |options: &[&str]| [&[&*binary], options].concat().into_iter().map(str::to_owned).collect();
        let cmd = command(&[&["--http", &*addr], http].concat());
        Ok(Server {
            name: name.into(),
            stdio: Some(command(stdio)),
            http: Some(Http { cmd, addr, path: "/mcp".into(), legacy_sse: false, stateless: false }),
            evict: vec![self.builds.native.clone()],
            // Misbehaviour takes the same time with any transport.
            fragile: name == "alike",
            ..Server::default()
        })
    }

    /// Loggia with only the bench's plugin, in a folder and with a cache of its own.
    pub fn loggia(&self, name: &str, options: &[&str]) -> Result<Server> {
        let (folder, cache) = (self.at(&format!("{name}-plugins")), self.at(&format!("{name}-cache")));
        let plugin = folder.join(format!("{FACADE}.wasm"));
        let versions = self.versions()?;
        let addr = free_address()?;
        let stdio = self.serve(&folder, &cache, options);
        let mut cmd = stdio.clone();
        cmd.extend(["--http".into(), addr.clone()]);
        Ok(Server {
            name: name.into(),
            stdio: Some(stdio),
            http: Some(Http { cmd, addr, path: "/mcp".into(), legacy_sse: false, stateless: false }),
            facade: Some(FACADE.into()),
            files: vec![(versions[0].0.clone(), plugin.clone())],
            evict: vec![self.builds.loggia.clone(), folder],
            caches: vec![cache],
            reload: Some(Reload { stdio: None, file: plugin, versions, calls: Vec::new() }),
            ..Server::default()
        })
    }

    /// The command that serves a folder, with a state folder of its own: the lock in it has an entry for each plugin, which every start
    /// reads.
    pub fn serve(&self, folder: &Path, cache: &Path, options: &[&str]) -> Vec<String> {
        let mut command = vec![text(&self.builds.loggia), "serve".into(), text(folder)];
        let state = folder.with_added_extension("state");
        command.extend(["--cache".into(), text(cache), "--state".into(), text(&state)]);
        command.extend(options.iter().map(|option| (*option).to_owned()));
        command
    }

    /// The plugin under another name.
    pub fn renamed(&self, name: &str) -> Result<Vec<u8>> {
        overwrite(&self.guest, FACADE, name)
    }

    /// Copies of the plugin that differ in the answer of `version`. The first is the plugin as built.
    fn versions(&self) -> Result<Vec<(PathBuf, String)>> {
        let folder = self.at("versions");
        fs::create_dir_all(&folder)?;
        let version = |number: usize| {
            let name = format!("{}{number:04}", &VERSION[..VERSION.len() - 4]);
            let file = folder.join(format!("{name}.wasm"));
            fs::write(&file, overwrite(&self.guest, VERSION, &name)?)?;
            Ok((file, name))
        };
        (1..=VERSIONS).map(version).collect()
    }
}

/// A loopback address that was free just now.
fn free_address() -> Result<String> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.to_string())
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

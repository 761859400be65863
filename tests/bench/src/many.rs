//! Startup of Loggia with many plugins: copies of the bench's plugin under other names, compiled before.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::{
    config::Server,
    figures::Figures,
    flood::{ms, percentile},
    measure::{CALL, Live, START, first_call, open_stdio},
    patch::overwrite,
    stage::{FACADE, Stage},
};

/// Starts that are measured.
const STARTS: usize = 5;

/// A folder of many plugins with cached code.
pub struct Many {
    server: Server,
    count: usize,
}

impl Many {
    /// Makes the folder and fills the cache.
    pub fn prepare(stage: &Stage, count: usize) -> Result<Self> {
        let folder = stage.at(&format!("many-{count}"));
        let cache = stage.at(&format!("many-{count}-cache"));
        fs::create_dir_all(&folder)?;
        // The last by name: if plugins load in order, its answer comes when all are loaded.
        let last = name(count);
        let server = Server {
            name: format!("loggia with {count} plugins"),
            stdio: Some(stage.serve(&folder, &cache, &[])),
            facade: Some(last.clone()),
            ..Server::default()
        };
        fs::write(folder.join(format!("{last}.wasm")), stage.renamed(&last)?)?;
        first_call(&server, &mut open_stdio(&server)?)?;
        let code = the_code(&cache)?;
        for number in 1..count {
            let name = name(number);
            let plugin = stage.renamed(&name)?;
            if let Some((folder, compiled)) = &code {
                seed(folder, compiled, &plugin, &last, &name)?;
            }
            fs::write(folder.join(format!("{name}.wasm")), plugin)?;
        }
        // Whatever the cache still lacks is made now.
        let mut live = open_stdio(&server)?;
        let listed = listed(&mut live)?;
        ensure!(listed == count, "{listed} of {count} plugins are served");
        Ok(Self { server, count })
    }

    /// Starts Loggia on the folder some times.
    pub fn measure(&self, f: &mut Figures) -> Result<()> {
        let mut times = <[Vec<Duration>; 3]>::default();
        let key = format!("start{}", self.count);
        for _ in 0..STARTS {
            let mut live = open_stdio(&self.server)?;
            times[0].push(live.ready);
            times[1].push(first_call(&self.server, &mut live)?);
            let listed = listed(&mut live)?;
            ensure!(listed == self.count, "{listed} of {} plugins are served", self.count);
            times[2].push(live.process.started.elapsed());
            f.set(format!("mem.with_{}_plugins_mib", self.count), live.process.rss_mib());
        }
        for (times, what) in times.iter_mut().zip(["init_ms", "first_call_ms", "list_ms"]) {
            f.set(format!("{key}.{what}"), ms(percentile(times, 50)));
        }
        Ok(())
    }
}

/// A name as long as the facade's own.
fn name(number: usize) -> String {
    debug_assert_eq!(FACADE.len(), 5);
    format!("b{number:04}")
}

/// Number of served tools after the first load, on all pages of the list.
fn listed(live: &mut Live) -> Result<usize> {
    let mut count = 0;
    let mut params = "{}".to_owned();
    loop {
        let reply = live.client.request("tools/list", &params, START.max(CALL))?;
        let page = reply.result()?;
        count += page["tools"].as_array().context("no tools")?.len();
        match &page["nextCursor"] {
            Value::Null => return Ok(count),
            cursor => params = json!({ "cursor": cursor }).to_string(),
        }
    }
}

/// The only compiled plugin in a cache, named by the digest of its source. `None` if the cache has another format: then
/// Loggia compiles each copy, which takes minutes.
fn the_code(cache: &Path) -> Result<Option<(PathBuf, Vec<u8>)>> {
    for dir in fs::read_dir(cache)?.flatten().filter(|e| e.path().is_dir()) {
        for file in fs::read_dir(dir.path())?.flatten() {
            if file.path().extension().is_some_and(|e| e == "code") {
                return Ok(Some((dir.path(), fs::read(file.path())?)));
            }
        }
    }
    Ok(None)
}

/// Writes the cache entry that compiling the copy would produce: the same code except for the name in its data.
fn seed(folder: &Path, code: &[u8], plugin: &[u8], from: &str, to: &str) -> Result<()> {
    let digest: String = Sha256::digest(plugin).iter().map(|byte| format!("{byte:02x}")).collect();
    let code = overwrite(code, from, to)?;
    // Code without a matching checksum is not used.
    fs::write(
        folder.join(format!("{digest}.sum")),
        format!("{:08x} {}", crc32fast::hash(&code), code.len()),
    )?;
    fs::write(folder.join(format!("{digest}.code")), code)?;
    Ok(())
}

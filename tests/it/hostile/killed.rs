//! A host that is killed while it writes.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use anyhow::{Context, Result};
use loggia_tests::{Folder, binary, scratch};
use tokio::process::Command;

use super::stage::check_in;

/// Lists the cache's files, with the checksums stored next to them.
fn entries(cache: &Path) -> Result<Vec<(PathBuf, u64, String)>> {
    let mut entries = Vec::new();
    for engine in fs::read_dir(cache)? {
        for entry in fs::read_dir(engine?.path())? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "code") {
                let sum = fs::read_to_string(path.with_extension("sum"))
                    .with_context(|| format!("{} has no sum", path.display()))?;
                entries.push((path.clone(), fs::metadata(&path)?.len(), sum));
            }
        }
    }
    Ok(entries)
}

/// The files that are being written.
fn unfinished(cache: &Path) -> Vec<PathBuf> {
    let engines = fs::read_dir(cache).into_iter().flatten().flatten();
    let files = engines.filter_map(|engine| fs::read_dir(engine.path()).ok()).flatten().flatten();
    files.map(|file| file.path()).filter(|path| path.extension().is_none()).collect()
}

/// H52.
#[tokio::test]
async fn a_killed_host_leaves_no_partial_cache_file() -> Result<()> {
    // Much code to write, and little to compile: the kill finds it writing.
    let bulk = format!(
        r#"(component (core module (memory 1000) (data (i32.const 0) "{}")))"#,
        "loggia has many rooms, and each is open on one side only ".repeat(60_000)
    );
    let folder = Folder::new();
    fs::write(folder.path().join("bulk.wasm"), wat::parse_str(bulk)?)?;
    let compiled = tempfile::tempdir()?;
    let (mut whole, mut cut) = (0, 0);
    // A busy machine needs more attempts until one is in time.
    for kill in 0..360_u32 {
        if kill >= 36 && cut > 0 {
            break;
        }
        let mut host = Command::new(binary())
            .arg("check")
            .arg(folder.path())
            .env("LOGGIA_CACHE", compiled.path())
            .env("LOGGIA_STATE", scratch())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()?;
        // From the start of the write, a little later each time.
        while unfinished(compiled.path()).is_empty() && host.try_wait()?.is_none() {
            std::hint::spin_loop();
        }
        std::thread::sleep(Duration::from_micros(u64::from(kill % 36) * 100));
        host.start_kill()?;
        host.wait().await?;
        // Every file with an entry's name is a complete entry.
        let entries = entries(compiled.path())?;
        match entries.first() {
            None => cut += 1,
            Some((path, length, sum)) => {
                whole += 1;
                assert!(sum.ends_with(&format!(" {length}")), "{length} bytes, but the sum is {sum}");
                fs::remove_file(path)?;
            }
        }
        // The lock of the dead, and a sum without its code, stay as they are.
        unfinished(compiled.path()).into_iter().try_for_each(fs::remove_file)?;
    }
    assert!(cut > 0, "{whole} of {} were whole: no kill came in time", whole + cut);
    let output = check_in(folder.path(), compiled.path()).await?;
    let said = String::from_utf8(output.stdout)?;
    assert!(said.contains("bulk\tdoes not load: the component does not export"), "{said}");
    assert_eq!(entries(compiled.path())?.len(), 1);
    Ok(())
}

//! A server under callgrind, and what its dumps say.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, bail, ensure};

use super::site::Site;
use crate::{
    client::Client,
    config::Server,
    measure::{Live, open_stdio},
};

/// Threads with less than this share of the busiest one's instructions run by the clock, not by requests.
const SHARE: u64 = 50;

/// A running server.
pub struct Counted {
    live: Live,
    dumps: usize,
}

impl Counted {
    /// Starts a server.
    pub fn start(server: &Server, command: &[String]) -> Result<Self> {
        let server = Server { stdio: Some(command.to_vec()), ..server.clone() };
        let live = open_stdio(&server).with_context(|| {
            format!("the server gave no answer under valgrind; to see why, run {}", command.join(" "))
        })?;
        Ok(Self { live, dumps: 0 })
    }

    /// Client of the server.
    pub fn client(&mut self) -> &mut Client {
        &mut self.live.client
    }

    /// Sends callgrind a command.
    pub fn control(&self, site: &Site, command: &str) -> Result<()> {
        let process = format!("--pid={}", self.live.process.child.id());
        let output = Command::new("vgdb").args([&site.pipes(), &process, command]).output();
        let output = output.context("no `vgdb`: it is part of the package `valgrind`")?;
        let text = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "`vgdb {command}` failed: {}", text.trim());
        Ok(())
    }

    /// Writes what was counted since the last `zero` or dump.
    pub fn dump(&mut self, site: &Site) -> Result<Dump> {
        self.control(site, "dump")?;
        self.dumps += 1;
        Dump::find(Path::new(&site.at("out")), self.dumps)
    }
}

/// One dump: a file for each thread.
pub struct Dump(Vec<PathBuf>);

impl Dump {
    /// Finds the files of a dump: `out.1-01` is that of the first dump and the first thread.
    fn find(out: &Path, number: usize) -> Result<Self> {
        let (folder, name) = out.parent().zip(out.file_name()).context("no folder of dumps")?;
        let start = format!("{}.{number}-", name.to_string_lossy());
        let mut files = Vec::new();
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            if entry.file_name().to_string_lossy().starts_with(&start) {
                files.push(entry.path());
            }
        }
        ensure!(!files.is_empty(), "callgrind wrote no file {start}*");
        Ok(Self(files))
    }

    /// Instructions of the threads that served.
    pub fn instructions(&self) -> Result<u64> {
        Ok(serving(&self.threads()?))
    }

    /// Copies the file of the busiest thread.
    pub fn keep(&self, folder: &Path, name: &str) -> Result<()> {
        let threads = self.threads()?;
        let busiest = threads.iter().zip(&self.0).max_by_key(|(count, _)| **count);
        let (_, file) = busiest.context("no threads")?;
        fs::create_dir_all(folder).with_context(|| format!("creating {}", folder.display()))?;
        fs::copy(file, folder.join(name)).with_context(|| format!("writing to {}", folder.display()))?;
        Ok(())
    }

    fn threads(&self) -> Result<Vec<u64>> {
        let count = |file: &PathBuf| {
            let text = fs::read_to_string(file)?;
            total(&text).with_context(|| format!("no total in {}", file.display()))
        };
        self.0.iter().map(count).collect()
    }
}

/// Total in a file of callgrind.
fn total(text: &str) -> Result<u64> {
    let totals = text.lines().rev().find_map(|line| line.strip_prefix("totals:"));
    match totals.map(str::trim).unwrap_or_default().parse() {
        Ok(total) => Ok(total),
        Err(_) => bail!("not a file of callgrind"),
    }
}

fn serving(threads: &[u64]) -> u64 {
    let most = threads.iter().copied().max().unwrap_or(0);
    threads.iter().filter(|count| **count * SHARE >= most).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_ends_with_its_total() {
        let text = "# callgrind format\nevents: Ir\nsummary: 12\n\nfn=(1) main\n0 3\n\ntotals: 4500\n";
        assert_eq!(total(text).unwrap(), 4500);
        assert!(total("summary: 12\n").is_err());
    }

    #[test]
    fn threads_that_hardly_run_do_not_count() {
        for (threads, expected) in
            [(&[][..], 0), (&[0, 5_000, 99][..], 5_000), (&[5_000, 100, 0][..], 5_100), (&[0, 0][..], 0)]
        {
            assert_eq!(serving(threads), expected, "{threads:?}");
        }
    }

    #[test]
    fn a_dump_is_found_by_its_number() {
        let dir = tempfile::tempdir().unwrap();
        let out = dir.path().join("out");
        for (name, count) in [("out", 1), ("out.1-01", 7), ("out.12-01", 9), ("out.1-02", 8)] {
            fs::write(dir.path().join(name), format!("totals: {count}\n")).unwrap();
        }
        assert_eq!(Dump::find(&out, 1).unwrap().instructions().unwrap(), 15);
        assert_eq!(Dump::find(&out, 12).unwrap().instructions().unwrap(), 9);
        assert!(Dump::find(&out, 2).is_err());
    }
}

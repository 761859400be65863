//! Instructions that a request takes in the server, as callgrind counts them: unlike times, they hardly depend on the
//! machine's load, so that a change of some percent shows.
//!
//! | file | concept |
//! |---|---|
//! | `site.rs` | plugin, workflow and command line of the measured server |
//! | `counted.rs` | a server under callgrind, and what its dumps say |
//! | `stored.rs` | figures of the repository, and the comparison with them |
//!
//! What makes the counts repeatable: one processor, so that one thread serves; requests one at a time; `--threads same`, so
//! that no call moves to another thread after a millisecond, which is soon over under valgrind; the least of several blocks,
//! because what runs by the clock (epochs, watchers of files) only adds.

mod counted;
mod site;
mod stored;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use self::{
    counted::Counted,
    site::{CHAIN, Site, Tool},
    stored::Stored,
};
use crate::{
    call::{Call, TOOL_ERROR},
    config::Server,
    measure::CALL,
    stage::FACADE,
};

/// Blocks of each request; the least counts.
const BLOCKS: usize = 3;
/// Requests before each block.
const WARM_UP: usize = 5;

/// Maximum duration of loading, which may include compiling under valgrind on a busy machine.
const LOADING: Duration = Duration::from_secs(5 * 60);

/// Pause between attempts while the plugin is loading: under valgrind, a request takes the time that the compiler needs.
const POLL: Duration = Duration::from_millis(500);

/// Parameters of a count.
pub struct Plan {
    /// The `loggia` command.
    pub loggia: PathBuf,
    /// The bench's plugin.
    pub guest: PathBuf,
    /// Write the figures instead of comparing them.
    pub is_writing: bool,
    /// Folder for the profile of each request.
    pub profiles: Option<PathBuf>,
}

/// Counts, and compares with the figures in the repository; the table to print.
///
/// # Errors
///
/// If valgrind cannot run the server, or if a request takes too many instructions.
pub fn run(plan: &Plan) -> Result<String> {
    let valgrind = version("valgrind", "install the package `valgrind`")?;
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("instructions.toml");
    let now = Stored {
        rustc: version("rustc", "install Rust")?,
        valgrind,
        machine: std::env::consts::ARCH.to_owned(),
        instructions: count(plan)?,
    };
    if plan.is_writing {
        now.write(&file)?;
        return Ok(now.table(None));
    }
    let stored = Stored::read(&file)?;
    let text = now.table(Some(&stored));
    match now.problem(&stored) {
        None => Ok(text),
        Some(problem) => bail!("{problem}\n\n{text}"),
    }
}

/// Prints of `program --version`, without the program's name.
fn version(program: &str, help: &str) -> Result<String> {
    let output = Command::new(program).arg("--version").current_dir(env!("CARGO_MANIFEST_DIR")).output();
    let output = output.with_context(|| format!("no `{program}`: {help}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let text = text.trim().trim_start_matches(program).trim_start_matches(['-', ' ']);
    Ok(text.split(' ').next().unwrap_or_default().to_owned())
}

/// Pins this process, and so the server, to one processor.
fn stay_on_one_processor() -> Result<()> {
    let allowed = sched_getaffinity(None).context("reading the allowed processors")?;
    let first = (0..CpuSet::MAX_CPU).find(|number| allowed.is_set(*number)).context("no processor")?;
    let mut one = CpuSet::new();
    one.set(first);
    sched_setaffinity(None, &one).context("choosing one processor")
}

/// One kind of request.
struct Request {
    name: &'static str,
    /// `None`: the list of tools.
    call: Option<Call>,
    /// Requests in a block.
    count: usize,
}

fn requests(server: &Server) -> Vec<Request> {
    let call = |name, call, count| Request { name, call: Some(call), count };
    vec![
        call("call-100B", Call::small(server), 200),
        Request { name: "tools-list", call: None, count: 200 },
        call("workflow-1", Call::action(site::WORKFLOW, &site::arguments(1)), 20),
        call("workflow-11", Call::action(site::WORKFLOW, &site::arguments(CHAIN)), 20),
        // Last: pages that a large call has used are cleared after each later call, too.
        call("call-64KiB", Call::large(server), 20),
    ]
}

fn count(plan: &Plan) -> Result<BTreeMap<String, u64>> {
    let site = Site::new(&plan.loggia, &plan.guest)?;
    let server = Server { name: "loggia".into(), facade: Some(FACADE.into()), ..Server::default() };
    eprintln!("compiling the plugin for the processor that valgrind emulates");
    let mut first = Request { name: "", call: Some(Call::small(&server)), count: 1 };
    Counted::start(&server, &site.command(Tool::None))?.settle(&mut first)?;
    stay_on_one_processor()?;
    let mut counted = Counted::start(&server, &site.command(Tool::Callgrind))?;
    let mut least = BTreeMap::new();
    for mut request in requests(&server) {
        eprintln!("counting {}", request.name);
        counted.settle(&mut request)?;
        let mut counts = Vec::with_capacity(BLOCKS);
        let count = request.count;
        for _ in 0..BLOCKS {
            counted.repeat(&mut request, WARM_UP)?;
            counted.control(&site, "zero")?;
            counted.repeat(&mut request, count)?;
            let dump = counted.dump(&site)?;
            counts.push(dump.instructions()? / count as u64);
            if let Some(folder) = &plan.profiles {
                dump.keep(folder, request.name)?;
            }
        }
        eprintln!("  {counts:?}");
        least.insert(request.name, counts.into_iter().min().context("no block")?);
    }
    let of = |name: &str| least.get(name).copied().with_context(|| format!("no count of {name}"));
    let step = of("workflow-11")?.saturating_sub(of("workflow-1")?) / (CHAIN as u64 - 1);
    let named = ["call-100B", "call-64KiB", "tools-list"].map(|name| Ok((name.to_owned(), of(name)?)));
    named.into_iter().chain([Ok(("workflow-step".to_owned(), step))]).collect()
}

impl Counted {
    /// Makes one request and checks its response.
    fn make(&mut self, request: &mut Request) -> Result<()> {
        match &mut request.call {
            Some(call) => self.client().call(call, CALL),
            None => {
                let reply = self.client().request("tools/list", "{}", CALL)?;
                reply.result()?["tools"].as_array().map(|_| ()).context("no tools")
            }
        }
    }

    /// Repeats a request until it succeeds: its tool may still be loading.
    fn settle(&mut self, request: &mut Request) -> Result<()> {
        let until = Instant::now() + LOADING;
        loop {
            match self.make(request) {
                Err(error) if error.to_string().starts_with(TOOL_ERROR) && Instant::now() < until => {
                    std::thread::sleep(POLL);
                }
                done => return done,
            }
        }
    }

    fn repeat(&mut self, request: &mut Request, count: usize) -> Result<()> {
        (0..count).try_for_each(|_| self.make(request))
    }
}

//! Machine code, made by a child process: compiling is the one step whose cost wasmtime does not bound, and
//! Cranelift's memory stays out of the host.
//!
//! The child is the host's own binary. It reads a component from stdin and writes machine code to stdout; it has no
//! environment, and sets its own limits before it reads a byte.

use std::{
    io::{Read, Write},
    path::PathBuf,
    process::Stdio,
    time::Duration,
};

use rustix::process::{Resource, Rlimit, setpriority_process, setrlimit};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    process::Command,
};

use crate::{
    LoadError,
    engine::{self, Space},
};

/// Processor seconds a compilation may take. An 18 MB Python guest takes 36.
const CPU_SECONDS: u64 = 120;
/// Seconds on the wall.
const WALL: Duration = Duration::from_secs(180);
/// Address space of the child.
const MEMORY: u64 = 4 << 30;
/// Largest component the child reads; the host refuses larger files before this.
const COMPONENT: u64 = 128 << 20;
/// Bytes of the child's complaint that are shown.
const COMPLAINT: usize = 2000;

/// How to start the child.
#[derive(Debug, Clone)]
pub struct Compiler {
    /// The host's own binary.
    pub program: PathBuf,
    /// What makes it call [`child`].
    pub args: Vec<String>,
}

impl Compiler {
    /// Compiles a component; the machine code.
    ///
    /// # Errors
    ///
    /// If the component is invalid, if a limit ends the child, or if it cannot be run.
    pub async fn compile(&self, wasm: &[u8]) -> Result<Vec<u8>, LoadError> {
        tokio::time::timeout(WALL, self.run(wasm)).await.unwrap_or_else(|_| {
            Err(LoadError::CompileLimit(format!("it took longer than {} s", WALL.as_secs())))
        })
    }

    async fn run(&self, wasm: &[u8]) -> Result<Vec<u8>, LoadError> {
        let io = |what| move |error| LoadError::Io(what, error);
        let mut child = Command::new(&self.program)
            .args(&self.args)
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(io("start the compiler"))?;
        let (Some(mut stdin), Some(mut stdout), Some(mut stderr)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(LoadError::Io("start the compiler", std::io::ErrorKind::BrokenPipe.into()));
        };
        let (mut code, mut said) = (Vec::new(), Vec::new());
        let write = async move {
            // A child that refuses early closes its end; its own words say why.
            let _ = stdin.write_all(wasm).await;
        };
        let (_, read, _) = tokio::join!(write, stdout.read_to_end(&mut code), stderr.read_to_end(&mut said));
        read.map_err(io("read from the compiler"))?;
        let status = child.wait().await.map_err(io("wait for the compiler"))?;
        if status.success() {
            return Ok(code);
        }
        said.truncate(COMPLAINT);
        let said = String::from_utf8_lossy(&said).trim().to_owned();
        Err(match status.code() {
            Some(REFUSED) => LoadError::Compile(said),
            _ => LoadError::CompileLimit(format!(
                "it needs more than {CPU_SECONDS} s of CPU or {} GiB of memory ({status})",
                MEMORY >> 30
            )),
        })
    }
}

/// The child's exit code for a component that is invalid.
const REFUSED: i32 = 3;

/// What the child does: reads a component from stdin, writes its machine code to stdout. The exit code.
pub fn child(space: Space) -> i32 {
    match compile_stdin(space) {
        Ok(()) => 0,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "{error:#}");
            REFUSED
        }
    }
}

fn compile_stdin(space: Space) -> Result<(), wasmtime::Error> {
    confine();
    let mut wasm = Vec::new();
    std::io::stdin().take(COMPONENT).read_to_end(&mut wasm)?;
    let code = machine_code(&wasm, space)?;
    std::io::stdout().write_all(&code)?;
    Ok(())
}

/// What the child makes of a component.
pub(crate) fn machine_code(wasm: &[u8], space: Space) -> Result<Vec<u8>, wasmtime::Error> {
    engine::compiler(space)?.precompile_component(wasm)
}

/// Limits the current process for good. A limit that cannot be set (because a lower one is in force) is in force.
fn confine() {
    let limit = |resource, most: u64| {
        let _ = setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) });
    };
    limit(Resource::Cpu, CPU_SECONDS);
    limit(Resource::As, MEMORY);
    limit(Resource::Core, 0);
    limit(Resource::Fsize, 0);
    // Calls go first.
    let _ = setpriority_process(None, 10);
}

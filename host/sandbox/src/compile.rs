//! Compilation in a child process: wasmtime does not limit its cost, and Cranelift's memory stays out of the host.
//!
//! The child is the host's own binary. It reads a component from stdin and writes machine code to stdout; it has no
//! environment, and before it reads a byte it limits itself and drops the privileges that compiling does not need
//! (`confine/`).

use loggia_policy::model::limit_names::{COMPILE_CPU, COMPILE_MEMORY};
use std::{
    io::{Read, Write},
    path::PathBuf,
    process::Stdio,
};

use loggia_policy::model::CompileLimits;
use loggia_text::units::{format_bytes, format_duration};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    process::Command,
};

use crate::{LoadError, confine, engine, engine::CodeTarget, proposals};

/// Largest component that the child reads; the host refuses larger files before.
const COMPONENT: u64 = 128 << 20;
/// Limit of the machine code that the host accepts: bytes per byte of the component, plus a constant.
const CODE: (usize, usize) = (16, 32 << 20);
/// Wall-clock timeout as a multiple of the CPU limit: a busy machine may not give the child its CPU time.
const PATIENCE: (u32, u32) = (3, 2);
/// Bytes of the child's stderr that are shown.
const STDERR: u64 = 2000;

/// Gaps of the confinement of a compiling child on this system, as a clause; `None` if nothing.
pub const CONFINEMENT_GAPS: Option<&str> = confine::GAPS;

/// Starts compiling children.
#[derive(Debug, Clone)]
pub struct CompilerCommand {
    /// The host's own binary.
    pub program: PathBuf,
    /// Arguments that make it call [`run_child`]; the limits are appended.
    pub args: Vec<String>,
    /// Limits of the child.
    pub limits: CompileLimits,
}

impl CompilerCommand {
    /// Returns the compiler with the limits of a plugin's policy.
    #[must_use]
    pub fn with_limits(&self, limits: CompileLimits) -> Self {
        Self { limits, ..self.clone() }
    }

    /// Compiles a component to machine code.
    ///
    /// # Errors
    ///
    /// If the component is invalid, if a limit ends the child, or if it cannot be run.
    pub async fn compile(&self, wasm: &[u8]) -> Result<Vec<u8>, LoadError> {
        let wall = self.limits.cpu * PATIENCE.0 / PATIENCE.1;
        tokio::time::timeout(wall, self.run(wasm)).await.unwrap_or_else(|_| {
            let (wall, cpu) = (format_duration(wall), format_duration(self.limits.cpu));
            Err(LoadError::CompileLimit(format!("it took longer than {wall} (`{COMPILE_CPU}` is {cpu})")))
        })
    }

    async fn run(&self, wasm: &[u8]) -> Result<Vec<u8>, LoadError> {
        let io = |what| move |error| LoadError::Io(what, error);
        let mut child = Command::new(&self.program)
            .args(&self.args)
            .arg(self.limits.cpu.as_millis().to_string())
            .arg(self.limits.memory.to_string())
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(io("start the compiler"))?;
        let (Some(mut stdin), Some(stdout), Some(stderr)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(LoadError::Io("start the compiler", std::io::ErrorKind::BrokenPipe.into()));
        };
        let write = async move {
            // A child that fails early closes its end; its stderr has the reason.
            let _ = stdin.write_all(wasm).await;
        };
        let most = CODE.0 * wasm.len() + CODE.1;
        // Each end is closed when enough was read: a child that writes more would otherwise block forever. One byte beyond
        // the limit shows that there was more.
        let read = async move {
            let mut code = Vec::new();
            stdout.take(most as u64 + 1).read_to_end(&mut code).await.map(|_| code)
        };
        let read_stderr = async move {
            let mut text = Vec::new();
            let _ = stderr.take(STDERR).read_to_end(&mut text).await;
            text
        };
        let (_, code, stderr) = tokio::join!(write, read, read_stderr);
        let code = code.map_err(io("read from the compiler"))?;
        if code.len() > most {
            return Err(LoadError::Compile(format!(
                "it becomes more than {} MiB of machine code",
                most >> 20
            )));
        }
        let status = child.wait().await.map_err(io("wait for the compiler"))?;
        if status.success() {
            return Ok(code);
        }
        let message = String::from_utf8_lossy(&stderr).trim().to_owned();
        Err(match status.code() {
            Some(REFUSED) => LoadError::Compile(message),
            // Written by Rust's allocator before it aborts.
            None if message.contains("memory allocation of") => LoadError::CompileLimit(format!(
                "it needs more than {} of address space (`{COMPILE_MEMORY}`)",
                format_bytes(self.limits.memory),
            )),
            _ => LoadError::CompileLimit(format!(
                "it needs more CPU time than {} (`{COMPILE_CPU}`) or more memory than {} \
                 (`{COMPILE_MEMORY}`): {status}",
                format_duration(self.limits.cpu),
                format_bytes(self.limits.memory),
            )),
        })
    }
}

/// Exit code of the child for an invalid component.
const REFUSED: i32 = 3;

/// Runs the child: reads a component from stdin and writes its machine code to stdout. Returns the exit code.
pub fn run_child(target: CodeTarget, limits: CompileLimits) -> i32 {
    match compile_stdin(target, limits) {
        Ok(()) => 0,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "{error:#}");
            REFUSED
        }
    }
}

fn compile_stdin(target: CodeTarget, limits: CompileLimits) -> Result<(), wasmtime::Error> {
    confine::set_limits(limits);
    confine::start_threads();
    let engine = engine::compiler(target)?;
    confine::drop_privileges();
    let mut wasm = Vec::new();
    std::io::stdin().take(COMPONENT).read_to_end(&mut wasm)?;
    let code = machine_code(&engine, &wasm)?;
    std::io::stdout().write_all(&code)?;
    Ok(())
}

/// Validates and compiles a component.
pub(crate) fn machine_code(engine: &wasmtime::Engine, wasm: &[u8]) -> Result<Vec<u8>, wasmtime::Error> {
    proposals::check(wasm).map_err(wasmtime::Error::msg)?;
    engine.precompile_component(wasm)
}

#[cfg(test)]
mod tests {
    use loggia_policy::model::PluginLimits;

    use super::*;

    async fn error_of(script: &str) -> String {
        let args = ["-c", script, "sh"].map(str::to_owned).into();
        let compiler =
            CompilerCommand { program: "/bin/sh".into(), args, limits: PluginLimits::default().compile() };
        compiler.compile(b"").await.expect_err("refused").to_string()
    }

    #[tokio::test]
    async fn a_child_that_says_more_than_is_heard_holds_nobody_up() {
        let complains =
            "trap '' PIPE; i=0; while [ $i -lt 3000 ]; do printf %0100d 0 >&2; i=$((i+1)); done; exit 3";
        let message = error_of(complains).await;
        assert!(
            message.starts_with("the component does not compile: 000") && message.len() < 4000,
            "{message:.100}"
        );
        let floods = "trap '' PIPE; while printf %065536d 0; do :; done; exit 3";
        assert_eq!(
            error_of(floods).await,
            "the component does not compile: it becomes more than 32 MiB of machine code"
        );
    }
}

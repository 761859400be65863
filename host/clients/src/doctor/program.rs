//! Checks of the program that a client starts.

use std::{
    env,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use super::finding::DoctorFinding;
use crate::reading::ProgramEntry;

/// Time for `--version`.
const VERSION: Duration = Duration::from_secs(5);

/// Finds the program's file.
pub fn check_command(program: &ProgramEntry, findings: &mut Vec<DoctorFinding>) -> Option<PathBuf> {
    let command = &program.command;
    let path = Path::new(command);
    let again = "use the absolute path of an executable file; `loggia client add … --replace` writes that of this one";
    if path.components().count() == 1 && !path.is_absolute() {
        let found = env::var_os("PATH").and_then(|all| {
            env::split_paths(&all).map(|folder| folder.join(path)).find(|file| is_executable(file))
        });
        match &found {
            None => findings.push(DoctorFinding::problem(format!("the command `{command}` is not found in PATH"), again)),
            Some(_) => findings.push(DoctorFinding::warning(
                format!("the command `{command}` is looked up in PATH, which differs for clients that a desktop starts"),
                "use its absolute path if the client does not find it",
            )),
        }
        return found;
    }
    if !path.is_absolute() {
        let text = format!(
            "the command `{command}` is a relative path, and clients start servers in folders of their own"
        );
        findings.push(DoctorFinding::problem(text, again));
        return None;
    }
    if !path.exists() {
        findings.push(DoctorFinding::problem(format!("there is no {command}"), again));
        return None;
    }
    if !is_executable(path) {
        findings.push(DoctorFinding::problem(format!("{command} is not executable"), again));
        return None;
    }
    Some(path.to_owned())
}

fn is_executable(path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        path.metadata().is_ok_and(|its| its.is_file() && its.permissions().mode() & 0o111 != 0)
    }
    #[cfg(not(unix))]
    {
        path.is_file() || path.with_extension("exe").is_file()
    }
}

/// Compares the version of another loggia with that of this one.
pub fn check_version(path: &Path, findings: &mut Vec<DoctorFinding>) {
    let same = |path: &Path| path.canonicalize().ok();
    if env::current_exe().ok().is_some_and(|own| same(&own) == same(path)) {
        return;
    }
    let ours = env!("CARGO_PKG_VERSION");
    match version_of(path) {
        Some(version) if version == ours => {}
        Some(version) => findings.push(DoctorFinding::warning(
            format!("{} is loggia {version}, and this one is {ours}", path.display()),
            "`loggia client add … --replace` writes the path of this one",
        )),
        None => findings.push(DoctorFinding::warning(
            format!("{} does not tell its version", path.display()),
            "check that it is loggia",
        )),
    }
}

fn version_of(path: &Path) -> Option<String> {
    let mut command = Command::new(path);
    command.arg("--version").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().ok()?;
    let started = Instant::now();
    while child.try_wait().ok()?.is_none() {
        if started.elapsed() > VERSION {
            let _ = child.kill();
            let _ = child.wait();
            return None;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let output = child.wait_with_output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    Some(text.trim().strip_prefix("loggia ")?.to_owned())
}

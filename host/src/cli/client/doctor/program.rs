//! Checks of the program that a client starts.

use std::{
    env,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use clap::Parser;

use super::finding::DoctorFinding;
use crate::cli::{
    client::reading::ProgramEntry,
    loaded::load_path,
    serve::{ServeCommand, ServePreview},
};

/// Time for `--version`.
const VERSION: Duration = Duration::from_secs(5);
/// Plugins that are named if they do not load.
const NAMED: usize = 5;

/// The arguments of `loggia serve`, read as it reads them.
#[derive(Parser)]
#[command(name = "loggia serve", no_binary_name = true)]
struct ServeLine {
    #[command(flatten)]
    serve: ServeCommand,
}

/// Checks a program and what it would serve. Returns whether it is of use to start it.
pub fn check_program(program: &ProgramEntry, findings: &mut Vec<DoctorFinding>) -> bool {
    let Some(path) = check_command(program, findings) else { return false };
    if path.file_stem().is_none_or(|stem| stem != "loggia") {
        return true;
    }
    check_version(&path, findings);
    match program.args.split_first() {
        Some((first, rest)) if first == "serve" => check_served(rest, program.cwd.as_deref(), findings),
        _ => {
            findings.push(DoctorFinding::problem(
                "the entry does not start `loggia serve`",
                "add the entry again, with --replace",
            ));
            false
        }
    }
}

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
fn check_version(path: &Path, findings: &mut Vec<DoctorFinding>) {
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

/// Checks what `loggia serve` would serve with these arguments. Returns whether it would serve anything.
fn check_served(args: &[String], cwd: Option<&str>, findings: &mut Vec<DoctorFinding>) -> bool {
    let line = match ServeLine::try_parse_from(args) {
        Ok(line) => line,
        Err(error) => {
            let text = error.to_string();
            let first = text.lines().next().unwrap_or_default().trim_start_matches("error: ");
            let text = format!("`loggia serve` does not take the entry's arguments: {first}");
            findings.push(DoctorFinding::problem(text, "add the entry again, with --replace"));
            return false;
        }
    };
    let ServePreview { folder, http, options } = match line.serve.preview() {
        Ok(preview) => preview,
        Err(error) => {
            findings
                .push(DoctorFinding::problem(format!("{error:#}"), "`loggia config check FILE` explains it"));
            return false;
        }
    };
    if let Some(address) = http {
        findings.push(DoctorFinding::problem(
            format!("the server would serve HTTP on {address}, and the client waits on stdio"),
            format!(
                "start it yourself, and add the entry with --url http://{address}{}",
                loggia_server::ENDPOINT_PATH
            ),
        ));
        return false;
    }
    let Some(folder) = folder else {
        findings.push(DoctorFinding::problem(
            "the entry names no plugin folder",
            "add it again, with --plugins DIR",
        ));
        return false;
    };
    if folder.is_relative() && cwd.is_none() {
        findings.push(DoctorFinding::problem(
            format!(
                "the plugin folder {} is a relative path, and clients start servers in folders of their own",
                folder.display()
            ),
            "use its absolute path",
        ));
        return false;
    }
    let folder = cwd.map_or(folder.clone(), |cwd| Path::new(cwd).join(&folder));
    if !folder.is_dir() {
        let text = format!("there is no plugin folder {}", folder.display());
        findings.push(DoctorFinding::problem(text, "create it, or add the entry again with --plugins DIR"));
        return false;
    }
    let remedy = format!("`loggia check {}`", folder.display());
    let plugins = match load_path(&folder, &options) {
        Ok(plugins) => plugins,
        Err(error) => {
            findings.push(DoctorFinding::problem(format!("{error:#}"), remedy));
            return false;
        }
    };
    if plugins.is_empty() {
        let text = format!("there is no plugin in {}", folder.display());
        findings.push(DoctorFinding::problem(text, "put .wasm files into it, or name another folder"));
        return false;
    }
    let refused = plugins.iter().filter_map(|plugin| Some((plugin.stem(), plugin.refusal()?)));
    for (name, why) in refused.take(NAMED) {
        findings.push(DoctorFinding::problem(format!("the plugin `{name}`: {why}"), &remedy));
    }
    // The others are served.
    true
}

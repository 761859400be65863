//! Builds by processes, one after the other. They are the author's own commands, or those of the tools of a language, and run with
//! the author's rights; no server runs any.

use std::{
    fs,
    io::{self, PipeReader, Read, Write},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::{Arc, Mutex, PoisonError, mpsc},
    time::Duration,
};

use super::{cargo::remove_outer_cargo, reason::describe_output};

/// Processes that build a component.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct StepBuild {
    pub steps: Vec<BuildStep>,
    /// The file that they write.
    pub artifact: PathBuf,
    /// Patterns of the files that lead to a build; all files without any.
    pub watch: Vec<String>,
}

/// One process, run in the folder of the sources.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct BuildStep {
    pub program: PathBuf,
    pub arguments: Vec<String>,
    /// What shows that it need not run again.
    pub stamp: Option<StepStamp>,
}

/// A file with a text, written after a step.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct StepStamp {
    pub file: PathBuf,
    pub text: String,
}

impl BuildStep {
    pub(super) fn new(program: impl Into<PathBuf>, arguments: impl IntoIterator<Item = String>) -> Self {
        Self { program: program.into(), arguments: arguments.into_iter().collect(), stamp: None }
    }

    /// A command line for the shell.
    pub(super) fn shell(command: &str) -> Self {
        let (shell, option) = if cfg!(windows) { ("cmd", "/C") } else { ("sh", "-c") };
        Self::new(shell, [option.to_owned(), command.to_owned()])
    }

    /// A step that is skipped while a file has this text.
    pub(super) fn once(self, file: PathBuf, text: String) -> Self {
        Self { stamp: Some(StepStamp { file, text }), ..self }
    }

    fn is_done(&self) -> bool {
        let is_current =
            |stamp: &StepStamp| fs::read(&stamp.file).is_ok_and(|text| text == stamp.text.as_bytes());
        self.stamp.as_ref().is_some_and(is_current)
    }
}

/// Runs the steps of a build in a folder; their output goes to stderr.
///
/// # Errors
///
/// The reason, on one line, without paths of this machine.
pub(super) fn run_steps(build: &StepBuild, folder: &Path) -> Result<(), String> {
    for step in build.steps.iter().filter(|step| !step.is_done()) {
        let program = step.program.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let (succeeded, output) = run_step(step, folder).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => format!("`{program}` is not installed"),
            kind => format!("`{program}` cannot be run: {kind}"),
        })?;
        if !succeeded {
            return Err(describe_output(&String::from_utf8_lossy(&output), folder)
                .unwrap_or_else(|| format!("`{program}` failed without a message")));
        }
        if let Some(StepStamp { file, text }) = &step.stamp {
            fs::write(file, text)
                .map_err(|error| format!("a file of the build cannot be written: {}", error.kind()))?;
        }
    }
    if build.artifact.is_file() {
        return Ok(());
    }
    let artifact = build.artifact.strip_prefix(folder).unwrap_or(Path::new("the artifact"));
    Err(format!("the build ended without an error, but there is no {}", artifact.display()))
}

/// Time for the rest of the output of a step that has ended. A process that it left behind may hold its output open.
const REST: Duration = Duration::from_secs(1);
/// Output that is kept for the reason of a failure.
const MAX_OUTPUT: usize = 16 << 10;

/// Runs a step; returns whether it succeeded, and the end of its output.
fn run_step(step: &BuildStep, folder: &Path) -> io::Result<(bool, Vec<u8>)> {
    let (reader, writer) = io::pipe()?;
    let mut command = Command::new(&step.program);
    remove_outer_cargo(&mut command);
    command.args(&step.arguments).current_dir(folder).stdin(Stdio::null());
    let mut child = command.stdout(writer.try_clone()?).stderr(writer).spawn()?;
    // It holds the ends to which the child writes.
    drop(command);
    let kept = Arc::new(Mutex::new(Vec::new()));
    let (done, ended) = mpsc::channel();
    let keeps = Arc::clone(&kept);
    std::thread::spawn(move || {
        copy_output(reader, &keeps);
        let _ = done.send(());
    });
    let status = child.wait()?;
    let _ = ended.recv_timeout(REST);
    let output = kept.lock().unwrap_or_else(PoisonError::into_inner).clone();
    Ok((status.success(), output))
}

/// Copies the output of a step to stderr, and keeps its end.
fn copy_output(mut reader: PipeReader, kept: &Mutex<Vec<u8>>) {
    let mut buffer = [0; 4096];
    while let Ok(read @ 1..) = reader.read(&mut buffer) {
        // A closed terminal does not stop a build.
        let _ = io::stderr().write_all(&buffer[..read]);
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend_from_slice(&buffer[..read]);
        let surplus = kept.len().saturating_sub(MAX_OUTPUT);
        kept.drain(..surplus);
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn build(folder: &Path, steps: Vec<BuildStep>) -> Result<(), String> {
        let artifact = folder.join("a.wasm");
        run_steps(&StepBuild { steps, artifact, watch: Vec::new() }, folder)
    }

    #[test]
    fn steps_run_until_one_fails() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        let shell = BuildStep::shell;
        let run = |steps: &[&str]| build(path, steps.iter().map(|step| shell(step)).collect());
        let missing = "the build ended without an error, but there is no a.wasm";
        assert_eq!(run(&["true"]), Err(missing.to_owned()));
        assert_eq!(run(&["echo no >&2; exit 1", "touch a.wasm"]), Err("no".to_owned()));
        assert_eq!(run(&["exit 1"]), Err("`sh` failed without a message".to_owned()));
        assert!(!path.join("a.wasm").exists());
        assert_eq!(run(&["cat", "touch a.wasm"]), Ok(()), "there is no input");
        let absent = BuildStep::new("/nowhere/npm", []);
        assert_eq!(build(path, vec![absent]), Err("`npm` is not installed".to_owned()));
    }

    #[test]
    fn a_stamped_step_runs_once_per_text() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        let step = |text: &str| {
            BuildStep::shell("echo >> runs; touch a.wasm").once(path.join("stamp"), text.to_owned())
        };
        let runs = || fs::read_to_string(path.join("runs")).unwrap().lines().count();
        for (text, expected) in [("1", 1), ("1", 1), ("2", 2), ("2", 2)] {
            build(path, vec![step(text)]).unwrap();
            assert_eq!(runs(), expected);
        }
        let failing = BuildStep::shell("exit 1").once(path.join("other"), "1".to_owned());
        build(path, vec![failing]).unwrap_err();
        assert!(!path.join("other").exists(), "what failed runs again");
    }

    #[test]
    fn processes_left_behind_do_not_block() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        // Ends when the folder is removed, at the latest after a minute.
        let stays = "(for n in $(seq 600); do test -e a.wasm || exit; sleep 0.1; done) & touch a.wasm";
        assert_eq!(build(path, vec![BuildStep::shell(stays)]), Ok(()));
    }
}

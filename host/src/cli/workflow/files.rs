//! Reads and checks workflow files for commands.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::Read,
    path::{Path, PathBuf},
    time::Instant,
};

use anyhow::Context;
use loggia_load::{AdmitError, FileKind, admit_workflows, find_plugin};
use loggia_workflow::{
    FileProblem, FileProblems, WorkflowFile,
    definition::{FileExamination, examine, link},
    yaml,
};

/// A workflow file with its findings.
pub struct CheckedFile {
    /// The path as passed.
    pub file: PathBuf,
    /// The linked definition; `None` if the file has problems.
    pub definition: Option<WorkflowFile>,
    /// The linked definition without workflows that have problems.
    pub sound: Option<WorkflowFile>,
    /// Problems.
    pub problems: Vec<FileProblem>,
    /// Features that work here but not in ToolHive.
    pub notes: Vec<FileProblem>,
}

/// Expands folders to their workflow files.
///
/// # Errors
///
/// If a folder cannot be read.
pub fn expand_paths(paths: &[PathBuf]) -> anyhow::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for path in paths {
        if path.is_dir() {
            files.extend(workflow_files(path)?);
        } else {
            files.push(path.clone());
        }
    }
    Ok(files)
}

/// Reads and checks files. References may lead to other given files, or to files in the same folder.
///
/// # Errors
///
/// If a file cannot be read.
pub fn check_files(files: &[PathBuf]) -> anyhow::Result<Vec<CheckedFile>> {
    let mut checked: Vec<CheckedFile> =
        files.iter().map(|file| check_file(file)).collect::<Result<_, _>>()?;
    let wanting =
        |checked: &CheckedFile| checked.definition.as_ref().is_some_and(|found| !found.refs.is_empty());
    let mut others: BTreeMap<PathBuf, WorkflowFile> = BTreeMap::new();
    for file in checked.iter().filter(|checked| wanting(checked)).map(|checked| &checked.file) {
        for other in workflow_files(parent_folder(file))? {
            // Problems of other files are reported for those files.
            if let Ok(CheckedFile { definition: Some(definition), .. }) = check_file(&other) {
                others.insert(other, definition);
            }
        }
    }
    for CheckedFile { file, definition, .. } in &checked {
        others.extend(definition.clone().map(|definition| (file.clone(), definition)));
    }
    let others: Vec<WorkflowFile> = others.into_values().collect();
    for checked in &mut checked {
        let Some(definition) = checked.definition.take() else { continue };
        match link(definition, &others) {
            Ok(definition) => {
                checked.problems.extend(admission_problems(&checked.file));
                checked.sound = Some(definition.clone());
                checked.definition = Some(definition);
            }
            Err(FileProblems(problems)) => checked.problems.extend(problems),
        }
    }
    Ok(checked)
}

fn check_file(file: &Path) -> anyhow::Result<CheckedFile> {
    let mut bytes = Vec::new();
    // One byte above the limit reveals a file that is too large.
    let most = u64::try_from(yaml::BYTES).unwrap_or(u64::MAX).saturating_add(1);
    File::open(file)
        .and_then(|opened| opened.take(most).read_to_end(&mut bytes))
        .with_context(|| format!("failed to read {}", file.display()))?;
    let examined = match String::from_utf8(bytes) {
        Ok(text) => examine(&text),
        Err(error) => {
            let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
            let problems = FileProblems(vec![FileProblem::new(line, "", "the file is not UTF-8")]);
            FileExamination { problems, ..FileExamination::default() }
        }
    };
    let FileExamination { definition: sound, problems: FileProblems(problems), notes } = examined;
    let is_whole = problems.is_empty();
    let definition = sound.clone().filter(|_| is_whole);
    // Notes would distract from problems, which must be fixed first.
    let notes = if is_whole { notes } else { Vec::new() };
    Ok(CheckedFile { file: file.to_owned(), definition, sound, problems, notes })
}

/// Lists problems that the file alone does not show: invalid facade and action names, or an invalid policy.
fn admission_problems(file: &Path) -> Vec<FileProblem> {
    let admitted = find_plugin(file).map_err(AdmitError::from).and_then(|mut found| {
        found.kind = FileKind::Workflows;
        admit_workflows(&found, Instant::now(), None)
    });
    let messages = match admitted {
        Ok(_) => return Vec::new(),
        Err(AdmitError::Surface(problems)) => problems.0,
        // References may lead to other given files outside its folder.
        Err(AdmitError::Workflows(_)) => return Vec::new(),
        Err(other) => vec![other.to_string()],
    };
    messages.into_iter().map(|message| FileProblem::new(0, "", message)).collect()
}

fn parent_folder(file: &Path) -> &Path {
    file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Lists the workflow files of a folder, sorted by name.
fn workflow_files(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| format!("failed to read {}", folder.display()))?;
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let is_workflow = |path: &PathBuf| {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        matches!(FileKind::from_file_name(&name), Some((FileKind::Workflows, _))) && path.is_file()
    };
    let mut paths: Vec<PathBuf> = paths.filter(is_workflow).collect();
    paths.sort();
    Ok(paths)
}

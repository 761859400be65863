//! Workflow files, read for the commands that look at them.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::Read,
    path::{Path, PathBuf},
    time::Instant,
};

use anyhow::Context;
use loggia_workflow::{
    FileProblem, FileProblems, WorkflowFile,
    definition::{FileExamination, examine, link},
    yaml,
};

use crate::load::{AdmitError, Kind, admit_workflows, found_at};

/// One file, and all that is to be said of it.
pub struct Checked {
    /// As it was named.
    pub file: PathBuf,
    /// What it defines, with what other files define for it; none where there are problems.
    pub definition: Option<WorkflowFile>,
    /// The same; where there are problems, only the workflows that have none.
    pub sound: Option<WorkflowFile>,
    /// What is wrong with it.
    pub problems: Vec<FileProblem>,
    /// What works here and never worked in ToolHive.
    pub notes: Vec<FileProblem>,
}

/// The files that are meant: those that are named, and those of the folders that are named.
///
/// # Errors
///
/// A folder that cannot be read.
pub fn meant(paths: &[PathBuf]) -> anyhow::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for path in paths {
        if path.is_dir() {
            files.extend(of_folder(path)?);
        } else {
            files.push(path.clone());
        }
    }
    Ok(files)
}

/// Reads files. What they refer to may be among them, or in their folders.
///
/// # Errors
///
/// A file that cannot be read at all.
pub fn check(files: &[PathBuf]) -> anyhow::Result<Vec<Checked>> {
    let mut checked: Vec<Checked> = files.iter().map(|file| one(file)).collect::<Result<_, _>>()?;
    let wanting = |checked: &Checked| checked.definition.as_ref().is_some_and(|found| !found.refs.is_empty());
    let mut others: BTreeMap<PathBuf, WorkflowFile> = BTreeMap::new();
    for file in checked.iter().filter(|checked| wanting(checked)).map(|checked| &checked.file) {
        for other in of_folder(folder(file))? {
            // What is wrong with a neighbour is told where it is checked.
            if let Ok(Checked { definition: Some(definition), .. }) = one(&other) {
                others.insert(other, definition);
            }
        }
    }
    for Checked { file, definition, .. } in &checked {
        others.extend(definition.clone().map(|definition| (file.clone(), definition)));
    }
    let others: Vec<WorkflowFile> = others.into_values().collect();
    for checked in &mut checked {
        let Some(definition) = checked.definition.take() else { continue };
        match link(definition, &others) {
            Ok(definition) => {
                checked.problems.extend(unserved(&checked.file));
                checked.sound = Some(definition.clone());
                checked.definition = Some(definition);
            }
            Err(FileProblems(problems)) => checked.problems.extend(problems),
        }
    }
    Ok(checked)
}

fn one(file: &Path) -> anyhow::Result<Checked> {
    let mut bytes = Vec::new();
    // A byte more than is accepted says that there is too much.
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
    // Notes compare a file that works here with ToolHive: they would hide what has to be changed first.
    let notes = if is_whole { notes } else { Vec::new() };
    Ok(Checked { file: file.to_owned(), definition, sound, problems, notes })
}

/// Why the host would not serve a file in which nothing is wrong by itself: names that no facade or action may have, a policy
/// beside it that cannot be used.
fn unserved(file: &Path) -> Vec<FileProblem> {
    let admitted = found_at(file).map_err(AdmitError::from).and_then(|mut found| {
        found.kind = Kind::Workflows;
        admit_workflows(&found, Instant::now())
    });
    let said = match admitted {
        Ok(_) => return Vec::new(),
        Err(AdmitError::Surface(problems)) => problems.0,
        // What it refers to may be among the files that are checked, and not in its folder.
        Err(AdmitError::Workflows(_)) => return Vec::new(),
        Err(other) => vec![other.to_string()],
    };
    said.into_iter().map(|said| FileProblem::new(0, "", said)).collect()
}

fn folder(file: &Path) -> &Path {
    file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The workflow files of a folder, in the order of their names.
fn of_folder(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| format!("failed to read {}", folder.display()))?;
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let is_workflow = |path: &PathBuf| {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        matches!(Kind::of(&name), Some((Kind::Workflows, _))) && path.is_file()
    };
    let mut paths: Vec<PathBuf> = paths.filter(is_workflow).collect();
    paths.sort();
    Ok(paths)
}

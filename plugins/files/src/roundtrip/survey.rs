//! Examines all files of a round trip before any change.

use loggia_sdk::prelude::*;

use super::{
    Manifest, Mode, Now, begin_anew,
    changes::{Fate, New, Why, differs, fate},
    place,
};
use crate::roots::{Place, Roots};

/// Conflicts that are named in a sentence.
const NAMED: usize = 10;

/// Result of a survey.
pub struct Survey {
    /// Current state and outcome of each change.
    pub found: Vec<(Now, Fate)>,
    /// Ordered by path.
    pub conflicts: Vec<Conflict>,
    /// Directories to be made, outermost first.
    pub directories: Vec<String>,
}

/// A file that is not as its caller has seen it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Conflict {
    pub path: String,
    pub why: Why,
}

/// Looks at the files of the manifest and of the changes.
pub fn survey(roots: &Roots, manifest: &Manifest, new: &[New], mode: Mode) -> Result<Survey> {
    let mut survey = Survey { found: Vec::new(), conflicts: Vec::new(), directories: Vec::new() };
    for change in new {
        let now = Now::at(&change.place)?;
        let mut conflict = |why| survey.conflicts.push(Conflict { path: change.path.clone(), why });
        let fate = match fate(manifest, mode, change, &now) {
            Ok(Fate::Create) if !parents(&change.place, &mut survey.directories)? => {
                conflict(Why::NoDirectory);
                Fate::Conflict
            }
            Ok(fate) => fate,
            Err(why) => {
                conflict(why);
                Fate::Conflict
            }
        };
        survey.found.push((now, fate));
    }
    for seen in &manifest.files {
        if new.iter().any(|change| change.path == seen.path) {
            continue;
        }
        let now = Now::at(&place(roots, &seen.path)?)?;
        if let Some(why) = differs(seen.sha256.as_deref(), &now) {
            survey.conflicts.push(Conflict { path: seen.path.clone(), why });
        }
    }
    survey.conflicts.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    // A directory comes before its contents.
    survey.directories.sort_unstable();
    survey.directories.dedup();
    Ok(survey)
}

/// Adds the missing directories above a place. Returns whether they can be created, that is, no other entry has their
/// names.
fn parents(place: &Place, missing: &mut Vec<String>) -> Result<bool> {
    let mut above = place.parent();
    while let Some(directory) = above {
        match std::fs::metadata(directory.followed()?) {
            Ok(metadata) => return Ok(metadata.is_dir()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                missing.push(directory.path());
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => return Ok(false),
            Err(error) => return Err(directory.failed(error)),
        }
        above = directory.parent();
    }
    Ok(true)
}

/// The refusal of a commit.
pub fn refused(manifest: &Manifest, conflicts: &[Conflict]) -> Failure {
    let named: Vec<_> = conflicts
        .iter()
        .take(NAMED)
        .map(|Conflict { path, why }| format!("{path} {}", why.words()))
        .collect();
    let more = match conflicts.len() - named.len() {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    let mut failure = Failure::conflict(format!("differs from the manifest: {}{more}", named.join(", ")))
        .hint("Nothing was changed. Start again, examine the current contents, and commit again.")
        .details(json!({"files": conflicts}));
    failure.next = look_again(manifest, conflicts);
    failure
}

/// The call that restarts with those of the paths that are files, if any.
pub fn look_again(manifest: &Manifest, conflicts: &[Conflict]) -> Option<Next> {
    let seen = manifest.files.iter().map(|seen| &seen.path);
    let paths = seen.chain(conflicts.iter().map(|conflict| &conflict.path));
    let no_file = |path: &String| conflicts.iter().any(|at| at.path == *path && at.why.is_no_file());
    let mut paths = paths.filter(|path| !no_file(path)).cloned().peekable();
    paths.peek().is_some().then(|| begin_anew(paths))
}

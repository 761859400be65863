//! `roundtrip_preview`: shows the effect of a commit.

use std::time::{Duration, Instant};

use loggia_sdk::prelude::*;

use super::{
    Manifest, Mode, Now,
    changes::{self, Change, Fate, New},
    journal::granted,
    manifest,
    settle::undisturbed,
    start::content,
    survey::{Conflict, look_again, survey},
};
use crate::{
    diff::{Budget, diff},
    roots::Roots,
};

/// Effect of a commit.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Preview {
    pub changes: Vec<Planned>,
    /// Conflicts for which the commit would be refused.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub conflicts: Vec<Conflict>,
}

/// Effect of a change.
#[detail]
#[derive(Debug, Serialize, JsonSchema)]
pub struct Planned {
    #[detail(minimal)]
    pub path: String,
    #[detail(minimal)]
    pub would: Fate,
    /// Diff from the current content.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
}

/// Computes the effect of a commit of these changes.
pub fn preview(
    roots: &Roots,
    id: &str,
    changes: Vec<Change>,
    mode: Mode,
    patience: Duration,
    detail: Detail,
) -> Result<Reply<Preview>> {
    granted()?;
    let new = changes::read(roots, changes)?;
    undisturbed(patience, || {
        let manifest = manifest::require(id, || new.iter().map(|new| new.path.clone()).collect())?;
        look(roots, &manifest, &new, mode, detail)
    })
}

fn look(
    roots: &Roots,
    manifest: &Manifest,
    new: &[New],
    mode: Mode,
    detail: Detail,
) -> Result<Reply<Preview>> {
    let survey = survey(roots, manifest, new, mode)?;
    let mut budget = Budget::of(detail, Instant::now());
    let mut changes = Vec::with_capacity(new.len());
    for (new, (now, fate)) in new.iter().zip(&survey.found) {
        let shown = detail > Detail::Minimal && matches!(fate, Fate::Create | Fate::Replace | Fate::Conflict);
        let diff = if shown { difference(new, now, &mut budget)? } else { None };
        changes.push(Planned { path: new.path.clone(), would: *fate, diff });
    }
    let count = survey.conflicts.len();
    let again = look_again(manifest, &survey.conflicts);
    let mut reply = Reply::new(Preview { changes, conflicts: survey.conflicts });
    if count == 0 {
        return Ok(reply);
    }
    reply.next = again;
    let message = if count == 1 {
        "1 conflict: the commit would be refused.".to_owned()
    } else {
        format!("{count} conflicts: the commit would be refused.")
    };
    Ok(reply.message(message))
}

/// Diff from the current to the new content; `None` if there is something other than a file.
fn difference(new: &New, now: &Now, budget: &mut Budget) -> Result<Option<String>> {
    let old = match now {
        Now::Other(_) => return Ok(None),
        Now::File { sha256: None, size } => {
            return Ok(Some(format!(
                "({size} bytes before, {} after: too large to compare)\n",
                new.bytes.len()
            )));
        }
        Now::Absent => None,
        Now::File { .. } => content(&new.place)?,
    };
    Ok(Some(diff(&new.path, old.as_deref(), &new.bytes, budget)))
}

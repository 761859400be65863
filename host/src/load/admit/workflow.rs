//! A file of workflows on its way into the catalog: read, linked and checked.

use std::{sync::Arc, time::Instant};

use loggia_gate::catalog::Snapshot;
use loggia_sandbox::ArtifactDigest;
use loggia_workflow::{
    WorkflowFile,
    definition::{self, FileForm},
};

use super::{
    admitted::{Admitted, Facts},
    error::AdmitError,
    files::{policy, read},
};
use crate::{
    config::policy::grants::needless_for_workflows,
    load::{
        composed::Composed,
        fence::VersionGrants,
        found::{Found, stem},
    },
};

/// Largest file of workflows.
const WORKFLOWS: u64 = 1 << 20;

/// Reads a file of workflows with all that it refers to.
///
/// # Errors
///
/// All that is wrong with the file.
pub fn admit(found: &Found, begun: Instant) -> Result<Admitted, AdmitError> {
    let text = read(&found.path, WORKFLOWS)?;
    let policy = policy(found)?;
    if let Some(grant) = needless_for_workflows(&policy) {
        return Err(AdmitError::Needless(grant));
    }
    let mut definition = definition::parse_file(&String::from_utf8_lossy(&text))?;
    let refers = !definition.refs.is_empty();
    if refers {
        definition = definition::link(definition, &others(found))?;
    }
    let file = found.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let own = definition.facade.clone().unwrap_or_else(|| stem(&file).to_owned());
    let name = policy.expose.name.clone().unwrap_or(own);
    let (digest, grants) = (ArtifactDigest::of(&text), VersionGrants::of(&policy));
    let composed = Composed::new(name, definition, policy, digest, refers);
    // Beside nobody: what is wrong with it by itself is found here.
    let entry = composed.entry(&Snapshot::default())?;
    let bytes = text.len();
    let facts = Facts { digest, bytes, imports: Vec::new(), compiled: false, took: begun.elapsed() };
    Ok(Admitted { entry, composed: Some(Arc::new(composed)), grants, facts })
}

/// The resources that the folder's other files define. One that cannot be read defines none; its own admission says why.
fn others(found: &Found) -> Vec<WorkflowFile> {
    let others = found.workflows.iter().filter(|(path, _)| *path != found.path);
    let read = others.filter_map(|(path, _)| {
        let text = read(path, WORKFLOWS).ok()?;
        definition::parse_file(&String::from_utf8_lossy(&text)).ok()
    });
    read.filter(|definition| definition.form == FileForm::Resource).collect()
}

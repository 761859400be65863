//! Admits a workflow file: reads, links and checks it.

use std::{sync::Arc, time::Instant};

use loggia_gate::catalog::{CatalogSnapshot, PluginSkill};
use loggia_sandbox::ArtifactDigest;
use loggia_schema::flag_texts;
use loggia_workflow::{
    WorkflowFile,
    definition::{self, FileForm},
};

use super::{
    admitted::{AdmissionFacts, AdmittedPlugin, LoadMethod, explain_grants},
    error::AdmitError,
    files::{PolicyFile, as_text, load_policy, read_file},
};
use crate::{
    facade_kind::{FacadeKind, FileKind, file_stem},
    fence::VersionGrants,
    plugin_files::PluginFiles,
    workflow_bundle::WorkflowBundle,
};

/// Maximum size of a workflow file.
const MAX_BYTES: u64 = 1 << 20;

/// Reads a workflow file with the files to which it refers.
///
/// # Errors
///
/// All problems of the file.
pub fn admit_workflows(
    found: &PluginFiles,
    begun: Instant,
    skill: Option<Arc<PluginSkill>>,
) -> Result<AdmittedPlugin, AdmitError> {
    let text = read_file(found.content(), MAX_BYTES)?;
    let PolicyFile { policy, digest: policy_digest } = load_policy(found)?;
    FacadeKind::File(FileKind::Workflows).check_grants(&policy)?;
    let mut definition = definition::parse_file(as_text(&text)?)?;
    let refers = !definition.refs.is_empty();
    if refers {
        definition = definition::link(definition, &linked_definitions(found))?;
    }
    let file = found.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let own = definition.facade.clone().unwrap_or_else(|| file_stem(&file).to_owned());
    let name = policy.expose.name.clone().unwrap_or(own);
    let (digest, grants) = (ArtifactDigest::of(&text), VersionGrants::from_policy(&policy));
    let granted = explain_grants(&policy);
    let workflow_file = WorkflowBundle::new(name, definition, policy, digest, refers)
        .with_policy_digest(policy_digest)
        .with_skill(skill);
    // Without other facades: finds the problems of the file itself.
    let entry = workflow_file.entry(&CatalogSnapshot::default())?;
    let bytes = text.len();
    let facts = AdmissionFacts {
        digest,
        bytes,
        imports: Vec::new(),
        method: LoadMethod::Read,
        took: begun.elapsed(),
        policy: policy_digest,
        grants: granted,
        lacking: Vec::new(),
        flags: flag_texts(entry.surface()),
    };
    Ok(AdmittedPlugin { entry, workflow_file: Some(Arc::new(workflow_file)), grants, facts })
}

/// Lists the resources that other files of the folder define. Skips unreadable files, whose own admission reports the
/// error.
fn linked_definitions(found: &PluginFiles) -> Vec<WorkflowFile> {
    let others = found.workflows.iter().filter(|(path, _)| *path != found.path);
    let read = others.filter_map(|(path, _)| {
        let text = read_file(path, MAX_BYTES).ok()?;
        definition::parse_file(as_text(&text).ok()?).ok()
    });
    read.filter(|definition| definition.form == FileForm::Resource).collect()
}

//! One workflow file.

use super::workflow::Workflow;
use crate::FileProblem;

/// Parsed workflow file.
#[derive(Debug, Clone)]
pub struct WorkflowFile {
    /// `facade:`; defaults to the file's name.
    pub facade: Option<String>,
    /// `title:`.
    pub title: Option<String>,
    /// `description:` of a file that holds several workflows.
    pub description: Option<String>,
    /// File format.
    pub form: FileForm,
    /// `metadata.name` of a Kubernetes resource, the target of `compositeToolRefs`.
    pub resource: Option<String>,
    /// Workflows, in file order.
    pub workflows: Vec<Workflow>,
    /// `compositeToolRefs` with their lines: workflows defined in other files.
    pub refs: Vec<(usize, String)>,
    /// Harmless oddities, such as fields without meaning here.
    pub warnings: Vec<FileProblem>,
}

/// File formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileForm {
    /// One composite tool at the root.
    Bare,
    /// List under `compositeTools:`.
    List,
    /// `kind: VirtualMCPCompositeToolDefinition`.
    Resource,
    /// `kind: VirtualMCPServer`, or its `spec.config` alone.
    Server,
}

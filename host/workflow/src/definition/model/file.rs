//! One workflow file.

use super::workflow::Workflow;
use crate::Problem;

/// Parsed workflow file.
#[derive(Debug, Clone)]
pub struct Definition {
    /// `facade:`; defaults to the file's name.
    pub facade: Option<String>,
    /// `title:`.
    pub title: Option<String>,
    /// `description:` of a file that holds several workflows.
    pub description: Option<String>,
    /// File format.
    pub form: Form,
    /// `metadata.name` of a Kubernetes resource, the target of `compositeToolRefs`.
    pub resource: Option<String>,
    /// Workflows, in file order.
    pub workflows: Vec<Workflow>,
    /// `compositeToolRefs` with their lines: workflows defined in other files.
    pub refs: Vec<(usize, String)>,
    /// Harmless oddities, such as fields without meaning here.
    pub warnings: Vec<Problem>,
}

/// File formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// One composite tool at the root.
    Bare,
    /// List under `compositeTools:`.
    List,
    /// `kind: VirtualMCPCompositeToolDefinition`.
    Resource,
    /// `kind: VirtualMCPServer`, or its `spec.config` alone.
    Server,
}

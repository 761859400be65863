//! One workflow file.

use super::workflow::Workflow;
use crate::Problem;

/// One file.
#[derive(Debug, Clone)]
pub struct Definition {
    /// `facade:`; the file's name where there is none.
    pub facade: Option<String>,
    /// `title:`.
    pub title: Option<String>,
    /// `description:` of the file as a whole, where it holds several workflows.
    pub description: Option<String>,
    /// In which of ToolHive's forms it is written.
    pub form: Form,
    /// `metadata.name` of a Kubernetes resource: what `compositeToolRefs` name.
    pub resource: Option<String>,
    /// In the file's order.
    pub workflows: Vec<Workflow>,
    /// `compositeToolRefs`, with their lines: workflows that other files define.
    pub refs: Vec<(usize, String)>,
    /// What does no harm but should be known: fields that mean nothing here.
    pub warnings: Vec<Problem>,
}

/// The forms in which a file may be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// One composite tool at the root.
    Bare,
    /// A list under `compositeTools:`.
    List,
    /// `kind: VirtualMCPCompositeToolDefinition`.
    Resource,
    /// `kind: VirtualMCPServer`, or its `spec.config` alone.
    Server,
}

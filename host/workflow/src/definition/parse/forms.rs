//! File formats: where a file holds its composite tools, and which other fields it may have.

use std::collections::HashMap;

use loggia_schema::{SurfaceLimits, nearest};

use super::workflow::{self, parse_workflow};
use crate::{
    FileProblem,
    definition::{
        model::{FileForm, Workflow, WorkflowFile},
        place::{NodePlace, ObjectFields, join, unknown_field},
        report::ParseReport,
    },
    yaml::{MapEntry, excerpt},
};

/// Loggia's own fields, allowed at the root of every format.
const OURS: [&str; 3] = ["facade", "title", "strict"];
const TOOLS: &str = "compositeTools";
const REFS: &str = "compositeToolRefs";
const RESOURCE: &str = "VirtualMCPCompositeToolDefinition";
const SERVER: &str = "VirtualMCPServer";
/// Fields of ToolHive's own configuration that have no meaning here.
const ELSEWHERE: [&str; 16] = [
    "name",
    "groupRef",
    "group",
    "backends",
    "incomingAuth",
    "outgoingAuth",
    "aggregation",
    "operational",
    "metadata",
    "telemetry",
    "audit",
    "optimizer",
    "sessionStorage",
    "codeMode",
    "rateLimiting",
    "healthCheck",
];

/// Parses a document.
pub(crate) fn parse_document(root: &NodePlace<'_>, report: &mut ParseReport) -> Option<WorkflowFile> {
    if root.node.kind_name() == "a list" {
        let problem = root.problem("must be an object, not a list");
        report.problem(problem.hint("write compositeTools: before the list"));
        return None;
    }
    let fields = root.open_fields(report)?;
    let form = detect_form(&fields, report)?;
    let strict = fields.get("strict").and_then(|place| place.boolean(report));
    let strict = strict.unwrap_or(matches!(form, FileForm::Bare | FileForm::List));
    for key in OURS {
        if let Some(entry) = fields.entry(key) {
            report.note(
                entry.line,
                key,
                format!("`{key}` is specific to Loggia: ToolHive rejects files that contain it"),
            );
        }
    }
    let mut definition = WorkflowFile {
        facade: parse_facade(&fields, report),
        title: fields.text("title", report).map(str::to_owned),
        description: None,
        form,
        resource: None,
        workflows: Vec::new(),
        refs: Vec::new(),
        warnings: Vec::new(),
    };
    match form {
        FileForm::Bare => {
            report_unknown_fields(&fields, &[&workflow::FIELDS, &OURS], report);
            definition.workflows.push(parse_workflow(&fields, strict, report));
        }
        FileForm::List => {
            let ours = [TOOLS, REFS, "description"];
            report_unused_fields(&fields, &[&ours, &OURS], &ELSEWHERE, report);
            definition.description = fields.text("description", report).map(str::to_owned);
            parse_tools(&fields, strict, &mut definition, report);
        }
        FileForm::Resource => {
            parse_resource_head(&fields, &mut definition, report);
            if let Some(spec) = require_field(&fields, "spec", report)
                && let Some(fields) = spec.fields(&workflow::FIELDS, report)
            {
                definition.workflows.push(parse_workflow(&fields, strict, report));
            }
        }
        FileForm::Server => {
            parse_resource_head(&fields, &mut definition, report);
            if let Some(spec) = require_field(&fields, "spec", report)
                && let Some(fields) = spec.open_fields(report)
            {
                warn_unused_fields(&fields, &["config"], report);
                if let Some(config) = require_field(&fields, "config", report)
                    && let Some(fields) = config.open_fields(report)
                {
                    warn_unused_fields(&fields, &[TOOLS, REFS], report);
                    parse_tools(&fields, strict, &mut definition, report);
                }
            }
        }
    }
    report_duplicates(&definition.workflows, report);
    Some(definition)
}

fn detect_form(fields: &ObjectFields<'_>, report: &mut ParseReport) -> Option<FileForm> {
    if let Some(place) = fields.get("kind") {
        return match place.text(report)? {
            RESOURCE => Some(FileForm::Resource),
            SERVER => Some(FileForm::Server),
            other => {
                let problem =
                    place.problem(&format!("must be {RESOURCE} or {SERVER}, not \"{}\"", excerpt(other)));
                report.problem(report.with_suggestion(problem, other, [RESOURCE, SERVER]));
                None
            }
        };
    }
    if let Some(spec) = fields.get("spec") {
        let bare = spec.node.get("config").is_none() && spec.node.get("steps").is_some();
        return Some(if bare { FileForm::Resource } else { FileForm::Server });
    }
    if fields.entry(TOOLS).is_some() || fields.entry(REFS).is_some() {
        return Some(FileForm::List);
    }
    if fields.entries().iter().any(|entry| workflow::FIELDS.contains(&entry.key.as_str())) {
        return Some(FileForm::Bare);
    }
    let problem = FileProblem::new(
        fields.line,
        "",
        "the file is not a workflow: it has neither `steps` nor `compositeTools`",
    );
    let roots = [TOOLS, REFS, "steps", "spec", "kind", "name"];
    let near = fields.entries().iter().find_map(|entry| nearest(&entry.key, roots));
    report.problem(match near {
        Some(near) => problem.hint(format!("did you mean `{near}`?")),
        None => problem,
    });
    None
}

fn parse_facade(fields: &ObjectFields<'_>, report: &mut ParseReport) -> Option<String> {
    let place = fields.get("facade")?;
    let facade = place.text(report)?;
    let is_valid = facade.len() <= 32
        && facade.starts_with(|c: char| c.is_ascii_lowercase())
        && facade.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | '-'));
    if !is_valid {
        let message = format!(
            "\"{}\" must have 1 to 32 characters of a-z, 0-9, `_` and `-`, and start with a letter",
            excerpt(facade)
        );
        report.problem(place.problem(&message));
    }
    Some(facade.to_owned())
}

/// Parses the head of a Kubernetes resource.
fn parse_resource_head(fields: &ObjectFields<'_>, definition: &mut WorkflowFile, report: &mut ParseReport) {
    warn_unused_fields(
        fields,
        &["apiVersion", "kind", "metadata", "spec", "description", "facade", "title", "strict"],
        report,
    );
    definition.description = fields.text("description", report).map(str::to_owned);
    let Some(metadata) = fields.get("metadata").and_then(|place| place.open_fields(report)) else { return };
    definition.resource = metadata.text("name", report).map(str::to_owned);
    warn_unused_fields(&metadata, &["name"], report);
}

fn require_field<'a>(
    fields: &ObjectFields<'a>,
    key: &str,
    report: &mut ParseReport,
) -> Option<NodePlace<'a>> {
    let place = fields.get(key);
    if place.is_none() {
        report.problem(fields.missing(key, "is required"));
    }
    place
}

/// Reports unknown fields.
fn report_unknown_fields(fields: &ObjectFields<'_>, names: &[&[&str]], report: &mut ParseReport) {
    report_unused_fields(fields, names, &[], report);
}

/// Reports unknown fields, and warns of fields that only ToolHive uses.
fn report_unused_fields(
    fields: &ObjectFields<'_>,
    names: &[&[&str]],
    elsewhere: &[&str],
    report: &mut ParseReport,
) {
    let names = || names.iter().flat_map(|names| names.iter().copied());
    for entry in fields.entries() {
        let key = entry.key.as_str();
        if names().any(|name| name == key) {
            continue;
        }
        if elsewhere.contains(&key) {
            report.warn(unused_field(&fields.path, entry));
        } else {
            report.problem(report.with_suggestion(unknown_field(&fields.path, entry), key, names()));
        }
    }
}

/// Warns of all fields except these.
fn warn_unused_fields(fields: &ObjectFields<'_>, names: &[&str], report: &mut ParseReport) {
    for entry in fields.entries().iter().filter(|entry| !names.contains(&entry.key.as_str())) {
        let warning = unused_field(&fields.path, entry);
        // A field that is present as well was hardly the intended one.
        let near = nearest(&entry.key, names.iter().copied()).filter(|near| fields.entry(near).is_none());
        report.warn(match near {
            Some(near) => warning.hint(format!("did you mean `{near}`?")),
            None => warning,
        });
    }
}

fn unused_field(path: &str, entry: &MapEntry) -> FileProblem {
    let path = join(path, &excerpt(&entry.key));
    let message = format!("{path} means nothing here");
    FileProblem::new(entry.line, path, message)
}

/// Parses a list of composite tools and references to others.
fn parse_tools(
    fields: &ObjectFields<'_>,
    strict: bool,
    definition: &mut WorkflowFile,
    report: &mut ParseReport,
) {
    let tools = fields.get(TOOLS).and_then(|place| place.items(report)).unwrap_or_default();
    if tools.len() > SurfaceLimits::PLUGIN.actions {
        let message =
            format!("has {} tools; at most {} are allowed", tools.len(), SurfaceLimits::PLUGIN.actions);
        report.problem(fields.missing(TOOLS, &message).hint("split the file"));
    }
    for place in tools.iter().take(SurfaceLimits::PLUGIN.actions) {
        if let Some(fields) = place.fields(&workflow::FIELDS, report) {
            definition.workflows.push(parse_workflow(&fields, strict, report));
        }
    }
    let refs = fields.get(REFS).and_then(|place| place.items(report)).unwrap_or_default();
    for place in refs.iter().take(SurfaceLimits::PLUGIN.actions) {
        let Some(fields) = place.fields(&["name"], report) else { continue };
        match fields.text("name", report) {
            Some(name) => definition.refs.push((place.node.line, name.to_owned())),
            None => report.problem(fields.missing("name", "is required")),
        }
    }
    if tools.is_empty() && refs.is_empty() {
        let missing = fields.missing(TOOLS, "must have at least one tool");
        let near = fields.entries().iter().find_map(|entry| nearest(&entry.key, [TOOLS, REFS]));
        report.problem(match near.filter(|near| fields.entry(near).is_none()) {
            Some(near) => missing.hint(format!("did you mean `{near}`?")),
            None => missing,
        });
    }
}

/// Reports duplicate names.
pub(crate) fn report_duplicates(workflows: &[Workflow], report: &mut ParseReport) {
    let mut names: HashMap<&str, usize> = HashMap::new();
    for workflow in workflows.iter().filter(|workflow| !workflow.name.is_empty()) {
        if let Some(line) = names.get(workflow.name.as_str()) {
            let message = format!("duplicate composite tool name: {}", excerpt(&workflow.name));
            let problem = FileProblem::new(workflow.line, join(&workflow.path, "name"), message);
            report.problem(problem.hint(format!("the other one is on line {line}")));
        } else {
            names.insert(&workflow.name, workflow.line);
        }
    }
}

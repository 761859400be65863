//! The forms in which a file may be written: where its composite tools stand, and what else may stand there.

use std::collections::HashMap;

use loggia_schema::{limits, nearest};

use super::{
    Definition, Form, Workflow,
    place::{Fields, Place, Reading, join, shown, unknown},
    workflow::{self, workflow},
};
use crate::Problem;

/// What is ours, at the root of every form.
const OURS: [&str; 3] = ["facade", "title", "strict"];
const TOOLS: &str = "compositeTools";
const REFS: &str = "compositeToolRefs";
const RESOURCE: &str = "VirtualMCPCompositeToolDefinition";
const SERVER: &str = "VirtualMCPServer";
/// What else ToolHive's own configuration says, and means nothing here.
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

/// Reads a document.
pub(super) fn document(root: &Place<'_>, reading: &mut Reading) -> Option<Definition> {
    if root.node.kind() == "a list" {
        let problem = root.problem("must be an object, not a list");
        reading.problem(problem.hint("write compositeTools: before the list"));
        return None;
    }
    let fields = root.open(reading)?;
    let form = form(&fields, reading)?;
    let strict = fields.get("strict").and_then(|place| place.flag(reading));
    let strict = strict.unwrap_or(matches!(form, Form::Bare | Form::List));
    for key in OURS {
        if let Some(entry) = fields.entry(key) {
            reading.note(
                entry.line,
                key,
                format!("`{key}` is Loggia's own: ToolHive refuses a file that has it"),
            );
        }
    }
    let mut definition = Definition {
        facade: facade(&fields, reading),
        title: fields.text("title", reading).map(str::to_owned),
        description: None,
        form,
        resource: None,
        workflows: Vec::new(),
        refs: Vec::new(),
        warnings: Vec::new(),
    };
    match form {
        Form::Bare => {
            known(&fields, &[&workflow::FIELDS, &OURS], reading);
            definition.workflows.push(workflow(&fields, strict, reading));
        }
        Form::List => {
            let ours = [TOOLS, REFS, "description"];
            meaningless(&fields, &[&ours, &OURS], &ELSEWHERE, reading);
            definition.description = fields.text("description", reading).map(str::to_owned);
            list(&fields, strict, &mut definition, reading);
        }
        Form::Resource => {
            wrapped(&fields, &mut definition, reading);
            if let Some(spec) = required(&fields, "spec", reading)
                && let Some(fields) = spec.fields(&workflow::FIELDS, reading)
            {
                definition.workflows.push(workflow(&fields, strict, reading));
            }
        }
        Form::Server => {
            wrapped(&fields, &mut definition, reading);
            if let Some(spec) = required(&fields, "spec", reading)
                && let Some(fields) = spec.open(reading)
            {
                all_but(&fields, &["config"], reading);
                if let Some(config) = required(&fields, "config", reading)
                    && let Some(fields) = config.open(reading)
                {
                    all_but(&fields, &[TOOLS, REFS], reading);
                    list(&fields, strict, &mut definition, reading);
                }
            }
        }
    }
    duplicates(&definition.workflows, reading);
    Some(definition)
}

fn form(fields: &Fields<'_>, reading: &mut Reading) -> Option<Form> {
    if let Some(place) = fields.get("kind") {
        return match place.text(reading)? {
            RESOURCE => Some(Form::Resource),
            SERVER => Some(Form::Server),
            other => {
                let problem =
                    place.problem(&format!("must be {RESOURCE} or {SERVER}, not \"{}\"", shown(other)));
                reading.problem(reading.advise(problem, other, [RESOURCE, SERVER]));
                None
            }
        };
    }
    if let Some(spec) = fields.get("spec") {
        let bare = spec.node.get("config").is_none() && spec.node.get("steps").is_some();
        return Some(if bare { Form::Resource } else { Form::Server });
    }
    if fields.entry(TOOLS).is_some() || fields.entry(REFS).is_some() {
        return Some(Form::List);
    }
    if fields.entries().iter().any(|entry| workflow::FIELDS.contains(&entry.key.as_str())) {
        return Some(Form::Bare);
    }
    let problem =
        Problem::new(fields.line, "", "the file is no workflow: it has neither `steps` nor `compositeTools`");
    let roots = [TOOLS, REFS, "steps", "spec", "kind", "name"];
    let near = fields.entries().iter().find_map(|entry| nearest(&entry.key, roots));
    reading.problem(match near {
        Some(near) => problem.hint(format!("did you mean `{near}`?")),
        None => problem,
    });
    None
}

fn facade(fields: &Fields<'_>, reading: &mut Reading) -> Option<String> {
    let place = fields.get("facade")?;
    let facade = place.text(reading)?;
    let well = facade.len() <= 32
        && facade.starts_with(|c: char| c.is_ascii_lowercase())
        && facade.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | '-'));
    if !well {
        let said = format!(
            "\"{}\" must be 1 to 32 of a-z, 0-9, `_` and `-`, and begin with a letter",
            shown(facade)
        );
        reading.problem(place.problem(&said));
    }
    Some(facade.to_owned())
}

/// What a Kubernetes resource says of itself.
fn wrapped(fields: &Fields<'_>, definition: &mut Definition, reading: &mut Reading) {
    all_but(
        fields,
        &["apiVersion", "kind", "metadata", "spec", "description", "facade", "title", "strict"],
        reading,
    );
    definition.description = fields.text("description", reading).map(str::to_owned);
    let Some(metadata) = fields.get("metadata").and_then(|place| place.open(reading)) else { return };
    definition.resource = metadata.text("name", reading).map(str::to_owned);
    all_but(&metadata, &["name"], reading);
}

fn required<'a>(fields: &Fields<'a>, key: &str, reading: &mut Reading) -> Option<Place<'a>> {
    let place = fields.get(key);
    if place.is_none() {
        reading.problem(fields.missing(key, "is required"));
    }
    place
}

/// Tells of unknown fields.
fn known(fields: &Fields<'_>, names: &[&[&str]], reading: &mut Reading) {
    meaningless(fields, names, &[], reading);
}

/// Tells of unknown fields, and warns of those that mean something to ToolHive alone.
fn meaningless(fields: &Fields<'_>, names: &[&[&str]], elsewhere: &[&str], reading: &mut Reading) {
    let names = || names.iter().flat_map(|names| names.iter().copied());
    for entry in fields.entries() {
        let key = entry.key.as_str();
        if names().any(|name| name == key) {
            continue;
        }
        if elsewhere.contains(&key) {
            reading.warn(nothing(&fields.path, entry));
        } else {
            reading.problem(reading.advise(unknown(&fields.path, entry), key, names()));
        }
    }
}

/// Warns of all fields but these.
fn all_but(fields: &Fields<'_>, names: &[&str], reading: &mut Reading) {
    for entry in fields.entries().iter().filter(|entry| !names.contains(&entry.key.as_str())) {
        let warning = nothing(&fields.path, entry);
        // One that is there as well was hardly meant.
        let near = nearest(&entry.key, names.iter().copied()).filter(|near| fields.entry(near).is_none());
        reading.warn(match near {
            Some(near) => warning.hint(format!("did you mean `{near}`?")),
            None => warning,
        });
    }
}

fn nothing(path: &str, entry: &crate::yaml::MapEntry) -> Problem {
    let path = join(path, &shown(&entry.key));
    let said = format!("{path} means nothing here");
    Problem::new(entry.line, path, said)
}

/// Composite tools in a list, and references to others.
fn list(fields: &Fields<'_>, strict: bool, definition: &mut Definition, reading: &mut Reading) {
    let tools = fields.get(TOOLS).and_then(|place| place.items(reading)).unwrap_or_default();
    if tools.len() > limits::ACTIONS {
        let said = format!("has {} tools; at most {} are allowed", tools.len(), limits::ACTIONS);
        reading.problem(fields.missing(TOOLS, &said).hint("split the file"));
    }
    for place in tools.iter().take(limits::ACTIONS) {
        if let Some(fields) = place.fields(&workflow::FIELDS, reading) {
            definition.workflows.push(workflow(&fields, strict, reading));
        }
    }
    let refs = fields.get(REFS).and_then(|place| place.items(reading)).unwrap_or_default();
    for place in refs.iter().take(limits::ACTIONS) {
        let Some(fields) = place.fields(&["name"], reading) else { continue };
        match fields.text("name", reading) {
            Some(name) => definition.refs.push((place.node.line, name.to_owned())),
            None => reading.problem(fields.missing("name", "is required")),
        }
    }
    if tools.is_empty() && refs.is_empty() {
        let missing = fields.missing(TOOLS, "must have at least one tool");
        let near = fields.entries().iter().find_map(|entry| nearest(&entry.key, [TOOLS, REFS]));
        reading.problem(match near.filter(|near| fields.entry(near).is_none()) {
            Some(near) => missing.hint(format!("did you mean `{near}`?")),
            None => missing,
        });
    }
}

/// Tells of names that stand twice.
pub(super) fn duplicates(workflows: &[Workflow], reading: &mut Reading) {
    let mut names: HashMap<&str, usize> = HashMap::new();
    for workflow in workflows.iter().filter(|workflow| !workflow.name.is_empty()) {
        if let Some(line) = names.get(workflow.name.as_str()) {
            let said = format!("duplicate composite tool name: {}", shown(&workflow.name));
            let problem = Problem::new(workflow.line, join(&workflow.path, "name"), said);
            reading.problem(problem.hint(format!("the other begins on line {line}")));
        } else {
            names.insert(&workflow.name, workflow.line);
        }
    }
}

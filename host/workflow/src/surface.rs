//! Published surface of a workflow file: a facade whose actions are its workflows.

use std::sync::Arc;

use loggia_facade::{Action, Effect, Object, Surface};
use loggia_schema::limits;
use serde_json::{Value, json};

use crate::{
    FileProblem, Workflow, WorkflowFile,
    bind::{ActionLookup, BoundWorkflow, bind},
    definition::{EffectHints, PropertySource, PropertyType, ResultProperty, ResultShape},
};

/// Surface of a file, given the facades that are served now.
#[derive(Debug)]
pub struct FileSurface {
    /// Facade.
    pub surface: Surface,
    /// Problems that keep workflows from running now, by workflow.
    pub unavailable: Vec<(String, Vec<FileProblem>)>,
}

/// Builds the surface of a file under this name.
pub fn build_surface(
    name: &str,
    definition: &WorkflowFile,
    workflows: &[Arc<Workflow>],
    peers: &dyn ActionLookup,
) -> FileSurface {
    let mut unavailable = Vec::new();
    let actions = workflows.iter().map(|workflow| match bind(workflow, peers) {
        Ok(BoundWorkflow { effect, open_world, .. }) => to_action(workflow, effect, open_world),
        Err(problems) => {
            unavailable.push((workflow.name.clone(), problems));
            // The effect of unresolved steps is unknown, so assume the worst.
            to_action(workflow, Effect::Destructive, true)
        }
    });
    let actions: Vec<Action> = actions.collect();
    let title = definition.title.clone().or_else(|| match workflows {
        [only] => only.annotations.title.clone(),
        _ => None,
    });
    let surface = Surface {
        name: name.to_owned(),
        title: title.unwrap_or_else(|| humanize(name)),
        version: "1".to_owned(),
        summary: truncate(&summarize(definition, workflows), limits::SUMMARY),
        instructions: None,
        default_action: None,
        actions,
        views: Vec::new(),
        wants: Vec::new(),
    };
    FileSurface { surface, unavailable }
}

fn summarize(definition: &WorkflowFile, workflows: &[Arc<Workflow>]) -> String {
    match (&definition.description, workflows) {
        (Some(description), _) => description.clone(),
        (None, [only]) => only.description.clone(),
        (None, all) => {
            let names: Vec<&str> = all.iter().map(|workflow| workflow.name.as_str()).collect();
            format!("Workflows of several steps: {}.", names.join(", "))
        }
    }
}

fn to_action(workflow: &Workflow, effect: Effect, open_world: bool) -> Action {
    let EffectHints { idempotent, open_world: stated, .. } = workflow.annotations;
    Action {
        name: workflow.name.clone(),
        summary: truncate(&workflow.description, limits::ACTION_SUMMARY),
        effect,
        idempotent: idempotent.unwrap_or(false),
        open_world: open_world || stated == Some(true),
        long_running: true,
        details: false,
        aliases: Vec::new(),
        needs: Vec::new(),
        group: None,
        resource: None,
        view: None,
        params: Arc::new(published_params(workflow)),
        data: workflow.output.as_ref().map(|output| Arc::new(result_schema(output, workflow.strict))),
        examples: Vec::new(),
    }
}

/// Parameters of a workflow, with the one that asks for a plan.
fn published_params(workflow: &Workflow) -> Object {
    let mut params = workflow.parameters.clone();
    if workflow.dry_runs {
        let properties = params.entry("properties").or_insert_with(|| json!({}));
        if let Some(properties) = properties.as_object_mut() {
            let schema = json!({"enum": [true, false, "reads"],
                "description": "true: plan without calls; reads: with calls that only read"});
            properties.insert(Workflow::DRY_RUN.to_owned(), schema);
        }
    }
    params
}

/// Builds the JSON Schema of a workflow's result.
fn result_schema(output: &ResultShape, strict: bool) -> Value {
    let required = output.required.iter().map(|name| Value::from(name.clone())).collect();
    let mut out = object_schema(&output.properties, strict);
    if !output.required.is_empty() {
        out.insert("required".into(), Value::Array(required));
    }
    out.into()
}

fn object_schema(properties: &[(String, ResultProperty)], strict: bool) -> Object {
    let properties: Object = properties
        .iter()
        .map(|(name, property)| (name.clone(), self::property_schema(property, strict).into()))
        .collect();
    let mut out = Object::new();
    out.insert("type".into(), "object".into());
    out.insert("properties".into(), properties.into());
    out
}

fn property_schema(property: &ResultProperty, strict: bool) -> Object {
    let mut out = match &property.from {
        PropertySource::Properties(properties) => object_schema(properties, strict),
        PropertySource::Value(_) => Object::new(),
    };
    let kind = property.kind.as_str();
    // In strict files null stays null, where ToolHive returns a text.
    let nullable = strict && property.kind == PropertyType::String && property.default.is_none();
    out.insert("type".into(), if nullable { json!([kind, "null"]) } else { json!(kind) });
    out.insert("description".into(), property.description.clone().into());
    out
}

/// Converts a name to a title: `Incident response` for `incident_response`.
fn humanize(name: &str) -> String {
    let words = name.replace(['_', '-'], " ");
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Truncates a text to the limit of a surface.
fn truncate(text: &str, most: usize) -> String {
    let mut text = text.to_owned();
    loggia_text::shorten_bytes(&mut text, most);
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::parse_file;

    fn published(name: &str, text: &str) -> Surface {
        let definition = parse_file(text).unwrap_or_else(|problems| panic!("{problems}"));
        let workflows: Vec<Arc<Workflow>> = definition.workflows.iter().cloned().map(Arc::new).collect();
        let nobody = |facade: &str, _: &str| Err(loggia_facade::Failure::new("unavailable", facade));
        build_surface(name, &definition, &workflows, &nobody).surface
    }

    #[test]
    fn titles_and_summaries_have_defaults() {
        let check = |head: &str, tools: &[&str], expected: (&str, &str)| {
            let tool = |name| {
                format!("  - {{name: {name}, description: Does {name}., steps: [{{id: a, tool: b.c}}]}}\n")
            };
            let tools: String = tools.iter().map(tool).collect();
            let surface = published("my_work", &format!("{head}compositeTools:\n{tools}"));
            assert_eq!((surface.title.as_str(), surface.summary.as_str()), expected, "{head}");
        };
        check("", &["one"], ("My work", "Does one."));
        check("", &["one", "two"], ("My work", "Workflows of several steps: one, two."));
        check("title: T\ndescription: D\n", &["one", "two"], ("T", "D"));
    }

    #[test]
    fn a_result_is_described_as_it_is_made() {
        let check = |strict: bool, expected: Value| {
            let output =
                "{properties: {a: {type: string, description: d, value: '{{.workflow.id}}'}}, required: [a]}";
            let text = format!(
                "strict: {strict}\nname: w\ndescription: d\noutput: {output}\nsteps: [{{id: s, tool: b.c}}]\n"
            );
            let data = published("w", &text).actions[0].data.clone().unwrap_or_default();
            assert_eq!(*data, expected);
        };
        let of = |kind: Value| json!({"type": "object", "properties": {"a": {"type": kind, "description": "d"}}, "required": ["a"]});
        check(false, of(json!("string")));
        check(true, of(json!(["string", "null"])));
    }

    #[test]
    fn a_text_is_cut_where_a_character_ends() {
        assert_eq!(truncate("abc", 3), "abc");
        assert_eq!(truncate("aé☃é", 7), "aé…");
    }
}

//! Plans from JSON in ToolHive's terms; times in milliseconds.

use std::{sync::Arc, time::Duration};

use loggia_facade::Object;
use serde_json::{Value, json};

use super::super::{RunPlan, StepTarget};
use crate::{
    Workflow,
    definition::{
        ArgumentValue, CompensatingCall, EffectHints, ForEach, OnError, PropertySource, PropertyType,
        QuestionStep, RefusalAction, ResultProperty, ResultShape, SagaRules, StepKind, ToolCall, UndoRule,
        WorkflowStep,
    },
    template::TextTemplate,
};

pub(super) fn object(value: Value) -> Object {
    value.as_object().cloned().unwrap_or_default()
}

pub(super) fn template(text: &str) -> TextTemplate {
    TextTemplate::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn milliseconds(value: &Value, or: u64) -> Duration {
    Duration::from_millis(value.as_u64().unwrap_or(or))
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// Builds a plan from `{steps, output?, parameters?, timeout?, failureMode?, strict?}`, or from a list of steps. Every
/// tool takes any parameters, except those that `tools` names.
pub(super) fn plan(value: Value) -> RunPlan {
    plan_with(value, json!({}))
}

pub(super) fn plan_with(value: Value, tools: Value) -> RunPlan {
    let value = if value.is_array() { json!({"steps": value}) } else { value };
    let listed = value["steps"].as_array().unwrap();
    let ids: Vec<&str> = listed.iter().map(|step| step["id"].as_str().unwrap()).collect();
    let steps: Vec<WorkflowStep> = listed.iter().map(|value| step(value, &ids)).collect();
    let target = |tool: &str| {
        let (facade, action) = tool.split_once('.').unwrap_or((tool, "run"));
        let params =
            object(json!({"type": "object", "properties": tools.get(tool).cloned().unwrap_or(json!({}))}));
        let action_argument = Some("action".to_owned());
        let changes = action != "look";
        StepTarget {
            facade: facade.into(),
            action: action.into(),
            params: Arc::new(params),
            action_argument,
            changes,
            repeatable: action == "look" || action == "put",
            durable: false,
        }
    };
    let targets = steps.iter().map(|step| match &step.kind {
        StepKind::Tool(call) => Some(target(&call.tool)),
        StepKind::ForEach(each) => Some(target(&each.call.tool)),
        StepKind::Ask(_) => None,
    });
    let targets = targets.collect();
    let undone = |step: &WorkflowStep| step.compensation().map(|undo| target(&undo.call.tool));
    let compensations = steps.iter().map(undone).collect();
    let workflow = Workflow {
        name: "flow".into(),
        description: "A flow.".into(),
        parameters: object(value["parameters"].clone()),
        timeout: milliseconds(&value["timeout"], 30 * 60 * 1000),
        continues: value["failureMode"] == "continue",
        strict: value["strict"] == true,
        dry_runs: false,
        attach: Vec::new(),
        start: None,
        saga: value.get("saga").map(|limit| SagaRules { timeout: milliseconds(limit, 0) }),
        output: value.get("output").map(output),
        annotations: EffectHints::default(),
        line: 1,
        path: String::new(),
        steps,
    };
    RunPlan { workflow: Arc::new(workflow), targets, compensations }
}

fn call(value: &Value) -> ToolCall {
    let arguments = object(value["arguments"].clone());
    let arguments = arguments.iter().map(|(name, value)| (name.clone(), argument(value))).collect();
    ToolCall { tool: text(&value["tool"]), arguments, line: 1 }
}

fn undo(value: &Value) -> Option<UndoRule> {
    if value["irreversible"] == true {
        return Some(UndoRule::Irreversible);
    }
    let undo = value.get("compensate")?;
    Some(UndoRule::Compensate(Box::new(CompensatingCall {
        call: call(undo),
        timeout: milliseconds(&undo["timeout"], 5 * 60 * 1000),
        on_error: on_error(&undo["onError"]),
        on_unknown: None,
    })))
}

fn step(value: &Value, ids: &[&str]) -> WorkflowStep {
    let kind = match value["type"].as_str() {
        Some("elicitation") => StepKind::Ask(QuestionStep {
            message: template(value["message"].as_str().unwrap_or("Sure?")),
            schema: object(json!({"type": "object"})),
            on_decline: otherwise(&value["onDecline"]),
            on_cancel: otherwise(&value["onCancel"]),
        }),
        Some("forEach") => StepKind::ForEach(ForEach {
            collection: template(&text(&value["collection"])),
            item: value["itemVar"].as_str().unwrap_or("item").to_owned(),
            parallel: value["maxParallel"].as_u64().unwrap_or(10) as usize,
            iterations: value["maxIterations"].as_u64().unwrap_or(100) as usize,
            call: call(&value["step"]),
            on_error: on_error(&value["step"]["onError"]),
        }),
        _ => StepKind::Tool(call(value)),
    };
    let place = |id: &Value| ids.iter().position(|known| id == known).unwrap();
    WorkflowStep {
        id: text(&value["id"]),
        kind,
        condition: value["condition"].as_str().map(template),
        depends_on: value["dependsOn"].as_array().into_iter().flatten().map(place).collect(),
        timeout: milliseconds(&value["timeout"], 5 * 60 * 1000),
        on_error: on_error(&value["onError"]),
        on_unknown: None,
        key: value["idempotencyKey"].as_str().map(template),
        effect: None,
        skips_missing: value["onMissing"] == "continue",
        undo: undo(if value["type"] == "forEach" { &value["step"] } else { value }),
        default_results: value.get("defaultResults").cloned(),
        line: 1,
    }
}

fn on_error(value: &Value) -> OnError {
    match value["action"].as_str() {
        Some("continue") => OnError::Continue,
        Some("retry") => OnError::Retry {
            count: value["retryCount"].as_u64().unwrap_or(1) as u32,
            delay: milliseconds(&value["retryDelay"], 1000),
            on: value["retryOn"].as_array().into_iter().flatten().map(text).collect(),
            then_continues: value["then"] == "continue",
        },
        _ => OnError::Abort,
    }
}

fn otherwise(value: &Value) -> RefusalAction {
    match value.as_str() {
        Some("continue") => RefusalAction::Continue,
        Some("skip_remaining") => RefusalAction::SkipRemaining,
        _ => RefusalAction::Abort,
    }
}

fn argument(value: &Value) -> ArgumentValue {
    match value {
        value if !value.to_string().contains("{{") => ArgumentValue::Literal(value.clone()),
        Value::String(text) => ArgumentValue::Template(template(text)),
        Value::Array(items) => ArgumentValue::List(items.iter().map(argument).collect()),
        Value::Object(members) => ArgumentValue::Record(
            members.iter().map(|(name, value)| (name.clone(), argument(value))).collect(),
        ),
        value => ArgumentValue::Literal(value.clone()),
    }
}

fn output(value: &Value) -> ResultShape {
    let required = value["required"].as_array().into_iter().flatten().map(text).collect();
    ResultShape { properties: properties(&value["properties"]), required }
}

fn properties(value: &Value) -> Vec<(String, ResultProperty)> {
    let one = |value: &Value| ResultProperty {
        kind: match value["type"].as_str() {
            Some("integer") => PropertyType::Integer,
            Some("number") => PropertyType::Number,
            Some("boolean") => PropertyType::Boolean,
            Some("object") => PropertyType::Object,
            Some("array") => PropertyType::Array,
            _ => PropertyType::String,
        },
        description: String::new(),
        from: match value["value"].as_str() {
            Some(text) => PropertySource::Value(template(text)),
            None => PropertySource::Properties(properties(&value["properties"])),
        },
        default: value.get("default").cloned(),
        line: 1,
    };
    object(value.clone()).iter().map(|(name, value)| (name.clone(), one(value))).collect()
}

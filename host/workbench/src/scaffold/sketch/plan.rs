//! What the actions of a sketch are, without a language.

use std::collections::BTreeSet;

use loggia_api::{ApiBody, ApiDescription, ApiOperation, BodyForm, ParameterPlace};
use loggia_facade::Effect;
use loggia_text::sanitise_line;
use serde_json::Value;
use url::Url;

use super::names::{claim, to_ident};

/// Members of a body that become parameters of their own; a larger body is one parameter.
const MAX_MEMBERS: usize = 20;
/// Length of a text on one line.
const MAX_TEXT: usize = 400;

/// A plugin without a language.
pub struct SketchPlan {
    /// Name of the plugin.
    pub name: String,
    pub title: String,
    pub summary: String,
    /// Servers, as a policy grants them.
    pub origins: Vec<String>,
    pub actions: Vec<ActionPlan>,
    /// Operations that were left out, with the reason.
    pub left_out: Vec<String>,
}

/// One action.
pub struct ActionPlan {
    /// Name of the function.
    pub ident: String,
    /// Name of the action.
    pub action: String,
    pub summary: String,
    /// The rest of the description.
    pub more: Option<String>,
    pub effect: Effect,
    /// Whether it is to be declared idempotent.
    pub is_idempotent: bool,
    pub method: String,
    /// URL up to the first part of the path with a parameter.
    pub base: String,
    /// The parts of the path after it.
    pub parts: Vec<PathPart>,
    pub params: Vec<ParamPlan>,
    pub body: BodyPlan,
}

/// A part of a path: texts, and parameters by their identifiers.
pub enum PathPart {
    Fixed(String),
    Open(Vec<PathPiece>),
}

/// A piece of a part.
pub enum PathPiece {
    Text(String),
    Param(String),
}

/// A parameter of an action.
pub struct ParamPlan {
    pub ident: String,
    /// Name in the request.
    pub sent: String,
    pub kind: ParamKind,
    pub is_required: bool,
    pub text: String,
    pub place: ParamPlace,
}

/// Kinds of values: exact for plain ones, any JSON for others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParamKind {
    Text,
    Integer,
    Number,
    Flag,
    Texts,
    Any,
}

/// Where a parameter goes in the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParamPlace {
    Path,
    Query,
    Header,
    /// A member of the body.
    Member,
    /// The whole body.
    Body,
}

/// The body of the request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BodyPlan {
    Nothing,
    /// The members, as JSON.
    JsonMembers,
    /// The members, as a form.
    FormMembers,
    /// The parameter at [`ParamPlace::Body`], as JSON.
    Json,
    /// The parameter at [`ParamPlace::Body`], as a text of this media type.
    Text(String),
}

impl SketchPlan {
    pub fn new(api: &ApiDescription) -> Self {
        let origins: BTreeSet<String> = api.servers().into_iter().filter_map(origin).collect();
        let (mut actions, mut left_out, mut names) = (Vec::new(), Vec::new(), BTreeSet::new());
        for operation in &api.operations {
            match operation.body.as_ref().map(|body| body.form) {
                Some(form @ (BodyForm::Multipart | BodyForm::Binary)) => left_out
                    .push(format!("{} {}: a body of the kind {form:?}", operation.method, operation.path)),
                _ => actions.push(ActionPlan::new(api, operation, &mut names)),
            }
        }
        let (title, summary) = (line(&api.title), line(&api.summary));
        Self {
            name: api.name.clone(),
            summary: if summary.is_empty() { title.clone() } else { summary },
            title,
            origins: origins.into_iter().collect(),
            actions,
            left_out,
        }
    }
}

impl ActionPlan {
    fn new(api: &ApiDescription, operation: &ApiOperation, names: &mut BTreeSet<String>) -> Self {
        let mut taken = BTreeSet::new();
        let ident = claim(&to_ident(&operation.action), names);
        let mut params = Vec::new();
        for (of, place) in [
            (ParameterPlace::Path, ParamPlace::Path),
            (ParameterPlace::Query, ParamPlace::Query),
            (ParameterPlace::Header, ParamPlace::Header),
        ] {
            for parameter in operation.parameters.iter().filter(|parameter| parameter.place == of) {
                let is_required = parameter.required || place == ParamPlace::Path;
                let mut param = ParamPlan::new(&parameter.name, &parameter.schema, is_required, &mut taken);
                // A list has no usual form in a path.
                if place == ParamPlace::Path && param.kind == ParamKind::Texts {
                    param.kind = ParamKind::Any;
                }
                params.push(ParamPlan { place, ..param });
            }
        }
        let body = operation.body.as_ref().map(|body| plan_body(body, &mut params, &mut taken));
        let summary = Some(line(&operation.summary)).filter(|text| !text.is_empty());
        let effect = operation.method.effect();
        let (base, parts) = plan_path(api.server_of(operation), &operation.path, &params);
        Self {
            ident,
            action: operation.action.clone(),
            summary: summary.unwrap_or_else(|| format!("{} {}", operation.method, line(&operation.path))),
            more: operation.description.as_deref().map(line).filter(|text| !text.is_empty()),
            effect,
            is_idempotent: operation.method.is_idempotent() && effect != Effect::Read,
            method: operation.method.as_str().to_owned(),
            base,
            parts,
            params,
            body: body.unwrap_or(BodyPlan::Nothing),
        }
    }

    /// The parameters in a place.
    pub fn params_in(&self, place: ParamPlace) -> impl Iterator<Item = &ParamPlan> {
        self.params.iter().filter(move |param| param.place == place)
    }
}

impl ParamPlan {
    fn new(sent: &str, schema: &Value, is_required: bool, taken: &mut BTreeSet<String>) -> Self {
        Self {
            ident: claim(&to_ident(sent), taken),
            sent: sent.to_owned(),
            kind: ParamKind::of(schema),
            is_required,
            text: line(schema.get("description").and_then(Value::as_str).unwrap_or_default()),
            place: ParamPlace::Member,
        }
    }
}

impl ParamKind {
    fn of(schema: &Value) -> Self {
        let kind = |schema: &Value| schema.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
        match kind(schema).as_str() {
            "string" => Self::Text,
            "integer" => Self::Integer,
            "number" => Self::Number,
            "boolean" => Self::Flag,
            "array" if schema.get("items").is_some_and(|items| kind(items) == "string") => Self::Texts,
            _ => Self::Any,
        }
    }
}

/// Adds the parameters of a body.
fn plan_body(body: &ApiBody, params: &mut Vec<ParamPlan>, taken: &mut BTreeSet<String>) -> BodyPlan {
    let members = body.schema.get("properties").and_then(Value::as_object);
    let members = members.filter(|members| (1..=MAX_MEMBERS).contains(&members.len()));
    let required = body.schema.get("required").and_then(Value::as_array);
    let (true, Some(members)) = (matches!(body.form, BodyForm::Json | BodyForm::Form), members) else {
        let is_text = body.form == BodyForm::Text;
        params.push(ParamPlan {
            ident: claim("content", taken),
            sent: String::new(),
            kind: if is_text { ParamKind::Text } else { ParamKind::Any },
            is_required: body.required,
            text: "The body, as the API describes it.".to_owned(),
            place: ParamPlace::Body,
        });
        return if is_text { BodyPlan::Text(body.media.clone()) } else { BodyPlan::Json };
    };
    for (name, schema) in members {
        let is_required = body.required && required.into_iter().flatten().any(|known| known == name.as_str());
        params.push(ParamPlan::new(name, schema, is_required, taken));
    }
    if body.form == BodyForm::Form { BodyPlan::FormMembers } else { BodyPlan::JsonMembers }
}

/// Splits the URL before the first part of the path with a parameter.
fn plan_path(server: &str, path: &str, params: &[ParamPlan]) -> (String, Vec<PathPart>) {
    let server = server.trim_end_matches('/');
    let parts: Vec<&str> = path.split('/').collect();
    let Some(first) = parts.iter().position(|part| part.contains('{')) else {
        return (format!("{server}{path}"), Vec::new());
    };
    let (fixed, open) = parts.split_at(first);
    let open = open.iter().filter(|part| !part.is_empty()).map(|part| plan_part(part, params));
    (format!("{server}{}", fixed.join("/")), open.collect())
}

/// Splits a part of a path; one with a hole that is no parameter stays as it is.
fn plan_part(part: &str, params: &[ParamPlan]) -> PathPart {
    let fixed = || PathPart::Fixed(part.to_owned());
    let (mut pieces, mut rest) = (Vec::new(), part);
    while let Some((before, after)) = rest.split_once('{') {
        let Some((hole, after)) = after.split_once('}') else { return fixed() };
        let is_it = |param: &&ParamPlan| param.place == ParamPlace::Path && param.sent == hole;
        let Some(param) = params.iter().find(is_it) else { return fixed() };
        if !before.is_empty() {
            pieces.push(PathPiece::Text(before.to_owned()));
        }
        pieces.push(PathPiece::Param(param.ident.clone()));
        rest = after;
    }
    if pieces.is_empty() || rest.contains('}') {
        return fixed();
    }
    if !rest.is_empty() {
        pieces.push(PathPiece::Text(rest.to_owned()));
    }
    PathPart::Open(pieces)
}

/// Scheme, host and port of a server.
fn origin(server: &str) -> Option<String> {
    Some(Url::parse(server).ok()?.origin().ascii_serialization())
}

/// A text on one line.
fn line(text: &str) -> String {
    sanitise_line(text, MAX_TEXT)
}

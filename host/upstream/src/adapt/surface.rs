//! From a list of tools to the surface of a facade.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use loggia_facade::{Action, Object, Surface};
use loggia_schema::{Contract, SurfaceLimits, limits, sanitise_surface};
use loggia_text::{mention, sanitise_line, sanitise_text};
use serde_json::Value;

use super::{
    action_names::{NameRequest, plan_names},
    effects::effect_of,
    listed_tool::ListedTool,
    parameters::{adapt_parameters, permissive},
    route::ToolRoute,
};
use crate::spec::UpstreamSpec;

/// What a server says about itself in its handshake. Untrusted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServerProfile {
    /// Its name, for people if it has one.
    pub title: String,
    /// Its version.
    pub version: String,
    /// What it is for.
    pub description: Option<String>,
    /// How to use it.
    pub instructions: Option<String>,
}

/// The tools of an upstream, as a facade publishes them.
#[derive(Debug, Clone, PartialEq)]
pub struct AdaptedTools {
    /// The surface, which the contract accepts.
    pub surface: Arc<Surface>,
    /// Where the calls of each action go, by its name.
    pub routes: BTreeMap<String, ToolRoute>,
    /// Tools that were left out and schemas that were loosened, for the operator: one line each.
    pub problems: Vec<String>,
}

impl AdaptedTools {
    /// Whether both publish the same and route calls the same way.
    pub fn is_same(&self, other: &Self) -> bool {
        self.surface == other.surface && self.routes == other.routes
    }

    /// The action and the route of a tool, by its original name.
    pub(crate) fn find_tool(&self, tool: &str) -> Option<(&Action, &ToolRoute)> {
        let (name, route) = self.routes.iter().find(|(_, route)| route.tool == tool)?;
        Some((self.surface.action(name)?, route))
    }
}

/// Problems that are reported.
const PROBLEMS: usize = 64;
/// Bytes of a description that does not fit into an action's summary: it then goes with the schema of its parameters, which
/// `describe` shows in full detail.
const WHOLE_TEXT: usize = 8 * 1024;
/// Bytes of a schema that is kept if the surface as a whole is too large.
const SMALL_SCHEMA: usize = 2 * 1024;

/// Adapts the tools of an upstream.
///
/// A tool that cannot be adapted is left out with a problem. Tools beyond the 64 actions of a facade are left out, too.
///
/// # Errors
///
/// If no tool is left.
pub fn adapt_tools(
    spec: &UpstreamSpec,
    server: &ServerProfile,
    tools: &[Value],
) -> Result<AdaptedTools, String> {
    let mut problems = Vec::new();
    let mut listed = read_tools(spec, tools, &mut problems);
    if listed.len() > SurfaceLimits::HOSTED.actions {
        problems.push(format!(
            "{} of {} tools are left out: a facade has at most {} actions; choose tools with `include` and `exclude`",
            listed.len() - SurfaceLimits::HOSTED.actions,
            listed.len(),
            SurfaceLimits::HOSTED.actions
        ));
        listed.truncate(SurfaceLimits::HOSTED.actions);
    }
    let requests: Vec<NameRequest<'_>> = listed
        .iter()
        .map(|tool| NameRequest {
            tool: &tool.name,
            wanted: spec.overrides.get(&tool.name).and_then(|wanted| wanted.name.as_deref()),
        })
        .collect();
    let mut actions = Vec::new();
    let mut routes = BTreeMap::new();
    for (tool, names) in listed.iter().zip(plan_names(&requests)) {
        let names = match names {
            Ok(names) => names,
            Err(problem) => {
                problems.push(problem);
                continue;
            }
        };
        let parameters = adapt_parameters(&tool.input);
        if !parameters.loosened.is_empty() {
            problems.push(format!(
                "the tool `{}` is served without {}, which cannot be used here",
                tool.shown_name(),
                parameters.loosened.join(" and ")
            ));
        }
        routes.insert(
            names.name.clone(),
            ToolRoute { tool: tool.name.clone(), wrapper: parameters.wrapper, as_task: tool.needs_task },
        );
        let wanted = spec.overrides.get(&tool.name).and_then(|wanted| wanted.description.as_deref());
        actions.push(action(tool, wanted, names.name, names.aliases, parameters.schema));
    }
    let surface = Surface {
        name: spec.name.clone(),
        title: sanitise_line(&server.title, limits::TITLE),
        version: sanitise_line(&server.version, limits::VERSION),
        summary: summary(spec, server),
        instructions: server
            .instructions
            .as_deref()
            .map(|text| sanitise_text(text, limits::INSTRUCTIONS).trim().to_owned())
            .filter(|text| !text.is_empty()),
        default_action: None,
        actions,
        views: Vec::new(),
        wants: Vec::new(),
    };
    let surface = fit(sanitise_surface(surface), &mut problems)?;
    routes.retain(|name, _| surface.action(name).is_some());
    if problems.len() > PROBLEMS {
        let more = problems.len() - PROBLEMS;
        problems.truncate(PROBLEMS);
        problems.push(format!("and {more} more"));
    }
    Ok(AdaptedTools { surface, routes, problems })
}

/// Reads the tools that the spec serves, and reports settings that match none.
fn read_tools(spec: &UpstreamSpec, tools: &[Value], problems: &mut Vec<String>) -> Vec<ListedTool> {
    let mut seen = BTreeSet::new();
    let mut listed = Vec::new();
    for tool in tools {
        match ListedTool::from_json(tool) {
            Ok(tool) if !seen.insert(tool.name.clone()) => {
                problems.push(format!(
                    "the tool `{}` is listed twice; the first one is served",
                    tool.shown_name()
                ));
            }
            Ok(tool) if spec.serves(&tool.name) => listed.push(tool),
            Ok(_) => {}
            Err(problem) => problems.push(problem),
        }
    }
    for (key, patterns) in [("include", &spec.include), ("exclude", &spec.exclude)] {
        for pattern in patterns.iter().filter(|pattern| !seen.iter().any(|tool| pattern.matches(tool))) {
            problems.push(format!("`{key}` names `{pattern}`, but the server has no such tool"));
        }
    }
    for tool in spec.overrides.keys().filter(|tool| !seen.contains(*tool)) {
        problems.push(format!("`overrides` names `{}`, but the server has no such tool", mention(tool, 64)));
    }
    listed
}

fn action(
    tool: &ListedTool,
    description: Option<&str>,
    name: String,
    aliases: Vec<String>,
    mut params: Object,
) -> Action {
    let effect = effect_of(tool.hints);
    let text = description.or(tool.description.as_deref()).filter(|text| !text.trim().is_empty());
    let text = text.or(tool.title.as_deref()).unwrap_or_default();
    let clean = sanitise_text(text, WHOLE_TEXT).trim().to_owned();
    let summary = match sanitise_text(&clean, limits::ACTION_SUMMARY).trim() {
        "" => format!("Calls the tool {}.", tool.shown_name()),
        summary => summary.to_owned(),
    };
    if clean.len() > limits::ACTION_SUMMARY {
        params.insert("description".into(), clean.into());
    }
    Action {
        name,
        summary,
        needs: Vec::new(),
        group: None,
        resource: None,
        view: None,
        effect: effect.effect,
        idempotent: effect.idempotent,
        open_world: effect.open_world,
        long_running: tool.takes_long,
        details: false,
        aliases,
        params: Arc::new(params),
        data: tool.output.clone().map(|schema| Arc::new(Value::Object(schema))),
        examples: Vec::new(),
    }
}

/// What the facade is for: the operator's words, else the server's, else its name.
fn summary(spec: &UpstreamSpec, server: &ServerProfile) -> String {
    let own = spec.summary.as_deref().or(server.description.as_deref());
    // Instructions often begin with a heading, which says little.
    let is_text = |paragraph: &&str| !paragraph.is_empty() && !paragraph.starts_with('#');
    let paragraph =
        || server.instructions.as_deref().and_then(|text| text.split("\n\n").map(str::trim).find(is_text));
    let text = own.filter(|text| !text.trim().is_empty()).or_else(paragraph).unwrap_or_default();
    match sanitise_text(text, limits::SUMMARY).trim() {
        "" => match sanitise_line(&server.title, limits::TITLE) {
            title if title.is_empty() => format!("The tools of the MCP server `{}`.", spec.name),
            title => format!("The tools of {title}."),
        },
        summary => summary.to_owned(),
    }
}

/// Reduces a surface until the contract accepts it: first the schemas of results, then large schemas of parameters, then all
/// of them, then actions from the end.
fn fit(mut surface: Surface, problems: &mut Vec<String>) -> Result<Arc<Surface>, String> {
    let all = surface.actions.len();
    let mut last = String::new();
    for step in 0.. {
        if surface.actions.is_empty() {
            break;
        }
        let candidate = Arc::new(surface.clone());
        match Contract::within(candidate.clone(), &SurfaceLimits::HOSTED) {
            Ok(_) => {
                let left = all - surface.actions.len();
                if left > 0 {
                    problems.push(format!("{left} of {all} tools are left out: together they publish too much; choose tools with `include` and `exclude`"));
                }
                return Ok(candidate);
            }
            Err(problem) => last = problem.to_string(),
        }
        match step {
            0 => surface.actions.iter_mut().for_each(|action| action.data = None),
            1 | 2 => {
                let most = if step == 1 { SMALL_SCHEMA } else { 0 };
                let mut loosened = 0;
                for action in &mut surface.actions {
                    let bytes = serde_json::to_string(&*action.params).map_or(usize::MAX, |text| text.len());
                    if bytes > most {
                        action.params = Arc::new(permissive());
                        loosened += 1;
                    }
                }
                problems.push(format!("{loosened} tools are served without schemas of their parameters: together they publish too much"));
            }
            _ => surface.actions.truncate(surface.actions.len() / 2),
        }
    }
    Err(match last.lines().next() {
        Some(problem) => format!("no tool of the upstream can be served: {problem}"),
        None => "the upstream has no tools to serve".to_owned(),
    })
}

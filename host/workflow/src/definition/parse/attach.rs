//! Parser of the resources that a workflow's prompt brings with it.

use loggia_facade::Object;
use loggia_schema::UriTemplate;
use serde_json::Value as Json;

use crate::{
    definition::{place::ObjectFields, report::ParseReport},
    yaml::excerpt,
};

/// Most resources. Each is read when the prompt is asked for.
const MOST: usize = 8;

/// Parses `attach`: URIs, or templates whose variables are parameters. `parameters`: the workflow's schema.
pub(super) fn parse_attach(
    fields: &ObjectFields<'_>,
    parameters: &Object,
    report: &mut ParseReport,
) -> Vec<String> {
    let Some(list) = fields.get("attach") else { return Vec::new() };
    report.note(list.node.line, &*list.path, "ToolHive does not know `attach`");
    let places = list.items(report).unwrap_or_default();
    if places.len() > MOST {
        report.problem(list.problem(&format!("has {} resources; at most {MOST} are allowed", places.len())));
    }
    let properties = parameters.get("properties").and_then(Json::as_object);
    let mut attached = Vec::new();
    for place in places.iter().take(MOST) {
        let Some(text) = place.text(report) else { continue };
        let template = match UriTemplate::parse(text) {
            Ok(template) => template,
            Err(reason) => {
                report.problem(place.problem(&format!("\"{}\" {reason}", excerpt(text))));
                continue;
            }
        };
        let is_known = |name: &&str| properties.is_some_and(|known| known.contains_key(*name));
        match template.variables().find(|name| !is_known(name)) {
            None => attached.push(text.to_owned()),
            Some(name) => {
                let message = format!("names \"{}\", which is no parameter of the workflow", excerpt(name));
                let known = properties.into_iter().flatten().map(|(name, _)| name.as_str());
                let problem = place.problem(&message);
                report.problem(report.with_suggestion(problem, name, known));
            }
        }
    }
    attached
}

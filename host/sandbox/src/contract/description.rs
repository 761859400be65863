//! The surface as a guest describes it, word for word: two readings are compared before anything is parsed.

use std::sync::Arc;

use loggia_facade::{
    Action, Object, Surface,
    json::{JsonError, parse},
};
use serde_json::Value;

use super::extras::RawExtras;

/// Answer of `describe`.
#[derive(Debug, PartialEq)]
pub(crate) struct RawDescription {
    /// The surface, its actions without their schemas.
    pub surface: Surface,
    /// Extras of the description. Ignored, but they must not differ between two readings.
    pub extras: RawExtras,
    /// Extras of each action.
    pub action_extras: Vec<RawExtras>,
}

impl RawDescription {
    /// Bytes of its texts.
    pub(crate) fn size(&self) -> usize {
        let Surface { name, title, version, summary, instructions, actions, views, wants, .. } =
            &self.surface;
        let actions = actions.iter().map(|action| {
            let lists = action.aliases.iter().chain(&action.needs).map(String::len).sum::<usize>();
            let resource = action.resource.as_ref().map_or(0, |resource| {
                let texts = [&resource.mime_type, &resource.items, &resource.state];
                resource.uri.len() + texts.into_iter().flatten().map(String::len).sum::<usize>()
            });
            action.name.len() + action.summary.len() + lists + resource
        });
        let views = views.iter().map(|view| view.name.len() + view.html.len());
        let wants = wants.iter().map(|want| want.grant.len() + want.reason.len());
        let texts = [name, title, version, summary].map(String::len).into_iter().sum::<usize>();
        texts
            + instructions.as_ref().map_or(0, String::len)
            + actions.sum::<usize>()
            + views.sum::<usize>()
            + wants.sum::<usize>()
    }
}

/// Parses what the extras of an action say about it. Unknown names are ignored. The error says which text is wrong and why.
pub(crate) fn parse_action_extras(extras: &RawExtras, action: &mut Action) -> Result<(), String> {
    let Some((_, text)) = extras.iter().find(|(name, _)| name == NEEDS) else { return Ok(()) };
    if text.len() > NEEDS_BYTES {
        return Err(format!("{NEEDS}: {} bytes, at most {NEEDS_BYTES}", text.len()));
    }
    action.needs = serde_json::from_str(text).map_err(|_| format!("{NEEDS}: it is not a list of texts"))?;
    Ok(())
}

/// Extra of an action: a list of the grants without which it cannot work.
const NEEDS: &str = "needs";
/// Maximum size of its JSON text.
const NEEDS_BYTES: usize = 4096;

/// Answer of `schema`: JSON texts of one action.
#[derive(Debug, PartialEq)]
pub(crate) struct RawSchema {
    pub params: String,
    pub data: Option<String>,
    pub examples: Vec<String>,
    pub extras: RawExtras,
}

impl RawSchema {
    /// Bytes of its texts.
    pub(crate) fn size(&self) -> usize {
        let examples = self.examples.iter().map(String::len).sum::<usize>();
        self.params.len() + self.data.as_ref().map_or(0, String::len) + examples
    }

    /// Parses the texts into their action. The error says which text is wrong and why.
    pub(crate) fn parse_into(self, action: &mut Action) -> Result<(), String> {
        let params = parse_object(&self.params).map_err(|reason| format!("params: {reason}"))?;
        let data = self.data.as_deref().map(parse).transpose().map_err(|e| format!("data: {e}"))?;
        let examples = self.examples.iter().map(|text| parse_object(text)).collect::<Result<_, _>>();
        action.examples = examples.map_err(|reason| format!("examples: {reason}"))?;
        action.params = Arc::new(params);
        action.data = data.map(Arc::new);
        Ok(())
    }
}

fn parse_object(text: &str) -> Result<Object, String> {
    match parse(text) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err("it is not a JSON object".to_owned()),
        Err(error @ JsonError::Values) => Err(error.to_string()),
        Err(error) => Err(format!("it is not valid JSON: {error}")),
    }
}

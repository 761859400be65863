//! The result of the `describe` action, in few tokens.

use loggia_facade::{Detail, Failure, Object};
use serde_json::{Value, json};

use crate::{
    contract::{
        build::Contract,
        host_rules::HostRules,
        rules::{ActionRules, call_arguments},
    },
    model::{
        action_set::ActionSet,
        constraints,
        host_action::HostAction,
        keywords::{self, SubschemaLayout},
        sanitise::sanitise_line,
        shape::{ShapeMember, ValueShape},
        signature::{signature, type_text},
        simplify::VALUE_TEXTS,
        view::ToolView,
    },
    publish::host_parameters,
    text::show,
};

/// Levels of detail in the list of actions, from long to short: characters of a summary, and whether optional
/// parameters are listed.
const TERSENESS: [(usize, bool); 4] = [(160, true), (80, true), (48, true), (48, false)];
/// Bytes of JSON per action, above which the list becomes shorter. At 4.1 bytes per token of o200k_base, thirty
/// actions stay below 1,500 tokens.
const ROOM: usize = 190;
/// Bytes of JSON that any list may have.
const LEAST_ROOM: usize = 2400;

impl Contract {
    /// The data of `describe`: a terse list of actions or, with `of`, the parameters, effect, hints and examples of
    /// one action. [`Detail::Full`] adds the whole schemas, [`Detail::Minimal`] omits the signatures. If the view has more
    /// than 60 actions, their groups are listed; see [`describe_page`](Self::describe_page).
    ///
    /// Only actions of the view are included.
    ///
    /// # Errors
    ///
    /// If there is no such action.
    pub fn describe(&self, of: Option<&str>, detail: Detail, view: &ToolView) -> Result<Value, Failure> {
        let Some(name) = of else { return Ok(self.list(detail, view)) };
        match self.index(name) {
            Some(index) => self.in_view(index, view).map(|index| self.describe_action(index, detail)),
            None => match self.host_action_in(name, view) {
                Some((host_action, _)) => Ok(self.describe_host_action(host_action, detail, view)),
                None => Err(self.unknown_action(name, view)),
            },
        }
    }

    fn list(&self, detail: Detail, view: &ToolView) -> Value {
        if self.lists_groups(view) {
            return self.group_page(0, detail, view).data.into_value();
        }
        let actions = if self.is_large() { view.count(&self.all) } else { self.surface().actions.len() };
        let room = (ROOM * actions).max(LEAST_ROOM);
        let mut list = Value::Null;
        for terse in TERSENESS {
            list = self.list_with(detail, view, terse);
            // Full detail is never shortened.
            if detail == Detail::Full || show::fits(&list, room) {
                break;
            }
        }
        list
    }

    fn list_with(&self, detail: Detail, view: &ToolView, terse: (usize, bool)) -> Value {
        let shown = (0..self.surface().actions.len()).filter(|index| view.shows(*index));
        let actions = shown.map(|index| Value::Object(self.action_entry(index, detail, terse)));
        let mut out = self.heading(view);
        insert(&mut out, "actions", actions.collect::<Vec<_>>());
        self.insert_hosts_and_others(&mut out, detail, view);
        Value::Object(out)
    }

    /// An action, as an entry of a list.
    pub(crate) fn action_entry(
        &self,
        index: usize,
        detail: Detail,
        (summary, optional): (usize, bool),
    ) -> Object {
        let (action, rules) = (&self.surface().actions[index], self.rules_at(index));
        let mut out = Object::new();
        // The signature begins with the name.
        match detail {
            Detail::Minimal => insert(&mut out, "name", action.name.as_str()),
            _ if optional => insert(&mut out, "signature", rules.signature.as_str()),
            _ => insert(&mut out, "signature", required_signature(&action.name, &rules.shape)),
        }
        insert(&mut out, "effect", action.effect.as_str());
        if self.needs_confirmation(&action.name) {
            insert(&mut out, "confirm", true);
        }
        insert(&mut out, "summary", show::cut(&sanitise_line(&action.summary, usize::MAX), summary));
        if detail == Detail::Full {
            insert(&mut out, "params", (*action.params).clone());
        }
        out
    }

    /// The facade's own texts.
    pub(crate) fn heading(&self, view: &ToolView) -> Object {
        let surface = self.surface();
        let mut out = Object::new();
        insert(&mut out, "facade", surface.name.as_str());
        insert(&mut out, "version", surface.version.as_str());
        insert(&mut out, "summary", surface.summary.as_str());
        if let Some(target) = view.default_target.or_else(|| self.default_target(view)) {
            insert(&mut out, "default_action", self.target_name(target));
        }
        out
    }

    /// Adds the host actions of a tool and the facade's other tools.
    pub(crate) fn insert_hosts_and_others(&self, out: &mut Object, detail: Detail, view: &ToolView) {
        insert(
            out,
            "host_actions",
            self.host_actions()
                .filter(|host_action| view.has_host_action(*host_action))
                .map(|host_action| self.host_action_entry(host_action, detail))
                .collect::<Object>(),
        );
        let others = self.other_tools(view);
        if !others.is_empty() {
            insert(out, "other_tools", others);
        }
    }

    /// A host action, as an entry of the list.
    fn host_action_entry(&self, host_action: HostAction, detail: Detail) -> (String, Value) {
        let HostRules { action, rules } = self.host_rules(host_action);
        let key = if detail == Detail::Minimal { &action.name } else { &rules.signature };
        (key.clone(), action.summary.as_str().into())
    }

    /// The facade's other tools with their actions; of a large facade, with the number of their actions.
    fn other_tools(&self, view: &ToolView) -> Object {
        let actions = |shown: ActionSet| -> Value {
            if self.is_large() {
                return shown.intersection(&self.all).len().into();
            }
            let known = self.surface().actions.iter().enumerate();
            let names = known.filter(|(index, _)| shown.contains(*index));
            names.map(|(_, action)| action.name.as_str()).collect()
        };
        view.other_tools().map(|(tool, shown)| (tool.to_owned(), actions(shown))).collect()
    }

    fn describe_action(&self, index: usize, detail: Detail) -> Value {
        let (action, rules) = (&self.surface().actions[index], self.rules_at(index));
        let mut out = Object::new();
        insert(&mut out, "name", action.name.as_str());
        insert(&mut out, "summary", action.summary.as_str());
        insert(&mut out, "effect", action.effect.as_str());
        for (key, holds) in [
            ("confirm", self.needs_confirmation(&action.name)),
            ("idempotent", action.idempotent),
            ("open_world", action.open_world),
            ("long_running", action.long_running),
            ("details", action.details),
        ] {
            if holds {
                insert(&mut out, key, true);
            }
        }
        if !action.aliases.is_empty() {
            insert(&mut out, "aliases", action.aliases.clone());
        }
        insert(&mut out, "signature", rules.signature.as_str());
        if detail == Detail::Full {
            insert(&mut out, "params", (*action.params).clone());
            if let Some(data) = &action.data {
                let mut data = (**data).clone();
                remove_internal(&mut data);
                insert(&mut out, "data", data);
            }
        } else {
            let mut params = parameters(rules);
            for member in host_parameters::for_action(self, action) {
                let ShapeMember { name, shape, text, .. } = member;
                params.insert(name, json!({"type": type_text(&shape, 3), "description": text}));
            }
            insert(&mut out, "params", params);
        }
        let examples: Vec<Value> = if action.examples.is_empty() {
            rules.example(action).cloned().into_iter().collect()
        } else {
            action.examples.iter().map(|example| call_arguments(&action.name, example)).collect()
        };
        if !examples.is_empty() {
            insert(&mut out, "examples", examples);
        }
        Value::Object(out)
    }

    fn describe_host_action(&self, host_action: HostAction, detail: Detail, view: &ToolView) -> Value {
        let HostRules { action, rules } = self.host_rules(host_action);
        let mut out = Object::new();
        insert(&mut out, "name", host_action.name());
        insert(&mut out, "summary", action.summary.as_str());
        insert(&mut out, "signature", rules.signature.as_str());
        let params = if detail == Detail::Full { (*action.params).clone() } else { parameters(rules) };
        insert(&mut out, "params", params);
        insert(&mut out, "examples", vec![self.host_example(host_action, view)]);
        Value::Object(out)
    }
}

/// Removes members whose name begins with `_` from the schema of a result, as the envelope removes them from the
/// result.
fn remove_internal(schema: &mut Value) {
    let Value::Object(schema) = schema else { return };
    let is_internal = |name: &str| name.starts_with('_');
    for (keyword, value) in schema.iter_mut() {
        match (keyword.as_str(), value) {
            ("properties", Value::Object(properties)) => properties.retain(|name, _| !is_internal(name)),
            ("required", Value::Array(names)) => names.retain(|name| !name.as_str().is_some_and(is_internal)),
            _ => {}
        }
    }
    for (keyword, value) in schema.iter_mut() {
        match (keywords::subschemas(keyword), value) {
            (Some(SubschemaLayout::One), value) => remove_internal(value),
            (Some(SubschemaLayout::Map), Value::Object(map)) => map.values_mut().for_each(remove_internal),
            (Some(SubschemaLayout::List), Value::Array(list)) => list.iter_mut().for_each(remove_internal),
            _ => {}
        }
    }
}

/// Renders a signature with required parameters only: `create(title: string, …)`.
fn required_signature(name: &str, parameters: &ValueShape) -> String {
    let ValueShape::Record { members, others } = parameters else { return signature(name, parameters) };
    let required: Vec<ShapeMember> = members.iter().filter(|member| member.required).cloned().collect();
    let (none, left) = (required.is_empty(), required.len() < members.len() || others.is_some());
    let whole = signature(name, &ValueShape::Record { members: required, others: None });
    match (whole.strip_suffix(')'), left, none) {
        (Some(begun), true, true) => format!("{begun}…)"),
        (Some(begun), true, false) => format!("{begun}, …)"),
        _ => whole,
    }
}

/// The parameters by name: type, whether it is required, the author's text and constraints.
fn parameters(rules: &ActionRules) -> Object {
    let schemas = rules.schema.as_object();
    let parameter = |name: &str, required: bool, shape| {
        let mut out = Object::new();
        insert(&mut out, "type", type_text(shape, 3));
        if required {
            insert(&mut out, "required", true);
        }
        let Some(schema) = schemas.and_then(|root| keywords::property(root, name)) else {
            return Value::Object(out);
        };
        let text = constraints::describe(schema);
        if !text.is_empty() {
            insert(&mut out, "description", text);
        }
        if let Some(texts) = schema.get(VALUE_TEXTS) {
            insert(&mut out, "values", texts.clone());
        }
        let when = keywords::when_to_change(schema).filter(|when| keywords::hint(schema) != Some(*when));
        for (key, advice) in [("hint", keywords::hint(schema)), ("when_to_change", when)] {
            if let Some(advice) = advice {
                insert(&mut out, key, sanitise_line(advice, usize::MAX));
            }
        }
        Value::Object(out)
    };
    rules
        .parameters()
        .iter()
        .map(|member| (member.name.clone(), parameter(&member.name, member.required, &member.shape)))
        .collect()
}

pub(crate) fn insert(out: &mut Object, key: &str, value: impl Into<Value>) {
    out.insert(key.to_owned(), value.into());
}

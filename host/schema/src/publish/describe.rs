//! What the `describe` action answers: in few tokens, and always of the surface that is served now.

use loggia_facade::{Detail, Failure, Object};
use serde_json::Value;

use crate::{
    contract::{
        build::Contract,
        host_rules::Asked,
        rules::{Rules, call},
    },
    model::{
        host_action::Own,
        keywords::{self, Holds},
        sanitise::sanitise_line,
        shape::{Member, Shape},
        signature::{kind, signature},
        simplify::VALUES,
        view::View,
        words,
    },
    text::show,
};

/// How much the list of all actions says of each, from much to little: characters of its summary, and whether its
/// optional parameters are named.
const TERSENESS: [(usize, bool); 4] = [(160, true), (80, true), (48, true), (48, false)];
/// Bytes of JSON that the list may take for each action before it says less: with 4.1 bytes for a token of o200k_base,
/// thirty actions stay below 1,500 tokens.
const ROOM: usize = 190;
/// Bytes that any list may take.
const LEAST_ROOM: usize = 2400;

impl Contract {
    /// The data of `describe`: a terse list of the actions or, with `of`, one action's parameters, effect, hints and
    /// examples. [`Detail::Full`] adds the whole schemas, [`Detail::Minimal`] leaves the signatures out.
    ///
    /// The view is the tool that was called: of a facade that is published as several, its actions alone.
    pub fn describe(&self, of: Option<&str>, detail: Detail, view: &View) -> Result<Value, Failure> {
        let Some(name) = of else { return Ok(self.list(detail, view)) };
        match self.index(name) {
            Some(index) => self.in_view(index, view).map(|index| self.one(index, detail)),
            None => match self.own_in(name, view) {
                Some((own, _)) => Ok(self.one_of_the_hosts(own, detail, view)),
                None => Err(self.unknown_action(name, view)),
            },
        }
    }

    fn list(&self, detail: Detail, view: &View) -> Value {
        let room = (ROOM * self.surface().actions.len()).max(LEAST_ROOM);
        let mut list = Value::Null;
        for terse in TERSENESS {
            list = self.list_as(detail, view, terse);
            // Who asks for everything gets it.
            if detail == Detail::Full || show::fits(&list, room) {
                break;
            }
        }
        list
    }

    fn list_as(&self, detail: Detail, view: &View, (summary, optional): (usize, bool)) -> Value {
        let surface = self.surface();
        let shown = surface.actions.iter().zip(self.rules()).enumerate();
        let actions = shown.filter(|(index, _)| view.shows(*index)).map(|(_, (action, rules))| {
            let mut out = Object::new();
            // The signature begins with the name.
            match detail {
                Detail::Minimal => put(&mut out, "name", action.name.as_str()),
                _ if optional => put(&mut out, "signature", rules.signature.as_str()),
                _ => put(&mut out, "signature", short(&action.name, &rules.shape)),
            }
            put(&mut out, "effect", action.effect.as_str());
            if self.confirms(&action.name) {
                put(&mut out, "confirm", true);
            }
            put(&mut out, "summary", show::cut(&sanitise_line(&action.summary, usize::MAX), summary));
            if detail == Detail::Full {
                put(&mut out, "params", (*action.params).clone());
            }
            Value::Object(out)
        });
        let mut out = Object::new();
        put(&mut out, "facade", surface.name.as_str());
        put(&mut out, "version", surface.version.as_str());
        put(&mut out, "summary", surface.summary.as_str());
        if let Some(meant) = view.meant.or_else(|| self.meant_in(view)) {
            put(&mut out, "default_action", self.name_of(meant));
        }
        put(&mut out, "actions", actions.collect::<Vec<_>>());
        put(
            &mut out,
            "host_actions",
            self.own().filter(|own| view.has(*own)).map(|own| in_short(own, detail)).collect::<Object>(),
        );
        let others = self.other_tools(view);
        if !others.is_empty() {
            put(&mut out, "other_tools", others);
        }
        Value::Object(out)
    }

    /// The facade's other tools, each with its actions.
    fn other_tools(&self, view: &View) -> Object {
        let names = |bits: u64| {
            let of_tool = View::of(bits, None, Vec::new());
            let actions = self.surface().actions.iter().enumerate();
            let shown = actions.filter(|(index, _)| of_tool.shows(*index) && !view.shows(*index));
            shown.map(|(_, action)| Value::from(action.name.as_str())).collect::<Vec<_>>()
        };
        let tools = view.others.iter().map(|(bits, tool)| (tool.clone(), names(*bits)));
        tools.filter(|(_, names)| !names.is_empty()).map(|(tool, names)| (tool, names.into())).collect()
    }

    fn one(&self, index: usize, detail: Detail) -> Value {
        let (action, rules) = (&self.surface().actions[index], &self.rules()[index]);
        let mut out = Object::new();
        put(&mut out, "name", action.name.as_str());
        put(&mut out, "summary", action.summary.as_str());
        put(&mut out, "effect", action.effect.as_str());
        for (key, holds) in [
            ("confirm", self.confirms(&action.name)),
            ("idempotent", action.idempotent),
            ("open_world", action.open_world),
            ("long_running", action.long_running),
            ("details", action.details),
        ] {
            if holds {
                put(&mut out, key, true);
            }
        }
        if !action.aliases.is_empty() {
            put(&mut out, "aliases", action.aliases.clone());
        }
        put(&mut out, "signature", rules.signature.as_str());
        if detail == Detail::Full {
            put(&mut out, "params", (*action.params).clone());
            if let Some(data) = &action.data {
                let mut data = (**data).clone();
                outward(&mut data);
                put(&mut out, "data", data);
            }
        } else {
            put(&mut out, "params", parameters(rules));
        }
        let examples: Vec<Value> = if action.examples.is_empty() {
            rules.example(action).cloned().into_iter().collect()
        } else {
            action.examples.iter().map(|example| call(&action.name, example)).collect()
        };
        if !examples.is_empty() {
            put(&mut out, "examples", examples);
        }
        Value::Object(out)
    }

    fn one_of_the_hosts(&self, own: Own, detail: Detail, view: &View) -> Value {
        let Asked { action, rules } = Asked::of(own);
        let mut out = Object::new();
        put(&mut out, "name", own.name());
        put(&mut out, "summary", own.summary());
        put(&mut out, "signature", rules.signature.as_str());
        let params = if detail == Detail::Full { (*action.params).clone() } else { parameters(rules) };
        put(&mut out, "params", params);
        put(&mut out, "examples", vec![self.asked_example(own, view)]);
        Value::Object(out)
    }
}

/// Leaves out of a result's schema what the envelope leaves out of the result: members whose name begins with `_`.
fn outward(schema: &mut Value) {
    let Value::Object(schema) = schema else { return };
    let own = |name: &str| name.starts_with('_');
    for (keyword, value) in schema.iter_mut() {
        match (keyword.as_str(), value) {
            ("properties", Value::Object(properties)) => properties.retain(|name, _| !own(name)),
            ("required", Value::Array(names)) => names.retain(|name| !name.as_str().is_some_and(own)),
            _ => {}
        }
    }
    for (keyword, value) in schema.iter_mut() {
        match (keywords::holds(keyword), value) {
            (Some(Holds::One), value) => outward(value),
            (Some(Holds::Map), Value::Object(map)) => map.values_mut().for_each(outward),
            (Some(Holds::List), Value::Array(list)) => list.iter_mut().for_each(outward),
            _ => {}
        }
    }
}

/// A signature of what is required, where all parameters would be too many: `create(title: string, …)`.
fn short(name: &str, parameters: &Shape) -> String {
    let Shape::Record { members, others } = parameters else { return signature(name, parameters) };
    let required: Vec<Member> = members.iter().filter(|member| member.required).cloned().collect();
    let (none, left) = (required.is_empty(), required.len() < members.len() || others.is_some());
    let whole = signature(name, &Shape::Record { members: required, others: None });
    match (whole.strip_suffix(')'), left, none) {
        (Some(begun), true, true) => format!("{begun}…)"),
        (Some(begun), true, false) => format!("{begun}, …)"),
        _ => whole,
    }
}

/// One of the host's actions, as a list has it.
fn in_short(own: Own, detail: Detail) -> (String, Value) {
    let key = if detail == Detail::Minimal { own.name() } else { &Asked::of(own).rules.signature };
    (key.to_owned(), own.summary().into())
}

/// The parameters by name: what kind they are, whether they are required, what the author says, with bounds in words.
fn parameters(rules: &Rules) -> Object {
    let schemas = rules.schema.as_object();
    let parameter = |name: &str, required: bool, shape| {
        let mut out = Object::new();
        put(&mut out, "type", kind(shape, 3));
        if required {
            put(&mut out, "required", true);
        }
        let Some(schema) = schemas.and_then(|root| keywords::property(root, name)) else {
            return Value::Object(out);
        };
        let text = words::describe(schema);
        if !text.is_empty() {
            put(&mut out, "description", text);
        }
        if let Some(told) = schema.get(VALUES) {
            put(&mut out, "values", told.clone());
        }
        let when = keywords::when_to_change(schema).filter(|when| keywords::hint(schema) != Some(*when));
        for (key, advice) in [("hint", keywords::hint(schema)), ("when_to_change", when)] {
            if let Some(advice) = advice {
                put(&mut out, key, sanitise_line(advice, usize::MAX));
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

fn put(out: &mut Object, key: &str, value: impl Into<Value>) {
    out.insert(key.to_owned(), value.into());
}

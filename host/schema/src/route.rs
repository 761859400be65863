//! A client's arguments, split into command, action, parameters and what is the host's own.
//!
//! Three shapes are accepted, and their mixtures: `{action, …flat}`, `{action, params: {…}}`, `{cmd, params}`. What is
//! given twice must agree.

use loggia_facade::{Command, Detail, Failure, Object, code};
use serde_json::Value;

use crate::{Contract, View, asked::flag, near, own::Own, show};

/// What a call is, before its parameters were looked at.
#[derive(Debug, Clone, PartialEq)]
pub struct Routed {
    /// The command, to be echoed.
    pub command: Command,
    /// What is to be done.
    pub target: Target,
    /// How much of a result the caller wants.
    pub detail: Detail,
    /// Whether the caller wants to wait for the result, if it says so.
    pub wait: Option<bool>,
    /// Whether the caller confirms what a policy wants confirmed, if it says so.
    pub confirm: Option<bool>,
}

/// What is to be done.
#[derive(Debug, Clone, PartialEq)]
pub enum Target {
    /// One of the facade's actions is to be run.
    Action {
        /// Its index in the surface's actions.
        action: usize,
        /// Its parameters, as they were sent.
        params: Object,
    },
    /// The host is to tell about the facade, or about one action.
    Describe {
        /// The action, as it was sent.
        of: Option<String>,
    },
    /// The host is to tell how a run stands or, without one, which there are.
    RunStatus {
        /// The run, as it was sent.
        run_id: Option<String>,
        /// With what it said meanwhile.
        include_trace: bool,
    },
    /// The host is to end a run.
    RunCancel {
        /// The run, as it was sent.
        run_id: String,
    },
    /// Several calls are to be made.
    Batch {
        /// Their arguments.
        items: Vec<Object>,
        /// What follows a failure.
        mode: Mode,
    },
}

/// What follows when a call of a batch fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// The rest is not run.
    #[default]
    Stop,
    /// The rest is run.
    Continue,
}

/// A call that could not be routed.
#[derive(Debug, Clone, PartialEq)]
pub struct Refused {
    /// The command, to be echoed.
    pub command: Command,
    /// Why.
    pub failure: Failure,
}

/// The host's own arguments.
#[derive(Default)]
struct Host {
    /// Every name of an action that was given, and under which key.
    named: Vec<(&'static str, Value)>,
    params: Option<Value>,
    detail: Option<Value>,
    wait: Option<Value>,
    confirm: Option<Value>,
}

impl Contract {
    /// Splits a client's arguments into command, action and parameters.
    ///
    /// Parameters are not looked at; that is [`prepare`](Self::prepare)'s. The view is the tool that was called.
    pub fn route(&self, arguments: Object, view: &View) -> Result<Routed, Box<Refused>> {
        let mut host = Host::default();
        let mut params = arguments;
        let gathered = host.gather(&mut params).map_err(|wrong| self.say(&wrong));
        let (command, meant) = self.command(&host, &params, view);
        let routed = gathered.and_then(|()| {
            let meant = meant?;
            let detail = self.detail(host.detail.as_ref())?;
            let wait = flag("wait", host.wait.as_ref(), |value| self.got(value))?;
            let confirm = flag("confirm", host.confirm.as_ref(), |value| self.got(value))?;
            let target = match meant {
                Meant::Action(action) => Target::Action { action, params },
                Meant::Own(own, trace) => self.asked(own, trace, params, view)?,
            };
            Ok((target, detail, wait, confirm))
        });
        match routed {
            Ok((target, detail, wait, confirm)) => Ok(Routed { command, target, detail, wait, confirm }),
            Err(failure) => Err(Box::new(Refused { command, failure })),
        }
    }

    /// The command to be echoed, and what it means.
    fn command(&self, host: &Host, params: &Object, view: &View) -> (Command, Result<Meant, Failure>) {
        let is_action = host.named.is_empty() || host.named.iter().any(|(key, _)| *key == "action");
        let key = if is_action { "action" } else { "cmd" };
        let find = |(key, value): &(&str, Value)| match value {
            Value::String(name) => {
                self.named(name, view).map_err(|failure| (Some(show::name(name)), failure))
            }
            other => {
                let message =
                    format!("`{key}` must be a string{}. {}", self.got(other), self.available(view));
                Err((None, Failure::new(code::INVALID_PARAMS, message)))
            }
        };
        let found = match host.named.split_first() {
            Some((first, others)) => find(first).and_then(|found| {
                for other in others {
                    if find(other)? != found {
                        let places =
                            if first.0 == other.0 { BESIDE_AND_INSIDE } else { "in `action` and in `cmd`" };
                        return Err((Some(self.name_of(found)), conflict("action", places)));
                    }
                }
                Ok(found)
            }),
            None => match view.meant.or_else(|| self.meant().filter(|meant| view.shows(*meant))) {
                Some(index) => Ok(Meant::Action(index)),
                None => Err((None, self.unnamed(params, view))),
            },
        };
        match found {
            Ok(meant) => (Command { key, name: Some(self.name_of(meant)) }, Ok(meant)),
            Err((name, failure)) => (Command { key, name }, Err(failure)),
        }
    }

    /// No action was named.
    fn unnamed(&self, params: &Object, view: &View) -> Failure {
        let message = format!("`action` is required. {}", self.available(view));
        let failure = Failure::new(code::INVALID_PARAMS, message);
        // Names that other servers use for it, and misspelt ones.
        let meant =
            |name: &str| near::nearest(name, ["action", "cmd", "command", "operation", "method"]).is_some();
        match params.iter().find(|(name, value)| value.is_string() && meant(name)) {
            Some((name, _)) => failure.hint(format!("Did you mean `action` by `{}`?", show::name(name))),
            None => failure,
        }
    }

    fn named(&self, name: &str, view: &View) -> Result<Meant, Failure> {
        match self.index(name) {
            Some(index) if view.shows(index) => Ok(Meant::Action(index)),
            Some(index) => Err(self.elsewhere(index, view)),
            None => match self.find_own(name) {
                Some((own, trace)) => Ok(Meant::Own(own, trace)),
                None => Err(self.unknown_action(name, view)),
            },
        }
    }

    fn name_of(&self, meant: Meant) -> String {
        match meant {
            Meant::Action(index) => self.surface().actions[index].name.clone(),
            Meant::Own(own, _) => own.name().to_owned(),
        }
    }
}

/// What a command names.
#[derive(Clone, Copy, PartialEq)]
enum Meant {
    /// An action of the facade.
    Action(usize),
    /// An action of the host's, and whether it is to bring its trace.
    Own(Own, bool),
}

impl Host {
    /// Takes the host's own arguments out, from beside the parameters and from inside `params`, and leaves the
    /// parameters of the action.
    fn gather(&mut self, params: &mut Object) -> Result<(), Wrong> {
        self.take(params)?;
        while let Some(inner) = self.params.take() {
            let mut inner = match inner {
                Value::Object(inner) => inner,
                Value::String(text) => match serde_json::from_str(&text) {
                    Ok(inner) => inner,
                    Err(_) => return Err(Wrong::NoObject(Value::String(text))),
                },
                other => return Err(Wrong::NoObject(other)),
            };
            self.take(&mut inner)?;
            if params.is_empty() {
                *params = inner;
                continue;
            }
            for (name, value) in inner {
                match params.get(&name) {
                    None => {
                        params.insert(name, value);
                    }
                    Some(known) if *known == value => {}
                    Some(_) => return Err(Wrong::Twice(name)),
                }
            }
        }
        Ok(())
    }

    fn take(&mut self, from: &mut Object) -> Result<(), Wrong> {
        // A null is what some clients send for an argument that was left out.
        let mut take = |name: &str| from.shift_remove(name).filter(|value| !value.is_null());
        for key in ["action", "cmd"] {
            self.named.extend(take(key).map(|value| (key, value)));
        }
        for (name, slot) in [
            ("params", &mut self.params),
            ("detail", &mut self.detail),
            ("wait", &mut self.wait),
            ("confirm", &mut self.confirm),
        ] {
            let Some(value) = take(name) else { continue };
            match slot {
                Some(known) if !agree(known, &value) => return Err(Wrong::Twice(name.to_owned())),
                _ => *slot = Some(value),
            }
        }
        Ok(())
    }
}

/// What is wrong with the shape of a call.
enum Wrong {
    /// `params` is this.
    NoObject(Value),
    /// Two values for one name.
    Twice(String),
}

/// Whether two values mean the same to the host: `true` and `"True"` do.
fn agree(one: &Value, other: &Value) -> bool {
    let word = |value: &Value| match value {
        Value::String(word) => Some(word.to_ascii_lowercase()),
        Value::Bool(flag) => Some(flag.to_string()),
        _ => None,
    };
    one == other || word(one).is_some_and(|one| Some(one) == word(other))
}

impl Contract {
    fn detail(&self, sent: Option<&Value>) -> Result<Detail, Failure> {
        match sent {
            None => Ok(Detail::default()),
            Some(Value::String(word)) if let Some(detail) = Detail::parse(&word.to_ascii_lowercase()) => {
                Ok(detail)
            }
            Some(other) => {
                let message = format!("`detail` must be one of minimal, standard, full{}", self.got(other));
                Err(Failure::new(code::INVALID_PARAMS, message))
            }
        }
    }

    fn say(&self, wrong: &Wrong) -> Failure {
        match wrong {
            Wrong::Twice(name) => conflict(name, BESIDE_AND_INSIDE),
            Wrong::NoObject(value) => {
                let message = format!("`params` must be an object{}", self.got(value));
                Failure::new(code::INVALID_PARAMS, message)
                    .hint("Parameters may also stand beside `action`, without `params`.")
            }
        }
    }

    /// ` (got 5)`. Which parameter a misplaced value was meant for is not known, so where any of them is a secret,
    /// only its kind is told.
    fn got(&self, value: &Value) -> String {
        let kind = match value {
            value if !self.has_secrets() => return format!(" (got {})", show::value(value)),
            Value::Null => "null",
            Value::Bool(_) => "a boolean",
            Value::Number(_) => "a number",
            Value::String(_) => "a string",
            Value::Array(_) => "an array",
            Value::Object(_) => "an object",
        };
        format!(" (got {kind})")
    }
}

const BESIDE_AND_INSIDE: &str = "beside `params` and inside it";

fn conflict(name: &str, places: &str) -> Failure {
    let name = show::name(name);
    Failure::new(code::INVALID_PARAMS, format!("`{name}` is given twice, {places}, with different values"))
        .hint(format!("Give `{name}` once."))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;
    use crate::fixture;

    fn route(sent: &Value) -> Result<Routed, Box<Refused>> {
        let contract = Contract::new(Arc::new(fixture::notes())).unwrap();
        contract.route(sent.as_object().unwrap().clone(), &View::whole())
    }

    /// Routed to this action with these parameters, echoed under this key.
    fn check(sent: Value, key: &str, action: &str, expected: Value) {
        let routed = route(&sent).unwrap_or_else(|refused| panic!("{sent}: {}", refused.failure));
        let Target::Action { action: index, params } = routed.target else { panic!("{sent} is `describe`") };
        assert_eq!(fixture::notes().actions[index].name, action, "{sent}");
        assert_eq!(Value::Object(params), expected, "{sent}");
        assert_eq!((routed.command.key, routed.command.name.as_deref()), (key, Some(action)), "{sent}");
    }

    #[test]
    fn every_accepted_shape_leads_to_the_same_call() {
        let expected = json!({"text": "x", "tags": ["a"]});
        for (key, sent) in [
            ("action", json!({"action": "add", "text": "x", "tags": ["a"]})),
            ("action", json!({"action": "add", "params": {"text": "x", "tags": ["a"]}})),
            ("cmd", json!({"cmd": "add", "params": {"text": "x", "tags": ["a"]}})),
            ("cmd", json!({"cmd": "add", "text": "x", "tags": ["a"]})),
            ("action", json!({"action": "add", "text": "x", "params": {"tags": ["a"]}})),
            ("action", json!({"action": "add", "text": "x", "params": {"text": "x", "tags": ["a"]}})),
            ("action", json!({"action": "add", "cmd": "add", "text": "x", "tags": ["a"]})),
            ("action", json!({"action": "add", "cmd": "ADD", "text": "x", "tags": ["a"]})),
            ("action", json!({"action": "add", "params": "{\"text\": \"x\", \"tags\": [\"a\"]}"})),
            ("action", json!({"params": {"action": "add", "text": "x", "tags": ["a"]}})),
            ("action", json!({"action": "add", "params": {"params": {"text": "x"}, "tags": ["a"]}})),
            ("action", json!({"action": "add", "cmd": null, "params": null, "text": "x", "tags": ["a"]})),
            ("action", json!({"action": "Add", "text": "x", "tags": ["a"]})),
        ] {
            check(sent, key, "add", expected.clone());
        }
        check(json!({"action": "RM", "id": "n_1"}), "action", "delete", json!({"id": "n_1"}));
        check(json!({"action": "list"}), "action", "list", json!({}));
    }

    #[test]
    fn what_is_the_hosts_own_is_understood_beside_the_parameters_and_inside() {
        for sent in [
            json!({"action": "list", "detail": "full", "wait": false, "confirm": true}),
            json!({"action": "list", "params": {"detail": "full", "wait": "false", "confirm": "True"}}),
            json!({"action": "list", "detail": "full", "params": {"detail": "full", "wait": false, "confirm": true}}),
            json!({"action": "list", "detail": "Full", "wait": false, "confirm": true}),
        ] {
            let routed = route(&sent).unwrap();
            assert_eq!(
                (routed.detail, routed.wait, routed.confirm),
                (Detail::Full, Some(false), Some(true)),
                "{sent}"
            );
            assert!(
                matches!(routed.target, Target::Action { ref params, .. } if params.is_empty()),
                "{sent}"
            );
        }
        let routed = route(&json!({"action": "list", "detail": null, "wait": null})).unwrap();
        assert_eq!((routed.detail, routed.wait, routed.confirm), (Detail::Standard, None, None));
    }

    #[test]
    fn describe_is_the_hosts_own_action() {
        for (sent, expected) in [
            (json!({"action": "describe"}), None),
            (json!({"action": "Describe", "of": null}), None),
            (json!({"cmd": "describe", "params": {"of": "add"}}), Some("add")),
        ] {
            let routed = route(&sent).unwrap();
            assert_eq!(routed.command.name.as_deref(), Some("describe"));
            assert_eq!(routed.target, Target::Describe { of: expected.map(str::to_owned) }, "{sent}");
        }
    }

    #[test]
    fn what_cannot_be_routed_says_why() {
        use std::fmt::Write as _;
        let mut out = String::new();
        for sent in [
            json!({}),
            json!({"text": "x"}),
            json!({"action": "x"}),
            json!({"action": "serch", "query": "x"}),
            json!({"cmd": "remove"}),
            json!({"action": "run_status"}),
            json!({"action": ""}),
            json!({"action": "a\u{202e}\n".repeat(100)}),
            json!({"action": 5}),
            json!({"cmd": ["add"]}),
            json!({"action": "add", "cmd": "list"}),
            json!({"action": "add", "cmd": "nothing"}),
            json!({"action": "add", "params": {"action": "list"}}),
            json!({"action": "add", "params": 5}),
            json!({"action": "add", "params": "text"}),
            json!({"action": "add", "params": "[1]"}),
            json!({"action": "add", "text": "x", "params": {"text": "y"}}),
            json!({"action": "list", "detail": "high"}),
            json!({"action": "list", "detail": 1}),
            json!({"action": "list", "detail": "full", "params": {"detail": "minimal"}}),
            json!({"action": "list", "wait": 1}),
            json!({"action": "list", "confirm": "maybe"}),
            json!({"action": "describe", "of": 5}),
            json!({"action": "describe", "name": "add"}),
        ] {
            let refused = route(&sent).unwrap_err();
            let Refused { command, failure } = *refused;
            let _ = writeln!(
                out,
                "{}\n  {}={} {}{}",
                show::json(&sent, 100),
                command.key,
                command.name.as_deref().unwrap_or("-"),
                failure.message,
                failure.hint.map_or_else(String::new, |hint| format!("\n  hint: {hint}"))
            );
            assert_eq!(failure.code, code::INVALID_PARAMS);
        }
        insta::assert_snapshot!("refused", out);
    }

    #[test]
    fn the_action_that_is_meant_where_none_is_named() {
        let mut surface = fixture::notes();
        surface.default_action = Some("list".into());
        let contract = Contract::new(Arc::new(surface)).unwrap();
        let routed =
            contract.route(json!({"limit": 5}).as_object().unwrap().clone(), &View::whole()).unwrap();
        assert_eq!(routed.command, Command::action("list"));
        let one = Contract::new(Arc::new(fixture::one(json!({"p": true}), json!([])))).unwrap();
        let routed = one.route(json!({"p": 5}).as_object().unwrap().clone(), &View::whole()).unwrap();
        assert_eq!(routed.command, Command::action("go"));
        assert!(matches!(routed.target, Target::Action { action: 0, params } if params["p"] == 5));
    }
}

//! A client's arguments, split into command, action, parameters and what is the host's own.
//!
//! Three shapes are accepted, and their mixtures: `{action, …flat}`, `{action, params: {…}}`, `{cmd, params}`. What is
//! given twice must agree.

use loggia_facade::{Command, Detail, Failure, Object, code, json};
use serde_json::Value;

use crate::{
    contract::{
        build::Contract,
        routed::{RefusedCall, Routed, Target},
    },
    model::view::{CommandTarget, View},
    text::{near, show},
};

/// The host's own arguments.
#[derive(Default)]
struct HostArguments {
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
    pub fn route(&self, arguments: Object, view: &View) -> Result<Routed, Box<RefusedCall>> {
        let mut host = HostArguments::default();
        let mut params = arguments;
        let gathered = host.gather(&mut params).map_err(|wrong| self.conflict_failure(&wrong));
        let (command, meant) = self.command(&host, &params, view);
        let routed = gathered.and_then(|()| {
            let meant = meant?;
            let detail = self.detail(host.detail.as_ref())?;
            let wait = flag("wait", host.wait.as_ref(), |value| self.got(value))?;
            let confirm = flag("confirm", host.confirm.as_ref(), |value| self.got(value))?;
            let target = match meant {
                CommandTarget::Action(action) => Target::Action { action, params },
                CommandTarget::Host(own, trace) => self.host_target(own, trace, params, view)?,
            };
            Ok((target, detail, wait, confirm))
        });
        match routed {
            Ok((target, detail, wait, confirm)) => Ok(Routed { command, target, detail, wait, confirm }),
            Err(failure) => Err(Box::new(RefusedCall { command, failure })),
        }
    }

    /// The command to be echoed, and what it means.
    fn command(
        &self,
        host: &HostArguments,
        params: &Object,
        view: &View,
    ) -> (Command, Result<CommandTarget, Failure>) {
        let is_action = host.named.is_empty() || host.named.iter().any(|(key, _)| *key == "action");
        let key = if is_action { "action" } else { "cmd" };
        let find = |(key, value): &(&str, Value)| match value {
            Value::String(name) => {
                self.find_target(name, view).map_err(|failure| (Some(show::name(name)), failure))
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
                        return Err((Some(self.target_name(found)), conflict("action", places)));
                    }
                }
                Ok(found)
            }),
            None => match view.default_target.or_else(|| self.default_target(view)) {
                Some(meant) => Ok(meant),
                None => Err((None, self.missing_action(params, view))),
            },
        };
        match found {
            Ok(meant) => (Command { key, name: Some(self.target_name(meant)) }, Ok(meant)),
            Err((name, failure)) => (Command { key, name }, Err(failure)),
        }
    }

    /// The action that is meant where none is named, if the tool shows it.
    pub(crate) fn default_target(&self, view: &View) -> Option<CommandTarget> {
        self.default_action().filter(|meant| view.shows(*meant)).map(CommandTarget::Action)
    }

    /// No action was named.
    fn missing_action(&self, params: &Object, view: &View) -> Failure {
        let message = format!("`action` is required. {}", self.available(view));
        let failure = Failure::new(code::INVALID_PARAMS, message);
        // Names that other servers use for it, and misspelt ones.
        let meant =
            |name: &str| near::nearest(name, ["action", "cmd", "command", "operation", "method"]).is_some();
        // Not more of them than a person writes.
        match params.iter().take(32).find(|(name, value)| value.is_string() && meant(name)) {
            Some((name, _)) => failure.hint(format!("Did you mean `action` by `{}`?", show::name(name))),
            None => failure,
        }
    }

    fn find_target(&self, name: &str, view: &View) -> Result<CommandTarget, Failure> {
        match self.index(name) {
            Some(index) => self.in_view(index, view).map(CommandTarget::Action),
            None => match self.host_action_in(name, view) {
                Some((own, trace)) => Ok(CommandTarget::Host(own, trace)),
                None => Err(self.unknown_action(name, view)),
            },
        }
    }

    pub(crate) fn target_name(&self, meant: CommandTarget) -> String {
        match meant {
            CommandTarget::Action(index) => self.surface().actions[index].name.clone(),
            CommandTarget::Host(own, _) => own.name().to_owned(),
        }
    }
}

impl HostArguments {
    /// Takes the host's own arguments out, from beside the parameters and from inside `params`, and leaves the
    /// parameters of the action.
    fn gather(&mut self, params: &mut Object) -> Result<(), ArgumentConflict> {
        self.take(params)?;
        while let Some(inner) = self.params.take() {
            let mut inner = match inner {
                Value::Object(inner) => inner,
                // A text within the text may hold another, but never a longer one.
                Value::String(text) => match json::parse(&text) {
                    Ok(Value::Object(inner)) => inner,
                    _ => return Err(ArgumentConflict::ParamsNotObject(Value::String(text))),
                },
                other => return Err(ArgumentConflict::ParamsNotObject(other)),
            };
            self.take(&mut inner)?;
            if params.is_empty() {
                *params = inner;
                continue;
            }
            for (name, value) in inner {
                match params.get(&name) {
                    // A null beside `params`, or in it, says that the value is in the other place.
                    Some(known) if *known == value || value.is_null() => {}
                    None | Some(Value::Null) => {
                        params.insert(name, value);
                    }
                    Some(_) => return Err(ArgumentConflict::GivenTwice(name)),
                }
            }
        }
        Ok(())
    }

    fn take(&mut self, from: &mut Object) -> Result<(), ArgumentConflict> {
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
                Some(known) if !is_same_argument(known, &value) => {
                    return Err(ArgumentConflict::GivenTwice(name.to_owned()));
                }
                _ => *slot = Some(value),
            }
        }
        Ok(())
    }
}

/// What is wrong with the shape of a call.
enum ArgumentConflict {
    /// `params` is this.
    ParamsNotObject(Value),
    /// Two values for one name.
    GivenTwice(String),
}

/// Whether two values mean the same to the host: `true` and `"True"` do.
fn is_same_argument(one: &Value, other: &Value) -> bool {
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

    fn conflict_failure(&self, wrong: &ArgumentConflict) -> Failure {
        match wrong {
            ArgumentConflict::GivenTwice(name) => conflict(name, BESIDE_AND_INSIDE),
            ArgumentConflict::ParamsNotObject(value) => {
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

/// A boolean, or its word.
fn flag(name: &str, value: Option<&Value>, got: impl Fn(&Value) -> String) -> Result<Option<bool>, Failure> {
    match value {
        None => Ok(None),
        Some(Value::Bool(flag)) => Ok(Some(*flag)),
        Some(Value::String(word)) if word.eq_ignore_ascii_case("true") => Ok(Some(true)),
        Some(Value::String(word)) if word.eq_ignore_ascii_case("false") => Ok(Some(false)),
        Some(other) => {
            let message = format!("`{name}` must be true or false{}", got(other));
            Err(Failure::new(code::INVALID_PARAMS, message))
        }
    }
}

const BESIDE_AND_INSIDE: &str = "beside `params` and inside it";

fn conflict(name: &str, places: &str) -> Failure {
    let name = show::name(name);
    Failure::new(code::INVALID_PARAMS, format!("`{name}` is given twice, {places}, with different values"))
        .hint(format!("Give `{name}` once."))
}

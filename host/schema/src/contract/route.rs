//! Splits the arguments of a call into command, action, parameters and host arguments.
//!
//! Three shapes are accepted, and mixtures of them: `{action, …flat}`, `{action, params: {…}}`, `{cmd, params}`.
//! Repeated arguments must agree.

use loggia_facade::{Command, Detail, Failure, Object, code, json};
use serde_json::Value;

use crate::{
    contract::{
        build::Contract,
        routed::{CallTarget, RefusedCall, RoutedCall},
    },
    model::{
        host_action::LOGIN_CODE,
        view::{CommandTarget, ToolView},
    },
    text::show,
};

/// The host's arguments in a call.
#[derive(Default)]
struct HostArguments {
    /// Every name of an action that was given, with its key.
    named: Vec<(&'static str, Value)>,
    params: Option<Value>,
    detail: Option<Value>,
    wait: Option<Value>,
    confirm: Option<Value>,
    login_code: Option<Value>,
    takes_login_codes: bool,
}

impl Contract {
    /// Splits the arguments of a call to a tool of this view.
    ///
    /// Parameters are not validated; see [`prepare`](Self::prepare).
    ///
    /// # Errors
    ///
    /// A failure, with the command to echo.
    pub fn route(&self, arguments: Object, view: &ToolView) -> Result<RoutedCall, Box<RefusedCall>> {
        let mut host =
            HostArguments { takes_login_codes: self.takes_login_codes(), ..HostArguments::default() };
        let mut params = arguments;
        let gathered = host.gather(&mut params).map_err(|conflict| self.conflict_failure(&conflict));
        let (command, target) = self.command(&host, &params, view);
        let routed = gathered.and_then(|()| {
            let target = target?;
            let detail = self.detail(host.detail.as_ref())?;
            let wait = flag("wait", host.wait.as_ref(), |value| self.got(value))?;
            let confirm = flag("confirm", host.confirm.as_ref(), |value| self.got(value))?;
            let login_code = self.login_code(host.login_code)?;
            let target = match target {
                CommandTarget::Action(action) => CallTarget::Action { action, params },
                CommandTarget::Host(host_action, trace) => {
                    self.host_target(host_action, trace, params, view)?
                }
            };
            Ok(RoutedCall { command: command.clone(), target, detail, wait, confirm, login_code })
        });
        match routed {
            Ok(routed) => Ok(routed),
            Err(failure) => Err(Box::new(RefusedCall { command, failure })),
        }
    }

    /// The command to echo, and its target.
    fn command(
        &self,
        host: &HostArguments,
        params: &Object,
        view: &ToolView,
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
                        return Err((Some(self.target_name(found)), given_twice("action", places)));
                    }
                }
                Ok(found)
            }),
            None => self.unnamed_target(params, view).map_err(|failure| (None, failure)),
        };
        match found {
            Ok(target) => (Command { key, name: Some(self.target_name(target)) }, Ok(target)),
            Err((name, failure)) => (Command { key, name }, Err(failure)),
        }
    }

    fn find_target(&self, name: &str, view: &ToolView) -> Result<CommandTarget, Failure> {
        match self.index(name) {
            Some(index) => self.in_view(index, view).map(CommandTarget::Action),
            None => match self.host_action_in(name, view) {
                Some((host_action, trace)) => Ok(CommandTarget::Host(host_action, trace)),
                None => Err(self.unknown_action(name, view)),
            },
        }
    }

    pub(crate) fn target_name(&self, target: CommandTarget) -> String {
        match target {
            CommandTarget::Action(index) => self.surface().actions[index].name.clone(),
            CommandTarget::Host(host_action, _) => host_action.name().to_owned(),
        }
    }
}

impl HostArguments {
    /// Moves the host's arguments out of the parameters and out of `params`, and merges the rest.
    fn gather(&mut self, params: &mut Object) -> Result<(), ArgumentConflict> {
        self.take(params)?;
        while let Some(inner) = self.params.take() {
            let mut inner = match inner {
                Value::Object(inner) => inner,
                // The text may contain another `params` as text, but only a shorter one.
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
                    // A null beside or inside `params` means that the value is in the other place.
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
        // Some clients send null for absent arguments.
        let mut take = |name: &str| from.shift_remove(name).filter(|value| !value.is_null());
        for key in ["action", "cmd"] {
            self.named.extend(take(key).map(|value| (key, value)));
        }
        for (name, slot) in [
            ("params", &mut self.params),
            ("detail", &mut self.detail),
            ("wait", &mut self.wait),
            ("confirm", &mut self.confirm),
            (LOGIN_CODE, &mut self.login_code),
        ] {
            // Elsewhere a facade may use this name.
            if name == LOGIN_CODE && !self.takes_login_codes {
                continue;
            }
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

/// A malformed call.
enum ArgumentConflict {
    /// `params` has this value.
    ParamsNotObject(Value),
    /// Two values for this name.
    GivenTwice(String),
}

/// Whether two values are equal to the host: `true` and `"True"` are.
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

    fn login_code(&self, sent: Option<Value>) -> Result<Option<String>, Failure> {
        match sent {
            None => Ok(None),
            Some(Value::String(code)) => Ok(Some(code)),
            Some(other) => {
                let message = format!("`{LOGIN_CODE}` must be a string{}", self.got(&other));
                Err(Failure::new(code::INVALID_PARAMS, message))
            }
        }
    }

    fn conflict_failure(&self, conflict: &ArgumentConflict) -> Failure {
        match conflict {
            ArgumentConflict::GivenTwice(name) => given_twice(name, BESIDE_AND_INSIDE),
            ArgumentConflict::ParamsNotObject(value) => {
                let message = format!("`params` must be an object{}", self.got(value));
                Failure::new(code::INVALID_PARAMS, message)
                    .hint("Parameters can also be given next to `action`, without `params`.")
            }
        }
    }

    /// ` (got 5)`. Only the type is shown if any parameter is secret, because a misplaced value may belong to that
    /// one.
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

/// Reads a boolean, or its name as a string.
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

const BESIDE_AND_INSIDE: &str = "outside and inside `params`";

fn given_twice(name: &str, places: &str) -> Failure {
    let name = show::name(name);
    Failure::new(code::INVALID_PARAMS, format!("`{name}` is given twice, {places}, with different values"))
        .hint(format!("Give `{name}` once."))
}

//! The parameters of the host's own actions.

use loggia_facade::{Failure, Object, code};
use serde_json::Value;

use crate::{
    limits,
    own::Own,
    route::{Mode, Target},
    show::{self, nearest},
};

/// What one of the host's own actions is to do.
pub(crate) fn target(own: Own, trace: bool, mut params: Object) -> Result<Target, Failure> {
    if let Some(other) = params.keys().find(|name| !own.parameters().contains(&name.as_str())) {
        return Err(foreign(own, other));
    }
    params.retain(|_, value| !value.is_null());
    Ok(match own {
        Own::Describe => Target::Describe { of: text(&params, "of", "the name of an action")? },
        Own::RunStatus => Target::RunStatus {
            run_id: text(&params, "run_id", "the id of a run")?,
            include_trace: flag("include_trace", params.get("include_trace"))?.unwrap_or(trace),
        },
        Own::RunCancel => match text(&params, "run_id", "the id of a run")? {
            Some(run_id) => Target::RunCancel { run_id },
            None => {
                let failure = Failure::new(code::INVALID_PARAMS, "`run_id` is required");
                return Err(failure.hint("`run_status` without `run_id` lists your runs."));
            }
        },
        Own::Batch => {
            Target::Batch { items: items(params.remove("items"))?, mode: mode(params.get("mode"))? }
        }
    })
}

fn foreign(own: Own, name: &str) -> Failure {
    let takes: Vec<&str> = own.parameters().to_vec();
    let failure = Failure::new(
        code::INVALID_PARAMS,
        format!(
            "`{}` is not a parameter of `{}`, which takes {}",
            show::name(name),
            own.name(),
            show::names(&takes, "and")
        ),
    );
    match own {
        Own::Describe if nearest(name, ["of", "action", "name"]).is_some() => {
            failure.hint("Name the action in `of`.")
        }
        _ => match nearest(name, takes.iter().copied()) {
            Some(near) => failure.hint(format!("Did you mean `{near}`?")),
            None => failure,
        },
    }
}

fn text(params: &Object, name: &str, what: &str) -> Result<Option<String>, Failure> {
    match params.get(name) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(other) => Err(Failure::new(
            code::INVALID_PARAMS,
            format!("`{name}` must be {what} (got {})", show::value(other)),
        )),
    }
}

fn items(sent: Option<Value>) -> Result<Vec<Object>, Failure> {
    let refuse = |said: String| {
        let hint = "`items` is a list of calls, each {\"action\": …, with its parameters beside it}.";
        Err(Failure::new(code::INVALID_PARAMS, said).hint(hint))
    };
    let sent = match sent {
        // Some clients send what is not a text as JSON text.
        Some(Value::String(text)) => serde_json::from_str(&text).unwrap_or(Value::String(text)),
        Some(sent) => sent,
        None => return refuse("`items` is required".to_owned()),
    };
    let items = match sent {
        Value::Array(items) => items,
        other => return refuse(format!("`items` must be an array (got {})", show::value(&other))),
    };
    if items.is_empty() || items.len() > limits::BATCH {
        return refuse(format!("`items` must hold 1 to {} calls (got {})", limits::BATCH, items.len()));
    }
    let mut out = Vec::with_capacity(items.len());
    for (index, item) in items.into_iter().enumerate() {
        match item {
            Value::Object(item) => out.push(item),
            other => {
                return refuse(format!("`items[{index}]` must be an object (got {})", show::value(&other)));
            }
        }
    }
    Ok(out)
}

fn mode(sent: Option<&Value>) -> Result<Mode, Failure> {
    match sent {
        None => Ok(Mode::default()),
        Some(Value::String(word)) if word.eq_ignore_ascii_case("stop") => Ok(Mode::Stop),
        Some(Value::String(word)) if word.eq_ignore_ascii_case("continue") => Ok(Mode::Continue),
        Some(other) => Err(Failure::new(
            code::INVALID_PARAMS,
            format!("`mode` must be one of stop, continue (got {})", show::value(other)),
        )),
    }
}

/// A boolean, or its word.
pub(crate) fn flag(name: &str, value: Option<&Value>) -> Result<Option<bool>, Failure> {
    match value {
        None => Ok(None),
        Some(Value::Bool(flag)) => Ok(Some(*flag)),
        Some(Value::String(word)) if word.eq_ignore_ascii_case("true") => Ok(Some(true)),
        Some(Value::String(word)) if word.eq_ignore_ascii_case("false") => Ok(Some(false)),
        Some(other) => {
            let message = format!("`{name}` must be true or false (got {})", show::value(other));
            Err(Failure::new(code::INVALID_PARAMS, message))
        }
    }
}

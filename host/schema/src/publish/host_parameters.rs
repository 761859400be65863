//! Parameters that the host adds, each only to the actions for which it has a meaning.

use loggia_facade::{Action, Detail};

use crate::{
    contract::build::Contract,
    model::{
        host_action::{HostAction, LOGIN_CODE},
        shape::{ShapeMember, ValueShape},
    },
};

/// The parameters that the host adds to an action. Their names are reserved.
pub(crate) fn for_action(contract: &Contract, action: &Action) -> Vec<ShapeMember> {
    let mut out = Vec::new();
    if action.details {
        out.push(optional("detail", word_shape(&Detail::ALL.map(Detail::as_str)), "default standard"));
    }
    if action.long_running {
        out.push(optional("wait", ValueShape::Boolean, "false: answer at once, with a run"));
    }
    if contract.needs_confirmation(&action.name) {
        let text = "true after the person agreed; only needed where the client cannot ask";
        out.push(optional("confirm", ValueShape::Boolean, text));
    }
    if contract.takes_login_codes() {
        out.push(optional(
            LOGIN_CODE,
            ValueShape::Text(None),
            "the code of a login, once a call asks for it",
        ));
    }
    out
}

/// The parameters that the host adds to a host action.
pub(crate) fn beside_host_action(host_action: HostAction) -> Vec<ShapeMember> {
    match host_action {
        HostAction::RunStatus => {
            vec![optional("wait", ValueShape::Boolean, "true: answer when it has ended")]
        }
        HostAction::Describe | HostAction::RunCancel | HostAction::Batch => Vec::new(),
    }
}

/// Shared, so that a merged list of parameters has it once.
const RUN: &str = "a run; run_status without it lists yours";

/// The parameters of a host action.
pub(crate) fn for_host_action(host_action: HostAction) -> Vec<ShapeMember> {
    match host_action {
        HostAction::Describe => vec![optional("of", ValueShape::Text(None), "action to explain")],
        HostAction::RunStatus => vec![
            optional("run_id", ValueShape::Text(None), RUN),
            optional("include_trace", ValueShape::Boolean, "with progress and log messages"),
        ],
        HostAction::RunCancel => vec![required("run_id", ValueShape::Text(None), RUN)],
        HostAction::Batch => {
            // Some clients drop objects without known members.
            let members = vec![required("action", ValueShape::Text(None), "")];
            let call = ValueShape::Record { members, others: Some(Box::new(ValueShape::Any)) };
            vec![
                required(
                    "items",
                    ValueShape::List(Box::new(call)),
                    "calls, each with `action` and its parameters",
                ),
                optional("mode", word_shape(&["stop", "continue"]), "after a failure; default stop"),
            ]
        }
    }
}

fn word_shape(words: &[&str]) -> ValueShape {
    ValueShape::Text(Some(words.iter().map(|word| (*word).to_owned()).collect()))
}

fn optional(name: &str, shape: ValueShape, text: &str) -> ShapeMember {
    ShapeMember { name: name.to_owned(), required: false, shape, text: text.to_owned() }
}

fn required(name: &str, shape: ValueShape, text: &str) -> ShapeMember {
    ShapeMember { required: true, ..optional(name, shape, text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_parameters_of_host_actions_are_complete() {
        for host_action in HostAction::ALL {
            let names: Vec<String> =
                for_host_action(host_action).into_iter().map(|member| member.name).collect();
            assert_eq!(names, host_action.parameters(), "{}", host_action.name());
        }
    }
}

//! Parameters that the host adds, each only to the actions for which it has a meaning.

use loggia_facade::{Action, Detail};

use crate::{
    contract::build::Contract,
    model::{
        host_action::{HostAction, LOGIN_CODE},
        shape::{ShapeMember, ValueShape},
    },
};

/// Explains the host's parameters once, for the instructions of a server. At most 450 bytes. Tools have their types, and
/// a text only where the name does not say enough.
pub const HOST_PARAMETERS_TEXT: &str = "\
Where a tool has them, every action takes `detail` (how much to return; default standard), `wait` (false: answer at once \
with a run) and `confirm` (true once the person agreed). `of` is the action that describe explains. `run_id` is for \
run_status, which without it lists your runs, and required by run_cancel; run_status with `wait`: true answers when the \
run has ended, with `include_trace` with its log.";

/// The parameters that the host adds to an action. Their names are reserved.
pub(crate) fn for_action(contract: &Contract, action: &Action) -> Vec<ShapeMember> {
    let mut out = Vec::new();
    if action.details {
        out.push(optional("detail", word_shape(&Detail::ALL.map(Detail::as_str)), "default standard", ""));
    }
    if action.long_running {
        out.push(optional("wait", ValueShape::Boolean, "false: answer at once, with a run", ""));
    }
    if contract.is_confirmed_by_model(&action.name) {
        let text = "true after the person agreed; only needed where the client cannot ask";
        out.push(optional("confirm", ValueShape::Boolean, text, "the person agreed"));
    }
    if contract.takes_login_codes() {
        out.push(optional(
            LOGIN_CODE,
            ValueShape::Text(None),
            "the code of a login, once a call asks for it",
            "code of a login",
        ));
    }
    out
}

/// The parameters that the host adds to a host action.
pub(crate) fn beside_host_action(host_action: HostAction) -> Vec<ShapeMember> {
    match host_action {
        HostAction::RunStatus => {
            vec![optional("wait", ValueShape::Boolean, "true: answer when it has ended", "")]
        }
        HostAction::Describe | HostAction::RunCancel | HostAction::Batch => Vec::new(),
    }
}

/// Shared, so that a merged list of parameters has it once.
const RUN: &str = "a run; run_status without it lists yours";

/// The parameters of a host action.
pub(crate) fn for_host_action(host_action: HostAction) -> Vec<ShapeMember> {
    match host_action {
        HostAction::Describe => {
            vec![optional("of", ValueShape::Text(None), "action to explain", "an action")]
        }
        HostAction::RunStatus => vec![
            optional("run_id", ValueShape::Text(None), RUN, ""),
            optional("include_trace", ValueShape::Boolean, "with progress and log messages", ""),
        ],
        HostAction::RunCancel => vec![required("run_id", ValueShape::Text(None), RUN, "")],
        HostAction::Batch => {
            // Some clients drop objects without known members.
            let members = vec![required("action", ValueShape::Text(None), "", "")];
            let call = ValueShape::Record { members, others: Some(Box::new(ValueShape::Any)) };
            vec![
                required(
                    "items",
                    ValueShape::List(Box::new(call)),
                    "calls, each with `action` and its parameters",
                    "batch: calls, each with `action` and its parameters",
                ),
                optional(
                    "mode",
                    word_shape(&["stop", "continue"]),
                    "after a failure; default stop",
                    "batch: after a failure",
                ),
            ]
        }
    }
}

fn word_shape(words: &[&str]) -> ValueShape {
    ValueShape::Text(Some(words.iter().map(|word| (*word).to_owned()).collect()))
}

fn optional(name: &str, shape: ValueShape, text: &str, brief: &str) -> ShapeMember {
    ShapeMember {
        name: name.to_owned(),
        required: false,
        shape,
        text: text.to_owned(),
        brief: brief.to_owned(),
        values: Vec::new(),
    }
}

fn required(name: &str, shape: ValueShape, text: &str, brief: &str) -> ShapeMember {
    ShapeMember { required: true, ..optional(name, shape, text, brief) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_explains_every_parameter_in_few_bytes() {
        assert!(HOST_PARAMETERS_TEXT.len() <= 450, "{}", HOST_PARAMETERS_TEXT.len());
        for name in ["detail", "wait", "confirm", "of", "run_id", "include_trace"] {
            assert!(HOST_PARAMETERS_TEXT.contains(&format!("`{name}`")), "{name}");
        }
    }

    #[test]
    fn published_parameters_of_host_actions_are_complete() {
        for host_action in HostAction::ALL {
            let names: Vec<String> =
                for_host_action(host_action).into_iter().map(|member| member.name).collect();
            assert_eq!(names, host_action.parameters(), "{}", host_action.name());
        }
    }
}

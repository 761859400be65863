//! The parameters that the host adds, each published only where it lives: on an action that it does something for.

use loggia_facade::{Action, Detail};

use crate::{
    contract::build::Contract,
    model::{
        host_action::Own,
        shape::{Member, Shape},
    },
};

/// What the host adds to an action of the facade's. These names are reserved: no action has such a parameter itself.
pub(crate) fn of_action(contract: &Contract, action: &Action) -> Vec<Member> {
    let mut out = Vec::new();
    if action.details {
        out.push(optional("detail", words(&Detail::ALL.map(Detail::as_str)), "default standard"));
    }
    if action.long_running {
        out.push(optional("wait", Shape::Boolean, "false: answer at once, with a run"));
    }
    if contract.confirms(&action.name) {
        let text = "true after the person agreed; only needed where the client cannot ask";
        out.push(optional("confirm", Shape::Boolean, text));
    }
    out
}

/// What one of the host's own actions takes beside its parameters.
pub(crate) fn beside_own(own: Own) -> Vec<Member> {
    match own {
        Own::RunStatus => vec![optional("wait", Shape::Boolean, "true: answer when it has ended")],
        Own::Describe | Own::RunCancel | Own::Batch => Vec::new(),
    }
}

/// Of both that take it, so that a list of parameters says it once.
const RUN: &str = "a run; run_status without it lists yours";

/// The parameters of one of the host's own actions.
pub(crate) fn of_own(own: Own) -> Vec<Member> {
    match own {
        Own::Describe => vec![optional("of", Shape::Text(None), "action to explain")],
        Own::RunStatus => vec![
            optional("run_id", Shape::Text(None), RUN),
            optional("include_trace", Shape::Boolean, "with what it said meanwhile"),
        ],
        Own::RunCancel => vec![required("run_id", Shape::Text(None), RUN)],
        Own::Batch => {
            // Objects without known members are invisible to some clients.
            let members = vec![required("action", Shape::Text(None), "")];
            let call = Shape::Record { members, others: Some(Box::new(Shape::Any)) };
            vec![
                required(
                    "items",
                    Shape::List(Box::new(call)),
                    "calls, each with its parameters beside `action`",
                ),
                optional("mode", words(&["stop", "continue"]), "after a failure; default stop"),
            ]
        }
    }
}

fn words(words: &[&str]) -> Shape {
    Shape::Text(Some(words.iter().map(|word| (*word).to_owned()).collect()))
}

fn optional(name: &str, shape: Shape, text: &str) -> Member {
    Member { name: name.to_owned(), required: false, shape, text: text.to_owned() }
}

fn required(name: &str, shape: Shape, text: &str) -> Member {
    Member { required: true, ..optional(name, shape, text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_published_of_the_hosts_actions_is_what_they_take() {
        for own in Own::ALL {
            let names: Vec<String> = of_own(own).into_iter().map(|member| member.name).collect();
            assert_eq!(names, own.parameters(), "{}", own.name());
        }
    }
}

//! `invoke`: actions of other facades.

use loggia_facade::Effect;

use super::grant::{Grant, GrantReading, WantedGrant, WantedGrants, join, toml_list, toml_text};
use crate::{
    document::{field::Field, key::Key, problem::Problems},
    model::{ChainRule, InvokeRule, Policy},
};

/// `grants.invoke`.
pub(super) struct InvokeGrant;

const KEY: Key = Key {
    name: "invoke",
    kind: "list of actions",
    default: Some("[]"),
    means: "actions of other facades that the plugin may call or name as `next`: `\"facade:action\"`, \
            `\"facade:*\"` for a whole facade, or `\"*\"` for every facade except its own, within the rights of the \
            caller. A `read` action can call only `read` actions, and a `write` action no \
            destructive ones. By default, workflows may call the actions of their steps",
    example: r#"["projects:create", "search:*"]"#,
    inner: &[],
};

fn read(field: &Field<'_>, problems: &mut Problems) -> Vec<InvokeRule> {
    let mut rules = Vec::new();
    for (field, text) in field.texts(problems) {
        match InvokeRule::parse(&text.value) {
            Some(parsed) => rules.push(parsed),
            None => {
                let rule = "must contain actions like \"notes:add\" or \"notes:*\", or \"*\"";
                field.report(format!("{rule} (got {})", text.quoted()), problems);
            }
        }
    }
    rules
}

fn action_text(rule: &InvokeRule) -> String {
    match rule {
        InvokeRule::Others => "every action of every other facade that its caller may call".to_owned(),
        InvokeRule::Facade(facade) => format!("every action of {facade}"),
        InvokeRule::Action(facade, action) => format!("{facade}:{action}"),
    }
}

impl Grant for InvokeGrant {
    fn key(&self) -> &'static Key {
        &KEY
    }

    fn read(&self, field: &Field<'_>, reading: &mut GrantReading<'_>) {
        reading.granted.invoke = Some(read(field, reading.problems));
    }

    fn is_given(&self, policy: &Policy) -> bool {
        !policy.rules.invoke.is_empty()
    }

    fn covers(&self, policy: &Policy, want: &WantedGrant<'_>) -> bool {
        // A plugin requests actions of others, so its own name does not matter.
        let reach = policy.rules.reach_of("");
        self.is_given(policy)
            && want.words().filter_map(InvokeRule::parse).all(|rule| match rule {
                InvokeRule::Action(facade, action) => reach.may_invoke(&facade, &action),
                InvokeRule::Facade(facade) => reach.may_invoke_all(&facade),
                InvokeRule::Others => policy.rules.invoke.contains(&InvokeRule::Others),
            })
    }

    fn explain(&self, policy: &Policy, _worst: Effect) -> Vec<String> {
        let rules = &policy.rules;
        let verb = if rules.chain == ChainRule::Follow { "call, directly or as `next`," } else { "call" };
        let text =
            self.is_given(policy).then(|| format!("{verb} {}", join(rules.invoke.iter().map(action_text))));
        text.into_iter().collect()
    }

    fn draft(&self, wants: &WantedGrants<'_>) -> Option<String> {
        let rules = wants.wanted(KEY.name).flat_map(|want| want.words());
        let rules = rules.filter(|word| InvokeRule::parse(word).is_some()).map(toml_text);
        wants.has(KEY.name).then(|| toml_list(rules))
    }
}

//! What an MCP client sees of a facade: one tool, or several.
//!
//! Whatever the form, the same surface is published the same, byte for byte, so that a model's prompt cache survives a
//! reload.

use std::sync::Arc;

use loggia_facade::{Action, Effect, Object};

use crate::{
    contract::build::Contract,
    model::view::View,
    publish::{
        expose::{Expose, Form},
        flat, granular, nested, output_schema,
        part::Part,
        raw,
    },
};

/// One MCP tool: what a client sees of a facade, or of a part of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Published {
    /// The tool's name.
    pub name: String,
    /// A name for people.
    pub title: String,
    /// What the facade is for, and its actions, as far as clients show it.
    pub description: String,
    /// What the tool takes: looser than what the gate checks.
    pub input_schema: Arc<Object>,
    /// What its results look like, where that is asked for.
    pub output_schema: Option<Arc<Object>>,
    /// The worst over the tool's actions, since MCP's annotations are per tool.
    pub effect: Effect,
    /// Every action only reads.
    pub read_only: bool,
    /// An action may lose something for good.
    pub destructive: bool,
    /// Every action that changes something may be repeated.
    pub idempotent: bool,
    /// An action reaches beyond this machine.
    pub open_world: bool,
    /// Which actions it takes.
    pub view: View,
}

impl Contract {
    /// The form that this facade has where this one is asked for: `raw` is for a single action.
    pub fn form(&self, asked: Form) -> Form {
        if asked == Form::Raw && self.surface().actions.len() != 1 { Form::Flat } else { asked }
    }

    /// What an MCP client sees: one tool, or several. Which form a client can read is [`lint`](crate::lint)'s to say.
    pub fn publish(&self, expose: &Expose) -> Vec<Published> {
        self.publish_of(expose, |_| true)
    }

    /// The same for a caller who may call only these of its actions: tools of the same names, each with the caller's
    /// actions alone, and without those of which nothing is left.
    pub fn publish_of(&self, expose: &Expose, allows: impl Fn(&str) -> bool) -> Vec<Published> {
        let parts = || Part::all(self, expose.split, &allows);
        let left = |tool: Published| Some(Published { view: self.narrow(&tool.view, &allows)?, ..tool });
        let mut tools: Vec<Published> = match self.form(expose.form) {
            Form::Raw => raw::publish(self).into_iter().filter_map(left).collect(),
            Form::Granular => {
                granular::publish(self, expose.own_names).into_iter().filter_map(left).collect()
            }
            Form::Flat => parts().iter().map(flat::publish).collect(),
            Form::Signatures => parts().iter().map(nested::signatures).collect(),
            Form::Names => parts().iter().map(nested::names).collect(),
            Form::Union => parts().iter().map(nested::union).collect(),
        };
        if expose.output_schema {
            let schema = Arc::new(output_schema::schema());
            tools.iter_mut().for_each(|tool| tool.output_schema = Some(Arc::clone(&schema)));
        }
        tools
    }
}

impl Published {
    /// A tool that shows a part of a facade.
    pub(crate) fn of(part: &Part<'_>, description: String, input_schema: Object) -> Self {
        let actions = part.actions.iter().map(|(action, _)| *action);
        Self::new(
            (part.name.clone(), part.title.clone()),
            description,
            input_schema,
            actions,
            part.view.clone(),
        )
    }

    /// A tool of this name and title, with the worst annotations over its actions.
    pub(crate) fn new<'a>(
        (name, title): (String, String),
        description: String,
        input_schema: impl Into<Arc<Object>>,
        actions: impl Iterator<Item = &'a Action> + Clone,
        view: View,
    ) -> Self {
        let effect = actions.clone().map(|action| action.effect).max().unwrap_or(Effect::Read);
        Self {
            name,
            title,
            description,
            input_schema: input_schema.into(),
            output_schema: None,
            effect,
            read_only: effect == Effect::Read,
            destructive: effect == Effect::Destructive,
            idempotent: actions.clone().all(|action| action.idempotent || action.effect == Effect::Read),
            open_world: actions.clone().any(|action| action.open_world),
            view,
        }
    }
}

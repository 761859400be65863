//! Publishes a contract as one tool or several.
//!
//! The output is deterministic, byte for byte, so that prompt caches survive a reload.

use std::sync::Arc;

use crate::{
    contract::build::Contract,
    publish::{
        expose::{Expose, Form},
        flat, granular, nested, output_schema,
        part::ToolPart,
        raw,
        tool::Published,
    },
};

impl Contract {
    /// The form used if this one is requested: `raw` requires a single action.
    pub fn form(&self, asked: Form) -> Form {
        if asked == Form::Raw && self.surface().actions.len() != 1 { Form::Flat } else { asked }
    }

    /// Publishes the facade as one tool or several. [`lint`](crate::lint) lists the clients that cannot read them.
    pub fn publish(&self, expose: &Expose) -> Vec<Published> {
        self.publish_of(expose, |_| true)
    }

    /// Publishes the facade for a caller who may call only some actions: tools of the same names with the remaining
    /// actions; tools without any are left out.
    pub fn publish_of(&self, expose: &Expose, allows: impl Fn(&str) -> bool) -> Vec<Published> {
        let parts = || ToolPart::all(self, expose.split, &allows);
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
            let schema = Arc::new(output_schema::envelope_schema());
            tools.iter_mut().for_each(|tool| tool.output_schema = Some(Arc::clone(&schema)));
        }
        tools
    }
}

//! Publishes a contract as one tool or several.
//!
//! The output is deterministic, byte for byte, so that prompt caches survive a reload.

use std::sync::Arc;

use crate::{
    contract::build::Contract,
    model::limits,
    publish::{
        expose::{ExposeOptions, SchemaForm},
        flat, granular, large, nested, output_schema,
        part::ToolPart,
        raw,
        tool::PublishedTool,
    },
};

impl Contract {
    /// The form used if this one is requested: `raw` requires a single action, and all but `names` at most 60.
    pub fn effective_form(&self, asked: SchemaForm) -> SchemaForm {
        match asked {
            _ if self.is_large() => SchemaForm::Names,
            SchemaForm::Raw if self.surface().actions.len() != 1 => SchemaForm::Flat,
            asked => asked,
        }
    }

    /// The reason why a facade with many actions is not published in the requested form, for the operator. Follows the
    /// facade's name.
    pub fn form_fallback(&self, asked: SchemaForm) -> Option<String> {
        (self.is_large() && asked != SchemaForm::Names).then(|| {
            format!(
                "has {} actions, too many for the form `{}` (at most {}): it is published as `names`, and `describe` with \
                 `query` finds its actions",
                self.surface().actions.len(),
                asked.as_str(),
                limits::LISTED
            )
        })
    }

    /// Publishes the facade as one tool or several. [`lint`](crate::lint) lists the clients that cannot read them.
    pub fn publish(&self, expose: &ExposeOptions) -> Vec<PublishedTool> {
        self.publish_for(expose, |_| true)
    }

    /// Publishes the facade for a caller who may call only some actions: tools of the same names with the remaining
    /// actions; tools without any are left out.
    pub fn publish_for(&self, expose: &ExposeOptions, allows: impl Fn(&str) -> bool) -> Vec<PublishedTool> {
        let parts = || ToolPart::all(self, expose.split, &allows);
        let left =
            |tool: PublishedTool| Some(PublishedTool { view: self.narrow(&tool.view, &allows)?, ..tool });
        let mut tools: Vec<PublishedTool> = match self.effective_form(expose.form) {
            SchemaForm::Raw => raw::publish(self).into_iter().filter_map(left).collect(),
            SchemaForm::Granular => {
                granular::publish(self, expose.short_names).into_iter().filter_map(left).collect()
            }
            SchemaForm::Flat => parts().iter().map(flat::publish).collect(),
            SchemaForm::Signatures => parts().iter().map(nested::signatures).collect(),
            SchemaForm::Names if self.is_large() => parts().iter().map(large::publish).collect(),
            SchemaForm::Names => parts().iter().map(nested::names).collect(),
            SchemaForm::Union => parts().iter().map(nested::union).collect(),
        };
        if expose.output_schema {
            let schema = Arc::new(output_schema::envelope_schema());
            tools.iter_mut().for_each(|tool| tool.output_schema = Some(Arc::clone(&schema)));
        }
        tools
    }
}

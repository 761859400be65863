//! Options for publishing facades whose policies do not set them.

use std::sync::Arc;

use clap::Args;
use loggia_gate::catalog::ToolPublisher;
use loggia_policy::{
    settings::Publish,
    words::{FormWord, SplitWord},
};

use super::common::LoadOptions;

/// Options of publication.
#[derive(Args)]
pub struct PublishOptions {
    /// Form of input schemas, unless the plugin's policy sets it [default: flat]
    #[arg(long, value_name = "FORM")]
    schema: Option<FormWord>,
    /// Publish read actions separately, unless the plugin's policy sets it [default: none]
    #[arg(long, value_name = "BY")]
    split: Option<SplitWord>,
    /// Maximum size of the tool list, in tokens: facades are published in shorter forms until it fits
    #[arg(long, value_name = "N")]
    token_budget: Option<usize>,
    /// List only these facades to clients, separated by commas. The others can be called by facades, and by clients that
    /// know their names [default: all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    list: Vec<String>,
}

impl PublishOptions {
    /// Returns the publisher of a command that serves nothing, with the settings file as default, if one is given.
    ///
    /// # Errors
    ///
    /// If the settings are invalid.
    pub fn publisher(&self, common: &LoadOptions) -> anyhow::Result<ToolPublisher> {
        let file = common.settings()?.map_or_else(Publish::default, |settings| settings.publish);
        Ok(to_publisher(self.override_file(file)))
    }

    /// Overrides the settings of a file by these options.
    pub fn override_file(&self, file: Publish) -> Publish {
        Publish {
            schema: self.schema.unwrap_or(file.schema),
            split: self.split.unwrap_or(file.split),
            token_budget: self.token_budget.or(file.token_budget),
            list: (!self.list.is_empty()).then(|| self.list.iter().cloned().collect()).or(file.list),
        }
    }
}

/// Returns the publisher of these settings.
pub fn to_publisher(publish: Publish) -> ToolPublisher {
    ToolPublisher {
        form: publish.schema.into(),
        split: publish.split.into(),
        budget: publish.token_budget,
        listed: publish.list.map(Arc::new),
    }
}

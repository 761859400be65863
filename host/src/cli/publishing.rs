//! Options for publishing facades whose policies do not set them.

use clap::Args;
use loggia_gate::catalog::ToolPublisher;
use loggia_policy::{
    settings::Publish,
    words::{FormWord, SplitWord},
};

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
}

impl PublishOptions {
    pub fn publisher(&self) -> ToolPublisher {
        to_publisher(self.override_file(Publish::default()))
    }

    /// Overrides the settings of a file by these options.
    pub fn override_file(&self, file: Publish) -> Publish {
        Publish {
            schema: self.schema.unwrap_or(file.schema),
            split: self.split.unwrap_or(file.split),
            token_budget: self.token_budget.or(file.token_budget),
        }
    }
}

/// Returns the publisher of these settings.
pub fn to_publisher(publish: Publish) -> ToolPublisher {
    ToolPublisher { form: publish.schema.into(), split: publish.split.into(), budget: publish.token_budget }
}

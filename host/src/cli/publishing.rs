//! Options for publishing facades whose policies do not set them.

use std::{collections::BTreeMap, sync::Arc};

use clap::Args;
use loggia_gate::{
    access::CallerRights,
    catalog::{ListPlan, ToolPublisher},
};
use loggia_policy::{
    clients::{ClientTraits, client_table},
    settings::{Profile, Publish, Settings},
    words::{FormWord, SplitWord},
};
use loggia_server::{http::ServedPaths, mcp::ServedEndpoint};

use super::common::LoadOptions;

/// Options of publication.
#[derive(Args)]
pub struct PublishOptions {
    /// Form of input schemas, unless the plugin's policy sets it [default: auto]
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
    /// Returns the publisher of a command that serves nothing, as for one client, with the settings file as default, if one is
    /// given.
    ///
    /// # Errors
    ///
    /// If the settings are invalid.
    pub fn publisher(&self, common: &LoadOptions, client: &ClientTraits) -> anyhow::Result<ToolPublisher> {
        let file = common.settings()?.map_or_else(Publish::default, |settings| settings.publish);
        Ok(to_publisher(&self.override_file(file), client))
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

/// What a server publishes at each path, and the lists that it needs for that.
pub struct PublishPlan {
    /// The lists.
    pub lists: ListPlan,
    /// What each path serves.
    pub paths: ServedPaths,
}

impl PublishPlan {
    /// Plans what these settings publish.
    pub fn new(settings: &Settings) -> Self {
        let Settings { publish, profile, .. } = settings;
        let mut lists = ListPlan::new(to_publisher(publish, &client_table().unknown));
        let mut endpoint = |publish: &Publish, scope, instructions| {
            let publisher = ToolPublisher { scope, ..to_publisher(publish, &client_table().unknown) };
            let lists = lists.add(&publisher, publish.schema == FormWord::Auto);
            Arc::new(ServedEndpoint { lists, instructions })
        };
        let main = endpoint(publish, None, None);
        let profiles: BTreeMap<_, _> = profile
            .iter()
            .map(|(name, profile)| {
                let rights = CallerRights::from_scopes(profile.tools.iter().cloned());
                let scope = Some(rights).filter(|rights| !rights.are_unrestricted());
                let publish = profile_settings(profile, publish);
                (name.clone(), endpoint(&publish, scope, profile.instructions.clone()))
            })
            .collect();
        Self { lists, paths: ServedPaths { main, profiles } }
    }
}

/// Completes a profile by the server's settings. What it shows is its own choice, so they do not narrow it.
fn profile_settings(profile: &Profile, server: &Publish) -> Publish {
    Publish {
        schema: profile.schema.unwrap_or(server.schema),
        split: profile.split.unwrap_or(server.split),
        token_budget: profile.token_budget.or(server.token_budget),
        list: None,
    }
}

/// Returns the publisher of these settings for a client.
fn to_publisher(publish: &Publish, client: &ClientTraits) -> ToolPublisher {
    ToolPublisher {
        form: publish.schema.form().unwrap_or(client.form),
        split: publish.split.into(),
        budget: publish.token_budget,
        listed: publish.list.clone().map(Arc::new),
        scope: None,
    }
}

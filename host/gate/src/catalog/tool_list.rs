//! The tools of a snapshot as some clients see them. Clients differ in the forms that serve them best, so a snapshot has
//! several lists, each published when a client first needs it.

use std::collections::{BTreeMap, BTreeSet};

use super::exposure::{CatalogTool, PublishedFacade};

/// Tools by name, listed or not. Most facades are one tool of the same name.
#[derive(Debug, Clone, Default)]
pub struct ToolList {
    /// The tools.
    pub tools: BTreeMap<String, CatalogTool>,
    /// Facades and names of tools that are hidden because another has the name.
    pub(super) hidden: BTreeSet<(String, String)>,
}

impl ToolList {
    /// Indexes published tools by name.
    pub fn new(facades: &[PublishedFacade]) -> Self {
        let tools = facades.iter().flat_map(|shown| shown.tools.iter().map(move |tool| (shown, tool)));
        let tools = tools.map(|(shown, published)| {
            let (facade, published) = (shown.facade.clone(), published.clone());
            (
                published.name.clone(),
                CatalogTool { facade, published, expose: shown.expose, listed: shown.listed },
            )
        });
        let hidden = facades
            .iter()
            .flat_map(|shown| shown.hidden.iter().map(|tool| (shown.facade.clone(), tool.clone())));
        Self { tools: tools.collect(), hidden: hidden.collect() }
    }

    /// Iterates over the tools that clients see in their lists, in the order of their names.
    pub fn listed(&self) -> impl Iterator<Item = (&String, &CatalogTool)> {
        self.tools.iter().filter(|(_, tool)| tool.listed)
    }

    /// Returns true if clients see a tool of this facade.
    pub fn shows(&self, facade: &str) -> bool {
        self.tools.values().any(|tool| tool.listed && tool.facade == facade)
    }
}

//! Tools, and how a facade is published as far as its policy says.

use std::sync::{Arc, OnceLock};

use loggia_schema::{ExposeOptions, SchemaForm, PublishedTool, ToolSplit, ToolView};

/// One tool, as clients see it.
#[derive(Debug, Clone)]
pub struct Tool {
    /// Whose it is.
    pub facade: String,
    /// What is shown.
    pub published: Arc<PublishedTool>,
    /// In which way, for those who see less of it.
    pub expose: ExposeOptions,
}

impl Tool {
    /// Which of the facade's actions it takes.
    pub fn view(&self) -> &ToolView {
        &self.published.view
    }
}

impl PartialEq for Tool {
    fn eq(&self, other: &Self) -> bool {
        // Most are the very same: lists are compared with every swap, and are made once for each version of a facade.
        let same = Arc::ptr_eq(&self.published, &other.published) || self.published == other.published;
        self.facade == other.facade && same
    }
}

/// A facade as clients see it.
#[derive(Debug, Clone, PartialEq)]
pub struct Shown {
    /// Its name.
    pub facade: String,
    /// The way that was chosen.
    pub expose: ExposeOptions,
    /// Its tools.
    pub tools: Vec<Arc<PublishedTool>>,
    /// The names of those that are not shown, since another facade or tool has them.
    pub hidden: Vec<String>,
}

/// How one facade is published, as far as its policy says.
#[derive(Debug, Default)]
pub struct Exposure {
    /// The form; the server's where there is none.
    pub form: Option<SchemaForm>,
    /// Into how many tools; the server's way where there is none.
    pub split: Option<ToolSplit>,
    /// Whether its tools say what their results look like.
    pub output_schema: bool,
    /// Whether actions that are tools of their own are called as they are, without the facade's name.
    pub(super) own_names: bool,
    /// Made once for each version of a facade: it depends on nothing else.
    pub(super) rungs: OnceLock<Vec<Rung>>,
}

impl Exposure {
    /// What a policy says of a facade's tools.
    pub fn new(form: Option<SchemaForm>, split: Option<ToolSplit>, output_schema: bool) -> Self {
        Self { form, split, output_schema, own_names: false, rungs: OnceLock::new() }
    }

    /// The same, where actions that are tools of their own are called as they are.
    #[must_use]
    pub fn under_own_names(self) -> Self {
        Self { own_names: true, ..self }
    }
}

/// A facade in one form.
#[derive(Debug)]
pub(super) struct Rung {
    pub form: SchemaForm,
    pub tools: Vec<Arc<PublishedTool>>,
    /// Only where there is a budget.
    pub tokens: usize,
}

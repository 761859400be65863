//! Published tools, and the settings of a policy for them.

use std::sync::{Arc, OnceLock};

use loggia_schema::{ExposeOptions, PublishedTool, SchemaForm, ToolSplit, ToolView};

/// One tool as clients see it.
#[derive(Debug, Clone)]
pub struct CatalogTool {
    /// Name of its facade.
    pub facade: String,
    /// Published form.
    pub published: Arc<PublishedTool>,
    /// Settings it was published with; callers with fewer rights get the same, narrowed.
    pub expose: ExposeOptions,
    /// True if clients see it in their lists. The others can be called by their names.
    pub listed: bool,
}

impl CatalogTool {
    /// Actions that it accepts.
    pub fn view(&self) -> &ToolView {
        &self.published.view
    }
}

impl PartialEq for CatalogTool {
    fn eq(&self, other: &Self) -> bool {
        // Lists are compared at every swap and built once per version of a facade, so most pointers are equal.
        let same = Arc::ptr_eq(&self.published, &other.published) || self.published == other.published;
        self.facade == other.facade && self.listed == other.listed && same
    }
}

/// Tools of one facade as clients see them.
#[derive(Debug, Clone, PartialEq)]
pub struct PublishedFacade {
    /// Name of the facade.
    pub facade: String,
    /// Settings that were chosen.
    pub expose: ExposeOptions,
    /// Published tools.
    pub tools: Vec<Arc<PublishedTool>>,
    /// Names of tools that are hidden because another facade or tool has the name.
    pub hidden: Vec<String>,
    /// True if clients see its tools in their lists.
    pub listed: bool,
}

/// Settings of a policy for the tools of a facade. What is not set follows the server.
#[derive(Debug, Default)]
pub struct FacadeExposure {
    /// Form of the input schemas.
    pub form: Option<SchemaForm>,
    /// Split into several tools.
    pub split: Option<ToolSplit>,
    /// Publishes output schemas.
    pub output_schema: bool,
    /// Names granular tools by their action alone, without the facade's name.
    pub(super) short_names: bool,
    /// Candidate forms. Computed once per version of a facade, on which alone they depend.
    pub(super) forms: OnceLock<Vec<PublishedForm>>,
}

impl FacadeExposure {
    /// Creates the settings.
    pub fn new(form: Option<SchemaForm>, split: Option<ToolSplit>, output_schema: bool) -> Self {
        Self { form, split, output_schema, short_names: false, forms: OnceLock::new() }
    }

    /// Names granular tools by their action alone.
    #[must_use]
    pub fn with_own_names(self) -> Self {
        Self { short_names: true, ..self }
    }
}

/// Tools of a facade in one form.
#[derive(Debug)]
pub(super) struct PublishedForm {
    pub form: SchemaForm,
    pub tools: Vec<Arc<PublishedTool>>,
    /// Token count; zero unless there is a budget.
    pub tokens: usize,
}

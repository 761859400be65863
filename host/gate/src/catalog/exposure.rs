//! Published tools, and the settings of a policy for them.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use loggia_policy::model::Exposed;
use loggia_schema::{ExposeOptions, PublishedTool, SchemaForm, ToolSplit, ToolView};

use crate::{access::CallerRights, tokens::measure_tools};

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
    /// Clients that load tools on demand are to load it at once.
    pub always_load: bool,
    /// Clients may show its views to people.
    pub views: bool,
    /// Its actions are also prompts: procedures that a person starts.
    pub as_prompts: bool,
    /// Names granular tools by their action alone, without the facade's name.
    pub(super) short_names: bool,
    /// Its tools in the forms that were needed.
    pub(super) forms: FormCache,
}

impl FacadeExposure {
    /// Takes the settings of a policy.
    pub fn new(policy: &Exposed) -> Self {
        let Exposed { form, split, output_schema, always_load, views, .. } = *policy;
        let (as_prompts, short_names) = (false, false);
        let forms = FormCache::default();
        Self { form, split, output_schema, always_load, views, as_prompts, short_names, forms }
    }

    /// Names granular tools by their action alone.
    #[must_use]
    pub fn with_own_names(self) -> Self {
        Self { short_names: true, ..self }
    }

    /// Publishes the actions as prompts, too.
    #[must_use]
    pub fn with_prompts(self) -> Self {
        Self { as_prompts: true, ..self }
    }
}

/// What decides on the published tools of a facade: the form, the split, and the actions that a list shows.
type FormKey = (SchemaForm, ToolSplit, Option<CallerRights>);

/// Tools of a facade in the forms that were needed. They depend on the version of the facade alone, so each is rendered once.
#[derive(Debug, Default)]
pub(super) struct FormCache(Mutex<HashMap<FormKey, Arc<PublishedForm>>>);

impl FormCache {
    /// Returns a form, and renders it if it is not there.
    pub(super) fn get(&self, form: FormKey, render: impl FnOnce() -> PublishedForm) -> Arc<PublishedForm> {
        let mut forms = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(forms.entry(form).or_insert_with(|| Arc::new(render())))
    }
}

/// Tools of a facade in one form.
#[derive(Debug)]
pub(super) struct PublishedForm {
    pub form: SchemaForm,
    pub tools: Vec<Arc<PublishedTool>>,
    /// Token count, once a budget needs it.
    pub tokens: OnceLock<usize>,
}

impl PublishedForm {
    /// Counts the tokens of its tools.
    pub(super) fn tokens(&self) -> usize {
        *self.tokens.get_or_init(|| measure_tools(self.tools.iter().map(|tool| &**tool)).tokens)
    }
}

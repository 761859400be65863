//! Published tools, and the settings of a policy for them.

use std::sync::{Arc, OnceLock};

use loggia_schema::{Expose, Form, Published, Split, View};

/// One tool as clients see it.
#[derive(Debug, Clone)]
pub struct PublishedTool {
    /// Name of its facade.
    pub facade: String,
    /// Published form.
    pub published: Arc<Published>,
    /// Settings it was published with; callers with fewer rights get the same, narrowed.
    pub expose: Expose,
}

impl PublishedTool {
    /// Actions that it accepts.
    pub fn view(&self) -> &View {
        &self.published.view
    }
}

impl PartialEq for PublishedTool {
    fn eq(&self, other: &Self) -> bool {
        // Lists are compared at every swap and built once per version of a facade, so most pointers are equal.
        let same = Arc::ptr_eq(&self.published, &other.published) || self.published == other.published;
        self.facade == other.facade && same
    }
}

/// Tools of one facade as clients see them.
#[derive(Debug, Clone, PartialEq)]
pub struct Shown {
    /// Name of the facade.
    pub facade: String,
    /// Settings that were chosen.
    pub expose: Expose,
    /// Published tools.
    pub tools: Vec<Arc<Published>>,
    /// Names of tools that are hidden because another facade or tool has the name.
    pub hidden: Vec<String>,
}

/// Settings of a policy for the tools of a facade. What is not set follows the server.
#[derive(Debug, Default)]
pub struct Exposure {
    /// Form of the input schemas.
    pub form: Option<Form>,
    /// Split into several tools.
    pub split: Option<Split>,
    /// Publishes output schemas.
    pub output_schema: bool,
    /// Names granular tools by their action alone, without the facade's name.
    pub(super) own_names: bool,
    /// Candidate forms. Computed once per version of a facade, on which alone they depend.
    pub(super) forms: OnceLock<Vec<PublishedForm>>,
}

impl Exposure {
    /// Creates the settings.
    pub fn new(form: Option<Form>, split: Option<Split>, output_schema: bool) -> Self {
        Self { form, split, output_schema, own_names: false, forms: OnceLock::new() }
    }

    /// Names granular tools by their action alone.
    #[must_use]
    pub fn under_own_names(self) -> Self {
        Self { own_names: true, ..self }
    }
}

/// Tools of a facade in one form.
#[derive(Debug)]
pub(super) struct PublishedForm {
    pub form: Form,
    pub tools: Vec<Arc<Published>>,
    /// Token count; zero unless there is a budget.
    pub tokens: usize,
}

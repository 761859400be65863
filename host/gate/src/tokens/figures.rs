//! Cost of a tool list in every form: printed, written to a file, and compared later.

use std::{borrow::Borrow, collections::BTreeMap};

use loggia_schema::{Contract, ExposeOptions, PublishedTool, SchemaForm, ToolSplit};
use serde::{Deserialize, Serialize};

use super::footprint::{TokenFootprint, measure_tool};

/// Cost in each form, by the name of the form. A file may name forms of another version.
pub type FormFootprints = BTreeMap<String, TokenFootprint>;

/// Cost of a tool list.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenFigures {
    /// Whole list, in the forms that all facades have.
    pub total: FormFootprints,
    /// Each facade, in its forms.
    pub facades: BTreeMap<String, FormFootprints>,
    /// List as it is served. Missing in files of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub served: Option<ServedList>,
}

/// A tool list in the forms that policies and options choose.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServedList {
    /// Whole list.
    pub total: TokenFootprint,
    /// Each published facade.
    pub facades: BTreeMap<String, ServedFacade>,
}

/// Cost of a facade as it is served.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServedFacade {
    /// Name of the form. A file may name a form of another version.
    pub form: String,
    /// Cost of its tools.
    #[serde(flatten)]
    pub cost: TokenFootprint,
}

impl ServedList {
    /// Measures these facades, each by its name, in its form and with its tools.
    pub fn measure<'a, T: Borrow<PublishedTool>>(
        facades: impl IntoIterator<Item = (&'a str, SchemaForm, Vec<T>)>,
    ) -> Self {
        let facades: BTreeMap<String, ServedFacade> = facades
            .into_iter()
            .map(|(name, form, tools)| {
                (name.to_owned(), ServedFacade { form: form.as_str().to_owned(), cost: measure_tools(tools) })
            })
            .collect();
        Self { total: facades.values().map(|facade| facade.cost).sum(), facades }
    }
}

/// Measures several tools together.
pub fn measure_tools(tools: impl IntoIterator<Item: Borrow<PublishedTool>>) -> TokenFootprint {
    tools.into_iter().map(|tool| measure_tool(tool.borrow())).sum()
}

/// Measures facades in every form, each split into tools as its policy says. Does not set the served form.
///
/// `granular` is measured as a server without Loggia would list its tools, without anything that the host adds.
pub fn measure_facades<'a>(facades: impl IntoIterator<Item = (&'a Contract, ToolSplit)>) -> TokenFigures {
    let facades: BTreeMap<String, FormFootprints> = facades
        .into_iter()
        .map(|(contract, split)| (contract.surface().name.clone(), measure_forms(contract, split)))
        .collect();
    let mut total = FormFootprints::new();
    for form in SchemaForm::ALL.map(SchemaForm::as_str) {
        let costs: Option<Vec<TokenFootprint>> =
            facades.values().map(|forms| forms.get(form).copied()).collect();
        if let Some(costs) = costs {
            total.insert(form.to_owned(), costs.into_iter().sum());
        }
    }
    TokenFigures { total, facades, served: None }
}

fn measure_forms(contract: &Contract, split: ToolSplit) -> FormFootprints {
    // The baseline exists for every facade, however it is published.
    let is_own = |form: &SchemaForm| *form == SchemaForm::Granular || contract.effective_form(*form) == *form;
    let of_its_own = SchemaForm::ALL.into_iter().filter(is_own);
    let costs = of_its_own.map(|form| {
        let tools = match form {
            SchemaForm::Granular => contract.baseline_tools(),
            _ => contract.publish(&ExposeOptions { form, split, ..ExposeOptions::default() }),
        };
        (form.as_str().to_owned(), measure_tools(&tools))
    });
    costs.collect()
}

/// Savings of a form over `granular`, in percent. Negative if it costs more.
pub fn savings_percent(forms: &FormFootprints, form: &str) -> Option<f64> {
    let tokens = |form: &str| forms.get(form).map(|cost| cost.tokens as f64);
    let whole = tokens(SchemaForm::Granular.as_str()).filter(|whole| *whole > 0.0)?;
    Some(100.0 - 100.0 * tokens(form)? / whole)
}

//! Finds facades for which one tool per action would be cheaper: forms save tokens by what actions share.

use loggia_gate::{catalog::PublishedFacade, tokens::measure_tools};
use loggia_schema::{Contract, ExposeOptions, SchemaForm};

/// Advises the form `granular` if it is cheaper.
///
/// Counts `granular` as it would be served, with all that the host adds.
pub fn advise_granular(contract: &Contract, shown: &[PublishedFacade]) -> Option<String> {
    let name = &contract.surface().name;
    let shown = shown.iter().find(|shown| shown.facade == *name)?;
    let now = measure_tools(shown.tools.iter().map(|tool| &**tool)).tokens;
    let apart = contract.publish(&ExposeOptions { form: SchemaForm::Granular, ..ExposeOptions::default() });
    let apart = measure_tools(&apart).tokens;
    let actions = contract.surface().actions.len();
    let plural = if actions == 1 { "" } else { "s" };
    (apart < now).then(|| {
        format!(
            "advice: `{name}` has {actions} action{plural}: {apart} tokens as granular, {now} as {}; \
             consider schema = \"granular\" in the [expose] section of its policy",
            shown.expose.form.as_str()
        )
    })
}

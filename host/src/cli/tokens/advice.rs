//! Where one tool for each action would be cheaper: a facade saves by what its actions share, and few share little.

use loggia_gate::{catalog::Shown, tokens::measured};
use loggia_schema::{Contract, ExposeOptions, SchemaForm};

/// What to do about a facade, if anything.
///
/// Here `granular` is counted as it would be served, with all that the host adds to it.
pub fn on(contract: &Contract, shown: &[Shown]) -> Option<String> {
    let name = &contract.surface().name;
    let shown = shown.iter().find(|shown| shown.facade == *name)?;
    let now = measured(shown.tools.iter().map(|tool| &**tool)).tokens;
    let apart = contract.publish(&ExposeOptions { form: SchemaForm::Granular, ..ExposeOptions::default() });
    let apart = measured(&apart).tokens;
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

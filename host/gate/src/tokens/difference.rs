//! Differences of two figures, for each facade and for the whole list.

use std::collections::BTreeSet;

use serde::Serialize;

use super::figures::{FormFootprints, ServedList, TokenFigures};

/// Name of the row for the form that is served.
pub const SERVED: &str = "served";

/// Change of one facade, or of the whole list, in one form.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FootprintChange {
    /// Name of the facade. `None`: the whole list.
    pub facade: Option<String>,
    /// Name of the form, or [`SERVED`].
    pub form: String,
    /// Tokens before, if it existed.
    pub before: Option<usize>,
    /// Tokens after, if it exists.
    pub after: Option<usize>,
}

impl FootprintChange {
    /// Difference in tokens, and in percent of the tokens before.
    pub fn delta(&self) -> Option<(i64, Option<f64>)> {
        let (before, after) = (i64::try_from(self.before?).ok()?, i64::try_from(self.after?).ok()?);
        let percent = (before > 0).then(|| 100.0 * (after - before) as f64 / before as f64);
        Some((after - before, percent))
    }
}

/// Compares every form of every facade in either of the figures, and then the whole list. Each ends with the served form,
/// if both have it: the other rows show possible savings, this one the actual change.
pub fn compare_figures(before: &TokenFigures, after: &TokenFigures) -> Vec<FootprintChange> {
    let none = FormFootprints::new();
    let names: BTreeSet<&String> = before.facades.keys().chain(after.facades.keys()).collect();
    let facades = names.into_iter().map(|name| {
        let of = |figures: &TokenFigures| figures.facades.get(name).unwrap_or(&none).clone();
        (Some(name.clone()), of(before), of(after))
    });
    let total = (None, before.total.clone(), after.total.clone());
    facades
        .chain([total])
        .flat_map(|(facade, forms_before, forms_after)| {
            let forms = compare_forms(facade.as_deref(), &forms_before, &forms_after);
            forms.into_iter().chain(compare_served(facade, before, after))
        })
        .collect()
}

/// Compares the served form of a facade, or of the whole list, if both figures have it.
fn compare_served(
    facade: Option<String>,
    before: &TokenFigures,
    after: &TokenFigures,
) -> Option<FootprintChange> {
    let (list_before, list_after) = (before.served.as_ref()?, after.served.as_ref()?);
    let tokens = |list: &ServedList| match &facade {
        Some(name) => list.facades.get(name).map(|facade| facade.cost.tokens),
        None => Some(list.total.tokens),
    };
    let (before, after) = (tokens(list_before), tokens(list_after));
    Some(FootprintChange { facade, form: SERVED.to_owned(), before, after })
}

fn compare_forms(
    facade: Option<&str>,
    before: &FormFootprints,
    after: &FormFootprints,
) -> Vec<FootprintChange> {
    let forms: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let tokens = |forms: &FormFootprints, form: &str| forms.get(form).map(|cost| cost.tokens);
    let change = |form: &String| FootprintChange {
        facade: facade.map(str::to_owned),
        form: form.clone(),
        before: tokens(before, form),
        after: tokens(after, form),
    };
    forms.into_iter().map(change).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens::{TokenFootprint, figures::ServedFacade};

    fn figures(served: Option<(&str, usize)>) -> TokenFigures {
        let cost = |tokens: usize| TokenFootprint { tokens, bytes: tokens * 4 };
        let forms: FormFootprints =
            [("flat", 100), ("names", 20)].map(|(form, n)| (form.to_owned(), cost(n))).into();
        let served = served.map(|(form, tokens)| ServedList {
            total: cost(tokens),
            facades: [("notes".to_owned(), ServedFacade { form: form.to_owned(), cost: cost(tokens) })]
                .into(),
        });
        TokenFigures { total: forms.clone(), facades: [("notes".to_owned(), forms)].into(), served }
    }

    #[test]
    fn what_is_served_changes_though_no_form_does() {
        let all = compare_figures(&figures(Some(("flat", 100))), &figures(Some(("names", 20))));
        let changed: Vec<&FootprintChange> =
            all.iter().filter(|change| change.before != change.after).collect();
        let change = |facade: Option<&str>| FootprintChange {
            facade: facade.map(str::to_owned),
            form: SERVED.to_owned(),
            before: Some(100),
            after: Some(20),
        };
        assert_eq!(changed, [&change(Some("notes")), &change(None)]);
    }

    #[test]
    fn old_figures_compare_without_served_forms() {
        let (old, new) = (figures(None), figures(Some(("flat", 100))));
        for (before, after) in [(&old, &new), (&new, &old), (&old, &old)] {
            assert!(compare_figures(before, after).iter().all(|change| change.form != SERVED));
        }
        let text = serde_json::to_string(&old).unwrap();
        assert!(!text.contains("served"), "{text}");
        assert_eq!(serde_json::from_str::<TokenFigures>(&text).unwrap(), old);
    }
}

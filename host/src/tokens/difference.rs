//! Two figures compared: what each facade, and the whole list, took before and takes after.

use std::collections::BTreeSet;

use super::{Figures, Forms};

/// What one facade, or the whole list, takes in one form. None where there is, or was, no such thing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The facade; none for the whole list.
    pub facade: Option<String>,
    /// The form's name.
    pub form: String,
    /// Tokens before.
    pub before: Option<usize>,
    /// Tokens after.
    pub after: Option<usize>,
}

impl Change {
    /// Tokens more than before, and the same in percent of what there was before.
    pub fn by(&self) -> Option<(i64, Option<f64>)> {
        let (before, after) = (i64::try_from(self.before?).ok()?, i64::try_from(self.after?).ok()?);
        let percent = (before > 0).then(|| 100.0 * (after - before) as f64 / before as f64);
        Some((after - before, percent))
    }
}

/// Every form of every facade that one of them knows, and then the whole list.
pub fn changes(before: &Figures, after: &Figures) -> Vec<Change> {
    let none = Forms::new();
    let names: BTreeSet<&String> = before.facades.keys().chain(after.facades.keys()).collect();
    let facades = names.into_iter().map(|name| {
        let of = |figures: &Figures| figures.facades.get(name).unwrap_or(&none).clone();
        (Some(name.clone()), of(before), of(after))
    });
    let total = (None, before.total.clone(), after.total.clone());
    facades
        .chain([total])
        .flat_map(|(facade, before, after)| of_one(facade.as_deref(), &before, &after))
        .collect()
}

fn of_one(facade: Option<&str>, before: &Forms, after: &Forms) -> Vec<Change> {
    let forms: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let tokens = |forms: &Forms, form: &str| forms.get(form).map(|cost| cost.tokens);
    let change = |form: &String| Change {
        facade: facade.map(str::to_owned),
        form: form.clone(),
        before: tokens(before, form),
        after: tokens(after, form),
    };
    forms.into_iter().map(change).collect()
}

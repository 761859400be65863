//! Figures as they are shown: side by side for a person, one line for each form of each facade for a program.

use loggia_gate::{
    catalog::Shown,
    tokens::{Change, Figures, Footprint, Forms, SERVED, saved},
};
use loggia_schema::SchemaForm;
use loggia_text::printable;

use super::{columns, term};

/// Stands for what there is not.
const NONE: &str = "-";
/// The whole list's name.
const TOTAL: &str = "total";

/// The figures, with the forms that are served marked, and what they come to.
pub fn figures(figures: &Figures, shown: &[Shown], served: Footprint) -> String {
    if term::stdout_is_terminal() {
        let table = columns::table(&WIDE, &wide(figures, shown), 2);
        format!("{table}\n{}", sum(served, figures))
    } else {
        columns::lines(&LONG, &long(figures, shown, served))
    }
}

/// What changed.
pub fn changes(changes: &[Change]) -> String {
    let rows: Vec<_> = changes.iter().map(change).collect();
    if term::stdout_is_terminal() {
        columns::table(&CHANGE, &rows, 2).to_string()
    } else {
        columns::lines(&CHANGE, &rows)
    }
}

const WIDE: [&str; 8] = ["", "", "flat", "signatures", "names", "union", "raw", "granular"];
const LONG: [&str; 6] = ["facade", "form", "tokens", "bytes", "percent", "served"];
const CHANGE: [&str; 6] = ["facade", "form", "before", "after", "change", "percent"];

/// One row of three lines for each facade, and for all: tokens, the same against `granular`, bytes.
fn wide(figures: &Figures, shown: &[Shown]) -> Vec<[String; 8]> {
    let facades = figures.facades.iter().map(|(name, forms)| (name.as_str(), forms, form_of(shown, name)));
    let all = facades.chain([(TOTAL, &figures.total, None)]);
    let rows = all.map(|(name, forms, served)| {
        let [flat, signatures, names, union, raw, granular] = SchemaForm::ALL.map(|form| {
            let Some(cost) = forms.get(form.as_str()) else { return NONE.to_owned() };
            let mark = if served == Some(form) { "*" } else { "" };
            let percent = against(forms, form).map_or(String::new(), |percent| format!("{percent} %"));
            format!("{mark}{}\n{percent}\n{}", cost.tokens, cost.bytes)
        });
        let units = "tokens\nagainst granular\nbytes".to_owned();
        [name.to_owned(), units, flat, signatures, names, union, raw, granular]
    });
    rows.collect()
}

/// One row for each form of each facade, and of all; the last tells of the list as it is served.
fn long(figures: &Figures, shown: &[Shown], served: Footprint) -> Vec<[String; 6]> {
    let facades = figures.facades.iter().map(|(name, forms)| (name.as_str(), forms, form_of(shown, name)));
    let all = facades.chain([(TOTAL, &figures.total, None)]);
    let mut rows: Vec<_> = all
        .flat_map(|(name, forms, served)| {
            SchemaForm::ALL.map(|form| {
                let cost = forms.get(form.as_str());
                let number =
                    |of: fn(&Footprint) -> usize| cost.map_or(NONE.to_owned(), |c| of(c).to_string());
                let percent = against(forms, form).unwrap_or_else(|| NONE.to_owned());
                let mark = if served == Some(form) { "*" } else { "" };
                [
                    name.to_owned(),
                    form.as_str().to_owned(),
                    number(|cost| cost.tokens),
                    number(|cost| cost.bytes),
                    percent,
                    mark.to_owned(),
                ]
            })
        })
        .collect();
    let percent = figures.total.get(SchemaForm::Granular.as_str()).and_then(|whole| ratio(served, *whole));
    rows.push([
        TOTAL.to_owned(),
        SERVED.to_owned(),
        served.tokens.to_string(),
        served.bytes.to_string(),
        percent.unwrap_or_else(|| NONE.to_owned()),
        "*".to_owned(),
    ]);
    rows
}

fn sum(served: Footprint, figures: &Figures) -> String {
    let percent = figures.total.get(SchemaForm::Granular.as_str()).and_then(|whole| ratio(served, *whole));
    let percent = percent.map_or(String::new(), |percent| format!(", {percent} % against granular"));
    format!("* served: {} tokens, {} bytes in all{percent}", served.tokens, served.bytes)
}

fn form_of(shown: &[Shown], facade: &str) -> Option<SchemaForm> {
    shown.iter().find(|shown| shown.facade == facade).map(|shown| shown.expose.form)
}

/// What a form takes more or less than `granular`, which is not compared with itself.
fn against(forms: &Forms, form: SchemaForm) -> Option<String> {
    let saved = saved(forms, form.as_str()).filter(|_| form != SchemaForm::Granular)?;
    Some(signed(-saved))
}

fn ratio(served: Footprint, whole: Footprint) -> Option<String> {
    (whole.tokens > 0).then(|| signed(100.0 * served.tokens as f64 / whole.tokens as f64 - 100.0))
}

/// Towards nothing: 79.9 percent are not 80.
fn signed(percent: f64) -> String {
    let whole = percent.trunc();
    if whole == 0.0 { "0".to_owned() } else { format!("{whole:+}") }
}

fn change(change: &Change) -> [String; 6] {
    let number = |tokens: Option<usize>| tokens.map_or(NONE.to_owned(), |tokens| tokens.to_string());
    let (difference, percent) = match change.by() {
        None => (NONE.to_owned(), NONE.to_owned()),
        Some((0, _)) => ("0".to_owned(), "0".to_owned()),
        Some((by, percent)) => (format!("{by:+}"), percent.map_or(NONE.to_owned(), signed)),
    };
    // Names in a file may be anything.
    [
        printable(change.facade.as_deref().unwrap_or(TOTAL)).into_owned(),
        printable(&change.form).into_owned(),
        number(change.before),
        number(change.after),
        difference,
        percent,
    ]
}

#[cfg(test)]
mod tests {
    use loggia_schema::ExposeOptions;

    use super::*;

    fn forms(costs: &[(SchemaForm, usize)]) -> Forms {
        let cost = |tokens: usize| Footprint { tokens, bytes: tokens * 4 };
        costs.iter().map(|(form, tokens)| (form.as_str().to_owned(), cost(*tokens))).collect()
    }

    #[test]
    fn a_person_sees_the_forms_side_by_side() {
        use SchemaForm::{Flat, Granular, Names, Raw, Signatures, Union};
        let notes = forms(&[(Flat, 900), (Signatures, 401), (Names, 150), (Union, 2010), (Granular, 2000)]);
        let one = [(Flat, 120), (Signatures, 100), (Names, 100), (Union, 130), (Raw, 90), (Granular, 80)];
        let total = forms(&[(Flat, 1020), (Signatures, 501), (Names, 250), (Union, 2140), (Granular, 2080)]);
        let facades = [("notes".to_owned(), notes), ("one".to_owned(), forms(&one))].into();
        let shown = [("notes", Signatures), ("one", Raw)];
        let shown = shown.map(|(name, form)| Shown {
            facade: name.to_owned(),
            expose: ExposeOptions { form, ..ExposeOptions::default() },
            tools: Vec::new(),
            hidden: Vec::new(),
        });
        let figures = Figures { total, facades, served: None };
        let mut table = columns::table(&WIDE, &wide(&figures, &shown), 2);
        table.force_no_tty().set_width(100);
        let served = Footprint { tokens: 491, bytes: 1964 };
        insta::assert_snapshot!(format!("{table}\n{}", sum(served, &figures)));
    }

    #[test]
    fn percents_are_cut_not_rounded() {
        for (percent, said) in [(-79.9, "-79"), (-80.0, "-80"), (12.7, "+12"), (0.4, "0"), (-0.9, "0")] {
            assert_eq!(signed(percent), said);
        }
    }
}

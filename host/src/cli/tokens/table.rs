//! Figures as they are shown: side by side for a person, one line for each form of each facade for a program.

use loggia_schema::Form;

use super::{columns, term};
use crate::{
    publish::Shown,
    tokens::{Change, Figures, Footprint, Forms, saved},
};

/// Stands for what there is not.
const NONE: &str = "-";
/// The whole list's name.
const TOTAL: &str = "total";
/// What is served.
const SERVED: &str = "served";

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

/// Three rows for each facade, and for all: tokens, the same against `granular`, bytes.
fn wide(figures: &Figures, shown: &[Shown]) -> Vec<Vec<String>> {
    let facades = figures.facades.iter().map(|(name, forms)| (name.as_str(), forms, form_of(shown, name)));
    let all = facades.chain([(TOTAL, &figures.total, None)]);
    let rows = all.flat_map(|(name, forms, served)| {
        let cells = |label: [&str; 2], cell: &dyn Fn(Form) -> Option<String>| {
            let cells = Form::ALL.map(|form| cell(form).unwrap_or_else(|| NONE.to_owned()));
            label.map(str::to_owned).into_iter().chain(cells).collect::<Vec<_>>()
        };
        let cost = |form: Form| forms.get(form.as_str());
        let mark = |form| if served == Some(form) { "*" } else { "" };
        [
            cells([name, "tokens"], &|form| Some(format!("{}{}", mark(form), cost(form)?.tokens))),
            cells(["", "against granular"], &|form| Some(format!("{} %", against(forms, form)?))),
            cells(["", "bytes"], &|form| Some(cost(form)?.bytes.to_string())),
        ]
    });
    rows.collect()
}

/// One row for each form of each facade, and of all; the last tells of the list as it is served.
fn long(figures: &Figures, shown: &[Shown], served: Footprint) -> Vec<[String; 6]> {
    let facades = figures.facades.iter().map(|(name, forms)| (name.as_str(), forms, form_of(shown, name)));
    let all = facades.chain([(TOTAL, &figures.total, None)]);
    let mut rows: Vec<_> = all
        .flat_map(|(name, forms, served)| {
            Form::ALL.map(|form| {
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
    let percent = figures.total.get(Form::Granular.as_str()).and_then(|whole| ratio(served, *whole));
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
    let percent = figures.total.get(Form::Granular.as_str()).and_then(|whole| ratio(served, *whole));
    let percent = percent.map_or(String::new(), |percent| format!(", {percent} % against granular"));
    format!("* served: {} tokens, {} bytes in all{percent}", served.tokens, served.bytes)
}

fn form_of(shown: &[Shown], facade: &str) -> Option<Form> {
    shown.iter().find(|shown| shown.facade == facade).map(|shown| shown.form)
}

/// What a form takes more or less than `granular`, which is not compared with itself.
fn against(forms: &Forms, form: Form) -> Option<String> {
    let saved = saved(forms, form.as_str()).filter(|_| form != Form::Granular)?;
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
    [
        change.facade.clone().unwrap_or_else(|| TOTAL.to_owned()),
        change.form.clone(),
        number(change.before),
        number(change.after),
        difference,
        percent,
    ]
}

//! Renders figures: a table for people, one line per form and facade for programs.

use loggia_gate::{
    catalog::PublishedFacade,
    tokens::{FootprintChange, FormFootprints, SERVED, TokenFigures, TokenFootprint, savings_percent},
};
use loggia_schema::SchemaForm;
use loggia_text::printable;

use super::{columns, term};

/// Placeholder for a missing figure.
const ABSENT: &str = "-";
/// Label of the whole list.
const TOTAL: &str = "total";

/// Renders the figures, with the served forms marked, and their sum.
pub fn render_figures(figures: &TokenFigures, shown: &[PublishedFacade], served: TokenFootprint) -> String {
    if term::stdout_is_terminal() {
        let table = columns::build_table(&WIDE, &wide_rows(figures, shown), 2);
        format!("{table}\n{}", summary_line(served, figures))
    } else {
        columns::tab_separated(&LONG, &long_rows(figures, shown, served))
    }
}

/// Renders changes of figures.
pub fn render_changes(changes: &[FootprintChange]) -> String {
    let rows: Vec<_> = changes.iter().map(change_row).collect();
    if term::stdout_is_terminal() {
        columns::build_table(&CHANGE, &rows, 2).to_string()
    } else {
        columns::tab_separated(&CHANGE, &rows)
    }
}

const WIDE: [&str; 8] = ["", "", "flat", "signatures", "names", "union", "raw", "granular"];
const LONG: [&str; 6] = ["facade", "form", "tokens", "bytes", "percent", "served"];
const CHANGE: [&str; 6] = ["facade", "form", "before", "after", "change", "percent"];

/// Builds one row of three lines for each facade and the total: tokens, percentage against `granular`, bytes.
fn wide_rows(figures: &TokenFigures, shown: &[PublishedFacade]) -> Vec<[String; 8]> {
    let facades =
        figures.facades.iter().map(|(name, forms)| (name.as_str(), forms, served_form(shown, name)));
    let all = facades.chain([(TOTAL, &figures.total, None)]);
    let rows = all.map(|(name, forms, served)| {
        let [flat, signatures, names, union, raw, granular] = SchemaForm::ALL.map(|form| {
            let Some(cost) = forms.get(form.as_str()) else { return ABSENT.to_owned() };
            let mark = if served == Some(form) { "*" } else { "" };
            let percent =
                percent_against_granular(forms, form).map_or(String::new(), |percent| format!("{percent} %"));
            format!("{mark}{}\n{percent}\n{}", cost.tokens, cost.bytes)
        });
        let units = "tokens\nagainst granular\nbytes".to_owned();
        [name.to_owned(), units, flat, signatures, names, union, raw, granular]
    });
    rows.collect()
}

/// Builds one row for each form of each facade and of the total, then one for the served list.
fn long_rows(figures: &TokenFigures, shown: &[PublishedFacade], served: TokenFootprint) -> Vec<[String; 6]> {
    let facades =
        figures.facades.iter().map(|(name, forms)| (name.as_str(), forms, served_form(shown, name)));
    let all = facades.chain([(TOTAL, &figures.total, None)]);
    let mut rows: Vec<_> = all
        .flat_map(|(name, forms, served)| {
            SchemaForm::ALL.map(|form| {
                let cost = forms.get(form.as_str());
                let number =
                    |of: fn(&TokenFootprint) -> usize| cost.map_or(ABSENT.to_owned(), |c| of(c).to_string());
                let percent = percent_against_granular(forms, form).unwrap_or_else(|| ABSENT.to_owned());
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
    let percent =
        figures.total.get(SchemaForm::Granular.as_str()).and_then(|whole| percent_change(served, *whole));
    rows.push([
        TOTAL.to_owned(),
        SERVED.to_owned(),
        served.tokens.to_string(),
        served.bytes.to_string(),
        percent.unwrap_or_else(|| ABSENT.to_owned()),
        "*".to_owned(),
    ]);
    rows
}

fn summary_line(served: TokenFootprint, figures: &TokenFigures) -> String {
    let percent =
        figures.total.get(SchemaForm::Granular.as_str()).and_then(|whole| percent_change(served, *whole));
    let percent = percent.map_or(String::new(), |percent| format!(", {percent} % against granular"));
    format!("* served: {} tokens, {} bytes in all{percent}", served.tokens, served.bytes)
}

fn served_form(shown: &[PublishedFacade], facade: &str) -> Option<SchemaForm> {
    shown.iter().find(|shown| shown.facade == facade).map(|shown| shown.expose.form)
}

/// Percentage of a form against `granular`; `None` for `granular` itself.
fn percent_against_granular(forms: &FormFootprints, form: SchemaForm) -> Option<String> {
    let saved = savings_percent(forms, form.as_str()).filter(|_| form != SchemaForm::Granular)?;
    Some(format_percent(-saved))
}

fn percent_change(served: TokenFootprint, whole: TokenFootprint) -> Option<String> {
    (whole.tokens > 0).then(|| format_percent(100.0 * served.tokens as f64 / whole.tokens as f64 - 100.0))
}

/// Truncates towards zero, so that 79.9 percent are not shown as 80.
fn format_percent(percent: f64) -> String {
    let whole = percent.trunc();
    if whole == 0.0 { "0".to_owned() } else { format!("{whole:+}") }
}

fn change_row(change: &FootprintChange) -> [String; 6] {
    let number = |tokens: Option<usize>| tokens.map_or(ABSENT.to_owned(), |tokens| tokens.to_string());
    let (difference, percent) = match change.delta() {
        None => (ABSENT.to_owned(), ABSENT.to_owned()),
        Some((0, _)) => ("0".to_owned(), "0".to_owned()),
        Some((by, percent)) => (format!("{by:+}"), percent.map_or(ABSENT.to_owned(), format_percent)),
    };
    // Names from a file are untrusted.
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

    fn forms(costs: &[(SchemaForm, usize)]) -> FormFootprints {
        let cost = |tokens: usize| TokenFootprint { tokens, bytes: tokens * 4 };
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
        let shown = shown.map(|(name, form)| PublishedFacade {
            facade: name.to_owned(),
            expose: ExposeOptions { form, ..ExposeOptions::default() },
            tools: Vec::new(),
            hidden: Vec::new(),
            listed: true,
        });
        let figures = TokenFigures { total, facades, served: None };
        let mut table = columns::build_table(&WIDE, &wide_rows(&figures, &shown), 2);
        table.force_no_tty().set_width(100);
        let served = TokenFootprint { tokens: 491, bytes: 1964 };
        insta::assert_snapshot!(format!("{table}\n{}", summary_line(served, &figures)));
    }

    #[test]
    fn percentages_are_truncated() {
        for (percent, text) in [(-79.9, "-79"), (-80.0, "-80"), (12.7, "+12"), (0.4, "0"), (-0.9, "0")] {
            assert_eq!(format_percent(percent), text);
        }
    }
}

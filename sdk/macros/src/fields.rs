//! Fields of a type with `#[detail]`, and their detail levels.

use syn::{Attribute, Error, Field, Fields, Ident, Meta, Result, ext::IdentExt, spanned::Spanned};

use crate::{action::Errors, names, serde};

/// Fields included in `minimal` if none is marked so: other calls need them as a reference.
const NAMING: [&str; 3] = ["id", "name", "title"];

/// Lowest level that includes a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    Minimal,
    Standard,
    Full,
}

impl Level {
    /// Name in the attribute.
    pub fn name(self) -> &'static str {
        match self {
            Self::Minimal => "minimal",
            Self::Standard => "standard",
            Self::Full => "full",
        }
    }
}

/// A field of a list with marks.
pub struct Marked<'f> {
    pub field: &'f mut Field,
    pub level: Level,
    pub is_flat: bool,
}

impl<'f> Marked<'f> {
    /// Removes the marks of a list of fields; returns nothing if there are none, so that all fields are always
    /// included.
    pub fn read(fields: &'f mut Fields) -> Result<Vec<Self>> {
        let is_named = matches!(fields, Fields::Named(_));
        let mut errors = Errors::default();
        let mut marks: Vec<Option<Level>> = Vec::new();
        for field in fields.iter_mut() {
            let mark = errors.take(mark(field, is_named));
            marks.push(mark.flatten());
            field.attrs.retain(|attribute| !is_detail(attribute));
        }
        errors.finish()?;
        if marks.iter().all(Option::is_none) {
            return Ok(Vec::new());
        }
        let has_minimal = marks.contains(&Some(Level::Minimal));
        let has_naming = fields.iter().zip(&marks).any(|(field, mark)| mark.is_none() && is_naming(field));
        let level = |field: &Field, mark: Option<Level>| match mark {
            Some(level) => level,
            None if has_minimal => Level::Standard,
            None if has_naming && !is_naming(field) => Level::Standard,
            None => Level::Minimal,
        };
        let of = |(field, mark): (&'f mut Field, Option<Level>)| {
            let level = level(field, mark);
            let is_flat = is_flat(field);
            Self { field, level, is_flat }
        };
        let written = fields.iter_mut().zip(marks).filter(|(field, _)| never_written(field).is_none());
        Ok(written.map(of).collect())
    }
}

/// Tests whether this is our attribute, under any import path.
pub fn is_detail(attribute: &Attribute) -> bool {
    attribute.path().segments.last().is_some_and(|segment| segment.ident == "detail")
}

/// The mark of one field.
fn mark(field: &Field, is_named: bool) -> Result<Option<Level>> {
    let mut found = None;
    for attribute in field.attrs.iter().filter(|attribute| is_detail(attribute)) {
        let level = level(attribute)?;
        if found.replace(level).is_some() {
            return Err(Error::new(attribute.path().span(), "a field has one level"));
        }
        if !is_named {
            let sentence =
                "only a field with a name can be left out: without it, those after it would move up";
            return Err(Error::new(attribute.path().span(), sentence));
        }
        if let Some(key) = never_written(field) {
            let sentence = format!("`{key}` keeps the field out of every result, so a level has no effect");
            return Err(Error::new(attribute.path().span(), sentence));
        }
    }
    Ok(found)
}

fn level(attribute: &Attribute) -> Result<Level> {
    let usage = "say from which level on the field is shown: `#[detail(minimal)]` or `#[detail(full)]`";
    let Meta::List(list) = &attribute.meta else {
        return Err(Error::new(attribute.path().span(), usage));
    };
    if list.tokens.is_empty() {
        return Err(Error::new(attribute.path().span(), usage));
    }
    let Ok(word) = list.parse_args_with(Ident::parse_any) else {
        return Err(Error::new(list.tokens.span(), usage));
    };
    match word.to_string().as_str() {
        "minimal" => Ok(Level::Minimal),
        "full" => Ok(Level::Full),
        "standard" => {
            let sentence = "a field without a mark is shown at `standard` and `full`: take the mark away";
            Err(Error::new(word.span(), sentence))
        }
        other => {
            let sentence = names::unknown("there is no level", other, &["minimal", "full"]);
            Err(Error::new(word.span(), sentence))
        }
    }
}

fn is_flat(field: &Field) -> bool {
    serde::find(&field.attrs, &["flatten"]).is_some()
}

fn never_written(field: &Field) -> Option<Ident> {
    serde::find(&field.attrs, &["skip", "skip_serializing"])
}

/// Tests whether the field's JSON name is in [`NAMING`]. Flattened and skipped fields have no JSON name.
fn is_naming(field: &Field) -> bool {
    if is_flat(field) || never_written(field).is_some() {
        return false;
    }
    let name =
        serde::renamed(&field.attrs).or_else(|| field.ident.as_ref().map(|ident| ident.unraw().to_string()));
    name.is_some_and(|name| NAMING.contains(&name.as_str()))
}

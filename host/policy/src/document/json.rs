//! Tables of a document as JSON, for what plugins read.

use std::collections::BTreeMap;

use serde_json::{Number, Value as Json};

use super::{
    field::Field,
    problem::Problems,
    tree::{Node, Table, Value},
};

/// Reads a table of any values. Dates become strings.
pub fn read_json_table(field: &Field<'_>, problems: &mut Problems) -> BTreeMap<String, Json> {
    let mut config = BTreeMap::new();
    for (name, field) in field.entries(problems) {
        match to_json(field.value()) {
            Ok(value) => {
                config.insert(name.to_owned(), value);
            }
            Err(NotJson::NonFinite) => {
                field.report("contains `nan` or `inf`, which JSON cannot represent", problems)
            }
            Err(NotJson::Invalid) => {}
        }
    }
    config
}

/// Reason why a value cannot be converted to JSON.
enum NotJson {
    /// It contains a number that is infinite or NaN.
    NonFinite,
    /// It contains an invalid value, which was reported already.
    Invalid,
}

fn to_json(value: &Value) -> Result<Json, NotJson> {
    Ok(match value {
        Value::Text(text) => Json::String(text.value.clone()),
        Value::Integer(number) => (*number).into(),
        Value::Float(number) => Json::Number(Number::from_f64(*number).ok_or(NotJson::NonFinite)?),
        Value::Flag(flag) => Json::Bool(*flag),
        Value::Date(date) => Json::String(date.clone()),
        Value::List(items) => {
            items.iter().map(|Node { value, .. }| to_json(value)).collect::<Result<_, _>>()?
        }
        Value::Table(Table(entries)) => {
            let entries = entries.iter().map(|(key, _, node)| Ok((key.clone(), to_json(&node.value)?)));
            Json::Object(entries.collect::<Result<_, _>>()?)
        }
        Value::Invalid => return Err(NotJson::Invalid),
    })
}

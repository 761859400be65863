//! Access to parts of values: `len`, `index` and `slice`.

use crate::template::{error::EvalError, value::TemplateValue};

pub(crate) fn length<'a>(value: TemplateValue<'a>) -> Result<TemplateValue<'a>, EvalError> {
    match value {
        TemplateValue::Text(text) => Ok(TemplateValue::from_usize(text.len())),
        TemplateValue::List(list) => Ok(TemplateValue::from_usize(list.len())),
        TemplateValue::Map(map) => Ok(TemplateValue::from_usize(map.len())),
        value => Err(EvalError::new(format!("{} has no length", value.kind_name()))),
    }
}

pub(crate) fn index<'a>(
    value: TemplateValue<'a>,
    keys: &[TemplateValue<'a>],
) -> Result<TemplateValue<'a>, EvalError> {
    if value.is_nil() {
        return Err(EvalError::new(format!("`index` of {}", value.kind_name())));
    }
    keys.iter().try_fold(value, |value, key| match value {
        TemplateValue::Map(map) => match *key {
            TemplateValue::Text(name) => {
                Ok(map.get(name).map_or(TemplateValue::Missing, TemplateValue::from))
            }
            key => Err(EvalError::new(format!("an object is indexed by name, not by {}", key.kind_name()))),
        },
        TemplateValue::List(list) => {
            let at = to_index(*key, list.len(), false)?;
            Ok(TemplateValue::from(&list[at]))
        }
        TemplateValue::Text(text) => {
            let at = to_index(*key, text.len(), false)?;
            Ok(TemplateValue::from_usize(text.as_bytes()[at].into()))
        }
        TemplateValue::Missing | TemplateValue::Null => {
            Err(EvalError::new(format!("`index` of {}", value.kind_name())))
        }
        value => Err(EvalError::new(format!("{} cannot be indexed", value.kind_name()))),
    })
}

/// Converts a number to an index; `end` also allows the index after the last element.
fn to_index(key: TemplateValue<'_>, length: usize, end: bool) -> Result<usize, EvalError> {
    let TemplateValue::Number(number) = key else {
        return Err(EvalError::new(format!("an integer is expected, not {}", key.kind_name())));
    };
    let Some(whole) = number.as_integer() else {
        return Err(EvalError::new("an integer is expected, not a fraction"));
    };
    match usize::try_from(whole) {
        Ok(at) if at < length || end && at == length => Ok(at),
        _ => Err(EvalError::new(format!("index out of range: the length is {length}"))),
    }
}

pub(crate) fn slice<'a>(
    value: TemplateValue<'a>,
    bounds: &[TemplateValue<'a>],
) -> Result<TemplateValue<'a>, EvalError> {
    let length = match value {
        TemplateValue::Text(_) if bounds.len() > 2 => {
            return Err(EvalError::new("`slice` of a string takes at most two indexes"));
        }
        TemplateValue::Text(text) => text.len(),
        TemplateValue::List(list) => list.len(),
        value => return Err(EvalError::new(format!("`slice` does not accept {}", value.kind_name()))),
    };
    let at = |number: usize, otherwise: usize| match bounds.get(number) {
        Some(key) => to_index(*key, length, true),
        None => Ok(otherwise),
    };
    let (from, to, most) = (at(0, 0)?, at(1, length)?, at(2, length)?);
    if from > to || to > most {
        return Err(EvalError::new("the end of the slice is before its start"));
    }
    match value {
        TemplateValue::Text(text) => match text.get(from..to) {
            Some(part) => Ok(TemplateValue::Text(part)),
            None => Err(EvalError::new("the slice would split a character: string indexes count bytes")),
        },
        TemplateValue::List(list) => Ok(TemplateValue::List(&list[from..to])),
        value => Ok(value),
    }
}

//! The parts of an `allOf` as one object, where they do not contradict each other.

use loggia_facade::Object;
use serde_json::{Value, json};

/// Merges the parts into a schema; parts that cannot be merged stay under `allOf`.
pub(super) fn merge_all(out: &mut Object, parts: Vec<Object>) {
    let mut left = Vec::new();
    for part in parts {
        if !merge(out, &part) {
            left.push(Value::Object(part));
        }
    }
    if !left.is_empty() {
        out.insert("allOf".into(), Value::Array(left));
    }
    // Each part alone would refuse the members of the others.
    if out.get("additionalProperties") == Some(&json!(false)) && out.contains_key("properties") {
        out.shift_remove("additionalProperties");
    }
}

/// Merges one part. Returns false, and changes nothing, if both say different things of the same matter.
fn merge(out: &mut Object, part: &Object) -> bool {
    let conflicts = part.iter().any(|(keyword, value)| match (keyword.as_str(), out.get(keyword)) {
        (_, None) | ("description" | "default" | "examples" | "deprecated" | "required", _) => false,
        ("properties", Some(Value::Object(own))) => {
            let theirs = value.as_object();
            theirs.into_iter().flatten().any(|(name, value)| own.get(name).is_some_and(|own| own != value))
        }
        ("additionalProperties", _) => false,
        (_, Some(own)) => own != value,
    });
    if conflicts {
        return false;
    }
    for (keyword, value) in part {
        match (keyword.as_str(), out.get_mut(keyword), value) {
            (_, None, value) => {
                out.insert(keyword.clone(), value.clone());
            }
            ("properties", Some(Value::Object(own)), Value::Object(theirs)) => {
                for (name, value) in theirs {
                    own.entry(name.clone()).or_insert_with(|| value.clone());
                }
            }
            ("required", Some(Value::Array(own)), Value::Array(theirs)) => {
                for name in theirs {
                    if !own.contains(name) {
                        own.push(name.clone());
                    }
                }
            }
            _ => {}
        }
    }
    true
}

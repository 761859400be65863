//! Merges shapes into the narrowest shape that covers all of them.
//!
//! Actions may use one name for different types, and a schema may have alternatives; clients see one property.

use crate::model::{
    shape::{ShapeMember, ValueShape},
    value_texts::ValueText,
};

impl ValueShape {
    /// Returns the narrowest shape that covers both.
    pub(crate) fn loosest(self, other: Self) -> Self {
        match (self, other) {
            (Self::Any, _) | (_, Self::Any) => Self::Any,
            (Self::Union(mut shapes), Self::Union(more)) => {
                more.into_iter().for_each(|shape| add_to_union(&mut shapes, shape));
                Self::Union(shapes)
            }
            (Self::Union(mut shapes), shape) | (shape, Self::Union(mut shapes)) => {
                add_to_union(&mut shapes, shape);
                Self::Union(shapes)
            }
            (one, other) => match one.same_kind(other) {
                Ok(shape) => shape,
                Err(pair) => Self::Union(Vec::from(*pair)),
            },
        }
    }

    /// Merges two shapes of one kind that are no unions; otherwise returns both.
    fn same_kind(self, other: Self) -> Result<Self, Box<[Self; 2]>> {
        Ok(match (self, other) {
            (Self::Boolean, Self::Boolean) => Self::Boolean,
            (Self::Number { integer }, Self::Number { integer: also_integer }) => {
                Self::Number { integer: integer && also_integer }
            }
            (Self::Text(Some(mut values)), Self::Text(Some(more))) => {
                for value in more {
                    if !values.contains(&value) {
                        values.push(value);
                    }
                }
                Self::Text(Some(values))
            }
            (Self::Text(_), Self::Text(_)) => Self::Text(None),
            (Self::List(items), Self::List(more)) => Self::List(Box::new(items.loosest(*more))),
            (Self::Record { members, others }, Self::Record { members: more, others: also }) => {
                Self::Record {
                    members: merge_members(members, others.as_deref(), more, also.as_deref()),
                    others: match (others, also) {
                        (Some(a), Some(b)) => Some(Box::new(a.loosest(*b))),
                        (a, b) => a.or(b),
                    },
                }
            }
            (one, other) => return Err(Box::new([one, other])),
        })
    }
}

/// Adds a shape to a union, which keeps one shape of each kind.
fn add_to_union(shapes: &mut Vec<ValueShape>, mut shape: ValueShape) {
    for known in shapes.iter_mut() {
        match std::mem::replace(known, ValueShape::Any).same_kind(shape) {
            Ok(merged) => {
                *known = merged;
                return;
            }
            Err(pair) => {
                let [before, other] = *pair;
                *known = before;
                shape = other;
            }
        }
    }
    shapes.push(shape);
}

/// Merges the members of two records: required only if both require them. `others` and `also` are the shapes of
/// further members of either record.
fn merge_members(
    mut members: Vec<ShapeMember>,
    others: Option<&ValueShape>,
    more: Vec<ShapeMember>,
    also: Option<&ValueShape>,
) -> Vec<ShapeMember> {
    for member in &mut members {
        if !more.iter().any(|m| m.name == member.name) {
            member.required = false;
            member.loosen(also);
        }
    }
    for mut member in more {
        match members.iter_mut().find(|m| m.name == member.name) {
            Some(known) => {
                known.required &= member.required;
                known.loosen(Some(&member.shape));
                if known.brief.is_empty() {
                    known.brief = member.brief;
                }
                ValueText::merge(&mut known.values, member.values);
                if known.text.is_empty() {
                    known.text = member.text;
                } else if !member.text.is_empty() && !known.text.contains(&member.text) {
                    known.text = format!("{}; or: {}", known.text, member.text);
                }
            }
            None => {
                member.required = false;
                member.loosen(others);
                members.push(member);
            }
        }
    }
    members
}

impl ShapeMember {
    fn loosen(&mut self, with: Option<&ValueShape>) {
        if let Some(with) = with {
            self.shape = std::mem::replace(&mut self.shape, ValueShape::Any).loosest(with.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn the_loosest_shape_covers_both() {
        let integer = json!({"type": "integer", "minimum": 1});
        for (one, other, expected) in [
            (
                integer.clone(),
                json!({"type": "integer", "minimum": 0, "maximum": 20}),
                json!({"type": "integer"}),
            ),
            (integer.clone(), json!({"type": "number", "minimum": 2}), json!({"type": "number"})),
            (integer, json!({"type": "string"}), json!({"anyOf": [{"type": "integer"}, {"type": "string"}]})),
            (
                json!({"enum": ["a", "b"]}),
                json!({"enum": ["b", "c"]}),
                json!({"type": "string", "enum": ["a", "b", "c"]}),
            ),
            (json!({"enum": ["a"]}), json!({"type": "string"}), json!({"type": "string"})),
            (json!({"type": "string"}), json!(true), json!({})),
            (
                json!({"type": "array", "items": {"type": "string"}}),
                json!({"type": "array", "items": {"type": "integer"}}),
                json!({"type": "array", "items": {"anyOf": [{"type": "string"}, {"type": "integer"}]}}),
            ),
        ] {
            let merged = ValueShape::from_schema(&one).loosest(ValueShape::from_schema(&other)).to_json();
            assert_eq!(Value::Object(merged), expected, "{one} with {other}");
        }
    }
}

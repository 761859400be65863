//! Fills in defaults before validation, and converts `5.0` to `5` for integers: JSON Schema accepts both, most
//! languages do not.

use loggia_facade::Object;
use serde_json::{Number, Value};

use crate::model::keywords;

/// Defaults and integers in values of one schema.
#[derive(Debug, Default)]
pub(crate) struct DefaultsPlan {
    /// The value is an integer.
    integer: bool,
    members: Vec<MemberDefault>,
    /// Members covered by `additionalProperties`.
    others: Option<Box<DefaultsPlan>>,
    /// Items of a list.
    items: Option<Box<DefaultsPlan>>,
}

#[derive(Debug)]
struct MemberDefault {
    name: String,
    default: Option<Value>,
    plan: DefaultsPlan,
}

impl DefaultsPlan {
    /// Collects the defaults of a resolved schema.
    pub(crate) fn from_schema(schema: &Value) -> Self {
        let mut plan = Self::default();
        if let Value::Object(schema) = schema {
            plan.read(schema);
        }
        plan
    }

    fn read(&mut self, schema: &Object) {
        self.integer |= match schema.get("type") {
            Some(Value::String(kind)) => kind == "integer",
            Some(Value::Array(kinds)) => {
                kinds.iter().any(|k| k == "integer") && !kinds.iter().any(|k| k == "number")
            }
            _ => false,
        };
        for (name, schema) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
            // A default of null means that there is none.
            let default = schema.get("default").filter(|default| !default.is_null()).cloned();
            let plan = Self::from_schema(schema);
            if default.is_some() || !plan.is_empty() {
                self.members.push(MemberDefault { name: name.clone(), default, plan });
            }
        }
        let inner = |keyword: &str| {
            schema.get(keyword).map(Self::from_schema).filter(|plan| !plan.is_empty()).map(Box::new)
        };
        if schema.get("patternProperties").is_none() {
            self.others = inner("additionalProperties").or(self.others.take());
        }
        if schema.get("prefixItems").is_none() {
            self.items = inner("items").or(self.items.take());
        }
        for part in keywords::conjuncts(schema) {
            self.read(part);
        }
    }

    fn is_empty(&self) -> bool {
        !self.integer && self.members.is_empty() && self.others.is_none() && self.items.is_none()
    }

    /// Fills in the defaults of parameters. Calls `changed` with each parameter that got a default, or contains one
    /// that did.
    pub(crate) fn fill(&self, params: &mut Object, changed: &mut impl FnMut(&str)) {
        for member in &self.members {
            match params.get_mut(&member.name) {
                Some(value) => {
                    if member.plan.fill_value(value) {
                        changed(&member.name);
                    }
                }
                None => {
                    let Some(mut value) = member.default.clone() else { continue };
                    member.plan.fill_value(&mut value);
                    params.insert(member.name.clone(), value);
                    changed(&member.name);
                }
            }
        }
        if let Some(plan) = &self.others {
            for (name, value) in params.iter_mut() {
                if !self.members.iter().any(|member| member.name == *name) && plan.fill_value(value) {
                    changed(name);
                }
            }
        }
    }

    /// Fills in the defaults within a value. Returns whether there were any.
    fn fill_value(&self, value: &mut Value) -> bool {
        let mut filled = false;
        match value {
            Value::Number(number) if self.integer && number.is_f64() => {
                if let Some(whole) = to_integer(number) {
                    *number = whole;
                }
            }
            Value::Object(members) if !self.members.is_empty() || self.others.is_some() => {
                self.fill(members, &mut |_| filled = true);
            }
            Value::Array(items) => {
                if let Some(plan) = &self.items {
                    for item in items {
                        filled |= plan.fill_value(item);
                    }
                }
            }
            _ => {}
        }
        filled
    }
}

/// Converts a float without a fraction to an integer.
pub(crate) fn to_integer(number: &Number) -> Option<Number> {
    /// From here on, floats cannot represent every integer.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let float = number.as_f64()?;
    #[allow(clippy::cast_possible_truncation, reason = "whole and within 2^53")]
    (float.fract() == 0.0 && float.abs() <= EXACT).then(|| Number::from(float as i64))
}

//! One action's parameter schema, made ready for calls.

use std::sync::{Arc, OnceLock};

use loggia_facade::{Action, Object};
use serde_json::Value;

use crate::{
    contract::{defaults::Plan, example},
    model::{
        bounds,
        compiled::Compiled,
        keywords, limits,
        pattern::PatternBudget,
        resolve::resolve,
        sanitise::sanitise_object,
        secrets::Secrets,
        shape::{Member, Shape},
        signature::signature,
        work,
    },
    text::show,
};

/// One action's parameter schema, made ready for calls.
pub(crate) struct Rules {
    /// The resolved schema; see [`resolve`].
    pub schema: Value,
    /// The parameters, as a record.
    pub shape: Shape,
    /// What is done to every call's parameters before they are validated.
    pub plan: Plan,
    /// The action in one line.
    pub signature: String,
    /// Which of their values are never shown.
    pub secrets: Secrets,
    compiled: OnceLock<Result<Compiled, String>>,
    example: OnceLock<Option<Value>>,
}

impl Rules {
    /// Reads the schema; compiles nothing yet.
    pub(crate) fn new(action: &Action) -> Result<Self, Vec<String>> {
        let schema = resolve(&action.params)?;
        let shape = Shape::of(&schema);
        Ok(Self {
            plan: Plan::of(&schema),
            signature: signature(&action.name, &shape),
            secrets: Secrets::of(&schema),
            shape,
            schema,
            compiled: OnceLock::new(),
            example: OnceLock::new(),
        })
    }

    /// What is wrong with the schema, its defaults and the action's examples. Compiles the validator, whose patterns take
    /// of the surface's budget; the caller bounds the work.
    pub(crate) fn problems(
        &self,
        action: &Action,
        budget: &PatternBudget,
        explain: impl Fn(&Value) -> String,
    ) -> Vec<String> {
        let Some(root) = self.schema.as_object() else { return Vec::new() };
        let mut out = bounds::parameters(root);
        let mut names = Vec::new();
        keywords::property_names(root, &mut names);
        out.extend(
            names.iter().filter(|name| root_lacks(root, name)).filter_map(|name| bounds::parameter(name)),
        );
        let compiled = self.compiled.get_or_init(|| Compiled::new(&self.schema, budget));
        let compiled = match compiled {
            Ok(compiled) => compiled,
            Err(problem) => {
                out.push(format!("the schema of its parameters cannot be used: {problem}"));
                return out;
            }
        };
        // What was resolved may lack what is wrong; clients get it whole where it is published raw.
        if let Err(problem) = Compiled::alone(&Value::Object((*action.params).clone())) {
            out.push(format!("the schema of its parameters cannot be used: {problem}"));
            return out;
        }
        if !bounds::clean_object(&sanitise_object(Arc::clone(&action.params))) {
            out.push(
                "the schema of its parameters holds control or invisible characters in a name or a value; remove them"
                    .to_owned(),
            );
        }
        defaults(&self.schema, &mut Vec::new(), &mut out);
        for (index, example) in action.examples.iter().enumerate() {
            let number = index + 1;
            if let Some(problem) = bounds::example(example) {
                out.push(format!("its example {number} {problem}"));
                continue;
            }
            let affordable = compiled.spend(example);
            let example = Value::Object(example.clone());
            let valid = affordable && compiled.validator.is_valid(&example);
            let said = if valid { String::new() } else { explain(&example) };
            if !affordable || work::exhausted().is_some() {
                out.push(format!(
                    "its example {number} takes too much work to check: examples may take {} steps together; shorten \
                     it, or make the patterns simpler",
                    limits::WORK_AT_LOAD
                ));
                return out;
            }
            if !valid {
                out.push(format!(
                    "its example {number} is not valid: {said}; mend the example or the schema"
                ));
            }
        }
        out
    }

    /// The compiled schema, compiled on first use.
    pub(crate) fn compiled(&self) -> Result<&Compiled, &str> {
        self.compiled.get_or_init(|| Compiled::alone(&self.schema)).as_ref().map_err(String::as_str)
    }

    /// The parameters, in the author's order.
    pub(crate) fn parameters(&self) -> &[Member] {
        match &self.shape {
            Shape::Record { members, .. } => members,
            _ => &[],
        }
    }

    /// Whether the action has a parameter of this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.parameters().iter().any(|member| member.name == name)
    }

    /// Arguments of one valid call: the author's, otherwise made from the schema; none where that fails.
    pub(crate) fn example(&self, action: &Action) -> Option<&Value> {
        self.example
            .get_or_init(|| {
                let params = match action.examples.first() {
                    Some(example) => Value::Object(example.clone()),
                    None => example::synthesise(&self.schema),
                };
                let _bound = work::bound(limits::WORK);
                let valid = self.compiled().is_ok_and(|compiled| compiled.validator.is_valid(&params));
                let Value::Object(params) = params else { return None };
                (valid && work::exhausted().is_none()).then(|| call(&action.name, &params))
            })
            .as_ref()
    }
}

/// `{"action": …, …}`
pub(crate) fn call(action: &str, params: &Object) -> Value {
    let mut out = Object::new();
    out.insert("action".into(), action.into());
    out.extend(params.iter().map(|(name, value)| (name.clone(), value.clone())));
    Value::Object(out)
}

/// Compiles a schema alone.
#[cfg(test)]
pub(crate) fn compile(schema: &Value) -> Result<jsonschema::Validator, String> {
    Compiled::alone(schema).map(|compiled| compiled.validator)
}

fn root_lacks(root: &Object, name: &str) -> bool {
    root.get("properties").is_none_or(|properties| properties.get(name).is_none())
}

/// Reports every default that its own schema refuses.
fn defaults<'a>(schema: &'a Value, path: &mut Vec<&'a str>, out: &mut Vec<String>) {
    let Value::Object(object) = schema else { return };
    if let Some(default) = object.get("default")
        && !default.is_null()
        && Compiled::alone(schema).is_ok_and(|compiled| !compiled.validator.is_valid(default))
    {
        out.push(format!(
            "the default {} of `{}` is not valid against its own schema",
            show::value(default),
            path.join(".")
        ));
    }
    for (name, property) in object.get("properties").and_then(Value::as_object).into_iter().flatten() {
        path.push(name);
        defaults(property, path, out);
        path.pop();
    }
    if let Some(items) = object.get("items") {
        path.push("[]");
        defaults(items, path, out);
        path.pop();
    }
}

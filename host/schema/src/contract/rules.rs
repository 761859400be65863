//! One action's parameter schema, ready for calls.

use std::sync::{Arc, OnceLock};

use loggia_facade::{Action, Object};
use serde_json::Value;

use crate::{
    contract::{defaults::DefaultsPlan, example},
    model::{
        bounds,
        compiled::CompiledSchema,
        keywords, limits,
        pattern::PatternBudget,
        resolve::resolve,
        sanitise::sanitise_object,
        secrets::SecretMap,
        shape::{ShapeMember, ValueShape},
        signature::signature,
        surface_limits::SurfaceLimits,
        work,
    },
    text::show,
};

/// Checks of all actions of a surface.
pub(crate) struct SurfaceChecks<'a> {
    pub(crate) most: &'a SurfaceLimits,
    /// The patterns of all actions are charged to it.
    pub(crate) patterns: PatternBudget,
    /// Whether an author's schema may be published as it is.
    pub(crate) originals: bool,
}

/// One action's parameter schema, with everything derived from it.
pub(crate) struct ActionRules {
    /// The resolved schema; see [`resolve`].
    pub(crate) schema: Value,
    /// The parameters, as a record.
    pub(crate) shape: ValueShape,
    /// Defaults that are filled in before validation.
    pub(crate) defaults: DefaultsPlan,
    /// The action on one line.
    pub(crate) signature: String,
    /// Parameters that must not be shown.
    pub(crate) secrets: SecretMap,
    compiled: OnceLock<Result<CompiledSchema, String>>,
    example: OnceLock<Option<Value>>,
}

impl ActionRules {
    /// Resolves the schema of an action. The validator is compiled at first use.
    ///
    /// # Errors
    ///
    /// The problems of the schema.
    pub(crate) fn new(action: &Action) -> Result<Self, Vec<String>> {
        let schema = resolve(&action.params)?;
        let shape = ValueShape::from_schema(&schema);
        Ok(Self {
            defaults: DefaultsPlan::from_schema(&schema),
            signature: signature(&action.name, &shape),
            secrets: SecretMap::from_schema(&schema),
            shape,
            schema,
            compiled: OnceLock::new(),
            example: OnceLock::new(),
        })
    }

    /// Rules of an action whose schema cannot be read, by which every call fails.
    pub(crate) fn unusable(action: &Action, problems: &[String]) -> Self {
        let shape = ValueShape::Record { members: Vec::new(), others: Some(Box::new(ValueShape::Any)) };
        Self {
            schema: Value::Bool(false),
            signature: signature(&action.name, &shape),
            shape,
            defaults: DefaultsPlan::default(),
            secrets: SecretMap::default(),
            compiled: OnceLock::from(Err(problems.join("; "))),
            example: OnceLock::new(),
        }
    }

    /// Checks the schema, its defaults and the action's examples. Compiles the validator; the caller limits the work.
    pub(crate) fn check(
        &self,
        action: &Action,
        checks: &SurfaceChecks<'_>,
        explain: impl Fn(&Value) -> String,
    ) -> Vec<String> {
        let Some(root) = self.schema.as_object() else { return Vec::new() };
        let mut out = bounds::check_parameters(root, checks.most.parameters);
        let mut names = Vec::new();
        keywords::property_names(root, &mut names);
        out.extend(
            names
                .iter()
                .filter(|name| root_lacks(root, name))
                .filter_map(|name| bounds::check_parameter_name(name)),
        );
        let compiled =
            self.compiled.get_or_init(|| CompiledSchema::compile_with(&self.schema, &checks.patterns));
        let compiled = match compiled {
            Ok(compiled) => compiled,
            Err(problem) => {
                out.push(format!("the schema of its parameters cannot be used: {problem}"));
                return out;
            }
        };
        // The resolved schema may lack an invalid part, but the `raw` form publishes the original.
        if checks.originals
            && let Err(problem) = CompiledSchema::compile(&Value::Object((*action.params).clone()))
        {
            out.push(format!("the schema of its parameters cannot be used: {problem}"));
            return out;
        }
        if !bounds::is_clean_object(&sanitise_object(Arc::clone(&action.params))) {
            out.push(
                "the schema of its parameters holds control or invisible characters in a name or a value; remove them"
                    .to_owned(),
            );
        }
        check_defaults(&self.schema, &mut Vec::new(), &mut out);
        for (index, example) in action.examples.iter().enumerate() {
            let number = index + 1;
            if let Some(problem) = bounds::check_example(example) {
                out.push(format!("its example {number} {problem}"));
                continue;
            }
            let affordable = compiled.spend(example);
            let example = Value::Object(example.clone());
            let valid = affordable && compiled.validator.is_valid(&example);
            let reason = if valid { String::new() } else { explain(&example) };
            if !affordable || work::overrun().is_some() {
                out.push(format!(
                    "its example {number} takes too much work to check: examples may take {} steps together; shorten \
                     it, or make the patterns simpler",
                    checks.most.work_at_load
                ));
                return out;
            }
            if !valid {
                out.push(format!(
                    "its example {number} is not valid: {reason}; fix the example or the schema"
                ));
            }
        }
        out
    }

    /// The compiled schema, compiled at first use.
    pub(crate) fn compiled(&self) -> Result<&CompiledSchema, &str> {
        let compile = || {
            // The patterns of all actions together were within the budget when the surface was checked.
            let budget = PatternBudget::new(SurfaceLimits::HOSTED.patterns);
            CompiledSchema::compile_with(&self.schema, &budget)
        };
        self.compiled.get_or_init(compile).as_ref().map_err(String::as_str)
    }

    /// The parameters, in the author's order.
    pub(crate) fn parameters(&self) -> &[ShapeMember] {
        match &self.shape {
            ValueShape::Record { members, .. } => members,
            _ => &[],
        }
    }

    /// Whether the action has a parameter of this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.parameters().iter().any(|member| member.name == name)
    }

    /// Arguments of a valid call: the author's example, or a generated one; none if that is invalid.
    pub(crate) fn example(&self, action: &Action) -> Option<&Value> {
        self.example
            .get_or_init(|| {
                let params = match action.examples.first() {
                    Some(example) => Value::Object(example.clone()),
                    None => example::synthesise(&self.schema),
                };
                let _bound = work::limit(limits::WORK);
                let valid = self.compiled().is_ok_and(|compiled| compiled.validator.is_valid(&params));
                let Value::Object(params) = params else { return None };
                (valid && work::overrun().is_none()).then(|| call_arguments(&action.name, &params))
            })
            .as_ref()
    }
}

/// `{"action": …, …}`
pub(crate) fn call_arguments(action: &str, params: &Object) -> Value {
    let mut out = Object::new();
    out.insert("action".into(), action.into());
    out.extend(params.iter().map(|(name, value)| (name.clone(), value.clone())));
    Value::Object(out)
}

/// Compiles a schema alone.
#[cfg(test)]
pub(crate) fn compile(schema: &Value) -> Result<jsonschema::Validator, String> {
    CompiledSchema::compile(schema).map(|compiled| compiled.validator)
}

fn root_lacks(root: &Object, name: &str) -> bool {
    root.get("properties").is_none_or(|properties| properties.get(name).is_none())
}

/// Reports defaults that their own schema refuses.
fn check_defaults<'a>(schema: &'a Value, path: &mut Vec<&'a str>, out: &mut Vec<String>) {
    let Value::Object(object) = schema else { return };
    if let Some(default) = object.get("default")
        && !default.is_null()
        && CompiledSchema::compile(schema).is_ok_and(|compiled| !compiled.validator.is_valid(default))
    {
        out.push(format!(
            "the default {} of `{}` is not valid against its own schema",
            show::value(default),
            path.join(".")
        ));
    }
    for (name, property) in object.get("properties").and_then(Value::as_object).into_iter().flatten() {
        path.push(name);
        check_defaults(property, path, out);
        path.pop();
    }
    if let Some(items) = object.get("items") {
        path.push("[]");
        check_defaults(items, path, out);
        path.pop();
    }
}

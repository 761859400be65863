//! A compiled schema: JSON Schema 2020-12, formats asserted, patterns bounded, remote references refused.

use jsonschema::{Draft, PatternOptions, Validator, error::ValidationErrorKind as Kind};
use loggia_facade::Object;
use serde_json::Value;

use crate::{
    model::{
        keywords::{self, SubschemaLayout},
        limits,
        nesting::nodes,
        pattern::{PatternBudget, unsupported_pattern},
        sanitise::sanitise_line,
        work,
    },
    text::show,
};

/// Bytes of DFA states that one search by a pattern of names may keep.
const NAME_STATES: usize = 64 << 10;

/// A compiled schema, with the cost of checking values by it.
pub(crate) struct CompiledSchema {
    pub(crate) validator: Validator,
    /// Subschemas, including the root.
    subschemas: usize,
    /// NFA states of all `patternProperties` together.
    name_states: usize,
}

/// The limit that checking a value would exceed.
pub(crate) enum CostLimit {
    /// Matching its names against `patternProperties`.
    Names,
    /// The number of its values; this many are allowed.
    Values(usize),
}

impl CompiledSchema {
    /// Compiles a schema with a pattern budget of its own.
    ///
    /// # Errors
    ///
    /// The problem and its place.
    pub(crate) fn compile(schema: &Value) -> Result<Self, String> {
        Self::compile_with(schema, &PatternBudget::default())
    }

    /// Compiles a schema whose patterns share a budget with others.
    ///
    /// # Errors
    ///
    /// The problem and its place.
    pub(crate) fn compile_with(schema: &Value, budget: &PatternBudget) -> Result<Self, String> {
        #[cfg(test)]
        COMPILED.with(|count| count.set(count.get() + 1));
        let mut measured = SchemaSurvey { budget, subschemas: 0, names: 0, problem: None };
        measured.schema(schema, &mut String::new());
        let SchemaSurvey { subschemas, names, problem, .. } = measured;
        if let Some(problem) = problem {
            return Err(problem);
        }
        let shared = budget.clone();
        let options =
            PatternOptions::regex().size_limit(limits::COMPILED_PATTERN).dfa_size_limit(NAME_STATES);
        let validator = jsonschema::options()
            .with_draft(Draft::Draft202012)
            .should_validate_formats(true)
            .with_format("regex", |text: &str| {
                text.len() <= limits::REGEX && jsonschema_regex::is_valid_ecma_regex(text)
            })
            .with_keyword("pattern", move |_, pattern, _| shared.keyword(pattern))
            .with_pattern_options(options)
            .offline()
            .build(schema)
            .map_err(|error| {
                let path = match error.kind() {
                    Kind::Custom { .. } => error.schema_path().as_str(),
                    _ => error.instance_path().as_str(),
                };
                let what = match (path.rsplit('/').next(), error.kind().keyword()) {
                    (Some("type"), _) => {
                        "`type` must be one of string, integer, number, boolean, array, object, null, or a list of these"
                            .into()
                    }
                    (_, "format") => unsupported_pattern(error.instance()),
                    // The message contains JSON of the author, which may have hidden characters.
                    _ => show::cut(&sanitise_line(&error.to_string(), usize::MAX), 300),
                };
                format!("{what}{}", place_suffix(path))
            })?;
        Ok(Self { validator, subschemas, name_states: names })
    }

    /// Returns the limit that checking these parameters would exceed. Charges the matching of names to the work
    /// budget.
    pub(crate) fn check_cost(&self, params: &Object) -> Option<CostLimit> {
        let most = limits::CHECKS / self.subschemas.max(1);
        // Parsed messages never have more than `NODES` values, so counting them is needless.
        if most < limits::NODES {
            let values = nodes(params.values(), most + 1);
            if values > most {
                return Some(CostLimit::Values(most));
            }
        }
        if self.name_states > 0 && !work::spend(name_bytes(params).saturating_mul(self.name_states)) {
            return Some(CostLimit::Names);
        }
        None
    }

    /// Charges the work of checking an example; false if the budget does not cover it.
    pub(crate) fn spend(&self, example: &Object) -> bool {
        let checks = self.subschemas.saturating_mul(nodes(example.values(), usize::MAX));
        let names = name_bytes(example).saturating_mul(self.name_states);
        work::spend(checks.saturating_mul(CHECK).saturating_add(names))
    }
}

/// Steps charged for one check.
const CHECK: usize = 4;

fn place_suffix(path: &str) -> String {
    if path.is_empty() { String::new() } else { format!(" (at {})", show::name(path)) }
}

/// Measures a schema before it is compiled.
struct SchemaSurvey<'b> {
    budget: &'b PatternBudget,
    subschemas: usize,
    names: usize,
    problem: Option<String>,
}

impl SchemaSurvey<'_> {
    fn schema(&mut self, schema: &Value, path: &mut String) {
        self.subschemas += 1;
        let Value::Object(schema) = schema else { return };
        let length = path.len();
        for (keyword, value) in schema {
            if self.problem.is_some() {
                return;
            }
            match (keywords::subschemas(keyword), value) {
                (Some(SubschemaLayout::One), value) => self.schema(value, push_steps(path, &[keyword])),
                (Some(SubschemaLayout::Map), Value::Object(map)) => {
                    for (name, value) in map {
                        push_steps(path, &[keyword, name]);
                        if keyword == "patternProperties" {
                            match self.budget.reserve_names(name) {
                                Ok(states) => self.names += states,
                                Err(reason) => self.problem = Some(format!("{reason}{}", place_suffix(path))),
                            }
                        }
                        self.schema(value, path);
                        path.truncate(length);
                    }
                }
                (Some(SubschemaLayout::List), Value::Array(list)) => {
                    list.iter().for_each(|value| {
                        self.schema(value, push_steps(path, &[keyword]));
                        path.truncate(length);
                    });
                }
                _ => {}
            }
            path.truncate(length);
        }
    }
}

fn push_steps<'p>(path: &'p mut String, names: &[&str]) -> &'p mut String {
    for name in names {
        path.push('/');
        path.push_str(name);
    }
    path
}

/// Bytes of all names in a value.
fn name_bytes(params: &Object) -> usize {
    fn in_value(value: &Value) -> usize {
        match value {
            Value::Array(items) => items.iter().map(in_value).sum(),
            Value::Object(members) => name_bytes(members),
            _ => 0,
        }
    }
    params.iter().map(|(name, value)| name.len() + 1 + in_value(value)).sum()
}

#[cfg(test)]
thread_local! {
    /// Schemas that this thread has compiled.
    pub(crate) static COMPILED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

//! A schema made ready to check values: JSON Schema 2020-12, formats asserted, patterns bounded, nothing fetched.

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

/// Bytes of states that one search by a pattern of names may keep.
const NAME_STATES: usize = 64 << 10;

/// A schema made ready to check values.
pub(crate) struct CompiledSchema {
    pub validator: Validator,
    /// Schemas in the schema.
    subschemas: usize,
    /// States of all patterns of names together.
    name_states: usize,
}

/// How much work it would be to check a value, if that is too much.
pub(crate) enum CostLimit {
    /// Its names against the patterns of names.
    Names,
    /// So many values.
    Values(usize),
}

impl CompiledSchema {
    /// Compiles a schema alone.
    ///
    /// # Errors
    ///
    /// What is wrong with it, and where.
    pub(crate) fn compile(schema: &Value) -> Result<Self, String> {
        Self::compile_with(schema, &PatternBudget::default())
    }

    /// Compiles one of several schemas, whose patterns share a budget.
    ///
    /// # Errors
    ///
    /// What is wrong with it, and where.
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
                    // Shows the value, as JSON that hides what it likes.
                    _ => show::cut(&sanitise_line(&error.to_string(), usize::MAX), 300),
                };
                format!("{what}{}", place_suffix(path))
            })?;
        Ok(Self { validator, subschemas, name_states: names })
    }

    /// Whether checking these parameters would be too much work. Where there are patterns of names, takes the work that
    /// they are.
    pub(crate) fn check_cost(&self, params: &Object) -> Option<CostLimit> {
        let most = limits::CHECKS / self.subschemas.max(1);
        // Where the text of a message holds no more values, none need to be counted.
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

    /// Takes the work that checking an example is; false where that is too much.
    pub(crate) fn spend(&self, example: &Object) -> bool {
        let checks = self.subschemas.saturating_mul(nodes(example.values(), usize::MAX));
        let names = name_bytes(example).saturating_mul(self.name_states);
        work::spend(checks.saturating_mul(CHECK).saturating_add(names))
    }
}

/// Steps of one check.
const CHECK: usize = 4;

fn place_suffix(path: &str) -> String {
    if path.is_empty() { String::new() } else { format!(" (at {})", show::name(path)) }
}

/// Looks through a schema before it is compiled.
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
                                Err(said) => self.problem = Some(format!("{said}{}", place_suffix(path))),
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

/// The length of all names.
fn name_bytes(params: &Object) -> usize {
    fn of(value: &Value) -> usize {
        match value {
            Value::Array(items) => items.iter().map(of).sum(),
            Value::Object(members) => name_bytes(members),
            _ => 0,
        }
    }
    params.iter().map(|(name, value)| name.len() + 1 + of(value)).sum()
}

#[cfg(test)]
thread_local! {
    /// How many schemas this thread has compiled.
    pub(crate) static COMPILED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

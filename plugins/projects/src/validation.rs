//! Validations of a task: what must hold before it is done.

use loggia_sdk::prelude::*;

/// Validations of a task.
pub const VALIDATIONS: usize = 10;
/// Bytes of an expected value, and of the arguments.
const VALUE: usize = 2_000;

/// What must hold before a task is done: one of these.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Validation {
    /// A file with this path exists.
    FileExists(#[schemars(length(min = 1, max = 4096))] String),
    /// A line of a file matches a regular expression.
    FileMatches(FileMatch),
    /// A read action of another facade returns a value.
    Invoke(ExpectedValue),
    /// A person confirms this.
    Manual(#[schemars(length(min = 1, max = 500))] String),
}

/// A line of a file, or of a file below a folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FileMatch {
    #[schemars(length(min = 1, max = 4096))]
    pub path: String,
    /// A regular expression, for one line.
    #[schemars(length(min = 1, max = 1000))]
    pub pattern: String,
}

/// A value in the result of an action.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExpectedValue {
    /// `facade.action`.
    #[schemars(length(min = 3, max = 128))]
    pub call: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Object>,
    /// JSON pointer into the result's data, such as `/items/0/state`; without it all of the data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 500))]
    pub pointer: Option<String>,
    /// The value as text: `open`, `3`, `true`, `{"a":1}`.
    #[schemars(length(max = 2000))]
    pub equals: String,
}

impl Validation {
    /// Its subject, for messages: `file_exists /src/lib.rs`.
    pub fn subject(&self) -> String {
        match self {
            Self::FileExists(path) => format!("file_exists {path}"),
            Self::FileMatches(FileMatch { path, .. }) => format!("file_matches {path}"),
            Self::Invoke(ExpectedValue { call, pointer, .. }) => {
                format!("invoke {call} {}", pointer.as_deref().unwrap_or_default()).trim_end().to_owned()
            }
            Self::Manual(text) => format!("manual \"{text}\""),
        }
    }

    /// Refuses a validation that could never pass.
    ///
    /// # Errors
    ///
    /// `invalid_params`.
    pub fn check(&self) -> Result<()> {
        let is_blank = |text: &String| text.trim().is_empty();
        match self {
            Self::FileExists(path) if is_blank(path) => {
                Err(Failure::invalid_params("`file_exists` needs a path"))
            }
            Self::FileMatches(FileMatch { path, pattern }) if is_blank(path) || pattern.is_empty() => {
                Err(Failure::invalid_params("`file_matches` needs a `path` and a `pattern`"))
            }
            Self::Manual(text) if is_blank(text) => {
                Err(Failure::invalid_params("`manual` needs a text: what the person confirms"))
            }
            Self::Invoke(expected) => expected.check(),
            _ => Ok(()),
        }
    }
}

impl ExpectedValue {
    /// Facade and action.
    pub fn parts(&self) -> Option<(&str, &str)> {
        self.call.split_once(['.', ':']).filter(|(facade, action)| !facade.is_empty() && !action.is_empty())
    }

    fn check(&self) -> Result<()> {
        if self.parts().is_none() {
            let failure = Failure::invalid_params(format!("`{}` is not a call", self.call));
            return Err(failure.hint("`call` is a facade and an action, such as `files.stat`."));
        }
        if self.pointer.as_ref().is_some_and(|pointer| !pointer.is_empty() && !pointer.starts_with('/')) {
            let failure = Failure::invalid_params("`pointer` is not a JSON pointer: it begins with `/`");
            return Err(failure.hint("`/items/0/state` is the state of the first of `items`."));
        }
        let arguments = self.arguments.as_ref().map_or(0, |given| loggia_sdk::json!(given).to_string().len());
        if arguments > VALUE {
            let failure = Failure::invalid_params(format!("`arguments` are longer than {VALUE} bytes"));
            return Err(failure.hint("A validation asks for one value: name it more briefly."));
        }
        if self.equals.len() > VALUE {
            let failure = Failure::invalid_params(format!("`equals` is longer than {VALUE} bytes"));
            return Err(failure.hint("Compare a smaller part of the result, by `pointer`."));
        }
        Ok(())
    }
}

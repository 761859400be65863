//! Output of the macros: a facade as a table of its actions. Not for direct use.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, de::DeserializeOwned};

use crate::{Detail, Effect, Failure, Object, Reply, Result, Value, detail, json_text};
pub use crate::{
    incoming::Incoming,
    list::{Counted, IsList, IsNoList},
    shape::{Shape, data},
};

/// A type whose `impl` block has `#[facade]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a facade",
    label = "needs `#[facade]`",
    note = "write `#[facade]` on the `impl` block that holds its actions"
)]
pub trait Facade: Sized + 'static {
    #[doc(hidden)]
    const ABOUT: About;
    #[doc(hidden)]
    const ACTIONS: &'static [Action<Self>];
}

/// A facade's description of itself.
pub struct About {
    pub name: &'static str,
    pub title: &'static str,
    pub version: &'static str,
    pub summary: &'static str,
    pub instructions: Option<&'static str>,
    pub default_action: Option<&'static str>,
    pub views: &'static [View],
    pub wants: &'static [Want],
}

/// What shows results to a person.
pub struct View {
    pub name: &'static str,
    pub html: &'static str,
}

/// The result of an action as a resource.
pub struct Resource {
    pub uri: &'static str,
    pub mime_type: Option<&'static str>,
    pub items: Option<&'static str>,
    pub state: Option<&'static str>,
}

impl About {
    /// Placeholder for a facade with errors, so that rustc reports only these.
    pub const EMPTY: Self = Self {
        name: "",
        title: "",
        version: "",
        summary: "",
        instructions: None,
        default_action: None,
        views: &[],
        wants: &[],
    };
}

/// A capability that a plugin would like.
pub struct Want {
    pub grant: &'static str,
    pub reason: &'static str,
    pub needed: bool,
}

/// One action.
pub struct Action<F> {
    pub name: &'static str,
    pub summary: &'static str,
    /// Doc comment after the summary.
    pub about: &'static str,
    pub effect: Effect,
    pub idempotent: bool,
    pub open_world: bool,
    pub long_running: bool,
    /// Declared by the author; marks in the result's type also imply it.
    pub details: bool,
    pub aliases: &'static [&'static str],
    /// Grants without which the host does not publish the action.
    pub needs: &'static [&'static str],
    pub resource: Option<Resource>,
    /// Name of the view that shows its results.
    pub view: Option<&'static str>,
    /// JSON objects; the macro has parsed them.
    pub examples: &'static [&'static str],
    pub params: fn(&mut Shape),
    pub data: fn() -> Option<Value>,
    pub run: fn(&F, &mut Incoming) -> Result<Reply<String>>,
}

impl<F> Action<F> {
    /// The schema of its parameters.
    pub(crate) fn params(&self) -> Object {
        let mut shape = Shape::new();
        (self.params)(&mut shape);
        shape.finish(self.about)
    }

    /// Tests whether results differ with the detail level: by declaration, or by marks in the result's type.
    pub(crate) fn has_details(&self) -> bool {
        self.details || (self.data)().as_ref().is_some_and(detail::marked)
    }
}

/// The action of this name.
pub(crate) fn find<F: Facade>(name: &str) -> Result<&'static Action<F>> {
    let found = F::ACTIONS.iter().find(|action| action.name == name);
    // The host knows the actions and lists them; this is for a host that does not.
    found.ok_or_else(|| Failure::invalid_params(format!("Unknown action: \"{name}\".")))
}

/// Answers a call; the data is JSON text.
pub(crate) fn dispatch<F: Facade>(facade: &F, mut incoming: Incoming) -> Result<Reply<String>> {
    let action = find::<F>(&incoming.facts.action)?;
    let mut result = (action.run)(facade, &mut incoming);
    let next = match &mut result {
        Ok(reply) => &mut reply.next,
        Err(failure) => &mut failure.next,
    };
    if let Some(next) = next {
        next.facade.get_or_insert_with(|| F::ABOUT.name.to_owned());
    }
    result
}

/// Native check of `export!`.
pub fn require<F: Facade>(_facade: &F) {}

/// A type of parameters for which a text literal stands, as a default or an example.
#[diagnostic::on_unimplemented(
    message = "a text is no value of `{Self}`",
    label = "not a `{Self}`",
    note = "write a value of the parameter's type: `10` for a number, `true` for a flag, any expression for other types"
)]
pub trait TextValue {
    fn from_text(text: &'static str) -> Self;
}

#[diagnostic::do_not_recommend]
impl<T: From<&'static str>> TextValue for T {
    fn from_text(text: &'static str) -> Self {
        text.into()
    }
}

/// The value of a parameter that a text literal stands for.
pub fn from_text<T: TextValue>(text: &'static str) -> T {
    T::from_text(text)
}

/// What an action may fail with.
#[diagnostic::on_unimplemented(
    message = "an action cannot fail with `{Self}`",
    label = "neither a `Failure` nor a `std::error::Error`",
    note = "return `Result<T>`, whose error is `Failure`: `Failure::invalid_params(\"…\")` says what the caller can correct"
)]
pub trait ActionError {
    fn into_failure(self) -> Failure;
}

#[diagnostic::do_not_recommend]
impl<E: Into<Failure>> ActionError for E {
    fn into_failure(self) -> Failure {
        self.into()
    }
}

/// A type of parameters.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a parameter",
    label = "has no schema, or cannot be read from JSON",
    note = "write `#[data]` above the type: it derives `Deserialize`, `JsonSchema` and `Serialize`"
)]
pub trait ParamValue: JsonSchema + DeserializeOwned {}

#[diagnostic::do_not_recommend]
impl<T: JsonSchema + DeserializeOwned> ParamValue for T {}

/// What an action may return.
#[diagnostic::on_unimplemented(
    message = "an action cannot return `{Self}`",
    label = "not a `Result`",
    note = "return `Result<T>`, `Result<Reply<T>>` or `Result<()>`"
)]
pub trait Outcome {
    fn schema(generator: &mut SchemaGenerator) -> Schema;
    /// Serialises the data at this level; `items` is the number of items of a list.
    ///
    /// # Errors
    ///
    /// The action's own failure; `internal` where the data cannot be written as JSON.
    fn finish(self, level: Detail, items: Option<usize>) -> Result<Reply<String>>;
}

impl<P: Payload, E: ActionError> Outcome for std::result::Result<P, E> {
    fn schema(generator: &mut SchemaGenerator) -> Schema {
        generator.subschema_for::<P::Data>()
    }

    fn finish(self, level: Detail, items: Option<usize>) -> Result<Reply<String>> {
        self.map_err(ActionError::into_failure)?.written(level).map(|reply| reply.counted(items))
    }
}

/// Data, bare or in a [`Reply`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the data of a result",
    label = "has no schema, or cannot be written as JSON",
    note = "write `#[data]` above the type: it derives `Serialize`, `JsonSchema` and `Deserialize`"
)]
pub trait Payload {
    type Data: JsonSchema;
    /// # Errors
    ///
    /// `internal` if the data cannot be written as JSON.
    fn written(self, level: Detail) -> Result<Reply<String>>;
}

#[diagnostic::do_not_recommend]
impl<T: Serialize + JsonSchema> Payload for T {
    type Data = T;

    fn written(self, level: Detail) -> Result<Reply<String>> {
        write(&self, level).map(Reply::new)
    }
}

impl<T: Serialize + JsonSchema> Payload for Reply<T> {
    type Data = T;

    fn written(self, level: Detail) -> Result<Reply<String>> {
        let data = write(&self.data, level)?;
        Ok(self.with(data))
    }
}

fn write(data: &impl Serialize, level: Detail) -> Result<String> {
    let scope = detail::Scope::new(level);
    let written = json_text::to_string(data);
    drop(scope);
    written.map_err(|error| Failure::internal(format!("the result cannot be written as JSON: {error}")))
}

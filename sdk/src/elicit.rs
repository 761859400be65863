//! Questions to the person.

mod form;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use crate::{Failure, Object, Result, Value, host::port};

/// What the person said to a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer<T> {
    /// The form, filled in.
    Accepted(T),
    /// No.
    Declined,
    /// Neither yes nor no: the question was closed.
    Cancelled,
}

impl<T> Answer<T> {
    /// What was filled in, for an action that cannot go on without.
    ///
    /// # Errors
    ///
    /// `denied` where the person said no, `cancelled` where the question was closed.
    pub fn accepted(self) -> Result<T> {
        match self {
            Self::Accepted(given) => Ok(given),
            Self::Declined => Err(Failure::denied("access denied: the person declined")
                .hint("Do not ask again unless the person wishes it.")),
            Self::Cancelled => Err(Failure::cancelled().about("the person closed the question")),
        }
    }
}

/// Asks the person, by a form made of a structure: its fields are texts, numbers, yes or no (`bool`), or choices (enums
/// without data), or several of a choice (a `Vec` of such an enum); optional ones are `Option`s. Doc comments become the form's explanations.
///
/// While the person thinks, the clocks of the call stand still.
///
/// ```
/// # use loggia_sdk::{prelude::*, testing::Host};
/// # struct Notes;
/// #[derive(Deserialize, JsonSchema)]
/// struct Confirm {
///     /// Also delete what is archived?
///     archived: bool,
/// }
///
/// /// Notes.
/// #[facade]
/// impl Notes {
///     /// Delete all notes.
///     #[action(destructive)]
///     fn purge(&self) -> Result<String> {
///         match host::elicit::<Confirm>("Delete all 12 notes?")? {
///             Answer::Accepted(Confirm { archived: true }) => Ok("all are gone".into()),
///             Answer::Accepted(_) => Ok("all but the archived ones are gone".into()),
///             Answer::Declined | Answer::Cancelled => Err(Failure::cancelled()),
///         }
///     }
/// }
///
/// let host = Host::new().person(Answer::Accepted(json!({"archived": true})));
/// assert_eq!(host.call(&Notes, "purge", json!({})).unwrap().data, "all are gone");
/// assert_eq!(host.questions()[0].message, "Delete all 12 notes?");
/// ```
///
/// # Errors
///
/// `denied` where the policy does not grant `elicit`; `internal` where the structure cannot be a form, with the field
/// that is at fault; `invalid_data` where the answer does not fit the structure; else the host's failure, as where the
/// client cannot ask.
pub fn elicit<T: JsonSchema + DeserializeOwned>(message: &str) -> Result<Answer<T>> {
    given(port::elicit(message, form::of::<T>()?)?)
}

/// The same with a name for the question, of letters, digits, `_` and `-`: a client that knows what will be asked may send
/// the answer along with the call, and nobody is asked then. A call's first question of a name can be answered so; a
/// question that a person must see in any case has no name.
///
/// # Errors
///
/// As [`elicit`].
pub fn elicit_as<T: JsonSchema + DeserializeOwned>(name: &str, message: &str) -> Result<Answer<T>> {
    let mut form = form::of::<T>()?;
    form.insert("$anchor".into(), name.into());
    given(port::elicit(message, form)?)
}

fn given<T: DeserializeOwned>(answer: Answer<Value>) -> Result<Answer<T>> {
    Ok(match answer {
        Answer::Accepted(given) => Answer::Accepted(serde_json::from_value(given).map_err(unfit)?),
        Answer::Declined => Answer::Declined,
        Answer::Cancelled => Answer::Cancelled,
    })
}

/// Asks the person to agree, with nothing to fill in. To decline and to close the question are both a no.
///
/// ```
/// # use loggia_sdk::{prelude::*, testing::Host};
/// # struct Notes;
/// # /// Notes.
/// # #[facade]
/// # impl Notes {
/// /// Delete all notes.
/// #[action(destructive)]
/// fn purge(&self) -> Result<u32> {
///     Ok(if host::confirm("Delete all 12 notes?")? { 12 } else { 0 })
/// }
/// # }
/// # let host = Host::new().person(Answer::Declined);
/// # assert_eq!(host.call(&Notes, "purge", json!({})).unwrap().data, 0);
/// ```
///
/// # Errors
///
/// `denied` where the policy does not grant `elicit`; else the host's failure.
pub fn confirm(message: &str) -> Result<bool> {
    port::elicit(message, form::empty()).map(|answer: Answer<Value>| matches!(answer, Answer::Accepted(_)))
}

// Not generic, so that a guest holds it once.
fn unfit(error: serde_json::Error) -> Failure {
    Failure::invalid_data(format!("the answer does not fit: {error}"))
}

/// A form, as the host takes it: an object schema.
type Form = Object;

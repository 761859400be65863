//! Questions to the person.

mod form;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use crate::{Failure, Object, Result, Value};

/// A person's answer to a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer<T> {
    /// The form, filled in.
    Accepted(T),
    /// No.
    Declined,
    /// Closed without an answer.
    Cancelled,
}

impl<T> Answer<T> {
    /// Returns the input, for an action that requires it.
    ///
    /// # Errors
    ///
    /// `denied` if the person declined, `cancelled` if the question was closed.
    pub fn accepted(self) -> Result<T> {
        match self {
            Self::Accepted(given) => Ok(given),
            Self::Declined => Err(Failure::denied("access denied: the person declined")
                .hint("Do not ask again unless the person wishes it.")),
            Self::Cancelled => Err(Failure::cancelled().about("the person closed the question")),
        }
    }
}

/// A struct that a form is made for.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the form of a question",
    label = "has no schema, or cannot be read from JSON",
    note = "write `#[data]` above the struct: it derives `Deserialize`, `JsonSchema` and `Serialize`"
)]
pub trait AnswerForm: JsonSchema + DeserializeOwned {}

#[diagnostic::do_not_recommend]
impl<T: JsonSchema + DeserializeOwned> AnswerForm for T {}

/// Asks the person with a form for a struct: its fields are texts, numbers, booleans, choices (enums without data), or
/// several of a choice (a `Vec` of such an enum); optional ones are `Option`s. Doc comments become the form's
/// explanations.
///
/// While the person thinks, the call's clocks are paused.
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
/// `denied` if the policy does not grant `elicit`; `internal` if the struct cannot be a form, with the field in
/// question; `invalid_data` if the answer does not fit the struct; otherwise the host's failure, for example if the
/// client cannot ask.
pub fn elicit<T: AnswerForm>(message: &str) -> Result<Answer<T>> {
    given(port::elicit(message, form::of::<T>()?)?)
}

/// Like [`elicit`], with a name for the question, of letters, digits, `_` and `-`: a client that knows the question may
/// send the answer along with the call, and then nobody is asked. This applies to a call's first question of that name;
/// a question that a person must see in any case should have no name.
///
/// # Errors
///
/// Like [`elicit`].
pub fn elicit_as<T: AnswerForm>(name: &str, message: &str) -> Result<Answer<T>> {
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

/// Asks the person to choose one of several values that are known only at run time, each with the title that the person
/// sees. `field` names the answer in the form. If the values are known beforehand, [`elicit`] with an enum does the same.
///
/// ```
/// # use loggia_sdk::{prelude::*, testing::Host};
/// let host = Host::new().person(Answer::Accepted(json!({"list": "l_2"})));
/// let lists = [("l_1", "Groceries"), ("l_2", "Errands")];
/// let chosen = host.run(|| host::choose("On which list?", "list", &lists)).unwrap();
/// assert_eq!(chosen, Answer::Accepted("l_2".to_owned()));
/// ```
///
/// # Errors
///
/// `denied` if the policy does not grant `elicit`; `invalid_params` without choices; `invalid_data` if the answer is none
/// of them; otherwise the host's failure.
pub fn choose<V: AsRef<str>, T: AsRef<str>>(
    message: &str,
    field: &str,
    choices: &[(V, T)],
) -> Result<Answer<String>> {
    let choices: Vec<(&str, &str)> =
        choices.iter().map(|(value, title)| (value.as_ref(), title.as_ref())).collect();
    chosen(message, field, &choices)
}

// Not generic, so that a guest contains it once.
fn chosen(message: &str, field: &str, choices: &[(&str, &str)]) -> Result<Answer<String>> {
    if choices.is_empty() {
        return Err(Failure::invalid_params("nothing to choose from"));
    }
    Ok(match port::elicit(message, form::one_of(field, choices))? {
        Answer::Accepted(given) => {
            let value = given.get(field).and_then(Value::as_str);
            let known = value.filter(|value| choices.iter().any(|(choice, _)| choice == value));
            let value = known.ok_or_else(|| {
                Failure::invalid_data(format!("the answer is none of the choices of `{field}`"))
            })?;
            Answer::Accepted(value.to_owned())
        }
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
/// `denied` if the policy does not grant `elicit`; otherwise the host's failure.
pub fn confirm(message: &str) -> Result<bool> {
    port::elicit(message, form::empty()).map(|answer: Answer<Value>| matches!(answer, Answer::Accepted(_)))
}

// Not generic, so that a guest contains it once.
fn unfit(error: serde_json::Error) -> Failure {
    Failure::invalid_data(format!("the answer does not fit: {error}"))
}

/// A form, as the host takes it: an object schema.
type Form = Object;

#[cfg(target_family = "wasm")]
mod port {
    use super::{Answer, Form};
    use crate::{
        Result, Value,
        abi::convert::{from_failure, read, write},
        bindings::loggia::plugin::host,
    };

    pub fn elicit(message: &str, form: Form) -> Result<Answer<Value>> {
        match host::elicit(message, &write(&Value::Object(form))) {
            Ok(host::Answer::Accepted(given)) => Ok(Answer::Accepted(read(&given))),
            Ok(host::Answer::Declined) => Ok(Answer::Declined),
            Ok(host::Answer::Cancelled) => Ok(Answer::Cancelled),
            Err(failure) => Err(from_failure(failure)),
        }
    }
}

#[cfg(not(target_family = "wasm"))]
mod port {
    use super::{Answer, Form};
    use crate::{
        Failure, Result, Value,
        testing::{Host, Question, current},
    };

    pub fn elicit(message: &str, form: Form) -> Result<Answer<Value>> {
        let answer = current(|host| {
            host.questions.push(Question { message: message.to_owned(), form });
            host.answers.pop_front()
        });
        answer.flatten().ok_or_else(|| {
            Failure::denied("access denied").hint("the policy of this plugin does not grant `elicit`")
        })
    }

    impl Host {
        /// Adds the person's answer to the next question; may be repeated, one answer per question. Without remaining
        /// answers, questions are `denied`, as if the policy did not grant them.
        #[must_use]
        pub fn person(self, answer: Answer<Value>) -> Self {
            self.with(|host| host.answers.push_back(answer))
        }

        /// Questions to the person, including denied ones.
        pub fn questions(&self) -> Vec<Question> {
            self.double().questions.clone()
        }
    }
}

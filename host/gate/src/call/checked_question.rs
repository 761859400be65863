//! A facade's question, checked before a person sees it, and the check of its answer.

use loggia_facade::{Answer, Failure, QuestionKind};
use loggia_schema::QuestionForm;
use serde_json::Value;

use super::link::QuestionLink;
use crate::failures::invalid_params;

/// Question that may be shown.
pub(super) enum CheckedQuestion {
    /// A form.
    Form(QuestionForm),
    /// A link.
    Link(QuestionLink),
}

impl CheckedQuestion {
    /// Checks a form or a link.
    pub(super) fn new(kind: &QuestionKind) -> Result<Self, Failure> {
        let checked = match kind {
            QuestionKind::Form { schema } => QuestionForm::new(schema)
                .map(Self::Form)
                .map_err(|reason| format!("the question's form cannot be shown: {reason}")),
            QuestionKind::Link { url } => QuestionLink::parse(url)
                .map(Self::Link)
                .map_err(|reason| format!("the question's link cannot be shown: it {reason}")),
        };
        checked.map_err(invalid_params)
    }

    /// Renders the text that the client shows, which begins with the facade's name.
    pub(super) fn render_message(&self, facade: &str, message: &str) -> String {
        match self {
            Self::Form(_) => format!("[{facade}] {message}"),
            Self::Link(link) => link.render_message(facade, message),
        }
    }

    /// The form or link as clients show it.
    pub(super) fn kind(&self) -> QuestionKind {
        match self {
            Self::Form(form) => QuestionKind::Form { schema: form.schema().clone() },
            Self::Link(link) => QuestionKind::Link { url: link.url().to_owned() },
        }
    }

    /// Checks an accepted answer. Content that comes with an opened link is dropped.
    pub(super) fn check_answer(&self, value: Value) -> Result<Answer, Failure> {
        match self {
            Self::Form(form) => match form.check(&value) {
                Ok(()) => Ok(Answer::Accepted(value)),
                Err(reason) => {
                    let message = format!("the answer does not fit the question: {reason}");
                    Err(invalid_params(message).hint("ask again"))
                }
            },
            Self::Link(_) => Ok(Answer::Accepted(Value::Null)),
        }
    }
}

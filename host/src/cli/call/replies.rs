//! Replies to the questions of a call: those of `--answer`, and then those of the person at the terminal.

use std::collections::VecDeque;

use loggia_facade::{Answer, Object, Question};
use loggia_serve::form_fields::agree;
use loggia_text::printable;
use serde_json::Value;
use tokio::task::spawn_blocking;

use super::prompt::prompt_answer;
use crate::cli::{common::UsageError, term};

/// A reply of the command line.
#[derive(Debug, Clone, PartialEq)]
enum GivenReply {
    /// Agrees: fields that must be yes or no are yes.
    Accept,
    /// Fills the form in.
    Form(Object),
    Decline,
    Cancel,
}

/// Replies to the questions of one call.
pub(super) struct QuestionReplies {
    given: VecDeque<GivenReply>,
    at_terminal: bool,
}

impl QuestionReplies {
    /// Parses the replies of the command line.
    ///
    /// # Errors
    ///
    /// If one is neither a word nor an object.
    pub(super) fn parse(words: &[String], at_terminal: bool) -> Result<Self, UsageError> {
        let given = words.iter().map(|word| parse_reply(word)).collect::<Result<_, _>>()?;
        Ok(Self { given, at_terminal })
    }

    /// Whether questions can be answered at all.
    pub(super) fn can_answer(&self) -> bool {
        self.at_terminal || !self.given.is_empty()
    }

    /// Answers a question. Without a reply that is left, and without a terminal, it is cancelled.
    pub(super) async fn answer(&mut self, question: Question) -> Answer {
        if let Some(reply) = self.given.pop_front() {
            return reply.to_answer(&question);
        }
        if self.at_terminal {
            // A person may think for long; progress and timeouts of other calls go on.
            return spawn_blocking(move || prompt_answer(&question)).await.unwrap_or(Answer::Cancelled);
        }
        term::note(&format!("no --answer is left for the question: {}", printable(&question.message)));
        Answer::Cancelled
    }
}

impl GivenReply {
    fn to_answer(&self, question: &Question) -> Answer {
        match self {
            Self::Form(form) => Answer::Accepted(Value::Object(form.clone())),
            Self::Accept => Answer::Accepted(agree(&question.kind)),
            Self::Decline => Answer::Declined,
            Self::Cancel => Answer::Cancelled,
        }
    }
}

fn parse_reply(word: &str) -> Result<GivenReply, UsageError> {
    match word {
        "accept" => Ok(GivenReply::Accept),
        "decline" => Ok(GivenReply::Decline),
        "cancel" => Ok(GivenReply::Cancel),
        form => serde_json::from_str(form).map(GivenReply::Form).map_err(|_| {
            UsageError(format!("--answer takes accept, decline, cancel or one JSON object, not `{form}`"))
        }),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[tokio::test]
    async fn replies_answer_questions_in_their_order() {
        let words = [r#"{"n": 1}"#, "accept", "decline", "cancel"].map(str::to_owned);
        let mut replies = QuestionReplies::parse(&words, false).unwrap();
        let schema = json!({
            "properties": {"sure": {"type": "boolean"}, "later": {"type": "boolean"}, "n": {"type": "integer"}},
            "required": ["sure"],
        });
        let question = Question::form("Sure?", schema.as_object().cloned().unwrap());
        let mut answers = Vec::new();
        assert!(replies.can_answer());
        for _ in 0..5 {
            answers.push(replies.answer(question.clone()).await);
        }
        let expected = [
            Answer::Accepted(json!({"n": 1})),
            Answer::Accepted(json!({"sure": true})),
            Answer::Declined,
            Answer::Cancelled,
            // None is left.
            Answer::Cancelled,
        ];
        assert_eq!(answers, expected);
        assert!(!replies.can_answer());
    }

    #[test]
    fn other_words_are_usage_errors() {
        for word in ["yes", "", "[1]", "{"] {
            let error = QuestionReplies::parse(&[word.to_owned()], true).err().map(|error| error.0);
            assert!(error.is_some_and(|text| text.contains("accept, decline, cancel")), "{word}");
        }
    }
}

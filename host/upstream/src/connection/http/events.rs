//! Server-sent events, within a bound.

use std::io;

use futures_util::stream::{BoxStream, StreamExt, unfold};
use loggia_facade::json;
use rmcp::model::{ErrorCode, ErrorData, JsonRpcMessage, RequestId, ServerJsonRpcMessage};
use serde::{Deserialize, de::IgnoredAny};
use sse_stream::{Error as SseError, Sse};
use tokio::io::AsyncRead;

use super::{
    super::bounded_lines::{BoundedLines, StreamLine},
    http_error::{HttpError, innermost},
};

/// Reads events of at most `max` bytes.
///
/// On the stream that answers `request`, an error response takes the place of an event that holds too many values, and of an
/// answer that does not come: rmcp would wait for it.
pub(super) fn read_events<R>(
    from: R,
    max: usize,
    request: Option<RequestId>,
) -> BoxStream<'static, Result<Sse, SseError>>
where
    R: AsyncRead + Unpin + Send + 'static,
{
    let reader = EventReader { lines: BoundedLines::new(from, max), max, request, can_resume: false };
    unfold(Some(reader), |reader| async move {
        let mut reader = reader?;
        let end = match reader.next().await {
            Ok(Some(event)) => return Some((Ok(event), Some(reader))),
            Ok(None) if reader.request.is_none() => return None,
            Ok(None) => io::Error::other("the stream ended without an answer"),
            Err(error) => error,
        };
        match reader.request.take() {
            // A server that numbers its events can send the rest later.
            Some(request) if !reader.can_resume => {
                let reason = format!("the upstream's answer cannot be used: {}", innermost(&end));
                Some((Ok(refusal(reason, Some(request))), None))
            }
            _ => Some((Err(SseError::Body(Box::new(end))), None)),
        }
    })
    .boxed()
}

struct EventReader<R> {
    lines: BoundedLines<R>,
    max: usize,
    /// The request that this stream answers; none once it has.
    request: Option<RequestId>,
    /// The events have ids.
    can_resume: bool,
}

/// The members of a message that distinguish an answer.
#[derive(Deserialize)]
struct AnswerHead {
    id: Option<IgnoredAny>,
    method: Option<IgnoredAny>,
}

/// An event with an error response.
fn refusal(reason: String, request: Option<RequestId>) -> Sse {
    let error = ErrorData::new(ErrorCode::INTERNAL_ERROR, reason, None);
    let message: ServerJsonRpcMessage = JsonRpcMessage::error(error, request);
    Sse { data: serde_json::to_string(&message).ok(), ..Sse::default() }
}

impl<R: AsyncRead + Unpin> EventReader<R> {
    /// The next event; an unfinished one at the end of the stream is dropped, as the standard says.
    async fn next(&mut self) -> io::Result<Option<Sse>> {
        let mut event = Sse::default();
        let mut bytes = 0;
        let mut is_empty = true;
        while let Some(line) = self.lines.next().await? {
            let StreamLine::Whole(line) = line else { return Err(self.too_large()) };
            bytes += line.len();
            if bytes > self.max {
                return Err(self.too_large());
            }
            if line.is_empty() {
                if is_empty {
                    bytes = 0;
                    continue;
                }
                return Ok(Some(self.guard(event)));
            }
            let line = String::from_utf8_lossy(&line);
            let (field, value) = line.split_once(':').unwrap_or((&line, ""));
            let value = value.strip_prefix(' ').unwrap_or(value);
            match field {
                "data" => match &mut event.data {
                    Some(data) => {
                        data.push('\n');
                        data.push_str(value);
                    }
                    None => event.data = Some(value.to_owned()),
                },
                "event" => event.event = Some(value.to_owned()),
                "id" if !value.contains('\0') => event.id = Some(value.to_owned()),
                "retry" => event.retry = value.parse().ok(),
                // Comments, which keep a connection alive.
                _ => continue,
            }
            is_empty = false;
        }
        Ok(None)
    }

    /// Replaces an event that must not be parsed, and notes what the event means for the stream.
    fn guard(&mut self, event: Sse) -> Sse {
        self.can_resume |= event.id.is_some();
        let Some(data) = &event.data else { return event };
        if json::has_many_values(data.as_bytes()) {
            let reason = format!("the upstream's answer holds more than {} values", json::VALUES);
            return refusal(reason, self.request.take());
        }
        let head = serde_json::from_str(data);
        if matches!(head, Ok(AnswerHead { id: Some(_), method: None })) {
            self.request = None;
        }
        event
    }

    fn too_large(&self) -> io::Error {
        io::Error::other(HttpError::TooLarge(self.max))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn events(text: &str, request: Option<i64>) -> Vec<Result<String, String>> {
        let text = std::io::Cursor::new(text.as_bytes().to_vec());
        let read = read_events(text, 64, request.map(RequestId::Number));
        read.map(|event| event.map(|e| e.data.unwrap_or_default()).map_err(|e| innermost(&e))).collect().await
    }

    #[tokio::test]
    async fn events_are_read_within_the_bound() {
        for (text, expected) in [
            ("", vec![]),
            (": ping\n\ndata: a\n\n", vec![Ok("a".to_owned())]),
            (
                "id: 7\r\nevent: message\r\ndata:a\r\ndata: b\r\n\r\ndata: c\n\n",
                vec![Ok("a\nb".to_owned()), Ok("c".to_owned())],
            ),
            ("data: unfinished", vec![]),
        ] {
            assert_eq!(events(text, None).await, expected, "{text:?}");
        }
        let too_large = Err("it sent more than 64 bytes in one message".to_owned());
        for text in [format!("data: {}\n\n", "x".repeat(100)), "data: 0123456789\n".repeat(10)] {
            assert_eq!(events(&text, None).await, std::slice::from_ref(&too_large));
        }
    }

    #[tokio::test]
    async fn missing_answers_become_errors() {
        let error = |reason: &str| {
            Ok(format!(
                r#"{{"jsonrpc":"2.0","id":3,"error":{{"code":-32603,"message":"the upstream's answer cannot be used: {reason}"}}}}"#
            ))
        };
        let answer = r#"{"id":3,"result":{}}"#;
        let progress = r#"{"id":3,"method":"m"}"#;
        let ended = || Err("the stream ended without an answer".to_owned());
        for (text, expected) in [
            (format!("data: {answer}\n\n"), vec![Ok(answer.to_owned())]),
            (
                format!("data: {progress}\n\n"),
                vec![Ok(progress.to_owned()), error("the stream ended without an answer")],
            ),
            (format!("id: 1\ndata: {progress}\n\n"), vec![Ok(progress.to_owned()), ended()]),
            (
                format!("data: {}\n\n", "x".repeat(100)),
                vec![error("it sent more than 64 bytes in one message")],
            ),
        ] {
            assert_eq!(events(&text, Some(3)).await, expected, "{text}");
        }
    }
}

//! Server-sent events, within a bound.

use std::io;

use futures_util::stream::{BoxStream, StreamExt, unfold};
use loggia_facade::json;
use rmcp::model::{ErrorCode, ErrorData, JsonRpcMessage, RequestId, ServerJsonRpcMessage};
use sse_stream::{Error as SseError, Sse};
use tokio::io::AsyncRead;

use super::{
    super::bounded_lines::{BoundedLines, StreamLine},
    http_error::HttpError,
};

/// Reads events of at most `max` bytes.
///
/// An event that holds too many values becomes an error response for `request`, before anything parses it.
pub(super) fn read_events<R>(
    from: R,
    max: usize,
    request: Option<RequestId>,
) -> BoxStream<'static, Result<Sse, SseError>>
where
    R: AsyncRead + Unpin + Send + 'static,
{
    let reader = Some(EventReader { lines: BoundedLines::new(from, max), max, request });
    unfold(reader, |reader| async move {
        let mut reader = reader?;
        match reader.next().await {
            Ok(event) => event.map(|event| (Ok(event), Some(reader))),
            Err(error) => Some((Err(SseError::Body(Box::new(error))), None)),
        }
    })
    .boxed()
}

struct EventReader<R> {
    lines: BoundedLines<R>,
    max: usize,
    request: Option<RequestId>,
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
                self.guard(&mut event);
                return Ok(Some(event));
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

    fn guard(&self, event: &mut Sse) {
        let is_too_large = event.data.as_ref().is_some_and(|data| json::has_many_values(data.as_bytes()));
        if is_too_large {
            let reason = format!("the upstream's answer holds more than {} values", json::VALUES);
            let error = ErrorData::new(ErrorCode::INTERNAL_ERROR, reason, None);
            let message: ServerJsonRpcMessage = JsonRpcMessage::error(error, self.request.clone());
            event.data = serde_json::to_string(&message).ok();
        }
    }

    fn too_large(&self) -> io::Error {
        io::Error::other(HttpError::TooLarge(self.max))
    }
}

#[cfg(test)]
mod tests {
    use super::{super::http_error::innermost, *};

    async fn events(text: &str) -> Vec<Result<(Option<String>, Option<String>), String>> {
        let text = std::io::Cursor::new(text.as_bytes().to_vec());
        let read = read_events(text, 64, None);
        read.map(|event| event.map(|e| (e.id, e.data)).map_err(|e| innermost(&e))).collect().await
    }

    #[tokio::test]
    async fn events_are_read_within_the_bound() {
        let event = |id: Option<&str>, data: &str| Ok((id.map(str::to_owned), Some(data.to_owned())));
        for (text, expected) in [
            ("", vec![]),
            (": ping\n\ndata: a\n\n", vec![event(None, "a")]),
            (
                "id: 7\r\nevent: message\r\ndata:a\r\ndata: b\r\n\r\ndata: c\n\n",
                vec![event(Some("7"), "a\nb"), event(None, "c")],
            ),
            ("data: unfinished", vec![]),
        ] {
            assert_eq!(events(text).await, expected, "{text:?}");
        }
        let too_large = Err("it sent more than 64 bytes in one message".to_owned());
        for text in [format!("data: {}\n\n", "x".repeat(100)), "data: 0123456789\n".repeat(10)] {
            assert_eq!(events(&text).await, std::slice::from_ref(&too_large));
        }
    }
}

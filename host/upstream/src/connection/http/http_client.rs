//! Requests to one server.

use std::{collections::HashMap, io, str::FromStr, sync::Arc, time::Duration};

use futures_util::stream::{BoxStream, StreamExt, TryStreamExt};
use http::{
    HeaderName, HeaderValue, StatusCode,
    header::{ACCEPT, CONTENT_TYPE},
};
use reqwest::{Client, RequestBuilder, Response, redirect::Policy};
use rmcp::{
    model::{
        ClientJsonRpcMessage, ClientRequest, ErrorData, JsonRpcMessage, RequestId, ServerJsonRpcMessage,
    },
    transport::streamable_http_client::{
        SseError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
    },
};
use sse_stream::Sse;
use tokio_util::io::StreamReader;

use super::{
    super::message::{IncomingLine, read_line},
    events::read_events,
    http_error::HttpError,
    tls,
};
use crate::spec::HttpSpec;

/// Time to connect, TLS included.
const CONNECT: Duration = Duration::from_secs(10);
/// Bytes of the body of a refused request: a JSON-RPC error.
const ERROR_BODY: usize = 64 * 1024;
const EVENTS: &str = "text/event-stream";
const JSON: &str = "application/json";
const SESSION: &str = "mcp-session-id";
const LAST_EVENT: &str = "last-event-id";

type SendError = StreamableHttpError<HttpError>;

/// An HTTP client for one server. It follows no redirects and uses no proxy, so that the headers of the spec reach that server
/// alone.
#[derive(Clone)]
pub(in crate::connection) struct HttpClient {
    pub(super) client: Client,
    /// Bytes of one message.
    max: usize,
}

impl HttpClient {
    /// Creates a client. Reads the certificate authorities of this machine, which takes tens of milliseconds.
    pub(in crate::connection) fn new(max: usize) -> Result<Self, HttpError> {
        let client = Client::builder()
            .tls_backend_preconfigured(tls::client_config()?)
            .connect_timeout(CONNECT)
            .redirect(Policy::none())
            .no_proxy()
            .build();
        Ok(Self { client: client.map_err(|error| HttpError::Setup(error.without_url().to_string()))?, max })
    }

    /// The headers of a spec.
    pub(in crate::connection) fn headers(
        spec: &HttpSpec,
    ) -> Result<HashMap<HeaderName, HeaderValue>, HttpError> {
        let read = |(name, value): (&String, &String)| {
            let problem =
                |what: &str| HttpError::Setup(format!("the {what} of the header `{name}` is invalid"));
            let mut text = HeaderValue::from_str(value).map_err(|_| problem("value"))?;
            // Keeps it out of debugging output.
            text.set_sensitive(true);
            Ok((HeaderName::from_str(name).map_err(|_| problem("name"))?, text))
        };
        spec.headers.iter().map(read).collect()
    }

    async fn send(
        &self,
        request: RequestBuilder,
        session: Option<Arc<str>>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<Response, SendError> {
        let mut request = request.header(ACCEPT, format!("{EVENTS}, {JSON}"));
        for (name, value) in headers {
            request = request.header(name, value);
        }
        if let Some(session) = session {
            request = request.header(SESSION, &*session);
        }
        let response = request.send().await.map_err(failed)?;
        match response.status() {
            status @ (StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) => {
                Err(StreamableHttpError::Client(HttpError::Credentials(status)))
            }
            status if status.is_redirection() => Err(StreamableHttpError::Client(HttpError::Redirect)),
            _ => Ok(response),
        }
    }

    async fn body(&self, response: Response, max: usize) -> Result<Vec<u8>, SendError> {
        let mut body = Vec::new();
        let mut chunks = response.bytes_stream();
        while let Some(chunk) = chunks.next().await {
            let chunk = chunk.map_err(failed)?;
            if body.len() + chunk.len() > max {
                return Err(StreamableHttpError::Client(HttpError::TooLarge(max)));
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body)
    }

    fn events(
        &self,
        response: Response,
        request: Option<RequestId>,
    ) -> BoxStream<'static, Result<Sse, SseError>> {
        let bytes = response.bytes_stream().map_err(|error| io::Error::other(HttpError::from(error)));
        read_events(StreamReader::new(bytes.boxed()), self.max, request)
    }

    /// What a refused request means. A server before 2026-07-28 may refuse `server/discover` in any form.
    async fn refused(
        &self,
        response: Response,
        message: &ClientJsonRpcMessage,
        has_session: bool,
    ) -> Result<StreamableHttpPostResponse, SendError> {
        let status = response.status();
        if status == StatusCode::NOT_FOUND && has_session {
            return Err(StreamableHttpError::SessionExpired);
        }
        let body = self.body(response, ERROR_BODY).await.unwrap_or_default();
        let error = match serde_json::from_slice(&body) {
            Ok(ServerJsonRpcMessage::Error(error)) => Some(error),
            _ => None,
        };
        match (message, error) {
            (JsonRpcMessage::Request(request), error)
                if status.is_client_error()
                    && matches!(request.request, ClientRequest::DiscoverRequest(_)) =>
            {
                let refused = || ErrorData::invalid_request(HttpError::Status(status).to_string(), None);
                let error = error.map_or_else(refused, |error| error.error);
                Ok(StreamableHttpPostResponse::Json(
                    JsonRpcMessage::error(error, Some(request.id.clone())),
                    None,
                ))
            }
            (_, Some(error)) => Ok(StreamableHttpPostResponse::Json(JsonRpcMessage::Error(error), None)),
            (_, None) => Err(StreamableHttpError::Client(HttpError::Status(status))),
        }
    }
}

fn failed(error: reqwest::Error) -> SendError {
    StreamableHttpError::Client(error.into())
}

/// The type of a response's content, without its parameters.
fn content_type(response: &Response) -> String {
    let value = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    value.unwrap_or_default().split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

impl StreamableHttpClient for HttpClient {
    type Error = HttpError;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        _: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, SendError> {
        let has_session = session_id.is_some();
        let body = serde_json::to_vec(&message)?;
        let request = self.client.post(&*uri).header(CONTENT_TYPE, JSON).body(body);
        let response = self.send(request, session_id, custom_headers).await?;
        if !response.status().is_success() {
            return self.refused(response, &message, has_session).await;
        }
        if matches!(response.status(), StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        let session =
            response.headers().get(SESSION).and_then(|value| value.to_str().ok()).map(str::to_owned);
        let (id, is_typed) = match &message {
            JsonRpcMessage::Request(request) => (
                Some(request.id.clone()),
                !matches!(
                    request.request,
                    ClientRequest::CallToolRequest(_)
                        | ClientRequest::ListToolsRequest(_)
                        | ClientRequest::CustomRequest(_)
                ),
            ),
            _ => (None, true),
        };
        match content_type(&response).as_str() {
            EVENTS => Ok(StreamableHttpPostResponse::Sse(self.events(response, id), session)),
            // Some servers answer notifications with an empty success.
            _ if id.is_none() => Ok(StreamableHttpPostResponse::Accepted),
            JSON => match read_line(&self.body(response, self.max).await?, |_| is_typed) {
                IncomingLine::Message(message) => Ok(StreamableHttpPostResponse::Json(*message, session)),
                _ => Err(StreamableHttpError::Client(HttpError::Rubbish)),
            },
            _ => Err(StreamableHttpError::Client(HttpError::ContentType)),
        }
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session_id: Arc<str>,
        _: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), SendError> {
        // A server that keeps its sessions ends them by itself.
        self.send(self.client.delete(&*uri), Some(session_id), custom_headers).await.map(|_| ())
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        _: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, SendError> {
        let mut request = self.client.get(&*uri);
        if let Some(last) = last_event_id {
            request = request.header(LAST_EVENT, last);
        }
        let response = self.send(request, session_id, custom_headers).await?;
        match response.status() {
            StatusCode::METHOD_NOT_ALLOWED => Err(StreamableHttpError::ServerDoesNotSupportSse),
            status if !status.is_success() => Err(StreamableHttpError::Client(HttpError::Status(status))),
            _ if content_type(&response) == EVENTS => Ok(self.events(response, None)),
            _ => Err(StreamableHttpError::Client(HttpError::ContentType)),
        }
    }
}

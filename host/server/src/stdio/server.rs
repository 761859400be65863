//! One client on stdin and stdout.

use std::time::Duration;

use rmcp::{ServerHandler, ServiceExt, service::ServerInitializeError};
use tokio_util::sync::CancellationToken;

use super::{direct::DirectCalls, lines::LineTransport, streams::StdioStreams};
use crate::mcp::McpHandler;

/// Time for the client to read the last responses.
const LAST_WORDS: Duration = Duration::from_secs(3);

/// Serves the client until it closes its end or `stop` is cancelled. Running calls may then take up to `drain` to finish.
///
/// # Errors
///
/// If the client does not read its responses, or supports none of the server's revisions.
pub async fn serve(
    handler: McpHandler,
    streams: StdioStreams,
    drain: Duration,
    stop: CancellationToken,
) -> Result<(), String> {
    let ended = CancellationToken::new();
    let (leaving, gate) = (handler.clone(), handler.gate().clone());
    // The client is a program of the user who runs this server.
    let handler = handler.with_client_roots().with_shared_text();
    let transport = LineTransport::new(streams.read, streams.write, handler.supported_protocol_versions())
        .with_roots(handler.client_roots())
        .with_direct_calls(DirectCalls::new(handler.clone()));
    let service = handler.serve_with_ct(transport, ended.clone());
    let running = tokio::select! {
        running = service => running,
        () = stop.cancelled() => return Ok(()),
    };
    let running = match running {
        Ok(running) => running,
        // A client that disconnects before the handshake is no error.
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(describe_init_error(&error)),
    };
    let draining = async {
        stop.cancelled().await;
        leaving.drain(drain).await;
        ended.cancel();
    };
    let waiting = running.waiting();
    tokio::pin!(waiting, draining);
    tokio::select! {
        // The client is gone, but its runs may finish within the drain time.
        _ = &mut waiting => gate.drain(drain).await,
        // A client that does not read cannot block the shutdown.
        () = &mut draining => drop(tokio::time::timeout(LAST_WORDS, waiting).await),
    }
    Ok(())
}

/// Renders the error of a failed handshake. rmcp's own text dumps the client's message.
fn describe_init_error(error: &ServerInitializeError) -> String {
    match error {
        // rmcp's own text has the type of the transport.
        ServerInitializeError::TransportError { error, .. } => {
            format!("failed to write to the client: {:.200}", error.error)
        }
        ServerInitializeError::InitializeFailed(error) => {
            format!("the client did not speak MCP: the handshake was refused: {:.200}", error.message)
        }
        _ => "the client did not speak MCP: it did not begin with `initialize`".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use loggia_gate::{
        access::CallOrigin,
        call::Gate,
        schedule::{Executor, InlinePolicy},
        testing::lanes,
    };
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    /// Serves a client that sends this and then closes its end; returns the outcome and what the client read.
    async fn serve_input(input: &str) -> (Result<(), String>, String) {
        let gate = Gate::new(Arc::default(), Executor::new(lanes(), InlinePolicy::Slots(1)));
        let handler = McpHandler::new(gate, CallOrigin::local(), CancellationToken::new());
        let (ours, mut client) = tokio::io::duplex(1 << 16);
        let (read, write) = tokio::io::split(ours);
        let streams = StdioStreams { read: Box::pin(read), write: Box::pin(write) };
        client.write_all(input.as_bytes()).await.unwrap();
        client.shutdown().await.unwrap();
        let served = serve(handler, streams, Duration::ZERO, CancellationToken::new()).await;
        let mut output = String::new();
        client.read_to_string(&mut output).await.unwrap();
        (served, output)
    }

    /// rmcp reports it as `ConnectionClosed`; any other error would make the process fail.
    #[tokio::test]
    async fn a_client_may_leave_before_the_handshake() {
        assert_eq!(serve_input("").await, (Ok(()), String::new()));
        let (served, output) = serve_input("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n").await;
        assert_eq!(served, Ok(()));
        assert!(output.contains("\"id\":1"), "{output}");
    }
}

//! Filters rmcp's log events that only report a disconnected client: clients come and go all day, and nothing is wrong.

/// Messages that rmcp logs as errors when a client has disconnected. The tests provoke each, so that an update of rmcp
/// which rewords one fails there.
const DISCONNECTS: [&str; 4] = [
    "fail to response message",
    "failed to send pending response during drain",
    "fail to send rejection error",
    "fail to close sink",
];

/// Returns true for an event that only reports a disconnected client.
pub fn is_disconnect(target: &str, message: &str) -> bool {
    target == "rmcp::service" && DISCONNECTS.contains(&message)
}

#[cfg(test)]
mod tests {
    use std::{
        collections::BTreeSet,
        fmt, io,
        sync::{Arc, LazyLock, Mutex},
        time::Duration,
    };

    use rmcp::{
        ErrorData, RoleClient, RoleServer, ServerHandler,
        service::{RequestContext, RxJsonRpcMessage, ServiceRole, TxJsonRpcMessage, serve_directly},
        transport::Transport,
    };
    use serde_json::json;
    use tokio::sync::mpsc;
    use tracing::{
        Event, Level, Subscriber,
        field::{Field, Visit},
        subscriber::DefaultGuard,
    };
    use tracing_subscriber::{
        Layer,
        layer::{Context, SubscriberExt},
    };

    use super::*;

    /// A transport whose peer still delivers messages, but reads none.
    struct Disconnected<R: ServiceRole>(mpsc::UnboundedReceiver<RxJsonRpcMessage<R>>);

    impl<R: ServiceRole> Transport<R> for Disconnected<R> {
        type Error = io::Error;

        fn send(&mut self, _: TxJsonRpcMessage<R>) -> impl Future<Output = io::Result<()>> + Send + 'static {
            std::future::ready(Err(io::ErrorKind::BrokenPipe.into()))
        }

        async fn receive(&mut self) -> Option<RxJsonRpcMessage<R>> {
            self.0.recv().await
        }

        async fn close(&mut self) -> io::Result<()> {
            Err(io::ErrorKind::BrokenPipe.into())
        }
    }

    /// The errors that rmcp's service logs.
    #[derive(Clone, Default)]
    struct CapturedErrors(Arc<Mutex<Vec<(String, String)>>>);

    impl CapturedErrors {
        fn start() -> (Self, DefaultGuard) {
            // With a single dispatcher, `tracing` caches the interest of whichever thread asks first.
            static SECOND: LazyLock<tracing::Dispatch> =
                LazyLock::new(|| tracing::Dispatch::new(tracing_subscriber::registry()));
            LazyLock::force(&SECOND);
            let errors = Self::default();
            let subscriber = tracing_subscriber::registry().with(errors.clone());
            (errors, tracing::subscriber::set_default(subscriber))
        }
    }

    impl<S: Subscriber> Layer<S> for CapturedErrors {
        fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
            struct Message(String);
            impl Visit for Message {
                fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
                    if field.name() == "message" {
                        self.0 = format!("{value:?}");
                    }
                }
            }
            if *event.metadata().level() == Level::ERROR {
                let mut message = Message(String::new());
                event.record(&mut message);
                self.0.lock().unwrap().push((event.metadata().target().to_owned(), message.0));
            }
        }
    }

    /// Takes as long to answer a ping as the request's id says, in seconds.
    struct SlowPing;

    impl ServerHandler for SlowPing {
        async fn ping(&self, context: RequestContext<RoleServer>) -> Result<(), ErrorData> {
            let seconds = context.id.to_string().parse().unwrap();
            tokio::time::sleep(Duration::from_secs(seconds)).await;
            Ok(())
        }
    }

    fn ping(id: u64) -> RxJsonRpcMessage<RoleServer> {
        serde_json::from_value(json!({"jsonrpc": "2.0", "id": id, "method": "ping"})).unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn all_disconnect_messages_of_rmcp_are_known() {
        let (errors, _guard) = CapturedErrors::start();
        // One response fails while the service runs, one while it drains, and then the transport does not close.
        let (client, incoming) = mpsc::unbounded_channel();
        let service = serve_directly::<RoleServer, _, _, _, _>(SlowPing, Disconnected(incoming), None);
        client.send(ping(1)).unwrap();
        client.send(ping(4)).unwrap();
        tokio::time::sleep(Duration::from_secs(2)).await;
        drop(client);
        service.waiting().await.unwrap();
        // A client refuses a request that belongs to none of its own.
        let (server, incoming) = mpsc::unbounded_channel();
        let info = json!({"protocolVersion": "2026-07-28", "capabilities": {}});
        let info = serde_json::from_value(info).unwrap();
        let service = serve_directly::<RoleClient, _, _, _, _>((), Disconnected(incoming), Some(info));
        let roots = json!({"jsonrpc": "2.0", "id": 1, "method": "roots/list"});
        server.send(serde_json::from_value(roots).unwrap()).unwrap();
        tokio::time::sleep(Duration::from_secs(1)).await;
        drop(server);
        service.waiting().await.unwrap();

        let errors = errors.0.lock().unwrap();
        for (target, message) in errors.iter() {
            assert!(is_disconnect(target, message), "{target}: {message}");
        }
        let seen: BTreeSet<&str> = errors.iter().map(|(_, message)| message.as_str()).collect();
        assert_eq!(seen, BTreeSet::from(DISCONNECTS));
    }

    #[test]
    fn other_errors_are_no_disconnects() {
        assert!(!is_disconnect("rmcp::service", "response send task failed"));
        assert!(!is_disconnect("loggia::serve", DISCONNECTS[0]));
    }
}

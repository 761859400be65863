//! One request that another host answers.

use std::{sync::Arc, time::Duration};

use loggia_gate::access::OriginRecord;
use rmcp::model::InitializeRequestParams;
use serde_json::Value;
use tokio::{sync::mpsc, time::timeout};

use super::{
    link::FleetLink,
    message::{FleetMessage, ForwardedRequest, LinkEvent},
};

/// Events that wait for the client.
const MAX_EVENTS: usize = 256;
/// Time without an event after which the other host is asked whether it still answers.
const PING_PERIOD: Duration = Duration::from_millis(500);
/// Number of pings without an answer after which the other host counts as ended.
const MAX_PINGS: u32 = 4;

/// A request that another host answers. Dropping it cancels the request there.
pub(crate) struct OpenRequest {
    link: Arc<FleetLink>,
    host: String,
    channel: u64,
    events: mpsc::Receiver<LinkEvent>,
    /// Set once it has its response.
    is_answered: bool,
}

impl OpenRequest {
    /// Forwards a request. Returns `None` if the host has ended.
    pub(crate) async fn forward(
        link: &Arc<FleetLink>,
        host: &str,
        origin: OriginRecord,
        client: Option<InitializeRequestParams>,
        message: Value,
    ) -> Option<Self> {
        let (sender, events) = mpsc::channel(MAX_EVENTS);
        let channel = link.open_channel(sender);
        let open =
            Self { link: Arc::clone(link), host: host.to_owned(), channel, events, is_answered: false };
        let from = link.address().to_owned();
        let request = ForwardedRequest { from, channel, origin, client, message };
        let is_sent = link.send(host, &FleetMessage::Request(Box::new(request))).await;
        is_sent.then_some(open)
    }

    /// Waits for the next message. Returns `None` if the host no longer answers the request. Cancel-safe.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        let mut pings = 0;
        loop {
            match timeout(PING_PERIOD, self.events.recv()).await {
                Ok(Some(LinkEvent::Message(message))) => {
                    self.is_answered = message.get("result").or(message.get("error")).is_some();
                    return Some(message);
                }
                Ok(Some(LinkEvent::Pong(true))) => pings = 0,
                Ok(Some(LinkEvent::Pong(false)) | None) => return None,
                Err(_) if pings == MAX_PINGS => return None,
                Err(_) => {
                    pings += 1;
                    let from = self.link.address().to_owned();
                    let ping = FleetMessage::Ping { from, channel: self.channel };
                    if !self.link.send(&self.host, &ping).await {
                        return None;
                    }
                }
            }
        }
    }
}

impl Drop for OpenRequest {
    fn drop(&mut self) {
        self.link.close_channel(self.channel);
        if self.is_answered {
            return;
        }
        let from = self.link.address().to_owned();
        self.link.post(&self.host, &FleetMessage::Cancel { from, channel: self.channel });
    }
}

//! Watching of an upstream: its tools as facades, and its outages.

use std::{sync::Arc, time::Duration};

use tokio::{
    sync::watch,
    task::spawn_blocking,
    time::{Instant, sleep, sleep_until},
};

use crate::{
    adapt::{AdaptedTools, adapt_tools},
    connection::{CallerLinks, OpenConnection, UpstreamLink},
    facade::UpstreamFacade,
    runtimes::UpstreamRuntimes,
    secret_name::is_secret,
    spec::UpstreamSpec,
};

/// Time between two lists of tools: a server that changes them all the time is asked this often.
const RELIST: Duration = Duration::from_secs(1);
/// Time until tools that could not be listed or adapted are listed again.
const RETRY: Duration = Duration::from_secs(30);
/// Time for a connection to end when the host ends.
const STOP: Duration = Duration::from_secs(5);

/// What is known of an upstream.
#[derive(Clone)]
pub enum UpstreamEvent {
    /// It is being started for the first time.
    Starting,
    /// It can be called. The facade is the same one for as long as its surface and routes are the same.
    Ready(Arc<UpstreamFacade>),
    /// It cannot be called now, for this reason. The last facade, if there was one, stays usable: its calls fail with
    /// `unavailable`, or start the upstream again.
    Unavailable(String),
}

/// A running upstream. Dropping it ends the upstream.
pub struct UpstreamServer {
    link: Arc<UpstreamLink>,
    callers: Option<Arc<CallerLinks>>,
    events: watch::Receiver<UpstreamEvent>,
}

impl UpstreamServer {
    /// Starts an upstream. Its connections and children live on these runtimes.
    pub fn start(spec: UpstreamSpec, runtimes: &UpstreamRuntimes) -> Self {
        keep_secrets(&spec);
        let spec = Arc::new(spec);
        let callers = CallerLinks::new(&spec, runtimes);
        let link = UpstreamLink::new(spec, runtimes.clone());
        let (sender, events) = watch::channel(UpstreamEvent::Starting);
        let watcher =
            ToolWatcher { link: link.clone(), callers: callers.clone(), events: sender, served: None };
        runtimes.calls.spawn(watcher.watch());
        Self { link, callers, events }
    }

    /// What is known of the upstream now, and from now on. The latest wins.
    pub fn events(&self) -> watch::Receiver<UpstreamEvent> {
        self.events.clone()
    }

    fn end(&self) {
        self.link.stop();
        if let Some(callers) = &self.callers {
            callers.stop();
        }
    }

    /// Ends the upstream, and waits until its process is gone.
    pub async fn stop(self) {
        self.end();
        // Its group is killed after two seconds.
        let _ = tokio::time::timeout(STOP, self.link.ended()).await;
    }
}

impl Drop for UpstreamServer {
    fn drop(&mut self) {
        self.end();
    }
}

/// Registers credentials for redaction: a server may echo them.
pub(crate) fn keep_secrets(spec: &UpstreamSpec) {
    use crate::spec::TransportSpec;
    match &spec.transport {
        TransportSpec::Stdio(stdio) => {
            stdio
                .env
                .iter()
                .filter(|(name, _)| is_secret(name))
                .for_each(|(_, value)| loggia_text::keep_secret(value));
        }
        TransportSpec::Http(http) => {
            for (name, value) in http.headers.iter().filter(|(name, _)| is_secret(name)) {
                let scheme =
                    if name.eq_ignore_ascii_case("authorization") { value.split_once(' ') } else { None };
                loggia_text::keep_secret(scheme.map_or(value.as_str(), |(_, token)| token));
            }
        }
    }
}

struct ToolWatcher {
    link: Arc<UpstreamLink>,
    callers: Option<Arc<CallerLinks>>,
    events: watch::Sender<UpstreamEvent>,
    served: Option<Arc<UpstreamFacade>>,
}

impl ToolWatcher {
    /// Watches until the link is stopped.
    async fn watch(mut self) {
        let link = self.link.clone();
        tokio::select! {
            () = link.stopped() => {}
            () = self.run() => {}
        }
    }

    async fn run(&mut self) {
        loop {
            match self.link.connection().await {
                Ok(connection) => self.follow(&connection).await,
                Err(outage) => {
                    self.events.send_replace(UpstreamEvent::Unavailable(outage.reason));
                    match outage.until {
                        // At least a moment, whatever the clock says.
                        Some(until) => {
                            sleep_until(until.max(Instant::now() + Duration::from_millis(10))).await
                        }
                        None => return,
                    }
                }
            }
        }
    }

    /// Lists the tools of one connection whenever they change, until it ends.
    async fn follow(&mut self, connection: &OpenConnection) {
        loop {
            let listed = Instant::now();
            let retry = match self.list(connection).await {
                Ok(()) => None,
                Err(reason) => {
                    self.events.send_replace(UpstreamEvent::Unavailable(reason));
                    Some(RETRY)
                }
            };
            tokio::select! {
                () = connection.closed() => return,
                () = connection.changed() => {}
                () = async {
                    match retry {
                        Some(wait) => sleep(wait).await,
                        None => std::future::pending().await,
                    }
                } => {}
            }
            tokio::select! {
                () = connection.closed() => return,
                () = sleep_until(listed + RELIST) => {}
            }
        }
    }

    async fn list(&mut self, connection: &OpenConnection) -> Result<(), String> {
        let spec = self.link.spec().clone();
        let listed = connection.list_tools(spec.limits.connect).await?;
        let profile = connection.profile().clone();
        // Hostile schemas take long to compile.
        let adapted = spawn_blocking(move || adapt_tools(&spec, &profile, &listed));
        let adapted = adapted.await.map_err(|_| "its tools cannot be adapted".to_owned())??;
        let facade = match &self.served {
            Some(served) if served.tools().is_same(&adapted) => served.clone(),
            _ => self.serve(adapted),
        };
        self.events.send_if_modified(|event| match event {
            UpstreamEvent::Ready(known) if Arc::ptr_eq(known, &facade) => false,
            _ => {
                *event = UpstreamEvent::Ready(facade.clone());
                true
            }
        });
        Ok(())
    }

    fn serve(&mut self, adapted: AdaptedTools) -> Arc<UpstreamFacade> {
        for problem in &adapted.problems {
            tracing::warn!(upstream = self.link.spec().name, "{problem}");
        }
        let facade = Arc::new(UpstreamFacade::new(adapted, self.link.clone(), self.callers.clone()));
        self.served = Some(facade.clone());
        facade
    }
}

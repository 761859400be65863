//! A server that is shut down while its load balancer still sends clients.

use anyhow::Result;
use loggia_tests::{
    Folder, PATIENCE, Served, eventually,
    lingers::{go, lingers, runs, wait},
    signal,
    wire::{self, Line},
};
use rustix::process::Signal;
use serde_json::json;
use tokio::time::timeout;

/// H89.
#[tokio::test]
async fn a_draining_server_accepts_connections_until_the_delay() -> Result<()> {
    let folder = Folder::with(&["lingers", "echo"]);
    let data = lingers(&folder, "lingers");
    let settings = "drain = '50s'\n[http]\ndrain-delay = '10s'\n";
    let mut served = Served::configured(&folder, settings, &[]).await?;
    let host = &served.host;
    let own = host.authority().to_owned();
    let add = json!({"action": "add", "a": 1, "b": 2});
    let mut idle = Line::open(&own).await?;
    idle.write(wire::call(host, "", 1, "echo", &add)).await?;
    assert_eq!(idle.answer().await?.header("connection"), None);
    let mut before = Line::open(&own).await?;
    before.write(wire::call(host, "", 1, "lingers", &wait("before"))).await?;
    runs(&data, "before").await;
    signal(&host.child, Signal::TERM)?;
    let (status, told) = served.readies(|_, told| told["draining"] == true).await;
    assert_eq!((status, &told["ready"]), (503, &json!(false)), "{told}");
    // Clients that are still sent here are answered, in calls and sessions that begin only now.
    assert_eq!(wire::answered(host, "", "echo", &add).await?.envelope()?["data"], 3.0);
    // Connections that a proxy keeps open end with an answer, before they would be closed while it sends a request.
    idle.write(wire::call(host, "", 2, "echo", &add)).await?;
    assert_eq!(idle.rest().await?.envelope()?["data"], 3.0);
    let session = wire::session(host, "", wire::INITIALIZE).await?;
    let told = wire::ask(host, &session, &wire::in_session(2, "echo", &add)).await?;
    assert_eq!(told.envelope()?["data"], 3.0);
    let mut during = Line::open(&own).await?;
    during.write(wire::call(host, "", 1, "lingers", &wait("during"))).await?;
    runs(&data, "during").await;
    // Then new connections are refused, …
    eventually(async || match Line::open(&own).await {
        Err(_) => Ok(()),
        Ok(_) => Err("it still listens".to_owned()),
    })
    .await;
    assert_eq!(served.get("/readyz").await?.0, 503);
    // … and running calls are answered.
    go(&data, "gone")?;
    for line in [&mut before, &mut during] {
        assert_eq!(line.answer().await?.envelope()?["data"], "gone");
    }
    assert_eq!(timeout(PATIENCE, served.host.child.wait()).await??.code(), Some(0));
    Ok(())
}

/// H89: a second signal stops at once, and the exit code names that signal.
#[tokio::test]
async fn a_second_signal_exits_at_once() -> Result<()> {
    let folder = Folder::with(&["echo"]);
    for (second, code) in [(Signal::TERM, 143), (Signal::INT, 130)] {
        let settings = "drain = '1h'\n[http]\ndrain-delay = '1h'\n";
        let mut served = Served::configured(&folder, settings, &[]).await?;
        signal(&served.host.child, Signal::TERM)?;
        served.readies(|status, told| status == 503 && told["draining"] == true).await;
        signal(&served.host.child, second)?;
        assert_eq!(timeout(PATIENCE, served.host.child.wait()).await??.code(), Some(code), "{second:?}");
    }
    Ok(())
}

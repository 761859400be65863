//! Attacks of the neighbour, and its policy.

use std::net::SocketAddr;

use serde_json::{Value, json};

/// The name of the plugin that misbehaves.
pub const NEIGHBOUR: &str = "neighbour";

/// Default number of requests of one call.
const REQUESTS: usize = 32;

/// One kind of misbehaviour.
pub struct Attack {
    /// In the figures' keys.
    pub key: &'static str,
    /// Label for people.
    pub label: &'static str,
    /// Arguments of each call.
    pub arguments: Value,
    /// Number of calls in flight.
    pub calls: usize,
    /// The neighbour's.
    pub policy: String,
}

/// A short budget, so that endless calls do not continue long between blocks; and no breaker, which would silence the
/// neighbour after five faults.
const SHORT: &str = "[limits]\ncpu = \"250ms\"\nbreaker-faults = 1000000\n";

/// All of them. `upstream` is where requests go.
pub fn all(upstream: SocketAddr) -> Vec<Attack> {
    let url = format!("http://{upstream}");
    let attack =
        |key, label, calls, arguments, policy: String| Attack { key, label, arguments, calls, policy };
    let action = |name: &str| json!({"action": name});
    vec![
        attack("loops", "8 endless loops", 8, action("spin"), SHORT.into()),
        // The highest log rate that a policy can set.
        attack(
            "logs",
            "4 calls that flood the log",
            4,
            action("flood_logs"),
            format!("{SHORT}logs = \"4MiB\"\nlog-rate = 10000\n"),
        ),
        attack("traps", "a storm of traps, breaker on", 8, action("trap"), String::new()),
        attack("traps_unbroken", "a storm of traps, breaker off", 8, action("trap"), UNBROKEN.into()),
        attack(
            "http",
            "8 calls that flood HTTP",
            8,
            json!({"action": "flood_http", "url": url, "n": REQUESTS}),
            format!("[grants]\nhttp = [\"{url}\"]\n"),
        ),
    ]
}

/// More faults than any breaker threshold, but not within the shortest window.
const UNBROKEN: &str = "[limits]\nbreaker-faults = 1000000\nbreaker-within = \"1s\"\nbreaker-rest = \"1s\"\n";

//! What the neighbour does, and what its policy lets it.

use std::net::SocketAddr;

use serde_json::{Value, json};

/// The name of the plugin that misbehaves.
pub const NEIGHBOUR: &str = "neighbour";

/// Requests that one call may send, by default.
const REQUESTS: usize = 32;

/// One way to be a bad neighbour.
pub struct Attack {
    /// In the figures' keys.
    pub key: &'static str,
    /// For people.
    pub label: &'static str,
    /// What each call of the neighbour is.
    pub arguments: Value,
    /// How many are kept in flight.
    pub calls: usize,
    /// The neighbour's.
    pub policy: String,
}

/// A short budget, so that calls which never end do not run on between the blocks for long; and no breaker, since it
/// would keep the neighbour quiet after the first five.
const SHORT: &str = "[limits]\ncpu = \"250ms\"\nbreaker-faults = 1000000\n";

/// All of them. `upstream` is where requests go.
pub fn all(upstream: SocketAddr) -> Vec<Attack> {
    let url = format!("http://{upstream}");
    let attack =
        |key, label, calls, arguments, policy: String| Attack { key, label, arguments, calls, policy };
    let action = |name: &str| json!({"action": name});
    vec![
        attack("loops", "8 endless loops", 8, action("spin"), SHORT.into()),
        // As much of the log as a policy can give.
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

/// A storm has more faults than a breaker can be told to bear, but not within its shortest time.
const UNBROKEN: &str = "[limits]\nbreaker-faults = 1000000\nbreaker-within = \"1s\"\nbreaker-rest = \"1s\"\n";

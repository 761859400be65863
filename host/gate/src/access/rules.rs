//! What the operator's policy says of a facade's calls.

use std::time::Duration;

use loggia_facade::{Action, Limit};

/// The rules of one facade.
#[derive(Debug, Clone, PartialEq)]
pub struct Rules {
    /// Root calls that may run at once.
    pub concurrency: usize,
    /// Root calls that may wait for their turn.
    pub queue: usize,
    /// How long they wait.
    pub queue_time: Duration,
    /// Bytes of a call's arguments.
    pub arguments: usize,
    /// When it rests.
    pub breaker: BreakerConfig,
    /// The wall clock of an action that ends within its request, and of a long-running one, with their keys.
    pub wall: Clocks,
    /// Which actions it may call, and lead to. Empty: none.
    pub invoke: Vec<InvokeRule>,
    /// Whether it may ask the person.
    pub elicit: bool,
    /// Questions that one of its calls may ask, those of the calls that it makes included.
    pub questions: usize,
    /// What is done with the calls that its results lead to.
    pub chain: Chain,
}

/// When a facade rests, and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BreakerConfig {
    /// So many faults …
    pub faults: u32,
    /// … within this time …
    pub within: Duration,
    /// … and its calls are refused for this long.
    pub rest: Duration,
}

impl Default for BreakerConfig {
    fn default() -> Self {
        Self { faults: 5, within: Duration::from_secs(60), rest: Duration::from_secs(30) }
    }
}

/// What is done with the call that a result leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Chain {
    /// It is not told.
    Off,
    /// The caller is told of it.
    #[default]
    Advise,
    /// The host makes it, where the facade may call it.
    Follow,
}

/// The two wall clocks of a policy.
#[derive(Debug, Clone, PartialEq)]
pub struct Clocks {
    /// For an action that ends within its request.
    pub call: (Duration, Limit),
    /// For a long-running action.
    pub long: (Duration, Limit),
}

impl Rules {
    /// The wall clock of an action.
    pub fn wall(&self, action: &Action) -> &(Duration, Limit) {
        if action.long_running { &self.wall.long } else { &self.wall.call }
    }

    /// Whether any action of another facade may be called.
    pub fn may_reach(&self, facade: &str) -> bool {
        self.invoke.iter().any(|rule| rule.facade == facade)
    }

    /// Whether every action of another facade may be called, and the host's own asked about it.
    pub fn may_invoke_all(&self, facade: &str) -> bool {
        self.invoke.iter().any(|rule| rule.facade == facade && rule.action.is_none())
    }

    /// Whether an action of another facade may be called.
    pub fn may_invoke(&self, facade: &str, action: &str) -> bool {
        self.invoke.iter().any(|rule| rule.allows(facade, action))
    }
}

impl Default for Rules {
    fn default() -> Self {
        let clock = |seconds, key, value: &str| {
            (Duration::from_secs(seconds), Limit { key, value: value.to_owned() })
        };
        Self {
            concurrency: 8,
            queue: 128,
            queue_time: Duration::from_secs(30),
            arguments: 1 << 20,
            breaker: BreakerConfig::default(),
            wall: Clocks {
                call: clock(30, "limits.wall", "30s"),
                long: clock(1800, "limits.long-wall", "30m"),
            },
            invoke: Vec::new(),
            elicit: false,
            questions: 8,
            chain: Chain::default(),
        }
    }
}

/// `facade:action` or `facade:*`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvokeRule {
    /// Exactly this facade.
    pub facade: String,
    /// This action, or all where there is none.
    pub action: Option<String>,
}

impl InvokeRule {
    /// Reads `facade:action` or `facade:*`.
    pub fn parse(text: &str) -> Option<Self> {
        let (facade, action) = text.split_once(':')?;
        let named = |part: &str| !part.is_empty() && !part.contains(['*', ':']);
        if !named(facade) || !(action == "*" || named(action)) {
            return None;
        }
        Some(Self { facade: facade.to_owned(), action: (action != "*").then(|| action.to_owned()) })
    }

    fn allows(&self, facade: &str, action: &str) -> bool {
        self.facade == facade && self.action.as_deref().is_none_or(|only| only == action)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_invoke_rule_allows_just_what_it_names() {
        let check = |rule: &str, facade: &str, action: &str, expected: Option<bool>| {
            assert_eq!(InvokeRule::parse(rule).map(|r| r.allows(facade, action)), expected, "{rule}");
        };
        check("notes:add", "notes", "add", Some(true));
        check("notes:add", "notes", "delete", Some(false));
        check("notes:*", "notes", "delete", Some(true));
        check("notes:*", "notes2", "add", Some(false));
        for bad in ["notes", "*:*", ":add", "notes:", "notes:a*", "a:b:c"] {
            check(bad, "notes", "add", None);
        }
    }
}

//! Rules of the operator's policy for the calls of a facade.

use std::time::Duration;

use loggia_facade::{Action, Limit};

use super::limit_names;

/// Rules for the calls of one facade.
#[derive(Debug, Clone, PartialEq)]
pub struct FacadeRules {
    /// Root calls that may run at once.
    pub concurrency: usize,
    /// Root calls that may wait for a permit.
    pub queue: usize,
    /// Maximum waiting time for a permit.
    pub queue_time: Duration,
    /// Maximum size of a call's arguments, in bytes.
    pub arguments: usize,
    /// Circuit breaker.
    pub breaker: BreakerConfig,
    /// Wall clocks of short and long-running actions.
    pub wall_clocks: WallClocks,
    /// Actions that it may call, or name as `next`. Empty: none.
    pub invoke: Vec<InvokeRule>,
    /// True if it may ask the user.
    pub elicit: bool,
    /// Questions per call, including those of nested calls.
    pub questions: usize,
    /// Treatment of the follow-up calls that its results name.
    pub chain: ChainRule,
}

/// Configuration of a circuit breaker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BreakerConfig {
    /// Number of faults that open the breaker.
    pub faults: u32,
    /// Time window in which faults are counted.
    pub within: Duration,
    /// Time for which an open breaker refuses calls.
    pub rest: Duration,
}

impl Default for BreakerConfig {
    fn default() -> Self {
        Self { faults: 5, within: Duration::from_secs(60), rest: Duration::from_secs(30) }
    }
}

/// Treatment of the follow-up call that a result names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ChainRule {
    /// Dropped.
    Off,
    /// Shown to the caller.
    #[default]
    Advise,
    /// Executed by the host, if the facade may call it.
    Follow,
}

/// Wall-clock limits, each with the key that a timeout names.
#[derive(Debug, Clone, PartialEq)]
pub struct WallClocks {
    /// Limit of an action that ends within its request.
    pub call: (Duration, Limit),
    /// Limit of a long-running action.
    pub long: (Duration, Limit),
}

impl FacadeRules {
    /// Returns the wall-clock limit of an action.
    pub fn wall_clock(&self, action: &Action) -> &(Duration, Limit) {
        if action.long_running { &self.wall_clocks.long } else { &self.wall_clocks.call }
    }

    /// Returns true if any action of another facade may be invoked.
    pub fn may_reach(&self, facade: &str) -> bool {
        self.invoke.iter().any(|rule| rule.facade == facade)
    }

    /// Returns true if every action of another facade may be invoked, including the host's own (`describe`).
    pub fn may_invoke_all(&self, facade: &str) -> bool {
        self.invoke.iter().any(|rule| rule.facade == facade && rule.action.is_none())
    }

    /// Returns true if an action of another facade may be invoked.
    pub fn may_invoke(&self, facade: &str, action: &str) -> bool {
        self.invoke.iter().any(|rule| rule.allows(facade, action))
    }
}

impl Default for FacadeRules {
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
            wall_clocks: WallClocks {
                call: clock(30, limit_names::WALL, "30s"),
                long: clock(1800, limit_names::LONG_WALL, "30m"),
            },
            invoke: Vec::new(),
            elicit: false,
            questions: 8,
            chain: ChainRule::default(),
        }
    }
}

/// One rule of `grants.invoke`: `facade:action` or `facade:*`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvokeRule {
    /// Name of the facade.
    pub facade: String,
    /// Name of the action. `None`: all actions.
    pub action: Option<String>,
}

impl InvokeRule {
    /// Parses `facade:action` or `facade:*`.
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
    fn an_invoke_rule_allows_only_its_actions() {
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

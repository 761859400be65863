//! Rules of the operator's policy for the calls of a facade.

use std::time::Duration;

use loggia_facade::{Action, Limit};

use super::PluginLimits;

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
    /// Tokens of a result that clients are sent. 0: as the client is served.
    pub answer: usize,
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
    /// Returns the rules of these limits, which grant nothing.
    pub fn under(limits: &PluginLimits) -> Self {
        let clock = |long| (limits.budget(long).wall, limits.wall_limit(long));
        Self {
            concurrency: limits.concurrency,
            queue: limits.queue,
            queue_time: limits.queue_time,
            arguments: limits.arguments,
            breaker: BreakerConfig {
                faults: limits.breaker_faults,
                within: limits.breaker_within,
                rest: limits.breaker_rest,
            },
            wall_clocks: WallClocks { call: clock(false), long: clock(true) },
            invoke: Vec::new(),
            elicit: false,
            questions: limits.questions,
            answer: limits.answer,
            chain: ChainRule::default(),
        }
    }

    /// Returns the wall-clock limit of an action.
    pub fn wall_clock(&self, action: &Action) -> &(Duration, Limit) {
        if action.long_running { &self.wall_clocks.long } else { &self.wall_clocks.call }
    }

    /// Returns the actions that the facade of this name may invoke.
    pub fn reach_of<'a>(&'a self, own: &'a str) -> InvokeReach<'a> {
        InvokeReach { own, rules: &self.invoke }
    }
}

/// Actions of other facades that a facade may invoke.
#[derive(Debug, Clone, Copy)]
pub struct InvokeReach<'a> {
    /// Name of the facade that calls, which `*` does not include.
    own: &'a str,
    rules: &'a [InvokeRule],
}

impl<'a> InvokeReach<'a> {
    /// Returns true if any action of a facade may be invoked.
    pub fn may_reach(self, facade: &str) -> bool {
        self.rules.iter().any(|rule| match rule {
            InvokeRule::Others => facade != self.own,
            InvokeRule::Facade(name) | InvokeRule::Action(name, _) => name == facade,
        })
    }

    /// Returns true if every action of a facade may be invoked, including the host's own (`describe`).
    pub fn may_invoke_all(self, facade: &str) -> bool {
        self.rules.iter().any(|rule| match rule {
            InvokeRule::Others => facade != self.own,
            InvokeRule::Facade(name) => name == facade,
            InvokeRule::Action(..) => false,
        })
    }

    /// Returns the actions of a facade that the rules name, or `None` if every action may be invoked.
    pub fn named_actions(self, facade: &str) -> Option<Vec<&'a str>> {
        let named = self.rules.iter().filter_map(|rule| match rule {
            InvokeRule::Action(of, name) if of == facade => Some(name.as_str()),
            _ => None,
        });
        (!self.may_invoke_all(facade)).then(|| named.collect())
    }

    /// Returns true if an action of a facade may be invoked.
    pub fn may_invoke(self, facade: &str, action: &str) -> bool {
        let is_named = |rule: &InvokeRule| matches!(rule, InvokeRule::Action(of, name) if of == facade && name == action);
        self.may_invoke_all(facade) || self.rules.iter().any(is_named)
    }
}

impl Default for FacadeRules {
    fn default() -> Self {
        Self::under(&PluginLimits::default())
    }
}

/// One rule of `grants.invoke`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum InvokeRule {
    /// `*`: all actions of all facades except the one that has this rule.
    Others,
    /// `facade:*`: all actions of a facade.
    Facade(String),
    /// `facade:action`: one action.
    Action(String, String),
}

impl InvokeRule {
    /// Parses `*`, `facade:*` or `facade:action`.
    pub fn parse(text: &str) -> Option<Self> {
        if text == "*" {
            return Some(Self::Others);
        }
        let (facade, action) = text.split_once(':')?;
        let named = |part: &str| !part.is_empty() && !part.contains(['*', ':']);
        match action {
            "*" if named(facade) => Some(Self::Facade(facade.to_owned())),
            _ if named(facade) && named(action) => Some(Self::Action(facade.to_owned(), action.to_owned())),
            _ => None,
        }
    }

    /// Name of the facade, if the rule has one.
    pub fn facade(&self) -> Option<&str> {
        match self {
            Self::Others => None,
            Self::Facade(facade) | Self::Action(facade, _) => Some(facade),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_invoke_rule_allows_only_its_actions() {
        let check = |rule: &str, facade: &str, action: &str, expected: [bool; 3]| {
            let invoke = vec![InvokeRule::parse(rule).unwrap()];
            let rules = FacadeRules { invoke, ..FacadeRules::default() };
            let reach = rules.reach_of("own");
            let got =
                [reach.may_reach(facade), reach.may_invoke(facade, action), reach.may_invoke_all(facade)];
            assert_eq!(got, expected, "{rule}: {facade}:{action}");
            let named = reach.named_actions(facade).is_none_or(|named| named.contains(&action));
            assert_eq!(named, expected[1], "{rule}: {facade}:{action}");
        };
        check("notes:add", "notes", "add", [true, true, false]);
        check("notes:add", "notes", "delete", [true, false, false]);
        check("notes:*", "notes", "delete", [true, true, true]);
        check("notes:*", "notes2", "add", [false, false, false]);
        check("*", "notes", "delete", [true, true, true]);
        check("*", "own", "delete", [false, false, false]);
        check("own:add", "own", "add", [true, true, false]);
        for bad in ["", "notes", "*:*", "*:add", "**", ":add", "notes:", "notes:a*", "a:b:c"] {
            assert_eq!(InvokeRule::parse(bad), None, "{bad}");
        }
    }
}

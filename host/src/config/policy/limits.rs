//! `[limits]`: how much a plugin may use. One table says all there is to say of each limit; parsing, the reference page
//! and what is told of a policy read it.

use std::time::Duration;

use loggia_sandbox::{Limits, engine::HANDLES_CEILING, limits::TABLES_CEILING};

use super::{
    field::{Field, Fields},
    problem::Problems,
};
use crate::{config::units, gate::Rules};

/// The section's name.
pub const SECTION: &str = "limits";

/// What can be limited.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Bounds {
    /// What the sandbox holds a plugin to.
    pub limits: Limits,
    /// What the gate holds its calls to.
    pub rules: Rules,
}

/// In what a limit is measured, and how it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Bytes, as `"64MiB"`.
    Size,
    /// Milliseconds, as `"30s"`.
    Time,
    /// As a number.
    Count,
}

/// One limit.
pub struct LimitKey {
    /// As it is written.
    pub name: &'static str,
    /// What its numbers count.
    pub unit: Unit,
    /// The least that can be set.
    pub least: u64,
    /// The most that can be set.
    pub most: u64,
    /// What is limited.
    pub means: &'static str,
    /// What a plugin could do without it.
    pub stops: &'static str,
    get: fn(&Bounds) -> u64,
    set: fn(&mut Bounds, u64),
}

const MIB: u64 = 1 << 20;
const SECOND: u64 = 1000;
const MINUTE: u64 = 60 * SECOND;

/// Every limit that a policy can change, in the order in which they are told.
pub static LIMITS: &[LimitKey] = &[
    LimitKey {
        name: "artifact",
        unit: Unit::Size,
        least: 1,
        most: 128 * MIB,
        means: "the plugin's file",
        stops: "a file that is made to fill the host's memory",
        get: |b| b.limits.artifact,
        set: |b, n| b.limits.artifact = n,
    },
    LimitKey {
        name: "compile-cpu",
        unit: Unit::Time,
        least: SECOND,
        most: 10 * MINUTE,
        means: "processor time of compiling the plugin, which is done once for each version; on the clock it may take half as much again",
        stops: "a plugin that is made to be compiled for ever",
        get: |b| millis(b.limits.compile.cpu),
        set: |b, n| b.limits.compile.cpu = Duration::from_millis(n),
    },
    LimitKey {
        name: "compile-memory",
        unit: Unit::Size,
        least: 128 * MIB,
        most: 16 * 1024 * MIB,
        means: "address space of the process that compiles the plugin",
        stops: "a plugin that is made to fill the memory while it is compiled",
        get: |b| b.limits.compile.memory,
        set: |b, n| b.limits.compile.memory = n,
    },
    LimitKey {
        name: "describe-cpu",
        unit: Unit::Time,
        least: 1,
        most: 10 * SECOND,
        means: "processor time of the plugin's telling what it can do, when it is loaded",
        stops: "a plugin that never ends being loaded",
        get: |b| millis(b.limits.describe.cpu),
        set: |b, n| b.limits.describe.cpu = Duration::from_millis(n),
    },
    LimitKey {
        name: "describe-wall",
        unit: Unit::Time,
        least: 1,
        most: MINUTE,
        means: "the same on the clock",
        stops: "the same by sleeping",
        get: |b| millis(b.limits.describe.wall),
        set: |b, n| b.limits.describe.wall = Duration::from_millis(n),
    },
    LimitKey {
        name: "memory",
        unit: Unit::Size,
        least: 1,
        most: 1024 * MIB,
        means: "summed over all linear memories of a call",
        stops: "a plugin that hoards memory until the machine has none, in one memory or in many",
        get: |b| count(b.limits.memory),
        set: |b, n| b.limits.memory = size(n),
    },
    LimitKey {
        name: "tables",
        unit: Unit::Count,
        least: 1,
        most: count(TABLES_CEILING),
        means: "elements, summed over all tables of a call",
        stops: "the same in tables, which are no part of the memory",
        get: |b| count(b.limits.tables),
        set: |b, n| b.limits.tables = size(n),
    },
    LimitKey {
        name: "handles",
        unit: Unit::Count,
        least: 16,
        most: count(HANDLES_CEILING),
        means: "what a call may hold of the host's at once: files, requests, streams; less where the machine has less",
        stops: "a call that opens and never closes",
        get: |b| count(b.limits.handles),
        set: |b, n| b.limits.handles = size(n),
    },
    LimitKey {
        name: "host-data",
        unit: Unit::Size,
        least: 64 << 10,
        most: 64 * MIB,
        means: "what a call may pass to the host at once; never less than `result`",
        stops: "a call that makes the host copy all that it has",
        get: |b| count(b.limits.host_data),
        set: |b, n| b.limits.host_data = size(n),
    },
    LimitKey {
        name: "random",
        unit: Unit::Size,
        least: 1,
        most: MIB,
        means: "randomness that a call may ask for at once",
        stops: "a call that lets the host compute for it",
        get: |b| b.limits.random,
        set: |b, n| b.limits.random = n,
    },
    LimitKey {
        name: "cpu",
        unit: Unit::Time,
        least: 1,
        most: MINUTE,
        means: "processor time of a call, what the host does for it included",
        stops: "an endless loop, and a pattern or an input that is made to be slow",
        get: |b| millis(b.limits.call.cpu),
        set: |b, n| b.limits.call.cpu = Duration::from_millis(n),
    },
    LimitKey {
        name: "wall",
        unit: Unit::Time,
        least: 1,
        most: 10 * MINUTE,
        means: "time on the clock from a call's start to its end; a question to the person stops it",
        stops: "a call that sleeps, or waits for ever for somebody else",
        get: |b| millis(b.limits.call.wall),
        set: |b, n| b.limits.call.wall = Duration::from_millis(n),
    },
    LimitKey {
        name: "long-cpu",
        unit: Unit::Time,
        least: 1,
        most: 30 * MINUTE,
        means: "`cpu` of long-running actions",
        stops: "the same, where an action may take long",
        get: |b| millis(b.limits.long.cpu),
        set: |b, n| b.limits.long.cpu = Duration::from_millis(n),
    },
    LimitKey {
        name: "long-wall",
        unit: Unit::Time,
        least: 1,
        most: 24 * 60 * MINUTE,
        means: "`wall` of long-running actions",
        stops: "runs that nobody waits for any more and that never end",
        get: |b| millis(b.limits.long.wall),
        set: |b, n| b.limits.long.wall = Duration::from_millis(n),
    },
    LimitKey {
        name: "arguments",
        unit: Unit::Size,
        least: 1,
        most: 4 * MIB,
        means: "a call's arguments: their names and values; over HTTP the message around them has 4MiB",
        stops: "arguments so large that checking them takes the time of others' calls",
        get: |b| count(b.rules.arguments),
        set: |b, n| b.rules.arguments = size(n),
    },
    LimitKey {
        name: "result",
        unit: Unit::Size,
        least: 1,
        most: 8 * MIB,
        means: "a call's result: its data and its content",
        stops: "a result that fills the model's context or the host's memory",
        get: |b| count(b.limits.result),
        set: |b, n| b.limits.result = size(n),
    },
    LimitKey {
        name: "logs",
        unit: Unit::Size,
        least: 1,
        most: 4 * MIB,
        means: "what a call may log, stdout and stderr included; what comes after is dropped and counted",
        stops: "a log so long that nobody finds anything in it, or that fills the disk",
        get: |b| count(b.limits.logs),
        set: |b, n| b.limits.logs = size(n),
    },
    LimitKey {
        name: "log-rate",
        unit: Unit::Count,
        least: 1,
        most: 10_000,
        means: "log lines per second, over all calls; what comes faster is dropped and counted",
        stops: "many calls that each log little and together drown what others log",
        get: |b| u64::from(b.limits.log_rate),
        set: |b, n| b.limits.log_rate = u32::try_from(n).unwrap_or(u32::MAX),
    },
    LimitKey {
        name: "written",
        unit: Unit::Size,
        least: 1,
        most: 1024 * MIB,
        means: "what a call may write to files",
        stops: "one call that fills the disk",
        get: |b| b.limits.written,
        set: |b, n| b.limits.written = n,
    },
    LimitKey {
        name: "descriptors",
        unit: Unit::Count,
        least: 1,
        most: 512,
        means: "files and directories that a call may have open at once",
        stops: "a call that opens until the host itself can open nothing more",
        get: |b| count(b.limits.descriptors),
        set: |b, n| b.limits.descriptors = size(n),
    },
    LimitKey {
        name: "http-requests",
        unit: Unit::Count,
        least: 1,
        most: 1000,
        means: "requests of a call",
        stops: "one call that makes of your machine a flood for somebody else's",
        get: |b| count(b.limits.http.requests),
        set: |b, n| b.limits.http.requests = size(n),
    },
    LimitKey {
        name: "http-at-once",
        unit: Unit::Count,
        least: 1,
        most: 32,
        means: "of these under way at once",
        stops: "the same flood in one moment, and connections that use up the host's",
        get: |b| count(b.limits.http.at_once),
        set: |b, n| b.limits.http.at_once = size(n),
    },
    LimitKey {
        name: "http-request",
        unit: Unit::Size,
        least: 1,
        most: 64 * MIB,
        means: "the body of a request",
        stops: "much of what the plugin can read leaving in one request",
        get: |b| count(b.limits.http.request),
        set: |b, n| b.limits.http.request = size(n),
    },
    LimitKey {
        name: "http-response",
        unit: Unit::Size,
        least: 1,
        most: 64 * MIB,
        means: "the body of a response",
        stops: "a server that answers without end",
        get: |b| count(b.limits.http.response),
        set: |b, n| b.limits.http.response = size(n),
    },
    LimitKey {
        name: "http-time",
        unit: Unit::Time,
        least: 1,
        most: 10 * MINUTE,
        means: "from a request's start to its response's end",
        stops: "a server that answers a byte at a time",
        get: |b| millis(b.limits.http.time),
        set: |b, n| b.limits.http.time = Duration::from_millis(n),
    },
    LimitKey {
        name: "http-redirects",
        unit: Unit::Count,
        least: 0,
        most: 5,
        means: "redirects that the host follows itself, each checked like a request of its own; with 0 the plugin is \
                given the redirecting response",
        stops: "a server that leads requests round in circles",
        get: |b| count(b.limits.http.redirects),
        set: |b, n| b.limits.http.redirects = size(n),
    },
    LimitKey {
        name: "concurrency",
        unit: Unit::Count,
        least: 1,
        most: 40,
        means: "calls at once; further ones wait a while for their turn",
        stops: "one plugin that takes the machine from all others",
        get: |b| count(b.rules.concurrency),
        set: |b, n| b.rules.concurrency = size(n),
    },
    LimitKey {
        name: "queue",
        unit: Unit::Count,
        least: 0,
        most: 1024,
        means: "calls that wait for their turn; further ones are refused at once",
        stops: "callers that pile up work faster than it is done",
        get: |b| count(b.rules.queue),
        set: |b, n| b.rules.queue = size(n),
    },
    LimitKey {
        name: "queue-time",
        unit: Unit::Time,
        least: 1,
        most: 10 * MINUTE,
        means: "how long a call waits for its turn before it is refused",
        stops: "callers that wait for what never comes",
        get: |b| millis(b.rules.queue_time),
        set: |b, n| b.rules.queue_time = Duration::from_millis(n),
    },
    LimitKey {
        name: "breaker-faults",
        unit: Unit::Count,
        least: 1,
        most: 1_000_000,
        means: "faults (traps, limits that were hit) within `breaker-within` after which the plugin rests",
        stops: "a plugin that fails again and again, and takes time from others to do so",
        get: |b| u64::from(b.rules.breaker.faults),
        set: |b, n| b.rules.breaker.faults = u32::try_from(n).unwrap_or(u32::MAX),
    },
    LimitKey {
        name: "breaker-within",
        unit: Unit::Time,
        least: 1,
        most: 60 * MINUTE,
        means: "the time within which its faults are counted",
        stops: "the same",
        get: |b| millis(b.rules.breaker.within),
        set: |b, n| b.rules.breaker.within = Duration::from_millis(n),
    },
    LimitKey {
        name: "breaker-rest",
        unit: Unit::Time,
        least: 1,
        most: 60 * MINUTE,
        means: "how long it rests: its calls are refused, then one is tried",
        stops: "the same",
        get: |b| millis(b.rules.breaker.rest),
        set: |b, n| b.rules.breaker.rest = Duration::from_millis(n),
    },
];

#[allow(clippy::cast_possible_truncation, reason = "no machine has more")]
const fn count(n: usize) -> u64 {
    n as u64
}

fn size(n: u64) -> usize {
    n.try_into().unwrap_or(usize::MAX)
}

fn millis(time: Duration) -> u64 {
    time.as_millis().try_into().unwrap_or(u64::MAX)
}

impl Unit {
    /// A number of it, as a message says it and a policy writes it between quotes.
    pub fn text(self, number: u64) -> String {
        match self {
            Self::Size => units::bytes_text(number),
            Self::Time => units::duration_text(Duration::from_millis(number)),
            Self::Count => number.to_string(),
        }
    }

    /// A number of it in TOML.
    pub fn toml(self, number: u64) -> String {
        let text = self.text(number);
        if self == Self::Count { text } else { format!("{text:?}") }
    }
}

impl LimitKey {
    /// What these bounds set it to.
    pub fn of(&self, bounds: &Bounds) -> u64 {
        (self.get)(bounds)
    }

    /// What holds where a policy does not say.
    pub fn default(&self) -> u64 {
        self.of(&Bounds::default())
    }

    /// The number, if it is not less than nothing, and how a message shows it; nothing where that was told already.
    fn number(&self, field: &Field<'_>, problems: &mut Problems) -> Option<(Option<u64>, String)> {
        let must = match self.unit {
            Unit::Count => {
                let number = field.integer(problems)?;
                return Some((u64::try_from(number).ok(), number.to_string()));
            }
            Unit::Size => "a size in quotes, like \"64MiB\"",
            Unit::Time => "a time in quotes, like \"30s\"",
        };
        let text = field.text_of(must, problems)?;
        let read = match self.unit {
            Unit::Time => units::duration(&text.value).map(millis),
            _ => units::bytes(&text.value),
        };
        match read {
            Ok(number) => Some((Some(number), text.shown())),
            Err(said) => {
                field.wrong(format!("({}) {said}", text.shown()), problems);
                None
            }
        }
    }

    fn read(&self, field: &Field<'_>, bounds: &mut Bounds, problems: &mut Problems) {
        let Some((number, shown)) = self.number(field, problems) else { return };
        let Some(number) = number.filter(|number| (self.least..=self.most).contains(number)) else {
            let (least, most) = (self.unit.text(self.least), self.unit.text(self.most));
            let must = match self.unit {
                Unit::Count => format!("must be {least} to {most}"),
                _ if self.least <= 1 => format!("must be more than nothing and at most {most}"),
                _ => format!("must be {least} to {most}"),
            };
            field.wrong(format!("{must} (it is {shown})"), problems);
            return;
        };
        (self.set)(bounds, number);
    }
}

/// Reads the section.
pub fn read(field: &Field<'_>, problems: &mut Problems) -> Bounds {
    let mut bounds = Bounds::default();
    let names = LIMITS.iter().map(|limit| limit.name);
    let Some(fields): Option<Fields<'_>> = field.fields(names, problems) else { return bounds };
    for limit in LIMITS {
        if let Some(field) = fields.get(limit.name) {
            limit.read(&field, &mut bounds, problems);
        }
    }
    bounds
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_limit_sets_its_own_number_and_nothing_else() {
        for limit in LIMITS {
            let mut bounds = Bounds::default();
            let default = limit.default();
            assert!((limit.least..=limit.most).contains(&default), "{}", limit.name);
            (limit.set)(&mut bounds, limit.most);
            assert_eq!(limit.of(&bounds), limit.most, "{}", limit.name);
            let others = LIMITS.iter().filter(|other| other.name != limit.name);
            for other in others {
                assert_eq!(other.of(&bounds), other.default(), "{} of {}", limit.name, other.name);
            }
            (limit.set)(&mut bounds, default);
            assert_eq!(bounds, Bounds::default());
        }
    }

    #[test]
    fn the_keys_that_faults_name_are_keys() {
        let limits = Limits::default();
        for long in [false, true] {
            let (_, cpu, wall) = limits.budget(long);
            for limit in [cpu, wall] {
                let name = limit.key.strip_prefix("limits.").unwrap();
                let known = LIMITS.iter().find(|known| known.name == name).unwrap();
                assert_eq!(known.unit.text(known.default()), limit.value, "{name}");
            }
        }
    }
}

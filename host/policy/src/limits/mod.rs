//! `[limits]`: how much a plugin may use. One table (`model/limit_table.rs`) describes each limit for parsing, the reference
//! page and `loggia policy explain`.

pub use crate::{
    document::unit::Unit,
    model::{LIMITS, LimitKey},
};
use crate::{
    document::{
        field::{Field, Fields},
        problem::Problems,
    },
    model::{PluginLimits, Policy, limit_names},
};

/// Name of the section.
pub const SECTION: &str = "limits";

/// Reads the section.
pub fn read(field: &Field<'_>, problems: &mut Problems) -> PluginLimits {
    let mut limits = PluginLimits::default();
    let names = LIMITS.iter().map(|limit| limit.name());
    let Some(fields): Option<Fields<'_>> = field.fields(names, problems) else { return limits };
    for limit in LIMITS {
        if let Some(field) = fields.get(limit.name()) {
            read_limit(limit, &field, &mut limits, problems);
        }
    }
    limits
}

fn read_limit(
    limit: &LimitKey<PluginLimits>,
    field: &Field<'_>,
    limits: &mut PluginLimits,
    problems: &mut Problems,
) {
    let Some((number, text)) = limit.unit.read(field, problems) else { return };
    let Some(number) = number.filter(|number| (limit.least..=limit.most).contains(number)) else {
        let (least, most) = (limit.unit.text(limit.least), limit.unit.text(limit.most));
        let rule = match limit.unit {
            Unit::Count => format!("must be {least} to {most}"),
            _ if limit.least <= 1 => format!("must be greater than 0 and at most {most}"),
            _ => format!("must be {least} to {most}"),
        };
        field.report(format!("{rule} (got {text})"), problems);
        return;
    };
    (limit.set)(limits, number);
}

/// Limits that apply to facades outside of the sandbox.
const HOSTED: &[&str] = &[
    limit_names::WALL,
    limit_names::LONG_WALL,
    limit_names::ARGUMENTS,
    limit_names::RESULT,
    limit_names::CONCURRENCY,
    limit_names::QUEUE,
    limit_names::QUEUE_TIME,
    limit_names::QUESTIONS,
    limit_names::ANSWER,
    limit_names::BREAKER_FAULTS,
    limit_names::BREAKER_WITHIN,
    limit_names::BREAKER_REST,
];

/// Returns the limits that a policy changes although they have no effect on an upstream, which runs outside of the
/// sandbox.
pub fn needless_for_upstreams(policy: &Policy) -> impl Iterator<Item = &'static str> {
    let changed = |limit: &&LimitKey<PluginLimits>| limit.of(&policy.limits) != limit.default();
    LIMITS.iter().filter(changed).map(|limit| limit.path).filter(|path| !HOSTED.contains(path))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::model::FacadeRules;

    #[test]
    fn each_limit_sets_only_its_own_number() {
        for limit in LIMITS {
            let mut set = PluginLimits::default();
            let default = limit.default();
            assert!((limit.least..=limit.most).contains(&default), "{}", limit.name());
            (limit.set)(&mut set, limit.most);
            assert_eq!(limit.of(&set), limit.most, "{}", limit.name());
            let others = LIMITS.iter().filter(|other| other.name() != limit.name());
            for other in others {
                assert_eq!(other.of(&set), other.default(), "{} of {}", limit.name(), other.name());
            }
            (limit.set)(&mut set, default);
            assert_eq!(set, PluginLimits::default());
        }
    }

    #[test]
    fn what_is_enforced_has_the_numbers_of_the_policy() {
        // Each has a number of its own.
        let number =
            |name: &str| LIMITS.iter().zip(1000..).find(|(limit, _)| limit.name() == name).unwrap().1;
        let mut limits = PluginLimits::default();
        LIMITS.iter().for_each(|limit| (limit.set)(&mut limits, number(limit.name())));
        let (count, time) =
            (|name| usize::try_from(number(name)).unwrap(), |name| Duration::from_millis(number(name)));
        let rules = FacadeRules::under(&limits);
        let counts = [rules.concurrency, rules.queue, rules.arguments, rules.questions, rules.answer];
        assert_eq!(counts, ["concurrency", "queue", "arguments", "questions", "answer"].map(count));
        assert_eq!(rules.queue_time, time("queue-time"));
        assert_eq!(u64::from(rules.breaker.faults), number("breaker-faults"));
        let breaker = [rules.breaker.within, rules.breaker.rest];
        assert_eq!(breaker, [time("breaker-within"), time("breaker-rest")]);
        let clocks = [rules.wall_clocks.call.0, rules.wall_clocks.long.0];
        assert_eq!(clocks, [time("wall"), time("long-wall")]);
        let http = limits.http();
        let counts = [http.requests, http.at_once, http.request, http.response, http.redirects];
        let names = ["http-requests", "http-at-once", "http-request", "http-response", "http-redirects"];
        assert_eq!((counts, http.time), (names.map(count), time("http-time")));
        let compile = limits.compile();
        assert_eq!((compile.cpu, compile.memory), (time("compile-cpu"), number("compile-memory")));
        let budgets = [limits.budget(false), limits.budget(true)].map(|budget| (budget.cpu, budget.wall));
        assert_eq!(budgets, [(time("cpu"), time("wall")), (time("long-cpu"), time("long-wall"))]);
    }

    #[test]
    fn faults_show_the_default_of_their_limit() {
        let limits = PluginLimits::default();
        for long in [false, true] {
            for limit in [limits.cpu_limit(long), limits.wall_limit(long)] {
                let known = LIMITS.iter().find(|known| known.path == limit.key).unwrap();
                assert_eq!(known.unit.text(known.default()), limit.value, "{}", limit.key);
            }
        }
    }
}

//! `[limits]`: how much a plugin may use. One table describes each limit for parsing, the reference page and
//! `loggia policy explain`.

mod key;
mod table;

pub use self::{
    key::{LimitKey, LimitSet},
    table::LIMITS,
};
pub use crate::document::unit::Unit;
use crate::{
    document::{
        field::{Field, Fields},
        problem::Problems,
    },
    model::{Policy, limit_names},
};

/// Name of the section.
pub const SECTION: &str = "limits";

/// Reads the section.
pub fn read(field: &Field<'_>, problems: &mut Problems) -> LimitSet {
    let mut set = LimitSet::default();
    let names = LIMITS.iter().map(|limit| limit.name());
    let Some(fields): Option<Fields<'_>> = field.fields(names, problems) else { return set };
    for limit in LIMITS {
        if let Some(field) = fields.get(limit.name()) {
            limit.read(&field, &mut set, problems);
        }
    }
    set
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
    let set = LimitSet { limits: policy.limits.clone(), rules: policy.rules.clone() };
    let changed = move |limit: &&LimitKey| limit.of(&set) != limit.default();
    LIMITS.iter().filter(changed).map(|limit| limit.path).filter(|path| !HOSTED.contains(path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::PluginLimits;

    #[test]
    fn each_limit_sets_only_its_own_number() {
        for limit in LIMITS {
            let mut set = LimitSet::default();
            let default = limit.default();
            assert!((limit.least..=limit.most).contains(&default), "{}", limit.name());
            (limit.set)(&mut set, limit.most);
            assert_eq!(limit.of(&set), limit.most, "{}", limit.name());
            let others = LIMITS.iter().filter(|other| other.name() != limit.name());
            for other in others {
                assert_eq!(other.of(&set), other.default(), "{} of {}", limit.name(), other.name());
            }
            (limit.set)(&mut set, default);
            assert_eq!(set, LimitSet::default());
        }
    }

    #[test]
    fn every_limit_has_a_named_path() {
        let paths: Vec<&str> = LIMITS.iter().map(|limit| limit.path).collect();
        let (mut known, mut listed) = (limit_names::ALL.to_vec(), paths.clone());
        known.sort_unstable();
        listed.sort_unstable();
        assert_eq!(known, listed);
        assert!(paths.iter().all(|path| path.strip_prefix(SECTION).is_some_and(|key| key.starts_with('.'))));
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

//! `[limits]`: how much a plugin may use. One table says all there is to say of each limit; parsing, the reference page
//! and what is told of a policy read it.

mod key;
mod table;

pub use key::{Bounds, LimitKey};
pub use table::LIMITS;

pub use super::unit::Unit;
use super::{
    field::{Field, Fields},
    problem::Problems,
};

/// The section's name.
pub const SECTION: &str = "limits";

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
    use loggia_sandbox::PluginLimits;

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
        let limits = PluginLimits::default();
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

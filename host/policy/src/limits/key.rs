//! One limit: what it counts, its bounds, and how it is read and shown.

use crate::{
    document::{field::Field, problem::Problems, unit::Unit},
    model::{FacadeRules, PluginLimits},
};

/// What can be limited.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LimitSet {
    /// What the sandbox holds a plugin to.
    pub limits: PluginLimits,
    /// What the gate holds its calls to.
    pub rules: FacadeRules,
}

/// One limit.
pub struct LimitKey {
    /// Path in a policy, such as `limits.memory`.
    pub path: &'static str,
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
    pub(crate) get: fn(&LimitSet) -> u64,
    pub(crate) set: fn(&mut LimitSet, u64),
}

impl LimitKey {
    /// Returns its key in the section.
    pub fn name(&self) -> &'static str {
        self.path.strip_prefix("limits.").unwrap_or(self.path)
    }

    /// What these bounds set it to.
    pub fn of(&self, bounds: &LimitSet) -> u64 {
        (self.get)(bounds)
    }

    /// What holds where a policy does not say.
    pub fn default(&self) -> u64 {
        self.of(&LimitSet::default())
    }

    /// Reads the limit into these bounds.
    pub(crate) fn read(&self, field: &Field<'_>, bounds: &mut LimitSet, problems: &mut Problems) {
        let Some((number, shown)) = self.unit.read(field, problems) else { return };
        let Some(number) = number.filter(|number| (self.least..=self.most).contains(number)) else {
            let (least, most) = (self.unit.text(self.least), self.unit.text(self.most));
            let must = match self.unit {
                Unit::Count => format!("must be {least} to {most}"),
                _ if self.least <= 1 => format!("must be more than nothing and at most {most}"),
                _ => format!("must be {least} to {most}"),
            };
            field.report(format!("{must} (it is {shown})"), problems);
            return;
        };
        (self.set)(bounds, number);
    }
}

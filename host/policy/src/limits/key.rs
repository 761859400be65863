//! One limit: unit, bounds, parsing and texts.

use crate::{
    document::{field::Field, problem::Problems, unit::Unit},
    model::{FacadeRules, PluginLimits},
};

/// Values of all limits.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LimitSet {
    /// Limits that the sandbox enforces.
    pub limits: PluginLimits,
    /// Rules that the gate enforces.
    pub rules: FacadeRules,
}

/// One limit.
pub struct LimitKey {
    /// Path in a policy, such as `limits.memory`.
    pub path: &'static str,
    /// Unit of the value.
    pub unit: Unit,
    /// Minimum value.
    pub least: u64,
    /// Maximum value.
    pub most: u64,
    /// Quantity that is limited, for the reference page.
    pub means: &'static str,
    /// Misuse that the limit prevents, for the reference page.
    pub stops: &'static str,
    pub(crate) get: fn(&LimitSet) -> u64,
    pub(crate) set: fn(&mut LimitSet, u64),
}

impl LimitKey {
    /// Returns the name of the key in the section.
    pub fn name(&self) -> &'static str {
        self.path.strip_prefix("limits.").unwrap_or(self.path)
    }

    /// Returns the value of this limit in a set.
    pub fn of(&self, set: &LimitSet) -> u64 {
        (self.get)(set)
    }

    /// Returns the value that applies if the policy does not set the limit.
    pub fn default(&self) -> u64 {
        self.of(&LimitSet::default())
    }

    /// Reads the limit into a set.
    pub(crate) fn read(&self, field: &Field<'_>, set: &mut LimitSet, problems: &mut Problems) {
        let Some((number, text)) = self.unit.read(field, problems) else { return };
        let Some(number) = number.filter(|number| (self.least..=self.most).contains(number)) else {
            let (least, most) = (self.unit.text(self.least), self.unit.text(self.most));
            let rule = match self.unit {
                Unit::Count => format!("must be {least} to {most}"),
                _ if self.least <= 1 => format!("must be greater than 0 and at most {most}"),
                _ => format!("must be {least} to {most}"),
            };
            field.report(format!("{rule} (got {text})"), problems);
            return;
        };
        (self.set)(set, number);
    }
}

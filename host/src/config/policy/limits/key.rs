//! One limit: what it counts, its bounds, and how it is read and shown.

use loggia_gate::access::FacadeRules;
use loggia_sandbox::PluginLimits;

use crate::config::policy::{field::Field, problem::Problems, unit::Unit};

/// What can be limited.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Bounds {
    /// What the sandbox holds a plugin to.
    pub limits: PluginLimits,
    /// What the gate holds its calls to.
    pub rules: FacadeRules,
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
    pub(super) get: fn(&Bounds) -> u64,
    pub(super) set: fn(&mut Bounds, u64),
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

    /// Reads the limit into these bounds.
    pub(super) fn read(&self, field: &Field<'_>, bounds: &mut Bounds, problems: &mut Problems) {
        let Some((number, shown)) = self.unit.read(field, problems) else { return };
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

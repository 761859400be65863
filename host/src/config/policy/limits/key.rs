//! One limit: what it counts, its bounds, and how it is read and shown.

use std::time::Duration;

use loggia_gate::access::FacadeRules;
use loggia_sandbox::PluginLimits;
use loggia_text::units;

use crate::config::policy::{field::Field, problem::Problems};

/// What can be limited.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Bounds {
    /// What the sandbox holds a plugin to.
    pub limits: PluginLimits,
    /// What the gate holds its calls to.
    pub rules: FacadeRules,
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
    pub(super) get: fn(&Bounds) -> u64,
    pub(super) set: fn(&mut Bounds, u64),
}

impl Unit {
    /// A number of it, as a message says it and a policy writes it between quotes.
    pub fn text(self, number: u64) -> String {
        match self {
            Self::Size => units::format_bytes(number),
            Self::Time => units::format_duration(Duration::from_millis(number)),
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
            Unit::Time => units::parse_duration(&text.value).map(millis),
            _ => units::parse_bytes(&text.value),
        };
        match read {
            Ok(number) => Some((Some(number), text.shown())),
            Err(said) => {
                field.wrong(format!("({}) {said}", text.shown()), problems);
                None
            }
        }
    }

    /// Reads the limit into these bounds.
    pub(super) fn read(&self, field: &Field<'_>, bounds: &mut Bounds, problems: &mut Problems) {
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

pub(super) fn millis(time: Duration) -> u64 {
    time.as_millis().try_into().unwrap_or(u64::MAX)
}

//! One limit as data, and the macro of the table.

use std::time::Duration;

use crate::document::unit::{Unit, millis};

/// One limit of those that `Limits` holds.
pub struct LimitKey<Limits> {
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
    pub(crate) get: fn(&Limits) -> u64,
    pub(crate) set: fn(&mut Limits, u64),
}

impl<Limits: Default> LimitKey<Limits> {
    /// Returns the name of the key in the section.
    pub fn name(&self) -> &'static str {
        self.path.strip_prefix("limits.").unwrap_or(self.path)
    }

    /// Returns the value of this limit.
    pub fn of(&self, limits: &Limits) -> u64 {
        (self.get)(limits)
    }

    /// Returns the value that applies if the policy does not set the limit.
    pub fn default(&self) -> u64 {
        self.of(&Limits::default())
    }
}

/// Type of a limit's value: a number of the limit's unit.
pub(super) trait LimitValue {
    fn from_number(number: u64) -> Self;
    fn to_number(&self) -> u64;
}

impl LimitValue for u64 {
    fn from_number(number: u64) -> Self {
        number
    }

    fn to_number(&self) -> u64 {
        *self
    }
}

impl LimitValue for u32 {
    fn from_number(number: u64) -> Self {
        number.try_into().unwrap_or(Self::MAX)
    }

    fn to_number(&self) -> u64 {
        u64::from(*self)
    }
}

impl LimitValue for usize {
    fn from_number(number: u64) -> Self {
        number.try_into().unwrap_or(Self::MAX)
    }

    #[allow(clippy::cast_possible_truncation, reason = "usize has at most 64 bits")]
    fn to_number(&self) -> u64 {
        *self as u64
    }
}

impl LimitValue for Duration {
    fn from_number(number: u64) -> Self {
        Self::from_millis(number)
    }

    fn to_number(&self) -> u64 {
        millis(*self)
    }
}

/// Defines `PluginLimits` with a field for each limit, the table `LIMITS`, and the paths in `limit_names`.
macro_rules! limit_table {
    ($(
        $field:ident: $type:ty {
            key: $name:ident = $path:literal,
            unit: $unit:ident, range: $range:expr, default: $default:expr,
            means: $means:literal,
            stops: $stops:literal,
        }
    )*) => {
        /// Limits of a plugin: times, sizes in bytes, and counts.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct PluginLimits {$(
            #[doc = concat!("`", $path, "`: ", $means, ".")]
            pub $field: $type,
        )*}

        impl Default for PluginLimits {
            fn default() -> Self {
                Self {$( $field: $crate::model::limit_key::LimitValue::from_number($default), )*}
            }
        }

        /// All limits that a policy can change, in the order of the reference page.
        pub static LIMITS: &[$crate::model::limit_key::LimitKey<PluginLimits>] = &[$(
            $crate::model::limit_key::LimitKey {
                path: $path,
                unit: $crate::document::unit::Unit::$unit,
                least: *($range).start(),
                most: *($range).end(),
                means: $means,
                stops: $stops,
                get: |limits| $crate::model::limit_key::LimitValue::to_number(&limits.$field),
                set: |limits, number| limits.$field = $crate::model::limit_key::LimitValue::from_number(number),
            },
        )*];

        /// Paths of the limits in a policy, which messages of enforcement name.
        pub mod limit_names {$(
            #[doc = concat!("`", $path, "`")]
            pub const $name: &str = $path;
        )*}
    };
}

pub(super) use limit_table;

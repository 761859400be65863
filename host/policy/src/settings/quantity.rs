//! Numbers with units and bounds.

use std::time::Duration;

use serde_json::json;

use super::{
    kind::ValueKind,
    value::{SettingsReader, values},
};
use crate::document::{
    field::Field,
    unit::{Unit, millis},
};

/// Bytes: `"64KiB"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Size(pub u64);

impl Size {
    /// Returns the number of bytes, saturating at `usize::MAX`.
    pub fn bytes(self) -> usize {
        usize::try_from(self.0).unwrap_or(usize::MAX)
    }
}

/// A time: `"30s"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span(pub Duration);

impl Span {
    /// Creates a time of some seconds.
    pub const fn seconds(seconds: u64) -> Self {
        Self(Duration::from_secs(seconds))
    }
}

/// Number with a unit.
pub(super) trait UnitNumber: Copy {
    const UNIT: Unit;
    fn number(self) -> u64;
    fn from_number(number: u64) -> Option<Self>;
}

/// Creates a reader of numbers within inclusive bounds.
pub(super) fn within<Q: UnitNumber>(
    least: Q,
    most: Q,
) -> impl Fn(&Field<'_>, &mut SettingsReader<'_>) -> Option<Q> {
    move |field, reader| {
        let (number, _) = Q::UNIT.read(field, &mut reader.problems)?;
        let (least, most) = (least.number(), most.number());
        if let Some(number) = number.filter(|number| (least..=most).contains(number)) {
            return Q::from_number(number);
        }
        let is_unbounded = Q::from_number(most.saturating_add(1)).is_none() || most == u64::MAX;
        reader.report(
            field,
            match is_unbounded && number.is_none_or(|number| number < least) {
                true => format!("must be {} or more", Q::UNIT.text(least)),
                false => format!("must be {} to {}", Q::UNIT.text(least), Q::UNIT.text(most)),
            },
        )
    }
}

macro_rules! quantities {
    ($($type:ident, $unit:ident, $kind:expr, $number:expr, $from:expr, $most:expr;)*) => {$(
        impl UnitNumber for $type {
            const UNIT: Unit = Unit::$unit;

            fn number(self) -> u64 {
                $number(self)
            }

            fn from_number(number: u64) -> Option<Self> {
                $from(number)
            }
        }

        values! {
            $type, $kind, within($from(0)?, $most), |value: &Self| match Unit::$unit {
                Unit::Count => json!(value.number()),
                unit => json!(unit.text(value.number())),
            };
        }
    )*};
}

quantities! {
    u32, Count, ValueKind::Number("uint32"), u64::from, |n| u32::try_from(n).ok(), u32::MAX;
    usize, Count, ValueKind::Number("uint"), |n: usize| n as u64, |n| usize::try_from(n).ok(), usize::MAX;
    Size, Size, ValueKind::Quantity("Size", "B|KiB|MiB|GiB", "4MiB"), |n: Size| n.0, |n| Some(Size(n)), Size(u64::MAX);
    Span, Time, ValueKind::Quantity("Span", "ms|s|m|h", "30s"), |n: Span| millis(n.0),
        |n| Some(Span(Duration::from_millis(n))), Span(Duration::MAX);
}

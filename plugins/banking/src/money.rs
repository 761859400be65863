//! Amounts of money.

use std::fmt;

use loggia_sdk::prelude::*;

/// The only currency of this bank.
pub const CURRENCY: &str = "EUR";

/// An amount in cents: sums are exact.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Money(pub u64);

impl Money {
    /// Parses an amount in whole units, with at most two decimals.
    ///
    /// # Errors
    ///
    /// `invalid_params` for fractions of a cent.
    pub fn parse(name: &str, amount: f64) -> Result<Self> {
        let cents = amount * 100.0;
        // The binary form of 0.29 is not exact: the difference is far below a thousandth of a cent.
        if (cents - cents.round()).abs() > 0.001 {
            return Err(Failure::invalid_params(format!("`{name}` has more than two decimals: {amount}")));
        }
        Ok(Self(cents.round() as u64))
    }

    /// The amount in whole units, for JSON.
    pub fn units(self) -> f64 {
        self.0 as f64 / 100.0
    }

    /// The sum, unless it is too large to be stored.
    pub fn plus(self, other: Self) -> Option<Self> {
        self.0.checked_add(other.0).map(Self)
    }

    /// The difference, unless the other is larger.
    pub fn minus(self, other: Self) -> Option<Self> {
        self.0.checked_sub(other.0).map(Self)
    }
}

impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:02} {CURRENCY}", self.0 / 100, self.0 % 100)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_have_two_decimals() {
        let check = |amount: f64, expected: &str| {
            let parsed = Money::parse("amount", amount);
            assert_eq!(
                parsed.map_or_else(|failure| failure.to_string(), |money| money.to_string()),
                expected
            );
        };
        check(0.29, "0.29 EUR");
        check(1_000_000.01, "1000000.01 EUR");
        check(12.5, "12.50 EUR");
        check(1.005, "invalid_params: `amount` has more than two decimals: 1.005");
    }
}

//! Pure: the times of a cron expression.

use std::str::FromStr;

use croner::Cron;
use jiff::{Timestamp, tz::TimeZone};

/// Times at which a schedule is due.
pub struct DueTimes {
    cron: Cron,
    zone: TimeZone,
}

impl DueTimes {
    /// Parses a cron expression for a time zone.
    ///
    /// # Errors
    ///
    /// The reason, after "since".
    pub fn parse(cron: &str, time_zone: &str) -> Result<Self, String> {
        let zone = TimeZone::get(time_zone).map_err(|_| {
            format!("this system's database has no time zone `{time_zone}` (is tzdata installed?)")
        })?;
        let cron = Cron::from_str(cron).map_err(|error| format!("its schedule cannot be read: {error}"))?;
        Ok(Self { cron, zone })
    }

    /// Returns the last time after one moment and until another.
    pub fn last_between(&self, after: Timestamp, until: Timestamp) -> Option<Timestamp> {
        let until = until.to_zoned(self.zone.clone());
        let last = self.cron.find_previous_occurrence(&until, true).ok()?.timestamp();
        (last > after).then_some(last)
    }

    /// Returns the first time after a moment.
    pub fn next_after(&self, after: Timestamp) -> Option<Timestamp> {
        let next = self.cron.find_next_occurrence(&after.to_zoned(self.zone.clone()), false);
        next.ok().map(|next| next.timestamp())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn times_are_those_of_the_zone() {
        for (cron, zone, after, next) in [
            ("0 7 * * 1-5", "UTC", "2026-11-20T07:00:00Z", "2026-11-23T07:00:00Z"),
            ("0 7 * * 1-5", "Europe/Berlin", "2026-11-20T07:00:00Z", "2026-11-23T06:00:00Z"),
            ("*/5 * * * *", "UTC", "2026-11-20T07:01:30Z", "2026-11-20T07:05:00Z"),
            // The clocks change in that night: from 2:00 to 3:00, and from 3:00 to 2:00.
            ("30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", "2026-03-29T01:00:00Z"),
            ("30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", "2026-10-25T00:30:00Z"),
        ] {
            let times = DueTimes::parse(cron, zone).unwrap();
            assert_eq!(times.next_after(at(after)), Some(at(next)), "{cron} {zone} {after}");
        }
    }

    #[test]
    fn of_several_times_that_were_slept_through_the_last_counts() {
        let times = DueTimes::parse("0 * * * *", "UTC").unwrap();
        let between = |after: &str, until: &str| times.last_between(at(after), at(until));
        assert_eq!(between("2026-11-20T07:00:00Z", "2026-11-20T10:30:00Z"), Some(at("2026-11-20T10:00:00Z")));
        assert_eq!(between("2026-11-20T07:00:00Z", "2026-11-20T07:59:59Z"), None, "once");
        assert_eq!(between("2026-11-20T06:59:59Z", "2026-11-20T07:00:00Z"), Some(at("2026-11-20T07:00:00Z")));
        assert_eq!(between("2026-11-20T08:00:00Z", "2026-11-20T07:00:00Z"), None, "the clock was set back");
    }

    #[test]
    fn unknown_zones_are_refused() {
        let reason = DueTimes::parse("0 7 * * *", "Europe/Atlantis").err().unwrap();
        assert!(reason.contains("has no time zone `Europe/Atlantis`"), "{reason}");
    }
}

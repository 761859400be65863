//! Which traces are recorded.

use loggia_facade::trace::TraceContext;

/// Decides by the id of a trace, so that all programs that see it decide alike.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TraceSampler {
    /// Share of the traces, 0 to 1.
    share: f64,
    /// Whether a trace that is continued is recorded as its origin decided.
    follows_parent: bool,
}

impl TraceSampler {
    /// Records this share of the traces that begin here, and of the others those that are recorded elsewhere.
    pub fn of_share(share: f64) -> Self {
        Self { share, follows_parent: true }
    }

    /// Reads `OTEL_TRACES_SAMPLER` and `OTEL_TRACES_SAMPLER_ARG`.
    ///
    /// # Errors
    ///
    /// The reason, if one of them is not known.
    pub fn of_variables(name: Option<&str>, share: Option<&str>) -> Result<Self, String> {
        let name = name.unwrap_or("parentbased_always_on").trim();
        let (kind, follows_parent) = match name.strip_prefix("parentbased_") {
            Some(kind) => (kind, true),
            None => (name, false),
        };
        let share = match kind {
            "always_on" => 1.0,
            "always_off" => 0.0,
            "traceidratio" => {
                let share = share.map_or(Ok(1.0), |share| share.trim().parse::<f64>());
                share
                    .ok()
                    .filter(|share| (0.0..=1.0).contains(share))
                    .ok_or("OTEL_TRACES_SAMPLER_ARG must be 0 to 1")?
            }
            _ => {
                return Err("OTEL_TRACES_SAMPLER must be always_on, always_off or traceidratio, or one of them after \
                            `parentbased_`"
                    .to_owned());
            }
        };
        Ok(Self { share, follows_parent })
    }

    /// Decides about a trace.
    pub fn samples(&self, trace: &[u8; 16], remote: Option<&TraceContext>) -> bool {
        if let Some(remote) = remote.filter(|_| self.follows_parent) {
            return remote.is_sampled;
        }
        let [.., a, b, c, d, e, f, g] = *trace;
        // Those 56 bits of an id are random (W3C Trace Context, level 2); the highest are recorded, as OpenTelemetry specifies. A
        // float is exact to 53 bits.
        let random = u64::from_be_bytes([0, a, b, c, d, e, f, g]) >> 3;
        #[allow(clippy::cast_precision_loss, reason = "53 bits are exact")]
        let fraction = random as f64 / (1u64 << 53) as f64;
        fraction >= 1.0 - self.share
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(last: [u8; 7]) -> [u8; 16] {
        let mut id = [0xaa; 16];
        id[9..].copy_from_slice(&last);
        id
    }

    #[test]
    fn a_share_of_the_ids_is_recorded() {
        let ids: Vec<_> = (0..=255).map(|first| id([first, 0, 0, 0, 0, 0, 0])).collect();
        let count =
            |share: f64| ids.iter().filter(|id| TraceSampler::of_share(share).samples(id, None)).count();
        assert_eq!([0.0, 0.25, 0.5, 1.0].map(count), [0, 64, 128, 256]);
        let samples = |share, byte| TraceSampler::of_share(share).samples(&id([byte; 7]), None);
        assert!(samples(1.0, 0xff) && samples(1.0, 0) && !samples(0.0, 0xff));
    }

    #[test]
    fn samplers_follow_their_parent_by_name() {
        let remote = |is_sampled| TraceContext { trace: id([1; 7]), span: [1; 8], is_sampled, state: None };
        let check = |name: &str, share: Option<&str>, expected: [bool; 3]| {
            let sampler = TraceSampler::of_variables(Some(name), share).unwrap();
            let trace = id([0x7f, 0, 0, 0, 0, 0, 0]);
            let found = [None, Some(remote(true)), Some(remote(false))];
            assert_eq!(found.map(|remote| sampler.samples(&trace, remote.as_ref())), expected, "{name}");
        };
        check("always_on", None, [true, true, true]);
        check("always_off", None, [false, false, false]);
        check("traceidratio", Some("0.5"), [false, false, false]);
        check("traceidratio", None, [true, true, true]);
        check("parentbased_always_on", None, [true, true, false]);
        check("parentbased_always_off", None, [false, true, false]);
        check("parentbased_traceidratio", Some("0.6"), [true, true, false]);
        assert_eq!(TraceSampler::of_variables(None, None), Ok(TraceSampler::of_share(1.0)));
        for (name, share) in [("sometimes", None), ("traceidratio", Some("2")), ("traceidratio", Some("x"))] {
            assert!(TraceSampler::of_variables(Some(name), share).is_err(), "{name}");
        }
    }
}

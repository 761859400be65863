//! From the start of the process to the first answers.

use std::time::Duration;

use super::{Round, first_call, open_stdio};
use crate::{
    flood::{ms, percentile},
    process,
};

/// Warm starts per server and round.
const STARTS: usize = 5;

/// One cold start (its own caches empty, its files not in memory) and some warm ones of every server on stdio.
pub fn start(round: &mut Round) {
    for at in round.order(0) {
        let contender = &mut round.contenders[at];
        let server = contender.server;
        contender.figures.step("start.cold", |f| {
            process::prepare(server)?;
            process::make_cold(server);
            let mut live = open_stdio(server)?;
            f.set("start.cold_init_ms", ms(live.ready));
            f.set("start.cold_first_call_ms", ms(first_call(server, &mut live)?));
            Ok(())
        });
    }
    let mut times: Vec<[Vec<Duration>; 2]> = round.contenders.iter().map(|_| <_>::default()).collect();
    for turn in 0..STARTS {
        for at in round.order(turn) {
            let contender = &mut round.contenders[at];
            let server = contender.server;
            contender.figures.step("start.warm", |_| {
                let mut live = open_stdio(server)?;
                times[at][0].push(live.ready);
                times[at][1].push(first_call(server, &mut live)?);
                Ok(())
            });
        }
    }
    for (contender, [inits, calls]) in round.contenders.iter_mut().zip(&mut times) {
        if !calls.is_empty() {
            contender.figures.set("start.warm_init_ms", ms(percentile(inits, 50)));
            contender.figures.set("start.warm_first_call_ms", ms(percentile(calls, 50)));
        }
    }
}

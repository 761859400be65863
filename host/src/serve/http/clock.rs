//! What a connection does, and how long it may: heads have little time, answers as much as they need, and what is waited for
//! between them depends on who was answered.

use std::{
    pin::pin,
    sync::{Arc, Mutex, PoisonError},
    task::Poll,
    time::Duration,
};

use tokio::time::Instant;

use super::accept::Times;

/// The clock of one connection. Whatever sets it runs within the connection's own task, so `keep`, which looks after each
/// poll, misses nothing.
pub struct Clock {
    times: Times,
    does: Mutex<Does>,
}

#[derive(Debug, Clone, Copy)]
enum Does {
    /// It sends the head of a request.
    Asks { until: Instant },
    /// It is answered.
    Hears,
    /// It has been answered, and may ask again.
    Rests { until: Instant, time: Duration },
}

impl Clock {
    /// Of a connection that was just made: who only connects holds a place that others wait for.
    pub fn new(times: Times) -> Arc<Self> {
        let does = Mutex::new(Does::Asks { until: Instant::now() + times.head });
        Arc::new(Self { times, does })
    }

    fn set(&self, next: impl FnOnce(Does) -> Does) {
        let mut does = self.does.lock().unwrap_or_else(PoisonError::into_inner);
        *does = next(*does);
    }

    /// Some bytes came: after a rest, the first of a head.
    pub fn heard(&self) {
        self.set(|does| match does {
            Does::Rests { .. } => Does::Asks { until: Instant::now() + self.times.head },
            other => other,
        });
    }

    /// Some bytes were taken. Who takes the end of a long answer does not rest.
    pub fn told(&self) {
        self.set(|does| match does {
            Does::Rests { time, .. } => Does::Rests { until: Instant::now() + time, time },
            other => other,
        });
    }

    /// A head has come.
    pub fn asked(&self) {
        self.set(|_| Does::Hears);
    }

    /// The answer has been given. Who is not known may not hold a place for as long as who is.
    pub fn answered(&self, known: bool) {
        let time = if known { self.times.idle } else { self.times.idle.min(self.times.head) };
        self.set(|_| Does::Rests { until: Instant::now() + time, time });
    }

    fn until(&self) -> Option<Instant> {
        match *self.does.lock().unwrap_or_else(PoisonError::into_inner) {
            Does::Asks { until } | Does::Rests { until, .. } => Some(until),
            Does::Hears => None,
        }
    }

    /// Drives a connection as long as it keeps to its times; none where it did not.
    pub async fn keep<T>(&self, connection: impl Future<Output = T>) -> Option<T> {
        let mut connection = pin!(connection);
        let mut alarm = pin!(tokio::time::sleep_until(Instant::now()));
        std::future::poll_fn(|cx| {
            if let Poll::Ready(ended) = connection.as_mut().poll(cx) {
                return Poll::Ready(Some(ended));
            }
            let Some(until) = self.until() else { return Poll::Pending };
            if alarm.deadline() != until {
                alarm.as_mut().reset(until);
            }
            alarm.as_mut().poll(cx).map(|()| None)
        })
        .await
    }
}

/// Tells the clock, when it is dropped, that an answer has been given.
pub struct Answer {
    /// Of its connection.
    pub clock: Arc<Clock>,
    /// Whether it was known whom it is for.
    pub known: bool,
}

impl Drop for Answer {
    fn drop(&mut self) {
        self.clock.answered(self.known);
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use super::*;

    const TIMES: Times = Times {
        head: Duration::from_secs(10),
        idle: Duration::from_secs(75),
        write: Duration::from_secs(30),
    };

    /// H47: after how many seconds a connection is over that does this, and a second later that, and then nothing.
    #[tokio::test(start_paused = true)]
    async fn each_thing_that_a_connection_does_has_its_time() {
        type Step = fn(&Clock);
        let (asked, heard, told): (Step, Step, Step) = (Clock::asked, Clock::heard, Clock::told);
        let (known, unknown): (Step, Step) = (|clock| clock.answered(true), |clock| clock.answered(false));
        for (what, steps, expected) in [
            ("nothing is said", vec![], Some(10)),
            ("a head comes slowly", vec![heard, heard, heard], Some(10)),
            ("it is being answered", vec![heard, asked, heard, told], None),
            ("it rests", vec![asked, known], Some(2 + 75)),
            ("nobody knows it", vec![asked, unknown], Some(2 + 10)),
            ("its answer is long", vec![asked, known, told], Some(3 + 75)),
            ("the next head comes slowly", vec![asked, known, heard, heard, told], Some(3 + 10)),
            ("the next head has come", vec![asked, unknown, heard, asked], None),
        ] {
            let begun = Instant::now();
            let clock = Clock::new(TIMES);
            let connection = async {
                for step in steps {
                    tokio::time::sleep(Duration::from_secs(1)).await;
                    step(&clock);
                }
                pending::<()>().await;
            };
            let kept = tokio::time::timeout(Duration::from_secs(1000), clock.keep(connection)).await;
            let ended = kept.is_ok().then(|| begun.elapsed().as_secs());
            assert_eq!(ended, expected, "{what}");
        }
    }
}

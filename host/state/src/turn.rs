//! Turns at a store's writing connection, in the order they were asked for.
//!
//! A plain mutex gives it to whoever is quickest, which is the thread that has just let go of it: beside a guest that
//! commits in a tight loop, another's commit would wait for long.

use std::{
    collections::VecDeque,
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    time::Instant,
};

/// Something that one thread at a time may use.
#[derive(Debug)]
pub struct Turns<T> {
    queue: Mutex<Queue>,
    moved: Condvar,
    /// Locked only by whoever stands first in the queue, so never waited for.
    thing: Mutex<T>,
}

/// Tickets of those that wait; the first one's has its turn.
#[derive(Debug, Default)]
struct Queue {
    next: u64,
    waiting: VecDeque<u64>,
}

impl<T> Turns<T> {
    pub fn new(thing: T) -> Self {
        Self { queue: Mutex::default(), moved: Condvar::new(), thing: Mutex::new(thing) }
    }

    /// Does something with the thing when the turn has come. `None` if it did not come until then.
    pub fn take<R>(&self, deadline: Instant, work: impl FnOnce(&mut T) -> R) -> Option<R> {
        let _turn = self.wait(deadline)?;
        Some(work(&mut self.thing.lock().unwrap_or_else(PoisonError::into_inner)))
    }

    fn wait(&self, deadline: Instant) -> Option<Turn<'_, T>> {
        let mut queue = self.lock();
        let ticket = queue.next;
        queue.next += 1;
        queue.waiting.push_back(ticket);
        // From here on the ticket leaves the queue with the turn, also where it never came.
        let turn = Turn { turns: self, ticket };
        while queue.waiting.front() != Some(&ticket) {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                drop(queue);
                return None;
            }
            queue = self.moved.wait_timeout(queue, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        drop(queue);
        Some(turn)
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Turn<'a, T> {
    turns: &'a Turns<T>,
    ticket: u64,
}

impl<T> Drop for Turn<'_, T> {
    fn drop(&mut self) {
        self.turns.lock().waiting.retain(|ticket| *ticket != self.ticket);
        self.turns.moved.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::{sync::mpsc, thread, time::Duration};

    use super::*;

    fn long() -> Instant {
        Instant::now() + Duration::from_secs(10)
    }

    #[test]
    fn turns_come_in_the_order_they_were_asked_for() {
        let turns = Turns::new(Vec::new());
        thread::scope(|scope| {
            turns.take(long(), |_| {
                for n in 0..20 {
                    let turns = &turns;
                    scope.spawn(move || turns.take(long(), |order| order.push(n)));
                    // Each stands in the queue before the next comes.
                    while turns.lock().waiting.len() < n + 2 {
                        thread::yield_now();
                    }
                }
            });
        });
        assert_eq!(turns.take(long(), |order| order.clone()), Some((0..20).collect()));
    }

    #[test]
    fn who_waits_too_long_goes_away_and_holds_up_nobody() {
        let turns = Turns::new(());
        let (done, wait) = mpsc::channel::<()>();
        thread::scope(|scope| {
            let turns = &turns;
            scope.spawn(move || turns.take(long(), |()| wait.recv().is_err()));
            while turns.lock().waiting.is_empty() {
                thread::yield_now();
            }
            assert_eq!(turns.take(Instant::now(), |()| ()), None);
            drop(done);
            assert_eq!(turns.take(long(), |()| ()), Some(()));
        });
    }
}

//! The test double of the host: one for each thread that runs a call.

use std::{
    cell::RefCell,
    collections::{BTreeMap, VecDeque},
    rc::Rc,
};

use super::Question;
use crate::{
    Answer, Effect, Level, Value,
    host::PeerDoubles,
    http::{self, Route},
    state::double::Store,
};

/// What a test grants, and what its plugin did. Each service reads and changes its own fields.
#[derive(Default)]
pub(crate) struct Double {
    /// Effect of the running action.
    pub effect: Option<Effect>,
    pub caller: Option<String>,
    pub cancelled: bool,
    pub logs: Vec<(Level, String)>,
    pub progress: Vec<(f64, Option<f64>, Option<String>)>,
    pub config: BTreeMap<String, String>,
    /// The person's answers to the next questions.
    pub answers: VecDeque<Answer<Value>>,
    pub questions: Vec<Question>,
    pub invoke: PeerDoubles,
    pub store: Option<Store>,
    pub routes: Vec<Route>,
    pub sent: Vec<http::Request>,
}

thread_local! {
    static CURRENT: RefCell<Option<Rc<RefCell<Double>>>> = const { RefCell::new(None) };
}

/// Runs `call` with this host; afterwards, and also if `call` panics, the one before is back.
pub(super) fn with<T>(double: &Rc<RefCell<Double>>, call: impl FnOnce() -> T) -> T {
    struct Restore(Option<Rc<RefCell<Double>>>);
    impl Drop for Restore {
        fn drop(&mut self) {
            CURRENT.set(self.0.take());
        }
    }
    let _restore = Restore(CURRENT.replace(Some(Rc::clone(double))));
    call()
}

/// Runs a function with the current host, if there is one.
pub(crate) fn current<T>(act: impl FnOnce(&mut Double) -> T) -> Option<T> {
    let double = CURRENT.with_borrow(Clone::clone)?;
    let mut double = double.borrow_mut();
    Some(act(&mut double))
}

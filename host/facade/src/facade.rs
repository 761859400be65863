//! The trait that everything which answers calls implements.

use std::sync::Arc;

use futures_util::future::BoxFuture;

use crate::{Call, Reply, StartRule, Stop, Surface, Usage};

/// One domain of actions behind one tool. A changed surface is a new facade.
pub trait Facade: Send + Sync + 'static {
    /// Published surface. Constant for the facade's lifetime.
    fn surface(&self) -> &Arc<Surface>;

    /// Answers one call. The parameters were validated against the action's schema and hold its defaults.
    ///
    /// The future may be polled on one runtime first and then moved to another, so it must not rely on the thread
    /// it began on. Dropping it ends the call.
    fn dispatch(self: Arc<Self>, call: Call) -> BoxFuture<'static, Result<Reply, Stop>>;

    /// Whether its calls wait and hardly compute. Such calls stay on the runtime of their client's connection, which saves
    /// changes of threads, so no poll may take longer than a fraction of a millisecond; before longer work, a call awaits
    /// [`Port::leave_io`](crate::Port::leave_io).
    fn is_io_bound(&self) -> bool {
        false
    }

    /// Whether its calls go on after a restart of the host: they record their progress by
    /// [`Port::take_journal`](crate::Port::take_journal), and continue from it.
    fn is_durable(&self) -> bool {
        false
    }

    /// URIs, or templates over the parameters, of the resources that the prompt of an action brings with it.
    fn attached(&self, _action: &str) -> &[String] {
        &[]
    }

    /// Rules by which its actions start by themselves.
    fn start_rules(&self) -> &[StartRule] {
        &[]
    }

    /// Resource usage of its calls so far, if it is recorded.
    fn usage(&self) -> Usage {
        Usage::default()
    }
}

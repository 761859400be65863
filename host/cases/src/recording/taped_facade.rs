//! A facade whose calls have tapes.

use std::{collections::BTreeSet, sync::Arc};

use futures_util::future::BoxFuture;
use loggia_facade::{Call, Facade, Reply, Session, Stop, Surface, Usage};

use super::{call_tapes::CallTapes, taped_port::TapedPort};

/// A plugin in front of which its calls are recorded. Calls of other actions pass through.
pub struct TapedFacade {
    inner: Arc<dyn Facade>,
    tapes: Arc<CallTapes>,
    /// Name of the facade: the surface's own, or the operator's.
    name: String,
    /// Digest of the plugin's file.
    artifact: String,
    /// Actions that the policy lets be recorded.
    allowed: BTreeSet<String>,
}

impl TapedFacade {
    /// Puts tapes in front of a plugin. `allowed`: the actions that its policy lets be recorded.
    pub fn new(
        inner: Arc<dyn Facade>,
        tapes: Arc<CallTapes>,
        name: &str,
        artifact: &str,
        allowed: &[String],
    ) -> Self {
        let allowed = allowed.iter().cloned().collect();
        Self { inner, tapes, name: name.to_owned(), artifact: artifact.to_owned(), allowed }
    }
}

impl Facade for TapedFacade {
    fn surface(&self) -> &Arc<Surface> {
        self.inner.surface()
    }

    fn dispatch(self: Arc<Self>, call: Call) -> BoxFuture<'static, Result<Reply, Stop>> {
        let action = self.inner.surface().action(&call.action);
        let schema = action.map(|action| &*action.params);
        let is_allowed = self.allowed.contains(&call.action);
        let head = (&*self.name, &*self.artifact);
        let Some(open) = self.tapes.begin(&call, head, schema, is_allowed) else {
            return Arc::clone(&self.inner).dispatch(call);
        };
        let port = TapedPort { session: call.session.clone(), tape: Arc::clone(&open.tape) };
        let call = Call { session: Session::new(Arc::new(port)), ..call };
        Box::pin(async move {
            let outcome = Arc::clone(&self.inner).dispatch(call).await;
            open.end(&outcome);
            outcome
        })
    }

    fn usage(&self) -> Usage {
        self.inner.usage()
    }
}

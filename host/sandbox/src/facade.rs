//! A component as a facade: a fresh instance for every call.

use std::{sync::Arc, time::Instant};

use futures_util::future::BoxFuture;
use loggia_facade::{Call, Effect, Facade, Next, Reply, ScopeKey, Stop, Surface, Usage};
use loggia_state::Store;

use crate::{
    Component, Grants, LoadError,
    abi::v0_1,
    capability::Capabilities,
    fault::Blame,
    guest::{self, Guest, Purpose},
    limits::Limits,
    meter::{Meter, Metered, Spent},
};

/// One component with its surface, its grants and its limits. Calls share nothing but the compiled code.
pub struct WasmFacade {
    component: Component,
    surface: Arc<Surface>,
    name: String,
    capabilities: Capabilities,
    limits: Limits,
}

/// What a facade is confined to.
pub struct Confines<'a> {
    /// The name that it is called by, for messages: the surface's own, or the operator's.
    pub name: &'a str,
    /// What it may use.
    pub grants: &'a Grants,
    /// How much of it.
    pub limits: Limits,
    /// Its own state, where the policy grants one.
    pub store: Option<Store>,
}

impl WasmFacade {
    /// Opens what the policy grants.
    ///
    /// # Errors
    ///
    /// If a granted directory cannot be opened.
    pub fn new(
        component: Component,
        surface: Arc<Surface>,
        confines: Confines<'_>,
    ) -> Result<Self, LoadError> {
        let Confines { name, grants, limits, store } = confines;
        let capabilities = grants.configure(&limits, store)?;
        Ok(Self { component, surface, name: name.to_owned(), capabilities, limits })
    }

    /// The directories that were opened for it, in the order of the grants, by device and inode.
    pub fn dirs(&self) -> impl Iterator<Item = (u64, u64)> {
        self.capabilities.dirs()
    }

    async fn answer(&self, call: Call) -> Result<Reply, Stop> {
        // The gate resolves names against this surface, so the action is there; without one nothing is allowed.
        let action = self.surface.action(&call.action);
        let effect = action.map_or(Effect::Read, |action| action.effect);
        let (budget, cpu, _) = self.limits.budget(action.is_some_and(|action| action.long_running));
        let engine = &self.component.engine;
        let blame = Blame {
            facade: &self.name,
            limits: &self.limits,
            engine,
            cpu,
            answer: Some(self.limits.result_limit()),
        };
        let meter = Meter::new(budget.cpu);
        let _computes = self.capabilities.used.computes(&meter);
        let purpose = Purpose::Call {
            session: call.session.clone(),
            capabilities: &self.capabilities,
            effect,
            scope: call.scope.clone(),
        };
        let mut store = guest::store(engine, &self.limits, Arc::clone(&meter), purpose);
        let future = Box::pin(self.run(&mut store, &call));
        let ran = Metered { meter, future }.await;
        let answered = match ran {
            Ok(Ok(answered)) => answered,
            Ok(Err(error)) => return Err(blame.of(&error, &store).into()),
            Err(Spent) => {
                store.data().finish();
                return Err(blame.spent().into());
            }
        };
        store.data().finish();
        let size = v0_1::size(&answered);
        if size > self.limits.result {
            return Err(blame.output_size(size).into());
        }
        match answered {
            Ok(reply) => match v0_1::reply(reply) {
                Ok(reply) => Ok(Reply { next: reply.next.map(|next| self.named(next)), ..reply }),
                Err(error) => Err(blame.bad_output(error).into()),
            },
            Err(failure) => Err(match v0_1::failure(failure) {
                Ok(mut failure) => {
                    // The guest saw that something was refused, and cannot know why.
                    failure.hint = failure.hint.or_else(|| store.data().given.unsaid(&failure.code));
                    failure.next = failure.next.map(|next| self.named(next));
                    Stop::Failure(failure)
                }
                Err(error) => blame.bad_output(error).into(),
            }),
        }
    }

    /// A plugin knows itself by the name that it was built with, whatever the operator calls it.
    fn named(&self, mut next: Next) -> Next {
        if next.facade == self.surface.name {
            next.facade.clone_from(&self.name);
        }
        next
    }

    async fn run(&self, store: &mut wasmtime::Store<Guest>, call: &Call) -> wasmtime::Result<v0_1::Answered> {
        let plugin = self.component.pre.instantiate_async(&mut *store).await?;
        let left = call.deadline.saturating_duration_since(Instant::now()).as_millis();
        let caller = call.scope.as_ref().filter(|_| self.capabilities.caller).map(ScopeKey::caller);
        let call = v0_1::call(call, u64::try_from(left).unwrap_or(u64::MAX), caller);
        plugin.loggia_plugin_facade().call_dispatch(store, &call).await
    }
}

impl Facade for WasmFacade {
    fn surface(&self) -> &Arc<Surface> {
        &self.surface
    }

    fn dispatch(self: Arc<Self>, call: Call) -> BoxFuture<'static, Result<Reply, Stop>> {
        Box::pin(async move { self.answer(call).await })
    }

    fn usage(&self) -> Usage {
        self.capabilities.used.usage()
    }
}

//! A component as a facade: an instance of its own for every call.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use futures_util::future::BoxFuture;
use loggia_egress::CallerCredentials;
use loggia_facade::{
    Call, Effect, Facade, Next, Reply, Stop, Surface, Usage,
    trace::{ActiveSpan, SpanKind, names},
};
use loggia_policy::model::{PluginGrants, PluginLimits};
use loggia_state::StateStore;

use crate::{
    LazyComponent, LoadError, PluginComponent,
    abi::PluginInstance,
    call_log::PluginLog,
    capability::{ConfigureContext, FacadeCapabilities, RootFence},
    contract::{RawFailure, RawReply},
    fault::{FaultContext, GuestWork},
    guest::GuestState,
    meter::{BudgetSpent, CpuMeter, MeteredFuture},
    prepared::InstancePreparer,
    probes::{CallProbes, GuestTapes, StackSampler},
    shelf::PreparedInstance,
    store::{CallSetup, StorePurpose, begin_call, new_store},
    usage::UsageCounters,
};

/// One component with its surface, its grants and its limits. Calls share the compiled code, the opened grants and counters.
pub struct WasmFacade {
    component: LazyComponent,
    surface: Arc<Surface>,
    name: String,
    capabilities: FacadeCapabilities,
    limits: PluginLimits,
    log: PluginLog,
    usage: Arc<UsageCounters>,
    sampler: Option<Arc<dyn StackSampler>>,
    tapes: Option<Arc<dyn GuestTapes>>,
    preparer: Arc<InstancePreparer>,
}

/// Configuration of a facade's sandbox.
pub struct SandboxConfig<'a> {
    /// Name of the facade in messages: the surface's own, or the operator's.
    pub name: &'a str,
    /// Capabilities that it may use.
    pub grants: &'a PluginGrants,
    /// Limits of its calls.
    pub limits: PluginLimits,
    /// The facade's own store, if the policy grants one.
    pub store: Option<StateStore>,
    /// Credentials of its callers, if the policy grants secrets that are theirs.
    pub credentials: Option<Arc<dyn CallerCredentials>>,
    /// What stands beside its calls.
    pub probes: CallProbes,
    /// Decides which directories clients may name.
    pub root_fence: Arc<dyn RootFence>,
}

impl WasmFacade {
    /// Opens what the policy grants.
    ///
    /// # Errors
    ///
    /// If a granted directory cannot be opened.
    pub fn new(
        component: LazyComponent,
        surface: Arc<Surface>,
        confines: SandboxConfig<'_>,
    ) -> Result<Self, LoadError> {
        let SandboxConfig { name, grants, limits, store, credentials, probes, root_fence } = confines;
        let capabilities = FacadeCapabilities::configure(&ConfigureContext {
            name,
            grants,
            limits: &limits,
            store,
            credentials,
            probes: &probes,
            root_fence: &root_fence,
        })?;
        let log = PluginLog::new(&limits);
        let usage = Arc::default();
        let CallProbes { stacks: sampler, guests: tapes, .. } = probes;
        let name = name.to_owned();
        let preparer = InstancePreparer::new(component.engine());
        if sampler.is_some() || tapes.is_some() {
            // Each call shows all that it does.
            preparer.disable();
        }
        let preparer = Arc::new(preparer);
        Ok(Self { component, surface, name, capabilities, limits, log, usage, sampler, tapes, preparer })
    }

    /// Returns the opened directories in the order of the grants.
    pub fn dirs(&self) -> impl Iterator<Item = loggia_system::FileIdentity> {
        self.capabilities.dirs()
    }

    /// Answers a call, within a span of its own.
    async fn answer(self: &Arc<Self>, call: Call) -> Result<Reply, Stop> {
        let parent = call.session.span();
        let mut span = parent.begin(SpanKind::Internal, || names::sandbox_span(&self.name));
        let outcome = self.run_guest(call, &mut span).await;
        span.finish_call(&outcome);
        if self.preparer.is_slow()
            && let Ok(component) = self.component.get().await
        {
            self.preparer.prepare_next(component, &self.limits, &self.usage);
        }
        outcome
    }

    async fn run_guest(self: &Arc<Self>, call: Call, span: &mut ActiveSpan) -> Result<Reply, Stop> {
        // The gate resolves names against this surface, so the action is there; without one nothing is allowed.
        let action = self.surface.action(&call.action);
        let effect = action.map_or(Effect::Read, |action| action.effect);
        let long_running = action.is_some_and(|action| action.long_running);
        let engine = self.component.engine();
        let component = self.component.get().await.map_err(Stop::Failure)?;
        let work = GuestWork::Call { long_running };
        let context = FaultContext { facade: &self.name, limits: &self.limits, engine, work };
        let meter = CpuMeter::new(self.limits.budget(long_running).cpu);
        let _cpu = self.usage.count_cpu(&meter);
        let client_roots = self.capabilities.open_roots(&call.session, &meter).await;
        let purpose = StorePurpose::Call(CallSetup {
            id: &call.id,
            session: &call.session,
            effect,
            scope: call.scope.clone(),
            capabilities: &self.capabilities,
            log: &self.log,
            usage: &self.usage,
            sampler: self.sampler.as_ref(),
            tape: self.tapes.as_ref().and_then(|tapes| tapes.tape(&call.id.0)),
            span: span.as_parent(),
            client_roots,
        });
        let (mut store, prepared) = match self.preparer.take().await {
            Some(PreparedInstance { mut store, plugin }) => {
                self.usage.count_prepared();
                begin_call(&mut store, engine, &self.limits, Arc::clone(&meter), purpose);
                (store, Some(plugin))
            }
            None => (new_store(engine, &self.limits, Arc::clone(&meter), purpose), None),
        };
        let future = Box::pin(self.run(component, &mut store, prepared, &call));
        let charged = span.is_recorded().then(|| Arc::clone(&meter));
        let answered = (MeteredFuture { meter, future }).await;
        if let Some(meter) = charged {
            span.set(names::CPU, Duration::from_nanos(meter.spent()).as_secs_f64());
            span.set(names::CPU_LIMIT, self.limits.budget(long_running).cpu.as_secs_f64());
            span.set(names::MEMORY, store.data().limiter.memory_used());
            span.set(names::MEMORY_LIMIT, self.limits.memory);
        }
        let answer = match answered {
            Ok(Ok(answer)) => answer,
            Ok(Err(error)) => return Err(context.fault(&error, &store).into()),
            Err(BudgetSpent) => {
                store.data().finish_log();
                return Err(context.cpu_fault().into());
            }
        };
        store.data().finish_log();
        let size = answer.as_ref().map_or_else(RawFailure::size, RawReply::size);
        if size > self.limits.result {
            return Err(context.output_size_fault(size).into());
        }
        let outcome = match answer {
            Ok(reply) => match reply.parse() {
                Ok(mut reply) => {
                    store.data().capabilities.explain_reply(&mut reply);
                    reply.next = reply.next.map(|next| self.rename_own(next));
                    Ok(reply)
                }
                Err(error) => Err(context.bad_output_fault(error).into()),
            },
            Err(failure) => Err(match failure.parse() {
                Ok(mut failure) => {
                    store.data().capabilities.explain_failure(&mut failure);
                    failure.next = failure.next.map(|next| self.rename_own(next));
                    Stop::Failure(failure)
                }
                Err(error) => context.bad_output_fault(error).into(),
            }),
        };
        self.release(store);
        outcome
    }

    /// Drops the store of a call; where responses come first, after the response, and then makes the next instance if that is quick.
    fn release(self: &Arc<Self>, mut store: wasmtime::Store<GuestState>) {
        let Some(permit) = self.component.engine().state.after_response.permit() else { return };
        store.data_mut().leave_call();
        let facade = Arc::clone(self);
        permit.spawn(async move {
            drop(store);
            if let Ok(component) = facade.component.get().await {
                facade.preparer.prepare_quickly(component, &facade.limits, &facade.usage).await;
            }
        });
    }

    /// Replaces the plugin's built-in name in a next call by the operator's, which the plugin does not know.
    fn rename_own(&self, mut next: Next) -> Next {
        if next.facade == self.surface.name {
            next.facade.clone_from(&self.name);
        }
        next
    }

    async fn run(
        &self,
        component: &PluginComponent,
        store: &mut wasmtime::Store<GuestState>,
        prepared: Option<PluginInstance>,
        call: &Call,
    ) -> wasmtime::Result<Result<RawReply, RawFailure>> {
        let plugin = match prepared {
            Some(plugin) => plugin,
            None if self.preparer.is_measuring() => {
                let begun = Instant::now();
                let plugin = component.pre.instantiate(store).await?;
                self.preparer.note(begun.elapsed(), store.data().has_entered_host);
                plugin
            }
            None => component.pre.instantiate(store).await?,
        };
        let time_left = call.deadline.saturating_duration_since(Instant::now());
        let call = store.data_mut().capabilities.plugin_call(call, time_left);
        plugin.dispatch(store, call).await
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
        self.usage.snapshot()
    }
}

//! A component as a guard: a fresh instance for every look.

use std::{collections::BTreeMap, future::ready, sync::Arc, time::Duration};

use futures_util::future::BoxFuture;
use loggia_facade::{
    Answer, CallGuard, CallId, Effect, Failure, Fault, GuardVerdict, GuardedCall, LogLevel, PeerAction, Port,
    Progress, Question, Reply, Request, Session, Stop, Surface, trace::ParentSpan,
};
use loggia_policy::model::{PluginGrants, PluginLimits};
use loggia_text::printable;
use serde_json::Value;

use crate::{
    ArtifactDigest, FoundRoot, GuardComponent, LoadError, RootFence,
    call_log::PluginLog,
    capability::{ConfigureContext, FacadeCapabilities, OpenedRoots, denied},
    contract::RawVerdict,
    fault::{FaultContext, GuestWork},
    meter::{BudgetSpent, CpuMeter, MeteredFuture},
    probes::CallProbes,
    store::{CallSetup, StorePurpose, new_store},
    usage::UsageCounters,
};

/// Wall-clock time of a look, as a multiple of its CPU time: the machine may be busy.
const WALL_FACTOR: u32 = 5;

/// A guard with its configuration and its limits. Looks share the compiled code.
pub struct WasmGuard {
    component: GuardComponent,
    name: String,
    origin: String,
    capabilities: FacadeCapabilities,
    limits: PluginLimits,
    session: Session,
    log: PluginLog,
    usage: Arc<UsageCounters>,
}

/// Configuration of a guard's sandbox.
pub struct GuardSandbox<'a> {
    /// Name of the guard.
    pub name: &'a str,
    /// Digest of its artifact.
    pub digest: ArtifactDigest,
    /// Settings that the operator gives to it.
    pub config: BTreeMap<String, Value>,
    /// CPU time of one look.
    pub time: Duration,
    /// Bytes of memory of one look.
    pub memory: usize,
    /// Bytes of a verdict.
    pub size: usize,
}

/// What is asked of a guard.
enum GuardLook {
    Before,
    After(String),
}

impl WasmGuard {
    /// Configures a guard. It has no capability but its configuration and the log.
    ///
    /// # Errors
    ///
    /// None now; opening capabilities may fail.
    pub fn new(component: GuardComponent, sandbox: GuardSandbox<'_>) -> Result<Self, LoadError> {
        let GuardSandbox { name, digest, config, time, memory, size } = sandbox;
        let wall = time * WALL_FACTOR;
        let limits = PluginLimits { cpu: time, wall, memory, result: size, ..PluginLimits::default() };
        let capabilities = FacadeCapabilities::configure(&ConfigureContext {
            name,
            grants: &PluginGrants { config, ..PluginGrants::default() },
            limits: &limits,
            store: None,
            credentials: None,
            probes: &CallProbes::default(),
            root_fence: &(Arc::new(NoRoots) as Arc<dyn RootFence>),
        })?;
        Ok(Self {
            component,
            name: name.to_owned(),
            origin: format!("sha256:{digest}"),
            capabilities,
            session: Session::new(Arc::new(GuardPort { name: name.to_owned() })),
            log: PluginLog::new(&limits),
            limits,
            usage: Arc::default(),
        })
    }

    async fn look(&self, call: &GuardedCall, look: GuardLook) -> Result<GuardVerdict, Fault> {
        let engine = &self.component.engine;
        let context =
            FaultContext { facade: &self.name, limits: &self.limits, engine, work: GuestWork::Guard };
        let meter = CpuMeter::new(self.limits.cpu);
        // A guard makes no requests and has no state: there is nothing to record below its call.
        let span = ParentSpan::default();
        let id = CallId(String::new());
        let purpose = StorePurpose::Call(CallSetup {
            id: &id,
            session: &self.session,
            effect: Effect::Read,
            scope: None,
            capabilities: &self.capabilities,
            log: &self.log,
            usage: &self.usage,
            sampler: None,
            tape: None,
            client_roots: OpenedRoots::default(),
            span: &span,
        });
        let mut store = new_store(engine, &self.limits, Arc::clone(&meter), purpose);
        let answer = {
            let store = &mut store;
            let future = Box::pin(async move {
                match look {
                    GuardLook::Before => self.component.pre.before(store, call).await,
                    GuardLook::After(outcome) => self.component.pre.after(store, call, outcome).await,
                }
            });
            tokio::time::timeout(self.limits.wall, MeteredFuture { meter, future }).await
        };
        let verdict = match answer {
            Ok(Ok(Ok(verdict))) => verdict,
            Ok(Ok(Err(error))) => return Err(context.fault(&error, &store)),
            Ok(Err(BudgetSpent)) => {
                store.data().finish_log();
                return Err(context.cpu_fault());
            }
            Err(_) => {
                store.data().finish_log();
                return Err(context.wall_fault());
            }
        };
        store.data().finish_log();
        self.check(&context, verdict)
    }

    fn check(&self, context: &FaultContext<'_>, verdict: RawVerdict) -> Result<GuardVerdict, Fault> {
        let size = verdict.size();
        if size > self.limits.result {
            return Err(context.output_size_fault(size));
        }
        verdict.parse().map_err(|error| context.bad_output_fault(error))
    }
}

impl CallGuard for WasmGuard {
    fn origin(&self) -> &str {
        &self.origin
    }

    fn before(self: Arc<Self>, call: Arc<GuardedCall>) -> BoxFuture<'static, Result<GuardVerdict, Fault>> {
        Box::pin(async move { self.look(&call, GuardLook::Before).await })
    }

    fn after(
        self: Arc<Self>,
        call: Arc<GuardedCall>,
        outcome: String,
    ) -> BoxFuture<'static, Result<GuardVerdict, Fault>> {
        Box::pin(async move { self.look(&call, GuardLook::After(outcome)).await })
    }
}

/// Port of a guard: it may write to the log, and nothing else.
struct GuardPort {
    name: String,
}

impl Port for GuardPort {
    fn progress(&self, _: Progress) {}

    fn log(&self, level: LogLevel, text: &str) {
        let (guard, text) = (self.name.as_str(), printable(text));
        match level {
            LogLevel::Trace => tracing::trace!(target: "plugin", guard, "{text}"),
            LogLevel::Debug => tracing::debug!(target: "plugin", guard, "{text}"),
            LogLevel::Info => tracing::info!(target: "plugin", guard, "{text}"),
            LogLevel::Warn => tracing::warn!(target: "plugin", guard, "{text}"),
            LogLevel::Error => tracing::error!(target: "plugin", guard, "{text}"),
        }
    }

    fn is_cancelled(&self) -> bool {
        false
    }

    fn cancelled(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::pending())
    }

    fn elicit(&self, _: Question) -> BoxFuture<'_, Result<Answer, Failure>> {
        Box::pin(ready(Err(denied("elicit"))))
    }

    fn may_elicit(&self) -> Result<(), Failure> {
        Err(denied("elicit"))
    }

    fn may_invoke(&self, _: &str, _: &str) -> Result<(), Failure> {
        Err(denied("invoke"))
    }

    fn invoke(&self, _: Request) -> BoxFuture<'_, Result<Reply, Stop>> {
        Box::pin(ready(Err(Stop::Failure(denied("invoke")))))
    }

    fn facades(&self) -> Result<Vec<Surface>, Failure> {
        Err(denied("invoke"))
    }

    fn lookup(&self, _: &str, _: &str) -> Result<PeerAction, Failure> {
        Err(denied("invoke"))
    }

    fn check(&self, _: Request) -> Result<(), Failure> {
        Err(denied("invoke"))
    }
}

/// A guard has no directories.
struct NoRoots;

impl RootFence for NoRoots {
    fn refusals(&self, found: &[FoundRoot]) -> Vec<Option<String>> {
        found.iter().map(|_| Some("a guard has no directories".to_owned())).collect()
    }
}

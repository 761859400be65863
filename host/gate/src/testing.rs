//! Facades and runtimes for tests of this crate and of crates above it (feature `testing`).

use std::sync::Arc;

use futures_util::{FutureExt, future::BoxFuture};
use loggia_facade::{Action, Call, Effect, Facade, Reply, StartRule, Stop, Surface};
use loggia_policy::model::FacadeRules;
use loggia_schema::{ActionPolicy, Contract};
use serde_json::{Value, json};
use tokio::runtime::Handle;

use crate::{
    catalog::{CatalogEntry, FacadeExposure},
    schedule::RuntimeHandles,
};

/// Behaviour of a puppet.
pub type PuppetAction = Box<dyn Fn(Call) -> BoxFuture<'static, Result<Reply, Stop>> + Send + Sync>;

/// Facade whose behaviour a test defines.
pub struct PuppetFacade {
    /// Surface, which tests may replace.
    pub surface: Arc<Surface>,
    /// Behaviour.
    pub act: PuppetAction,
    /// Whether its calls stay on the runtime of their followers.
    pub is_io_bound: bool,
    /// Rules by which its actions start by themselves.
    pub start_rules: Vec<StartRule>,
}

impl Facade for PuppetFacade {
    fn surface(&self) -> &Arc<Surface> {
        &self.surface
    }

    fn dispatch(self: Arc<Self>, call: Call) -> BoxFuture<'static, Result<Reply, Stop>> {
        (self.act)(call)
    }

    fn is_io_bound(&self) -> bool {
        self.is_io_bound
    }

    fn start_rules(&self) -> &[StartRule] {
        &self.start_rules
    }
}

fn action(name: &str, effect: Effect) -> Action {
    let Value::Object(params) =
        json!({"type": "object", "properties": {"n": {"type": "integer", "default": 1}}})
    else {
        unreachable!()
    };
    Action {
        name: name.to_owned(),
        summary: "Runs the given closure.".to_owned(),
        effect,
        idempotent: false,
        open_world: false,
        long_running: false,
        details: false,
        aliases: Vec::new(),
        needs: Vec::new(),
        group: None,
        resource: None,
        view: None,
        params: Arc::new(params),
        data: None,
        examples: Vec::new(),
    }
}

/// Creates a puppet with one action of each effect.
pub fn puppet<F>(name: &str, act: impl Fn(Call) -> F + Send + Sync + 'static) -> PuppetFacade
where
    F: Future<Output = Result<Reply, Stop>> + Send + 'static,
{
    let surface = Surface {
        name: name.to_owned(),
        title: name.to_owned(),
        version: "0.1.0".to_owned(),
        summary: "A puppet.".to_owned(),
        instructions: None,
        default_action: None,
        actions: vec![
            action("look", Effect::Read),
            action("touch", Effect::Write),
            action("smash", Effect::Destructive),
            Action { long_running: true, ..action("dig", Effect::Write) },
        ],
        views: Vec::new(),
        wants: Vec::new(),
    };
    PuppetFacade {
        surface: Arc::new(surface),
        act: Box::new(move |call| act(call).boxed()),
        is_io_bound: false,
        start_rules: Vec::new(),
    }
}

/// Creates the catalog entry of a puppet.
pub fn entry(puppet: PuppetFacade, rules: FacadeRules) -> CatalogEntry {
    entry_under(puppet, rules, ActionPolicy::default())
}

/// Creates the catalog entry of a puppet with terms for its actions.
pub fn entry_under(puppet: PuppetFacade, rules: FacadeRules, terms: ActionPolicy) -> CatalogEntry {
    let contract = Contract::new(Arc::clone(&puppet.surface)).unwrap().with_policy(terms).unwrap();
    CatalogEntry::new(Arc::new(puppet), contract, rules, FacadeExposure::default(), "test".to_owned())
}

/// A facade that panics when it is asked where its calls run, which is outside of them.
struct BrokenFacade(PuppetFacade);

impl Facade for BrokenFacade {
    fn surface(&self) -> &Arc<Surface> {
        &self.0.surface
    }

    fn dispatch(self: Arc<Self>, _: Call) -> BoxFuture<'static, Result<Reply, Stop>> {
        unreachable!("its calls are never scheduled")
    }

    fn is_io_bound(&self) -> bool {
        panic!("a secret")
    }
}

/// Creates the catalog entry of a facade that breaks the host when its calls are scheduled: with an executor without inline slots.
pub fn broken_entry(name: &str) -> CatalogEntry {
    let facade = BrokenFacade(puppet(name, async |_| unreachable!("its calls are never scheduled")));
    let contract = Contract::new(Arc::clone(facade.surface())).unwrap();
    let (rules, exposure) = (FacadeRules::default(), FacadeExposure::default());
    CatalogEntry::new(Arc::new(facade), contract, rules, exposure, "test".to_owned())
}

/// Creates call runtimes that are all the current one.
pub fn lanes() -> RuntimeHandles {
    RuntimeHandles { calls: Handle::current(), heavy: Handle::current() }
}

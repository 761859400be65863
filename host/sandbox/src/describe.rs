//! The surface of a component, read in a store without capabilities, and read twice: a surface that depends on anything but
//! the plugin itself cannot be pinned, and could show one thing to a reviewer and another to a model.

use std::{future::Future, sync::Arc};

use loggia_facade::Surface;
use loggia_policy::model::PluginLimits;
use loggia_text::units::format_duration;
use wasmtime::Store;

use crate::{
    LoadError, PluginComponent,
    abi::PluginInstance,
    contract::{RawDescription, RawSchema, parse_action_extras},
    fault::{FaultContext, GuestWork},
    guest::GuestState,
    limits::{ACTIONS, SCHEMA_BYTES, SURFACE_BYTES},
    meter::{BudgetSpent, CpuMeter, MeteredFuture},
    store::{StorePurpose, new_store},
};

impl PluginComponent {
    /// Reads the surface twice and compares. Its texts are not sanitised yet.
    ///
    /// # Errors
    ///
    /// If `describe` or a `schema` fails, differs between the two readings, or is not usable.
    pub async fn read_surface(&self, limits: &PluginLimits) -> Result<Surface, LoadError> {
        let once = self.read_once(limits, 1).await?;
        let again = self.read_once(limits, 2).await?;
        if let Some(function) = once.difference(&again) {
            return Err(LoadError::Unstable(function));
        }
        once.into_surface()
    }

    async fn read_once(&self, limits: &PluginLimits, reading: u8) -> Result<RawSurface, LoadError> {
        let mut reader = SurfaceReader::new(self, limits, reading).await?;
        let description = reader.run("describe", async |plugin, store| plugin.describe(store).await).await?;
        let too_large = |function: &str, reason: String| {
            Err(LoadError::Describe { function: function.to_owned(), reason })
        };
        let actions = &description.surface.actions;
        if actions.len() > ACTIONS {
            return too_large("describe", format!("{} actions, at most {ACTIONS}", actions.len()));
        }
        let mut bytes = description.size();
        if bytes > SURFACE_BYTES {
            return too_large("describe", format!("{bytes} bytes, at most {SURFACE_BYTES}"));
        }
        let mut schemas = Vec::new();
        for action in actions {
            let function = schema_function(&action.name);
            let schema =
                reader.run(&function, async |plugin, store| plugin.schema(store, &action.name).await).await?;
            let schema = schema.map_err(|failure| LoadError::Describe {
                function: function.clone(),
                reason: failure.message.chars().take(300).collect(),
            })?;
            // Checked before anything is parsed or kept: a JSON value takes many times the memory of its text.
            let size = schema.size();
            bytes += size;
            if size > SCHEMA_BYTES || bytes > SURFACE_BYTES {
                let reason = format!(
                    "{size} bytes, at most {SCHEMA_BYTES}, and {SURFACE_BYTES} for all actions together"
                );
                return too_large(&function, reason);
            }
            schemas.push(schema);
        }
        Ok(RawSurface { description, schemas })
    }
}

/// An instance whose surface is read, within one budget for all calls.
struct SurfaceReader<'a> {
    store: Store<GuestState>,
    plugin: PluginInstance,
    meter: Arc<CpuMeter>,
    context: FaultContext<'a>,
    deadline: tokio::time::Instant,
}

impl<'a> SurfaceReader<'a> {
    async fn new(
        component: &'a PluginComponent,
        limits: &'a PluginLimits,
        reading: u8,
    ) -> Result<Self, LoadError> {
        let meter = CpuMeter::new(limits.describe_cpu);
        let mut store =
            new_store(&component.engine, limits, Arc::clone(&meter), StorePurpose::Describe { reading });
        let context =
            FaultContext { facade: "", limits, engine: &component.engine, work: GuestWork::Describe };
        let deadline = tokio::time::Instant::now() + limits.describe_wall;
        let plugin = {
            let begin = component.pre.instantiate(&mut store);
            bounded(&meter, deadline, begin).await
        };
        match plugin {
            Ok(Ok(plugin)) => Ok(Self { store, plugin, meter, context, deadline }),
            other => Err(to_load_error("describe", other.map(|r| r.map(|_| ())), &store, &context)),
        }
    }

    async fn run<T>(
        &mut self,
        function: &str,
        call: impl AsyncFnOnce(&PluginInstance, &mut Store<GuestState>) -> Result<T, wasmtime::Error>,
    ) -> Result<T, LoadError> {
        let answer = {
            let future = call(&self.plugin, &mut self.store);
            bounded(&self.meter, self.deadline, future).await
        };
        match answer {
            Ok(Ok(answer)) => Ok(answer),
            other => Err(to_load_error(function, other.map(|r| r.map(|_| ())), &self.store, &self.context)),
        }
    }
}

enum BudgetError {
    Cpu,
    Wall,
}

async fn bounded<T>(
    meter: &Arc<CpuMeter>,
    deadline: tokio::time::Instant,
    future: impl Future<Output = T>,
) -> Result<T, BudgetError> {
    let metered = MeteredFuture { meter: Arc::clone(meter), future: Box::pin(future) };
    match tokio::time::timeout_at(deadline, metered).await {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(BudgetSpent)) => Err(BudgetError::Cpu),
        Err(_) => Err(BudgetError::Wall),
    }
}

fn to_load_error(
    function: &str,
    answer: Result<Result<(), wasmtime::Error>, BudgetError>,
    store: &Store<GuestState>,
    context: &FaultContext<'_>,
) -> LoadError {
    let fault = match answer {
        Ok(Err(error)) => context.fault(&error, store),
        Err(BudgetError::Cpu) => context.cpu_fault(),
        _ => {
            let wall = format_duration(context.limits.describe_wall);
            return LoadError::DescribeTime { function: function.to_owned(), wall };
        }
    };
    // A plugin that cannot describe itself has no name yet.
    let mut reason = fault.message.replace("the plugin `` ", "it ");
    if let Some(limit) = fault.limit {
        reason = format!("{reason} (`{}` is {})", limit.key, limit.value);
    }
    LoadError::Describe { function: function.to_owned(), reason }
}

/// A surface as a plugin described it, word for word.
struct RawSurface {
    description: RawDescription,
    schemas: Vec<RawSchema>,
}

impl RawSurface {
    /// Returns the first function that answered differently.
    fn difference(&self, other: &Self) -> Option<String> {
        if self.description != other.description {
            return Some("describe".to_owned());
        }
        let actions = self.description.surface.actions.iter();
        let mut pairs = actions.zip(self.schemas.iter().zip(&other.schemas));
        pairs.find(|(_, (one, other))| one != other).map(|(action, _)| schema_function(&action.name))
    }

    fn into_surface(self) -> Result<Surface, LoadError> {
        let RawDescription { mut surface, action_extras, .. } = self.description;
        let described = action_extras.iter().zip(self.schemas);
        for (action, (extras, schema)) in surface.actions.iter_mut().zip(described) {
            schema
                .parse_into(action)
                .and_then(|()| parse_action_extras(extras, action))
                .map_err(|reason| LoadError::Schema { action: action.name.clone(), reason })?;
        }
        Ok(surface)
    }
}

fn schema_function(action: &str) -> String {
    format!("schema({action:?})")
}

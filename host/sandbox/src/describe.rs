//! The surface of a component, read in a store that can do nothing, and read twice: a surface that depends on
//! anything but the plugin itself cannot be pinned, and could say one thing to a reviewer and another to a model.

use std::{future::Future, sync::Arc};

use loggia_facade::{
    Object, Surface,
    json::{JsonError, parse},
};
use serde_json::Value;
use wasmtime::Store;

use crate::{
    Component, LoadError,
    abi::v0_1::{self, Plugin, types},
    fault::Blame,
    guest::{self, Guest, Purpose},
    limits::{ACTIONS, Limits, SCHEMA_BYTES, SURFACE_BYTES, duration_text},
    meter::{Meter, Metered, Spent},
};

impl Component {
    /// Reads the surface twice and compares. Texts are as the plugin gave them: not yet sanitised.
    ///
    /// # Errors
    ///
    /// If `describe` or a `schema` fails, differs between the two readings, or is not usable.
    pub async fn read_surface(&self, limits: &Limits) -> Result<Surface, LoadError> {
        let once = self.read_once(limits, 1).await?;
        let again = self.read_once(limits, 2).await?;
        if let Some(function) = once.difference(&again) {
            return Err(LoadError::Unstable(function));
        }
        once.into_surface()
    }

    async fn read_once(&self, limits: &Limits, reading: u8) -> Result<Raw, LoadError> {
        let mut reader = Reader::new(self, limits, reading).await?;
        let description =
            reader.run("describe", async |plugin, store| plugin.call_describe(store).await).await?;
        let too_much = |function: &str, reason: String| {
            Err(LoadError::Describe { function: function.to_owned(), reason })
        };
        if description.actions.len() > ACTIONS {
            let said = format!("{} actions, at most {ACTIONS}", description.actions.len());
            return too_much("describe", said);
        }
        let mut bytes = v0_1::description_size(&description);
        if bytes > SURFACE_BYTES {
            return too_much("describe", format!("{bytes} bytes, at most {SURFACE_BYTES}"));
        }
        let mut schemas = Vec::new();
        for action in &description.actions {
            let function = format!("schema({:?})", action.name);
            let schema = reader
                .run(&function, async |plugin, store| plugin.call_schema(store, &action.name).await)
                .await?;
            let schema = schema.map_err(|failure| LoadError::Describe {
                function: function.clone(),
                reason: failure.message.chars().take(300).collect(),
            })?;
            // Looked at before anything is parsed or kept: a value takes many times the room of its text.
            let size = v0_1::schema_size(&schema);
            bytes += size;
            if size > SCHEMA_BYTES || bytes > SURFACE_BYTES {
                let said = format!(
                    "{size} bytes, at most {SCHEMA_BYTES}, and {SURFACE_BYTES} for all actions together"
                );
                return too_much(&format!("schema({:?})", action.name), said);
            }
            schemas.push(schema);
        }
        Ok(Raw { description, schemas })
    }
}

/// One instance that is asked for its surface, within one budget for all its answers.
struct Reader<'a> {
    store: Store<Guest>,
    plugin: Plugin,
    meter: Arc<Meter>,
    blame: Blame<'a>,
    ends: tokio::time::Instant,
}

impl<'a> Reader<'a> {
    async fn new(component: &'a Component, limits: &'a Limits, reading: u8) -> Result<Self, LoadError> {
        let meter = Meter::new(limits.describe.cpu);
        let mut store =
            guest::store(&component.engine, limits, Arc::clone(&meter), Purpose::Describe { reading });
        let blame = Blame {
            facade: "",
            limits,
            engine: &component.engine,
            cpu: limits.describe_limit(),
            answer: None,
        };
        let ends = tokio::time::Instant::now() + limits.describe.wall;
        let plugin = {
            let begin = component.pre.instantiate_async(&mut store);
            bounded(&meter, ends, begin).await
        };
        match plugin {
            Ok(Ok(plugin)) => Ok(Self { store, plugin, meter, blame, ends }),
            other => Err(failed("describe", other.map(|r| r.map(|_| ())), &store, &blame)),
        }
    }

    async fn run<T>(
        &mut self,
        function: &str,
        call: impl AsyncFnOnce(&v0_1::Exports, &mut Store<Guest>) -> Result<T, wasmtime::Error>,
    ) -> Result<T, LoadError> {
        let answer = {
            let future = call(self.plugin.loggia_plugin_facade(), &mut self.store);
            bounded(&self.meter, self.ends, future).await
        };
        match answer {
            Ok(Ok(answer)) => Ok(answer),
            other => Err(failed(function, other.map(|r| r.map(|_| ())), &self.store, &self.blame)),
        }
    }
}

enum Late {
    Cpu,
    Wall,
}

async fn bounded<T>(
    meter: &Arc<Meter>,
    ends: tokio::time::Instant,
    future: impl Future<Output = T>,
) -> Result<T, Late> {
    let metered = Metered { meter: Arc::clone(meter), future: Box::pin(future) };
    match tokio::time::timeout_at(ends, metered).await {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(Spent)) => Err(Late::Cpu),
        Err(_) => Err(Late::Wall),
    }
}

fn failed(
    function: &str,
    answer: Result<Result<(), wasmtime::Error>, Late>,
    store: &Store<Guest>,
    blame: &Blame<'_>,
) -> LoadError {
    let fault = match answer {
        Ok(Err(error)) => blame.of(&error, store),
        Err(Late::Cpu) => blame.spent(),
        _ => {
            let wall = duration_text(blame.limits.describe.wall);
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

/// What a plugin said of itself, word for word.
struct Raw {
    description: types::Description,
    schemas: Vec<types::ActionSchema>,
}

impl Raw {
    /// The first function that answered differently.
    fn difference(&self, other: &Self) -> Option<String> {
        // The generated types have no equality; their debug form shows every field.
        let same = |a: &dyn std::fmt::Debug, b: &dyn std::fmt::Debug| format!("{a:?}") == format!("{b:?}");
        if !same(&self.description, &other.description) {
            return Some("describe".to_owned());
        }
        let names = self.description.actions.iter();
        let pairs = names.zip(self.schemas.iter().zip(&other.schemas));
        pairs
            .into_iter()
            .find(|(_, (a, b))| !same(a, b))
            .map(|(action, _)| format!("schema({:?})", action.name))
    }

    fn into_surface(self) -> Result<Surface, LoadError> {
        let Self { description, schemas } = self;
        let mut actions = Vec::new();
        for (action, schema) in description.actions.into_iter().zip(schemas) {
            let mut action = v0_1::action(action);
            let wrong = |reason: String| LoadError::Schema { action: action.name.clone(), reason };
            let params = object(&schema.params).map_err(|e| wrong(format!("params: {e}")))?;
            let data = schema.data.as_deref().map(parse).transpose();
            let data = data.map_err(|e| wrong(format!("data: {e}")))?;
            let examples = schema.examples.iter().map(|text| object(text)).collect::<Result<_, _>>();
            action.examples = examples.map_err(|e| wrong(format!("examples: {e}")))?;
            action.params = Arc::new(params);
            action.data = data.map(Arc::new);
            actions.push(action);
        }
        Ok(Surface {
            name: description.name,
            title: description.title,
            version: description.version,
            summary: description.summary,
            instructions: description.instructions,
            default_action: description.default_action,
            actions,
            wants: description.wants.into_iter().map(v0_1::want).collect(),
        })
    }
}

fn object(text: &str) -> Result<Object, String> {
    match parse(text) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err("it is not a JSON object".to_owned()),
        Err(error @ JsonError::Values) => Err(error.to_string()),
        Err(error) => Err(format!("it is not valid JSON: {error}")),
    }
}

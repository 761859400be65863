//! What a component exports: a facade by the functions of `wit/loggia.wit`.

pub(crate) mod convert;
mod guard;

use std::time::Duration;

use self::convert::{from_detail, to_effect, to_failure, to_reply, write};
pub use self::guard::{GuardGuest, GuardedCall, Verdict, guard_after, guard_before};
pub use crate::bindings::exports::loggia::plugin::facade::{
    ActionSchema, Call, Description, Failure, Guest, Reply,
};
use crate::{
    Facade, Value,
    bindings::loggia::plugin::types,
    call::Facts,
    json_text,
    table::{self, Incoming},
};

#[allow(unsafe_code)]
mod exported {
    unsafe extern "C" {
        /// Defined by `export!` and `export_guard!` only.
        #[link_name = "no facade is exported: write loggia_sdk::export!(NAME); below the block with #[facade]"]
        pub fn exported();
    }
}

/// What `#[facade]` refers to, so that the linker finds that nothing is exported.
pub const EXPORTED: unsafe extern "C" fn() = exported::exported;

/// Published description of a facade.
pub fn describe<F: Facade>(_: &F) -> Description {
    let about = &F::ABOUT;
    let action = |action: &table::Action<F>| types::Action {
        name: action.name.into(),
        summary: action.summary.into(),
        effect: to_effect(action.effect),
        idempotent: action.idempotent,
        open_world: action.open_world,
        long_running: action.long_running,
        details: action.has_details(),
        aliases: action.aliases.iter().map(|alias| (*alias).into()).collect(),
        needs: action.needs.iter().map(|need| (*need).into()).collect(),
        as_resource: action.resource.as_ref().map(resource),
        view: action.view.map(Into::into),
        extras: Vec::new(),
    };
    let view = |view: &table::View| types::View {
        name: view.name.into(),
        html: view.html.into(),
        extras: Vec::new(),
    };
    let want = |want: &table::Want| types::Want {
        grant: want.grant.into(),
        reason: want.reason.into(),
        needed: want.needed,
    };
    Description {
        name: about.name.into(),
        title: about.title.into(),
        version: about.version.into(),
        summary: about.summary.into(),
        instructions: about.instructions.map(Into::into),
        actions: F::ACTIONS.iter().map(action).collect(),
        default_action: about.default_action.map(Into::into),
        views: about.views.iter().map(view).collect(),
        wants: about.wants.iter().map(want).collect(),
        extras: Vec::new(),
    }
}

fn resource(resource: &table::Resource) -> types::ActionResource {
    types::ActionResource {
        uri: resource.uri.into(),
        mime_type: resource.mime_type.map(Into::into),
        items: resource.items.map(Into::into),
        state: resource.state.map(Into::into),
        extras: Vec::new(),
    }
}

/// The schemas of one action.
pub fn schema<F: Facade>(_: &F, action: &str) -> Result<ActionSchema, Failure> {
    let action = table::find::<F>(action).map_err(to_failure)?;
    Ok(ActionSchema {
        params: write(&Value::Object(action.params())),
        data: (action.data)().as_ref().map(write),
        examples: action.examples.iter().map(|example| (*example).into()).collect(),
        extras: Vec::new(),
    })
}

/// Answers one call.
pub fn dispatch<F: Facade>(facade: &F, call: Call) -> Result<Reply, Failure> {
    let params = match json_text::read_value(&call.params) {
        Some(Value::Object(params)) => params,
        _ => return Err(to_failure(crate::Failure::invalid_params("`params` is not a JSON object"))),
    };
    let facts = Facts {
        id: call.id,
        action: call.action,
        detail: from_detail(call.detail),
        time_left: Duration::from_millis(call.time_left_ms),
        caller: call.caller,
        idempotency_key: call.idempotency_key,
    };
    match table::dispatch(facade, Incoming { facts, params }) {
        Ok(reply) => Ok(to_reply(reply)),
        Err(failure) => Err(to_failure(failure)),
    }
}

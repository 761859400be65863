//! A facade's published description of itself. Untrusted text until the host has sanitised it. Serialised only by the host, for
//! itself: the contract with plugins is in WIT.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Object;

/// All published metadata of a facade.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Surface {
    /// The tool's name: `^[a-z][a-z0-9_-]{0,31}$`.
    pub name: String,
    /// A name for people.
    pub title: String,
    /// The plugin's own version.
    pub version: String,
    /// One or two sentences: what the facade is for.
    pub summary: String,
    /// When to use the facade, and in what order its actions go: joins the server's instructions.
    pub instructions: Option<String>,
    /// The action meant by a call that names none.
    pub default_action: Option<String>,
    /// In the order of the plugin's author; never empty.
    pub actions: Vec<Action>,
    /// What shows results to a person, in clients that can.
    pub views: Vec<SurfaceView>,
    /// Capabilities the plugin would like, with the reason for each.
    pub wants: Vec<Want>,
}

/// One operation of a facade.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Action {
    /// `^[a-z0-9][a-z0-9_-]{0,63}$`, unique in the facade.
    pub name: String,
    /// One sentence.
    pub summary: String,
    /// Effect of the action; the host enforces it.
    pub effect: Effect,
    /// Calling twice with the same parameters does no more than calling once.
    pub idempotent: bool,
    /// The action reaches beyond this machine.
    pub open_world: bool,
    /// The action may outlive a request, and then becomes a run.
    pub long_running: bool,
    /// Results differ with the detail level.
    pub details: bool,
    /// Alternative names for calls.
    pub aliases: Vec<String>,
    /// Grants without which the action cannot work, as in [`Want::grant`]. Where the policy lacks one, the action is not
    /// published.
    pub needs: Vec<String>,
    /// The part of a large facade that the action belongs to, such as a tag of an OpenAPI description. None for
    /// plugins.
    pub group: Option<String>,
    /// Publishes the result under a URI, too. Only for actions that read.
    pub resource: Option<ActionResource>,
    /// Name of the view that shows its results.
    pub view: Option<String>,
    /// JSON Schema 2020-12 of the parameters: an object schema.
    pub params: Arc<Object>,
    /// JSON Schema of the result's `data`, where the author gave one.
    pub data: Option<Arc<Value>>,
    /// Example parameters, each valid against `params`.
    pub examples: Vec<Object>,
}

/// Effect of an action. Ordered from harmless to harmful.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Effect {
    /// Changes nothing.
    Read,
    /// Adds or changes something, undoably.
    Write,
    /// May lose something for good.
    Destructive,
}

impl Effect {
    /// The word used in policies, in `describe` and in logs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Destructive => "destructive",
        }
    }
}

/// The result of an action as a resource, which clients read by URI.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActionResource {
    /// A URI whose variables are parameters of the action, such as `notes://note/{id}`.
    pub uri: String,
    /// Media type of the result. If absent, `text/plain` for a string, `application/json` for other data.
    pub mime_type: Option<String>,
    /// Name of a `read` action whose data lists what exists: objects that have a field for each variable.
    pub items: Option<String>,
    /// Prefix of the keys of shared state that the result is made from, with the same variables.
    pub state: Option<String>,
}

/// A fragment of HTML that shows results of actions to a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SurfaceView {
    /// `^[a-z][a-z0-9_-]{0,31}$`, unique in the facade.
    pub name: String,
    /// With its styles and scripts. Loggia adds the page around it.
    pub html: String,
}

/// A capability that a plugin would like. Shown to the operator; granted only by the policy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Want {
    /// The grant in the words of a policy file, for example `dirs` or `http: https://api.example.com`.
    pub grant: String,
    /// Why the plugin asks for it.
    pub reason: String,
    /// The plugin is of no use without it.
    pub needed: bool,
}

impl Surface {
    /// The action with exactly this name.
    pub fn action(&self, name: &str) -> Option<&Action> {
        self.actions.iter().find(|a| a.name == name)
    }

    /// The view with exactly this name.
    pub fn view(&self, name: &str) -> Option<&SurfaceView> {
        self.views.iter().find(|view| view.name == name)
    }

    /// The worst effect over all actions, since MCP's annotations are per tool.
    pub fn worst_effect(&self) -> Effect {
        self.actions.iter().map(|a| a.effect).max().unwrap_or(Effect::Read)
    }
}

//! What a policy grants, in words. No value of a secret, of the environment or of the configuration is among them.

use loggia_egress::{Rule, Secret, Source};
use loggia_facade::Effect;
use loggia_gate::access::{Chain, InvokeRule};
use loggia_sandbox::DirGrant;
use loggia_text::units::bytes_text;

use super::model::Right;
use crate::config::Policy;

/// What the policy grants, in the order of the reference, as far as actions of this effect and below can use it.
pub fn of(policy: &Policy, worst: Effect) -> Vec<Right> {
    let Policy { grants, rules, .. } = policy;
    let mut rights = Vec::new();
    let mut add = |grant, says: String| rights.push(Right { grant, says });
    for dir in &grants.dirs {
        add("dirs", directory(dir, worst));
    }
    for rule in &grants.http.rules {
        add("http", requests(rule, worst));
    }
    if !grants.env.is_empty() {
        add("env", format!("see the environment variables {}", listed(grants.env.keys())));
    }
    if !grants.config.is_empty() {
        add("config", format!("read the settings {}", listed(grants.config.keys())));
    }
    for secret in &grants.http.secrets {
        add("secrets", used(secret));
    }
    if let Some(quota) = grants.store {
        add(
            "store",
            match worst {
                Effect::Read => {
                    "read its state from earlier calls; none of its actions changes it".to_owned()
                }
                _ => format!("keep state from call to call, at most {}", bytes_text(quota)),
            },
        );
    }
    if grants.caller {
        add("caller", "tell callers apart, by an id that does not say who they are".to_owned());
    }
    if !rules.invoke.is_empty() {
        let called = if rules.chain == Chain::Follow { "call, or have the host call next," } else { "call" };
        add("invoke", format!("{called} {}", listed(rules.invoke.iter().map(invoked))));
    }
    if rules.elicit {
        add("elicit", "ask the person questions".to_owned());
    }
    rights
}

/// What data it can read that was there before the call.
pub fn reads(policy: &Policy) -> Vec<String> {
    let dirs = policy.grants.dirs.iter().map(|dir| dir.path.display().to_string());
    dirs.chain(policy.grants.store.map(|_| "its state".to_owned())).collect()
}

/// Where actions of this effect and below can send.
pub fn sends(policy: &Policy, worst: Effect) -> Vec<String> {
    let sending =
        policy.grants.http.rules.iter().filter(|rule| worst > Effect::Read || !reading(rule).is_empty());
    sending.map(|rule| rule.to.to_string()).collect()
}

fn directory(dir: &DirGrant, worst: Effect) -> String {
    let DirGrant { path, at, writable } = dir;
    let seen = format!("{}, which it sees as {at}", path.display());
    match (writable, worst) {
        (false, _) => format!("read {seen}"),
        (true, Effect::Read) => format!("read {seen}; none of its actions writes"),
        (true, _) => format!("read and write {seen}; its read actions only read"),
    }
}

fn requests(rule: &Rule, worst: Effect) -> String {
    let to = rule.to.to_string();
    let reading = reading(rule);
    if worst == Effect::Read {
        return match reading.as_slice() {
            [] => format!("send nothing to {to}: its actions only read, and no method there does"),
            reading => format!("send {} requests to {to}", listed(reading)),
        };
    }
    let sent = match &rule.methods {
        Some(methods) => format!("send {} requests to {to}", listed(methods)),
        None => format!("send requests to {to}"),
    };
    // Where they are all there is, nothing is to be told apart.
    if rule.methods.as_ref().is_some_and(|methods| methods.iter().all(|m| reading.contains(&m.as_str()))) {
        sent
    } else if reading.is_empty() {
        format!("{sent}; its read actions send none")
    } else {
        format!("{sent}; its read actions send {} only", listed(&reading))
    }
}

/// The methods that `read` actions may send.
fn reading(rule: &Rule) -> Vec<&str> {
    let allowed = |method: &str| rule.methods.as_ref().is_none_or(|some| some.iter().any(|m| m == method));
    let mut reading: Vec<&str> = ["GET", "HEAD"].into_iter().filter(|method| allowed(method)).collect();
    reading.extend(rule.reads.iter().map(String::as_str).filter(|method| !["GET", "HEAD"].contains(method)));
    reading
}

fn used(secret: &Secret) -> String {
    let from = match &secret.source {
        Source::Value(name, _) => format!("the secret {name}"),
        Source::File(path) => format!("the secret in {}", path.display()),
    };
    let port = if secret.port == 443 { String::new() } else { format!(":{}", secret.port) };
    let Secret { host, header, .. } = secret;
    format!("have the host send {from} to {host}{port}, as the header {header}, without seeing it")
}

fn invoked(rule: &InvokeRule) -> String {
    match &rule.action {
        Some(action) => format!("{}:{action}", rule.facade),
        None => format!("every action of {}", rule.facade),
    }
}

fn listed<T: AsRef<str>>(items: impl IntoIterator<Item = T>) -> String {
    let items: Vec<String> = items.into_iter().map(|item| item.as_ref().to_owned()).collect();
    items.join(", ")
}

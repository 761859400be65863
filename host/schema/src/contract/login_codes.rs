//! Codes by which callers complete a login, as arguments of calls.

use crate::{
    contract::build::Contract,
    model::{bounds::SurfaceProblems, host_action::LOGIN_CODE},
};

impl Contract {
    /// Accepts `login_code` beside the parameters of every action, and publishes it. Other facades do not have it, so that it
    /// costs them no tokens.
    ///
    /// # Errors
    ///
    /// If an action has a parameter of this name.
    pub fn with_login_codes(mut self) -> Result<Self, SurfaceProblems> {
        let has_own = |action: &&loggia_facade::Action| {
            let properties = action.params.get("properties").and_then(|properties| properties.as_object());
            properties.is_some_and(|properties| properties.contains_key(LOGIN_CODE))
        };
        if let Some(action) = self.surface.actions.iter().find(has_own) {
            let problem = format!(
                "the action `{}` has a parameter `{LOGIN_CODE}`, by which callers complete logins: rename it, or remove \
                 `[login.{}]` from the settings",
                action.name, self.surface.name
            );
            return Err(SurfaceProblems(vec![problem]));
        }
        self.takes_login_codes = true;
        Ok(self)
    }

    /// Whether calls may have a `login_code`.
    pub(crate) fn takes_login_codes(&self) -> bool {
        self.takes_login_codes
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::{Value, json};

    use super::*;
    use crate::{
        contract::routed::CallTarget,
        model::view::ToolView,
        publish::expose::{ExposeOptions, SchemaForm},
        tests::fixture,
    };

    fn notes() -> Contract {
        Contract::new(Arc::new(fixture::notes())).unwrap()
    }

    /// The code of a routed call, with its parameters.
    fn routed(contract: &Contract, call: &Value) -> Result<(Option<String>, Value), String> {
        let routed = contract.route(call.as_object().unwrap().clone(), &ToolView::all_actions());
        let routed = routed.map_err(|refused| refused.failure.message)?;
        let CallTarget::Action { params, .. } = routed.target else { panic!("{call}") };
        Ok((routed.login_code, params.into()))
    }

    #[test]
    fn codes_are_no_parameters_of_actions() {
        let contract = notes().with_login_codes().unwrap();
        let code = || Some("10AB-CDEF".to_owned());
        for (call, expected) in [
            (json!({"action": "search", "query": "x"}), Ok((None, json!({"query": "x"})))),
            (
                json!({"action": "search", "query": "x", "login_code": "10AB-CDEF"}),
                Ok((code(), json!({"query": "x"}))),
            ),
            (
                json!({"action": "search", "params": {"query": "x", "login_code": "10AB-CDEF"}}),
                Ok((code(), json!({"query": "x"}))),
            ),
            (json!({"action": "search", "login_code": null}), Ok((None, json!({})))),
            (
                json!({"action": "search", "login_code": 7}),
                Err("`login_code` must be a string (got 7)".to_owned()),
            ),
        ] {
            assert_eq!(routed(&contract, &call), expected, "{call}");
        }
        let (code, params) = routed(&notes(), &json!({"action": "search", "login_code": "x"})).unwrap();
        assert_eq!(
            (code, params),
            (None, json!({"login_code": "x"})),
            "without a login it is an ordinary name"
        );
    }

    #[test]
    fn every_form_publishes_codes() {
        for form in SchemaForm::ALL {
            let has_code = |contract: &Contract| {
                let tools = contract.publish(&ExposeOptions { form, ..ExposeOptions::default() });
                tools.iter().all(|tool| {
                    let schema = Value::Object((*tool.input_schema).clone());
                    schema["properties"].get(LOGIN_CODE).is_some() || tool.description.contains(LOGIN_CODE)
                })
            };
            assert!(has_code(&notes().with_login_codes().unwrap()), "{}", form.as_str());
            assert!(!has_code(&notes()), "{}", form.as_str());
        }
    }

    #[test]
    fn an_own_parameter_of_this_name_is_refused() {
        let own = fixture::one(json!({"login_code": {"type": "string"}}), json!([]));
        let refused = Contract::new(Arc::new(own)).unwrap().with_login_codes().err().unwrap();
        insta::assert_snapshot!(refused, @"the action `go` has a parameter `login_code`, by which callers complete logins: rename it, or remove `[login.one]` from the settings");
    }
}

//! Links to clients that open them, and to those that do not.

use std::sync::{Arc, Mutex};

use loggia_facade::{Call, Question, Reply};
use loggia_gate::{
    access::CallOrigin,
    call::Gate,
    catalog::{Catalog, CatalogSlot},
    schedule::{Executor, InlinePolicy},
    testing::{entry, lanes, puppet},
};
use loggia_policy::model::FacadeRules;
use rmcp::{
    ClientHandler, ClientLifecycleMode, ClientServiceExt, ErrorData, RoleClient, ServiceExt,
    model::{
        CallToolRequestParams, ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult,
        ElicitationAction, Implementation, ProtocolVersion,
    },
    service::RequestContext,
};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::super::handler::McpHandler;

const URL: &str = "https://a.example/connect";

/// Client that declares this and accepts everything; collects the requests.
#[derive(Clone, Default)]
struct Person {
    elicitation: Value,
    asked: Arc<Mutex<Vec<Value>>>,
}

impl ClientHandler for Person {
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        capabilities.elicitation = serde_json::from_value(self.elicitation.clone()).unwrap();
        ClientConfig::new(capabilities, Implementation::new("test", "0"))
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        self.asked.lock().unwrap().push(serde_json::to_value(request).unwrap());
        Ok(ElicitResult::new(ElicitationAction::Accept))
    }
}

/// A facade that asks to open a link, and replies with the answer.
fn gate() -> Gate {
    let asks = puppet("a", |call: Call| async move {
        let answer = call.session.elicit(Question::link("Sign in", URL)).await?;
        Ok(Reply::data(format!("{answer:?}")))
    });
    let rules = FacadeRules { elicit: true, ..FacadeRules::default() };
    let catalog = Arc::new(Catalog::default());
    catalog.swap([("a".to_owned(), CatalogSlot::Serving(Arc::new(entry(asks, rules))))].into());
    catalog.mark_admitted();
    Gate::new(catalog, Executor::new(lanes(), InlinePolicy::Slots(1)))
}

/// Calls an action as a client that declares this capability; returns the envelope and the requests that it got.
async fn called(gate: Gate, elicitation: Value, is_stateless: bool, arguments: Value) -> (Value, Vec<Value>) {
    let person = Person { elicitation, ..Person::default() };
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    let handler = McpHandler::new(gate, CallOrigin::local(), CancellationToken::new());
    let serving = tokio::spawn(async move { handler.serve(ours).await.unwrap().waiting().await });
    let client = match is_stateless {
        false => person.clone().serve(theirs).await.unwrap(),
        true => {
            let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
            let mode = ClientLifecycleMode::Discover { preferred_versions };
            person.clone().serve_with_lifecycle(theirs, mode).await.unwrap()
        }
    };
    let Value::Object(arguments) = arguments else { unreachable!() };
    let result = client.call_tool(CallToolRequestParams::new("a").with_arguments(arguments)).await.unwrap();
    client.cancel().await.unwrap();
    let _ = serving.await;
    let asked = person.asked.lock().unwrap().drain(..).collect();
    (result.structured_content.unwrap(), asked)
}

/// H94.
#[tokio::test]
async fn links_go_to_clients_that_declare_them() {
    for is_stateless in [false, true] {
        for (declared, opens) in [
            (json!(null), false),
            (json!({}), false),
            (json!({"form": {}}), false),
            (json!({"url": {}}), true),
            (json!({"form": {}, "url": {}}), true),
        ] {
            let (envelope, mut asked) =
                called(gate(), declared.clone(), is_stateless, json!({"action": "look"})).await;
            if !opens {
                assert_eq!(
                    (&envelope["code"], &envelope["details"]["link"]),
                    (&json!("denied"), &json!(URL))
                );
                assert!(asked.is_empty(), "{declared}: {asked:?}");
                continue;
            }
            assert_eq!(envelope["data"], "Accepted(Null)");
            assert_eq!(asked.len(), 1, "{declared}");
            let id = asked[0]["elicitationId"].take();
            assert!(!id.as_str().unwrap().is_empty(), "clients before 2026-07-28 require it");
            let message = "[a, link to a.example] Sign in";
            assert_eq!(
                asked[0],
                json!({"mode": "url", "message": message, "url": URL, "elicitationId": null}),
                "{declared}"
            );
        }
    }
}

#[tokio::test]
async fn watchers_without_links_get_the_status() {
    for is_stateless in [false, true] {
        let gate = gate();
        let mut exec = gate
            .call_tool(
                CallOrigin::local().with_links(true),
                "a",
                json!({"action": "dig"}).as_object().cloned().unwrap(),
            )
            .unwrap();
        exec.next().await;
        let id = exec.detach_with_handle().unwrap().to_string();
        let status = json!({"action": "run_status", "run_id": id, "wait": true});
        let (envelope, asked) = called(gate.clone(), json!({"form": {}}), is_stateless, status.clone()).await;
        let waiting = json!(["[a, link to a.example] Sign in: https://a.example/connect"]);
        assert_eq!(envelope["data"]["run"]["waiting_for"], waiting);
        assert!(asked.is_empty(), "{asked:?}");
        // Another client of the same caller opens it.
        let (envelope, asked) = called(gate, json!({"url": {}}), is_stateless, status).await;
        assert_eq!(envelope["data"]["run"]["result"]["data"], "Accepted(Null)");
        assert_eq!(asked.len(), 1);
    }
}

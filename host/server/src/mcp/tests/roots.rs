//! Over HTTP no roots are taken, whatever a client declares. Stdio has tests of its own.

use std::sync::Arc;

use loggia_facade::{Call, Reply};
use loggia_gate::{
    access::CallOrigin,
    call::Gate,
    catalog::{Catalog, CatalogSlot},
    schedule::{Executor, InlinePolicy},
    testing::{entry, lanes, puppet},
};
use loggia_policy::model::FacadeRules;
use serde_json::json;

use super::{ERAS, Server};

#[tokio::test]
async fn clients_over_http_name_no_roots() {
    let asks = puppet("a", |call: Call| async move {
        let roots = call.session.client_roots().await;
        Ok(Reply::data(roots.absence.unwrap_or_else(|| format!("{:?}", roots.roots))))
    });
    let catalog = Arc::new(Catalog::default());
    let slot = CatalogSlot::Serving(Arc::new(entry(asks, FacadeRules::default())));
    catalog.swap([("a".to_owned(), slot)].into());
    catalog.mark_admitted();
    let gate = Gate::new(catalog, Executor::new(lanes(), InlinePolicy::Slots(1)));
    let server = Server::new(gate, None);
    for who in [CallOrigin::anonymous(), CallOrigin::local()] {
        for era in ERAS {
            let params = json!({"name": "a", "arguments": {"action": "look"}});
            let response = server.ask(era, &who, "tools/call", params).await;
            let absence = response["result"]["structuredContent"]["data"].as_str().unwrap_or_default();
            assert!(absence.starts_with("over HTTP the host takes no roots"), "{era:?}: {response}");
        }
    }
}

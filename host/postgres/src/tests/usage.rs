//! Counts that hosts share.

use super::{
    journal::SchemaPlace,
    proxy::{CutProxy, Forwarding},
};
use crate::{CallerCount, DatabaseAccess, DatabaseOptions, SharedUsage};

const ADA: [u8; 16] = [1; 16];
const BOB: [u8; 16] = [2; 16];

fn host(options: &DatabaseOptions) -> SharedUsage {
    SharedUsage::new(DatabaseAccess::new(options).unwrap()).unwrap()
}

async fn exchange(host: &SharedUsage, admitted: &[CallerCount]) -> Vec<CallerCount> {
    let mut others = host.exchange(admitted).await.unwrap();
    others.sort_unstable();
    others
}

#[tokio::test]
async fn each_host_learns_once_what_the_others_have_admitted() {
    let place = SchemaPlace::new();
    let [one, two] = [(); 2].map(|()| host(&place.options));
    assert_eq!(exchange(&one, &[(ADA, 5)]).await, []);
    // What was before is none of the business of a host that begins.
    assert_eq!(exchange(&two, &[(ADA, 2), (BOB, 1)]).await, []);
    assert_eq!(exchange(&one, &[]).await, [(ADA, 2), (BOB, 1)]);
    assert_eq!(exchange(&one, &[(ADA, 7)]).await, []);
    assert_eq!(exchange(&one, &[(ADA, 1), (BOB, 4)]).await, []);
    assert_eq!(exchange(&two, &[(BOB, 1)]).await, [(ADA, 8), (BOB, 4)]);
    assert_eq!(exchange(&two, &[]).await, []);
    let three = host(&place.options);
    assert_eq!(exchange(&three, &[(ADA, 1)]).await, []);
    assert_eq!(exchange(&three, &[]).await, []);
    assert_eq!(exchange(&one, &[]).await, [(ADA, 1), (BOB, 1)]);
}

#[tokio::test]
async fn a_removed_counter_begins_again() {
    let place = SchemaPlace::new();
    let [one, two] = [(); 2].map(|()| host(&place.options));
    exchange(&two, &[]).await;
    exchange(&one, &[(ADA, 5)]).await;
    assert_eq!(exchange(&two, &[]).await, [(ADA, 5)]);
    let server = &place.server;
    let table = format!("{}.admitted", place.options.schema);
    // As if it had not been used for long.
    server.ask(&format!("UPDATE {table} SET at = at - interval '2 minutes'"));
    for _ in 0..20 {
        exchange(&two, &[]).await;
    }
    assert_eq!(server.ask(&format!("SELECT count(*) FROM {table}")), "0");
    exchange(&one, &[(ADA, 9)]).await;
    assert_eq!(exchange(&two, &[]).await, [(ADA, 9)]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_connection_is_replaced() {
    let place = SchemaPlace::new();
    let proxy = CutProxy::start(place.server.port());
    let url = format!("postgres://postgres@127.0.0.1:{}/postgres", proxy.port);
    let one = host(&DatabaseOptions { url, ..place.options.clone() });
    let two = host(&place.options);
    exchange(&two, &[]).await;
    exchange(&one, &[]).await;
    proxy.set(Forwarding::Refuse);
    assert!(one.exchange(&[(ADA, 3)]).await.is_err());
    proxy.set(Forwarding::Pass);
    exchange(&two, &[(BOB, 1)]).await;
    assert_eq!(exchange(&one, &[(ADA, 4)]).await, [(BOB, 1)]);
    assert_eq!(exchange(&two, &[]).await, [(ADA, 4)]);
}

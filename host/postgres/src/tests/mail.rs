//! Messages between hosts.

use std::time::Duration;

use loggia_gate::{
    journal::{
        Journal, RunHolder,
        suite::{first, run},
    },
    mail::{HostMail, MailInbox},
};

use tokio::time::timeout;

use super::{
    eventually,
    journal::SchemaPlace,
    proxy::{CutProxy, Forwarding},
};
use crate::{DatabaseAccess, DatabaseOptions, HostLabel, JournalOptions, PostgresJournal, PostgresMail};

/// A server, which has a name.
fn open(place: &SchemaPlace) -> (PostgresJournal, PostgresMail, MailInbox) {
    let access = DatabaseAccess::new(&place.options).unwrap();
    let label = HostLabel { name: "server".into(), version: "1".into() };
    let journal = PostgresJournal::open_as(access.clone(), JournalOptions::default(), label).unwrap();
    let (mail, inbox) = PostgresMail::start(access, journal.host()).unwrap();
    (journal, mail, inbox)
}

#[tokio::test]
async fn messages_arrive_once_and_in_order() {
    let place = SchemaPlace::new();
    let (_one, one_mail, mut one_inbox) = open(&place);
    let (other, other_mail, mut other_inbox) = open(&place);
    let (_third, _third_mail, mut third_inbox) = open(&place);
    let messages: Vec<Vec<u8>> = (0..200u32).map(|n| n.to_be_bytes().to_vec()).collect();
    let sent: Vec<_> =
        messages.iter().map(|message| one_mail.send(other_mail.address(), message.clone())).collect();
    for sent in sent {
        assert!(sent.await);
    }
    one_mail.send_all(b"all".to_vec());
    for message in &messages {
        assert_eq!(other_inbox.recv().await.as_ref(), Some(message));
    }
    assert_eq!(other_inbox.recv().await.unwrap(), b"all");
    assert_eq!(third_inbox.recv().await.unwrap(), b"all");
    assert!(other_mail.send(one_mail.address(), vec![0; 1 << 20]).await);
    assert_eq!(one_inbox.recv().await.unwrap().len(), 1 << 20, "its own message did not come back");
    assert!(!one_mail.send("missing", Vec::new()).await);
    drop(other);
    assert!(!one_mail.send(other_mail.address(), Vec::new()).await, "it has given its lease up");
}

#[tokio::test]
async fn messages_flow_again_after_the_database_was_away() {
    let place = SchemaPlace::new();
    let proxy = CutProxy::start(place.server.port());
    let (one, ..) = open(&place);
    let url = format!("postgres://postgres@127.0.0.1:{}/postgres", proxy.port);
    let behind = DatabaseAccess::new(&DatabaseOptions { url, ..place.options.clone() }).unwrap();
    let (mail, mut inbox) = PostgresMail::start(behind, one.host()).unwrap();
    let (_other, other_mail, mut other_inbox) = open(&place);
    for mode in [Forwarding::Refuse, Forwarding::Freeze] {
        proxy.set(mode);
        assert!(!mail.send(other_mail.address(), b"lost".to_vec()).await, "{mode:?}");
        proxy.set(Forwarding::Pass);
        eventually("messages are sent again", || mail.send(other_mail.address(), b"after".to_vec())).await;
        // What was frozen may arrive, too.
        while other_inbox.recv().await.unwrap() != b"after" {}
        // What was on its way may be lost.
        let mut arrived = false;
        while !arrived {
            assert!(other_mail.send(one.host(), b"again".to_vec()).await);
            arrived = timeout(Duration::from_millis(200), inbox.recv()).await.is_ok();
        }
    }
}

#[tokio::test]
async fn a_runs_host_is_found() {
    let place = SchemaPlace::new();
    let (one, ..) = open(&place);
    let (other, ..) = open(&place);
    one.create(run("a")).await.unwrap();
    let own = RunHolder::Host(one.host().to_owned());
    assert_eq!(other.holder("a".into()).await.unwrap(), own);
    assert_eq!(one.holder("a".into()).await.unwrap(), own);
    one.release(first("a")).await.unwrap();
    assert_eq!(other.holder("a".into()).await.unwrap(), RunHolder::Unclaimed);
    one.create(run("b")).await.unwrap();
    drop(one);
    assert_eq!(other.holder("b".into()).await.unwrap(), RunHolder::Unclaimed);
    other.create(run("c")).await.unwrap();
    other.finish(first("c"), Vec::new()).await.unwrap();
    for unknown in ["c", "d", "a\0"] {
        assert_eq!(other.holder(unknown.into()).await.unwrap(), RunHolder::Unknown, "{unknown:?}");
    }
}

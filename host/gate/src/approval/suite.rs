//! What every store of approvals must do.

use loggia_facade::Object;
use serde_json::json;

use super::{
    record::{ApprovalClosing, ApprovalContent, ApprovalDecision, ApprovalRecord, ApprovalState},
    store::{ApprovalStore, DecisionOutcome},
};

/// A record with this subject.
pub fn record(subject: &str, opened_ms: u64, expires_ms: u64) -> ApprovalRecord {
    ApprovalRecord {
        id: ApprovalRecord::random_id(),
        subject: subject.to_owned(),
        caller: "ada".to_owned(),
        address: None,
        facade: "notes".to_owned(),
        action: "delete".to_owned(),
        effect: "destructive".to_owned(),
        through: vec!["brief.run".to_owned()],
        artifact: "sha256:00".to_owned(),
        question: "Run `delete`?".to_owned(),
        content: ApprovalContent::Call(Object::from_iter([("id".to_owned(), json!("n_1"))])),
        opened_ms,
        expires_ms,
    }
}

/// A decision at this time.
fn decision(accepted: bool, at_ms: u64) -> ApprovalDecision {
    ApprovalDecision { accepted, answer: None, by: "command line: ada".to_owned(), at_ms }
}

/// Runs all checks on an empty store.
///
/// # Panics
///
/// If the store fails one.
pub async fn check(store: &dyn ApprovalStore) {
    let now = 1_800_000_000_000;
    let load = async |id: &str| store.approval(id.to_owned()).await.unwrap();
    assert_eq!(load("ap_none").await, None);
    let unknown = store.decide_approval("ap_none".into(), "a".into(), decision(true, now)).await;
    assert_eq!(unknown.unwrap(), DecisionOutcome::Unknown);
    assert!(!store.close_approval("ap_none".into(), ApprovalClosing::Used).await.unwrap());

    // The same subject is the same approval, until it is closed.
    let first = store.open_approval(record("a", now, now + 1000)).await.unwrap();
    let again = store.open_approval(record("a", now + 1, now + 1001)).await.unwrap();
    assert_eq!(first, again);
    let other = store.open_approval(record("b", now + 2, now + 1000)).await.unwrap();
    assert_ne!(first.id, other.id);
    assert_eq!(load(&first.id).await.unwrap().state(now), ApprovalState::Open);
    assert_eq!(load(&first.id).await.unwrap().state(now + 1000), ApprovalState::Expired);

    // A decision is about what was seen, in time, and final.
    let decide = async |id: &str, subject: &str, decision: ApprovalDecision| {
        store.decide_approval(id.to_owned(), subject.to_owned(), decision).await.unwrap()
    };
    for (subject, at) in [("b", now + 10), ("a", now + 1000)] {
        let refused = decide(&first.id, subject, decision(true, at)).await;
        assert!(matches!(refused, DecisionOutcome::Refused(_)), "{subject} {at}: {refused:?}");
    }
    assert_eq!(decide(&first.id, "a", decision(true, now + 10)).await, DecisionOutcome::Recorded);
    let refused = decide(&first.id, "a", decision(false, now + 11)).await;
    let DecisionOutcome::Refused(stored) = refused else { panic!("{refused:?}") };
    assert_eq!(stored.decision, Some(decision(true, now + 10)));
    assert_eq!(stored.state(now + 5000), ApprovalState::Approved);

    // It is used once.
    assert!(store.close_approval(first.id.clone(), ApprovalClosing::Used).await.unwrap());
    assert!(!store.close_approval(first.id.clone(), ApprovalClosing::Used).await.unwrap());
    assert_eq!(load(&first.id).await.unwrap().closed, Some(ApprovalClosing::Used));
    let next = store.open_approval(record("a", now + 20, now + 1020)).await.unwrap();
    assert_ne!(next.id, first.id);

    // One that was withdrawn cannot be decided.
    assert!(store.close_approval(other.id.clone(), ApprovalClosing::Withdrawn).await.unwrap());
    let refused = decide(&other.id, "b", decision(true, now + 30)).await;
    assert!(matches!(refused, DecisionOutcome::Refused(_)), "{refused:?}");
    assert_eq!(load(&other.id).await.unwrap().state(now + 30), ApprovalState::Withdrawn);

    // Open ones are listed first.
    let listed: Vec<String> =
        store.approvals(10).await.unwrap().into_iter().map(|stored| stored.record.id).collect();
    assert_eq!(listed, [next.id.clone(), other.id, first.id]);
    assert_eq!(store.approvals(1).await.unwrap()[0].record.id, next.id);
}

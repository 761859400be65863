use std::time::Duration;

use loggia_egress::CallerKey;

use super::*;
use crate::oauth::{IssuedToken, LoginAttempt, OAuthClient, OAuthGrant, RedirectAnswer};

const ADA: CallerKey = CallerKey([1; 32]);
const BOB: CallerKey = CallerKey([2; 32]);

type Logins = PendingLogins<&'static str>;

fn attempt() -> LoginAttempt {
    let client = OAuthClient {
        authorize: "https://auth.example/authorize".parse().unwrap(),
        token: "https://auth.example/token".parse().unwrap(),
        client_id: "loggia".into(),
        client_secret: None,
        scopes: Vec::new(),
        resource: None,
    };
    LoginAttempt::begin(&client, "http://127.0.0.1:7/callback".parse().unwrap())
}

fn begin(logins: &Logins, caller: CallerKey, owner: &'static str) -> LoginTicket {
    logins.begin(caller, owner, attempt()).unwrap().0
}

/// The answer with which a browser that opened the link comes back.
fn answer(ticket: &LoginTicket) -> RedirectAnswer {
    let state = ticket.link.query_pairs().find(|(name, _)| name == "state").unwrap().1.into_owned();
    RedirectAnswer::parse(&format!("code=x&state={state}")).unwrap()
}

fn token(value: &str) -> IssuedToken {
    IssuedToken { value: value.to_owned(), grant: OAuthGrant::default() }
}

fn owner(logins: &Logins, answer: &RedirectAnswer) -> Option<&'static str> {
    logins.take_answered(answer).map(|taken| taken.owner)
}

#[test]
fn a_caller_has_one_pending_login() {
    let logins = Logins::default();
    assert!(logins.find(ADA).is_none());
    let (first, is_new) = logins.begin(ADA, "ada", attempt()).unwrap();
    assert!(is_new);
    let (second, is_new) = logins.begin(ADA, "ada", attempt()).unwrap();
    assert!(!is_new);
    assert_eq!(first.link, second.link);
    assert_eq!(logins.find(ADA).unwrap().link, first.link);
    let other = begin(&logins, BOB, "bob");
    assert_ne!(other.link, first.link);
    assert_eq!(
        [owner(&logins, &answer(&other)), owner(&logins, &answer(&first))],
        [Some("bob"), Some("ada")]
    );
}

#[test]
fn an_answer_is_taken_once() {
    let logins = Logins::default();
    let ticket = begin(&logins, ADA, "ada");
    let foreign = RedirectAnswer::parse("code=x&state=guessed").unwrap();
    assert_eq!(owner(&logins, &foreign), None);
    assert_eq!(owner(&logins, &answer(&ticket)), Some("ada"));
    assert_eq!(owner(&logins, &answer(&ticket)), None, "twice");
    logins.end(ADA, Ok(()));
    assert_eq!(ticket.progress(), LoginProgress::Done);
    assert_eq!(owner(&logins, &answer(&ticket)), None, "after the end");
    assert_ne!(begin(&logins, ADA, "ada").link, ticket.link);
}

#[test]
fn pending_logins_are_bounded() {
    let logins = Logins::default();
    let caller = |number: u16| {
        let mut key = [0; 32];
        key[..2].copy_from_slice(&number.to_le_bytes());
        CallerKey(key)
    };
    for number in 0..512 {
        begin(&logins, caller(number), "");
    }
    assert!(logins.begin(caller(512), "", attempt()).is_err());
    assert!(logins.begin(caller(511), "", attempt()).is_ok(), "one that is pending");
    logins.end(caller(3), Err("refused".to_owned()));
    assert!(logins.begin(caller(512), "", attempt()).is_ok());
}

#[tokio::test(start_paused = true)]
async fn logins_expire_after_ten_minutes() {
    let logins = Logins::default();
    let ticket = begin(&logins, ADA, "ada");
    tokio::time::advance(Duration::from_secs(599)).await;
    assert!(logins.find(ADA).is_some());
    let late = LoginProgress::Failed("it was not completed in time".to_owned());
    assert_eq!(ticket.wait_beyond(&LoginProgress::Open).await, late);
    assert!(logins.find(ADA).is_none());
    assert_eq!(owner(&logins, &answer(&ticket)), None);
    // A new one takes its place, and the tokens of those that expired are dropped.
    let ticket = begin(&logins, ADA, "ada");
    logins.take_answered(&answer(&ticket)).unwrap();
    let code = logins.hold(ADA, token("token-of-ada")).unwrap().to_string();
    tokio::time::advance(Duration::from_secs(600)).await;
    assert_eq!(logins.redeem(ADA, &code).unwrap_err(), CodeRefusal::Unasked);
    begin(&logins, BOB, "bob");
    assert_eq!(format!("{logins:?}"), "PendingLogins { entries: 1 }");
}

#[test]
fn a_code_is_redeemed_by_its_caller() {
    let logins = Logins::default();
    let tickets = [(ADA, "ada"), (BOB, "bob")].map(|(caller, name)| begin(&logins, caller, name));
    assert_eq!(logins.redeem(ADA, "").unwrap_err(), CodeRefusal::Unasked, "before the browser returns");
    let codes = [ADA, BOB].map(|caller| {
        let ticket = logins.find(caller).unwrap();
        logins.take_answered(&answer(&ticket)).unwrap();
        assert_eq!(ticket.progress(), LoginProgress::Open);
        let value = if caller == ADA { "token-of-ada" } else { "token-of-bob" };
        logins.hold(caller, token(value)).unwrap().to_string()
    });
    assert!(tickets.iter().all(|ticket| ticket.progress() == LoginProgress::Held));
    // The code of another caller's login is as wrong as any.
    assert_eq!(logins.redeem(ADA, &codes[1]).unwrap_err(), CodeRefusal::Wrong(4));
    let redeemed = logins.redeem(ADA, &codes[0].to_lowercase()).unwrap();
    assert_eq!(
        (redeemed.value.as_str(), format!("{redeemed:?}")),
        ("token-of-ada", "IssuedToken".to_owned())
    );
    assert_eq!(logins.redeem(ADA, &codes[0]).unwrap_err(), CodeRefusal::Unasked, "twice");
    assert_eq!(logins.redeem(BOB, &codes[1]).unwrap().value, "token-of-bob");
}

#[test]
fn five_wrong_codes_end_a_login() {
    let logins = Logins::default();
    let ticket = begin(&logins, ADA, "ada");
    logins.take_answered(&answer(&ticket)).unwrap();
    let code = logins.hold(ADA, token("token-of-ada")).unwrap().to_string();
    let wrong = if code == "0000-0000" { "1111-1111" } else { "0000-0000" };
    let refusals: Vec<CodeRefusal> = (0..5).map(|_| logins.redeem(ADA, wrong).unwrap_err()).collect();
    let left = |left| CodeRefusal::Wrong(left);
    assert_eq!(refusals, [left(4), left(3), left(2), left(1), CodeRefusal::Ended]);
    assert_eq!(logins.redeem(ADA, &code).unwrap_err(), CodeRefusal::Unasked);
    assert!(matches!(ticket.progress(), LoginProgress::Failed(_)));
    assert!(logins.find(ADA).is_none());
}

#[tokio::test]
async fn callers_wait_for_each_step() {
    let logins = Logins::default();
    let ticket = begin(&logins, ADA, "ada");
    let (held, done) = (ticket.clone(), ticket.clone());
    let waiting = tokio::spawn(async move {
        let first = held.wait_beyond(&LoginProgress::Open).await;
        (first, done.wait_beyond(&LoginProgress::Held).await)
    });
    logins.take_answered(&answer(&ticket)).unwrap();
    let code = logins.hold(ADA, token("token-of-ada")).unwrap().to_string();
    tokio::task::yield_now().await;
    logins.redeem(ADA, &code).unwrap();
    logins.end(ADA, Ok(()));
    assert_eq!(waiting.await.unwrap(), (LoginProgress::Held, LoginProgress::Done));
}

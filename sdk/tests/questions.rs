//! Questions to the person: forms from types, and answers.

use std::collections::BTreeMap;

use loggia_sdk::{
    host::elicit,
    prelude::*,
    testing::{self, Host},
};

/// Where the parcel goes.
#[derive(Deserialize, Serialize, JsonSchema)]
struct Delivery {
    /// To whom.
    #[schemars(length(min = 1, max = 40), regex(pattern = "^[A-Z]"))]
    name: String,
    #[schemars(email)]
    mail: Option<String>,
    #[schemars(range(min = 1, max = 9))]
    parcels: u8,
    weight: Option<f64>,
    gift: bool,
    #[serde(default = "fast")]
    speed: Speed,
    wrapping: Option<Wrapping>,
    /// The colour of the ribbon.
    ribbon: Option<Wrapping>,
    /// What goes in beside it.
    extras: Vec<Speed>,
    #[schemars(length(max = 2))]
    boxes: Vec<Wrapping>,
}

fn fast() -> Speed {
    Speed::Fast
}

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Speed {
    Slow,
    Fast,
}

#[derive(Deserialize, Serialize, JsonSchema)]
enum Wrapping {
    Plain,
    /// With stars on it.
    Stars,
}

macro_rules! formless {
    ($($name:ident = $ty:ty;)+) => {
        $(#[derive(Deserialize, JsonSchema)]
        struct $name {
            #[allow(dead_code)]
            field: $ty,
        })+
    };
}
formless! {
    List = Vec<String>;
    Nested = Inner;
    Map = BTreeMap<String, u32>;
    Anything = Value;
    Data = Choice;
    Tuple = (u32, u32);
}

#[derive(Deserialize, JsonSchema)]
struct Inner {
    #[allow(dead_code)]
    x: u32,
}

#[derive(Deserialize, JsonSchema)]
#[allow(dead_code)]
enum Choice {
    One(u32),
    Two { x: u32 },
}

struct Post;

/// Parcels.
#[facade(name = "post")]
impl Post {
    /// Ask for all.
    #[action(write)]
    fn send(&self) -> Result<Delivery> {
        elicit::<Delivery>("Where to?")?.accepted()
    }

    /// Ask to agree.
    #[action(destructive)]
    fn burn(&self) -> Result<bool> {
        host::confirm("Burn it?")
    }

    /// Ask for what no form asks for.
    #[action(read)]
    fn formless(&self, what: String) -> Result<()> {
        match what.as_str() {
            "list" => elicit::<List>("?").map(drop),
            "nested" => elicit::<Nested>("?").map(drop),
            "map" => elicit::<Map>("?").map(drop),
            "anything" => elicit::<Anything>("?").map(drop),
            "data" => elicit::<Data>("?").map(drop),
            "tuple" => elicit::<Tuple>("?").map(drop),
            "alternatives" => elicit::<Choice>("?").map(drop),
            "text" => elicit::<String>("?").map(drop),
            "open" => elicit::<BTreeMap<String, String>>("?").map(drop),
            _ => Ok(()),
        }
    }
}

#[test]
fn a_struct_becomes_a_form_for_clients() {
    let host = Host::new().person(Answer::Declined);
    host.call(&Post, "send", json!({})).unwrap_err();
    let [question] = host.questions().try_into().unwrap();
    assert_eq!(question.message, "Where to?");
    insta::assert_snapshot!(serde_json::to_string_pretty(&question.form).unwrap());
}

#[test]
fn structs_unfit_for_forms_are_named_with_field() {
    let kinds = ["list", "nested", "map", "anything", "data", "tuple", "alternatives", "text", "open"];
    let told = kinds.map(|what| {
        let host = Host::new().person(Answer::Declined);
        let failure = host.call(&Post, "formless", json!({"what": what})).unwrap_err();
        assert_eq!(host.questions(), [], "nobody is asked");
        failure.to_string()
    });
    insta::assert_snapshot!(told.join("\n"));
}

#[test]
fn an_answer_is_the_input_or_a_failure() {
    let ask = |answer| Host::new().person(answer).call(&Post, "send", json!({}));
    let given =
        json!({"name": "Ada", "parcels": 2, "gift": false, "extras": ["slow"], "boxes": ["Plain", "Stars"]});
    let full = json!({
        "name": "Ada", "mail": null, "parcels": 2, "weight": null, "gift": false, "speed": "fast",
        "wrapping": null, "ribbon": null, "extras": ["slow"], "boxes": ["Plain", "Stars"],
    });
    assert_eq!(ask(Answer::Accepted(given)).unwrap().data, full);
    let failed = |answer| ask(answer).unwrap_err().to_string();
    assert_eq!(failed(Answer::Declined), "denied: access denied: the person declined");
    assert_eq!(failed(Answer::Cancelled), "cancelled: cancelled: the person closed the question");
    assert_eq!(
        failed(Answer::Accepted(json!({"name": "Ada", "gift": true}))),
        "invalid_data: the answer does not fit: missing field `parcels`"
    );
}

#[test]
fn only_acceptance_is_consent() {
    let check = |answer, expected| {
        let host = Host::new().person(answer);
        assert_eq!(host.call(&Post, "burn", json!({})).unwrap().data, json!(expected));
        let [question] = host.questions().try_into().unwrap();
        assert_eq!(question.message, "Burn it?");
        assert_eq!(Value::Object(question.form), json!({"type": "object", "properties": {}}));
    };
    check(Answer::Accepted(json!({})), true);
    check(Answer::Declined, false);
    check(Answer::Cancelled, false);
}

#[test]
fn questions_are_denied_without_an_answer_in_store() {
    let failure = testing::call(&Post, "burn", json!({})).unwrap_err();
    assert_eq!(
        failure,
        Failure::denied("access denied").hint("the policy of this plugin does not grant `elicit`")
    );
    let host = Host::new().person(Answer::Accepted(json!({})));
    assert_eq!(host.call(&Post, "burn", json!({})).unwrap().data, json!(true));
    assert_eq!(host.call(&Post, "burn", json!({})).unwrap_err().code, "denied");
    assert_eq!(host.questions().len(), 2, "also what was denied was asked");
}

//! Schemas of actions: every kind of type, bound and text.

use std::collections::BTreeMap;

use loggia_sdk::{prelude::*, testing};

/// How urgent a task is.
#[derive(Serialize, Deserialize, JsonSchema, Default)]
#[serde(rename_all = "lowercase")]
enum Urgency {
    /// Can wait.
    #[default]
    Low,
    /// Now.
    High,
}

#[derive(Serialize, Deserialize, JsonSchema)]
enum Plain {
    Red,
    Green,
}

/// Where something happens.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Place {
    /// Degrees north.
    lat: f64,
    lon: f64,
    #[serde(default)]
    name: Option<String>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Tree {
    label: String,
    children: Vec<Tree>,
}

#[derive(Serialize, JsonSchema)]
struct Task {
    id: u64,
    urgency: Urgency,
    place: Option<Place>,
    tree: Tree,
}

const LIMITS: std::ops::RangeInclusive<u32> = 1..=50;

struct Kinds;

/// Every kind of parameter there is.
///
/// Use `first` before `second`.
///
/// - A list item.
/// - Another.
#[facade(
    name = "kinds",
    title = "All kinds",
    default = "texts",
    needs("dirs", "the folder it works in"),
    wants("http: https://example.com", "to look things up")
)]
impl Kinds {
    /// Texts with bounds.
    ///
    /// More than the summary says,
    /// over two lines.
    #[action(read)]
    #[allow(clippy::too_many_arguments)]
    fn texts(
        &self,
        /// In two
        /// lines.
        #[param(length = 1..=4000)]
        bounded: String,
        #[param(length = 3..)] at_least: String,
        #[param(length = ..10, pattern = "^[a-z]+$")] matching: String,
        #[param(format = "date", hint = "today is fine", example = "2026-01-31")] day: String,
        #[param(default)] empty: String,
        #[param(default = "now")] literal: String,
        r#type: Option<String>,
        #[param(name = "move")] motion: Option<String>,
        #[param(secret, length = 8..)] token: Option<String>,
    ) -> Result<String> {
        drop(token);
        Ok([
            bounded,
            at_least,
            matching,
            day,
            empty,
            literal,
            r#type.unwrap_or_default(),
            motion.unwrap_or_default(),
        ]
        .join("|"))
    }

    /// Numbers with bounds.
    #[allow(clippy::type_complexity)]
    #[action(write, idempotent, open_world, long_running, details, alias = "nums", alias = "numeric")]
    fn numbers(
        &self,
        _call: &Call,
        #[param(range = 1..=50)] closed: u32,
        #[param(range = -5..5)] half_open: i64,
        #[param(range = 0.5..)] fraction: f64,
        #[param(default = 10, range = LIMITS)] constant: u32,
        #[param(default = 7)] seven: u8,
        #[param(default)] flag: bool,
        whole: Option<i32>,
    ) -> Result<(u32, i64, f64, u32, u8, bool, Option<i32>)> {
        Ok((closed, half_open, fraction, constant, seven, flag, whole))
    }

    /// Lists, maps, enums and structures.
    #[action(
        destructive,
        name = "structures",
        example = r#"{"place": {"lat": 1, "lon": 2}, "tree": {"label": "a", "children": []}, "plain": "Red"}"#
    )]
    fn nested(
        &self,
        place: Place,
        tree: Tree,
        plain: Plain,
        /// Which comes first.
        #[param(default)]
        urgency: Urgency,
        #[param(default = Urgency::High)] other: Urgency,
        #[param(default, length = 0..=3, hint = "reuse tags")] tags: Vec<String>,
        #[param(default, length = ..=2)] map: BTreeMap<String, u32>,
        #[param(default)] anything: Value,
        maybe: Option<Place>,
    ) -> Result<Reply<Vec<Task>>> {
        let _ = (plain, urgency, tags, map, anything, maybe);
        let tasks = vec![Task { id: 1, urgency: other, place: Some(place), tree }];
        Ok(Reply::new(tasks).page(Page::of(1).total(9).cursor("c")))
    }

    /// Nothing in, nothing out.
    #[action(write)]
    fn nothing(&self) -> Result<()> {
        Ok(())
    }

    /// No schema: the data may be anything.
    #[action(read)]
    fn anything(&self) -> Result<Value, std::num::ParseIntError> {
        Ok("7".parse::<u32>()?.into())
    }
}

#[test]
fn a_facade_publishes_its_source() {
    insta::assert_snapshot!(serde_json::to_string_pretty(&testing::describe(&Kinds)).unwrap());
}

#[test]
fn parameters_keep_the_order_of_their_declaration() {
    let described = testing::describe(&Kinds);
    let properties = described["actions"][0]["params"]["properties"].as_object().unwrap();
    let names: Vec<_> = properties.keys().map(String::as_str).collect();
    assert_eq!(
        names,
        ["bounded", "at_least", "matching", "day", "empty", "literal", "type", "move", "token"]
    );
}

mod data {
    use super::*;

    /// Kinds.
    #[data]
    #[serde(rename_all = "lowercase")]
    enum Kind {
        /// To eat.
        Food,
        Travel,
        /// To work with.
        Tools,
        Other,
    }

    #[data]
    struct Expense {
        kind: Kind,
        #[serde(default)]
        note: Option<String>,
    }

    #[data]
    #[derive(Serialize, JsonSchema)]
    struct Total {
        cents: &'static str,
    }

    struct Expenses;

    /// Expenses.
    #[facade]
    impl Expenses {
        /// Add one.
        #[action(write)]
        fn add(&self, expense: Expense) -> Result<Total> {
            let _ = (expense.kind, expense.note);
            Ok(Total { cents: "1" })
        }
    }

    #[test]
    fn documented_variants_keep_their_place() {
        let surface = testing::describe(&Expenses);
        let text = serde_json::to_string(&surface).unwrap();
        let places =
            ["food", "travel", "tools", "other"].map(|kind| text.find(&format!("\"{kind}\"")).unwrap());
        assert!(places.is_sorted(), "{text}");
        assert!(
            text.contains("To eat.") && text.contains("To work with.") && !text.contains("x-own"),
            "{text}"
        );
    }
}

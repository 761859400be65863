//! JSON that is changed as JSON: a value replaced, moved, doubled, left out, rather than a bracket broken.

use libfuzzer_sys::fuzzer_mutate;
use serde_json::{Map, Value};

/// Mutator for libFuzzer. `words` are tokens for the target, separated by white space. A quarter of the mutations are
/// libFuzzer's own, without knowledge of JSON.
pub fn mutate(data: &mut [u8], size: usize, max_size: usize, seed: u32, words: &str) -> usize {
    let mut random = Random(u64::from(seed) << 1 | 1);
    let changed = match serde_json::from_slice::<Value>(&data[..size]) {
        Ok(mut value) if random.below(4) > 0 => {
            for _ in 0..=random.below(3) {
                change(&mut value, &mut random, words);
            }
            serde_json::to_vec(&value).ok().filter(|text| text.len() <= max_size)
        }
        _ => None,
    };
    match changed {
        Some(text) => {
            data[..text.len()].copy_from_slice(&text);
            text.len()
        }
        None => fuzzer_mutate(data, size, max_size),
    }
}

/// Xorshift, from libFuzzer's seed.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap_or(0) % bound.max(1)
    }
}

fn count(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(count).sum(),
        Value::Object(members) => members.values().map(count).sum(),
        _ => 0,
    }
}

/// The n-th value of a tree, itself the first.
fn nth(value: &Value, mut n: usize) -> Option<&Value> {
    if n == 0 {
        return Some(value);
    }
    n -= 1;
    let mut inner: Box<dyn Iterator<Item = &Value>> = match value {
        Value::Array(items) => Box::new(items.iter()),
        Value::Object(members) => Box::new(members.values()),
        _ => return None,
    };
    inner.find_map(|value| {
        let size = count(value);
        let found = (n < size).then(|| nth(value, n)).flatten();
        n = n.wrapping_sub(size);
        found
    })
}

fn nth_mut(value: &mut Value, mut n: usize) -> Option<&mut Value> {
    if n == 0 {
        return Some(value);
    }
    n -= 1;
    let inner: Box<dyn Iterator<Item = &mut Value>> = match value {
        Value::Array(items) => Box::new(items.iter_mut()),
        Value::Object(members) => Box::new(members.values_mut()),
        _ => return None,
    };
    for value in inner {
        let size = count(value);
        if n < size {
            return nth_mut(value, n);
        }
        n -= size;
    }
    None
}

fn change(root: &mut Value, random: &mut Random, words: &str) {
    let size = count(root);
    let other = nth(root, random.below(size)).cloned().unwrap_or_default();
    let Some(at) = nth_mut(root, random.below(size)) else { return };
    match random.below(12) {
        0 => *at = word(random, words),
        1 | 2 => *at = other,
        3 | 4 => remove(at, random),
        5 | 6 => insert(at, random, words, other),
        7 => *at = Value::Array(vec![at.take(), other]),
        8 => rename(at, random, words),
        9 => repeat(at, random),
        _ => spoil(at, random, words),
    }
}

/// A word of the target: as JSON if it is valid, else as a text.
fn word(random: &mut Random, words: &str) -> Value {
    const ALL: [&str; 16] = [
        "null",
        "true",
        "false",
        "0",
        "-1",
        "1",
        "1.5",
        "-0.0",
        "1e308",
        "18446744073709551615",
        "[]",
        "{}",
        "\"\"",
        "\"\u{202e}a\u{200b}\"",
        "\"\\u001b[31m\"",
        "\"\u{e0041}\u{e0080}\"",
    ];
    let n = random.below(ALL.len() + words.split_whitespace().count());
    let text =
        ALL.get(n).copied().or_else(|| words.split_whitespace().nth(n - ALL.len())).unwrap_or_default();
    serde_json::from_str(text).unwrap_or_else(|_| text.into())
}

fn name(random: &mut Random, words: &str) -> String {
    match word(random, words) {
        Value::String(text) => text,
        other => other.to_string(),
    }
}

fn remove(at: &mut Value, random: &mut Random) {
    match at {
        Value::Array(items) if !items.is_empty() => drop(items.remove(random.below(items.len()))),
        Value::Object(members) if !members.is_empty() => {
            let key = members.keys().nth(random.below(members.len())).cloned();
            key.map(|key| members.shift_remove(&key));
        }
        other => *other = Value::Null,
    }
}

fn insert(at: &mut Value, random: &mut Random, words: &str, other: Value) {
    let value = if random.below(2) == 0 { other } else { word(random, words) };
    match at {
        Value::Array(items) => items.insert(random.below(items.len() + 1), value),
        Value::Object(members) => drop(members.insert(name(random, words), value)),
        other => *other = Value::Object(Map::from_iter([(name(random, words), value)])),
    }
}

fn rename(at: &mut Value, random: &mut Random, words: &str) {
    let Value::Object(members) = at else { return };
    let (which, name) = (random.below(members.len()), name(random, words));
    let renamed = std::mem::take(members).into_iter().enumerate();
    *members =
        renamed.map(|(n, (key, value))| (if n == which { name.clone() } else { key }, value)).collect();
}

/// Repeats a value many times.
fn repeat(at: &mut Value, random: &mut Random) {
    let times = [2, 9, 65, 300][random.below(4)];
    match at {
        Value::String(text) if text.len() < 4096 => *text = text.repeat(times),
        Value::Array(items) if !items.is_empty() && items.len() < 100 => {
            let item = items[random.below(items.len())].clone();
            if count(&item) * times < 4000 {
                items.extend(std::iter::repeat_n(item, times));
            }
        }
        Value::Object(members) if !members.is_empty() && members.len() < 100 => {
            let (key, value) = members
                .iter()
                .nth(random.below(members.len()))
                .map(|(k, v)| (k.clone(), v.clone()))
                .unwrap_or_default();
            if count(&value) * times < 4000 {
                members.extend((0..times).map(|n| (format!("{key}{n}"), value.clone())));
            }
        }
        other => *other = (0..random.below(80)).fold(other.take(), |inner, _| Value::Array(vec![inner])),
    }
}

/// A leaf, a little changed.
fn spoil(at: &mut Value, random: &mut Random, words: &str) {
    match at {
        Value::String(text) if random.below(3) > 0 => {
            let mut bytes = std::mem::take(text).into_bytes();
            let size = bytes.len();
            bytes.resize(size + 32, 0);
            let size = fuzzer_mutate(&mut bytes, size, size + 32);
            *text = String::from_utf8_lossy(&bytes[..size]).into_owned();
        }
        Value::String(text) => text.push_str(&name(random, words)),
        Value::Number(number) => {
            let by = [1, -1, 7, 1 << 31, i64::MAX][random.below(5)];
            *at = number.as_i64().map_or(0, |n| n.wrapping_add(by)).into();
        }
        Value::Bool(flag) => *flag = !*flag,
        _ => *at = word(random, words),
    }
}

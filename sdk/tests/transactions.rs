//! Transactions against a model: with any operations and concurrent writes, the result is serialisable.

use std::{cell::Cell as Count, collections::BTreeMap};

use loggia_sdk::{
    prelude::*,
    state::{Collection, Rows, transaction},
    testing::{Host, Store},
};

static NUMBERS: Collection<u64> = Collection::new("numbers");

/// A small generator: the same numbers in each run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

#[derive(Debug, Clone)]
enum Step {
    Put(String, u64),
    Remove(String),
    /// Writes under the id the sum of all rows.
    Sum(String),
    /// Doubles a row if it exists.
    Double(String),
}

fn step(random: &mut Random) -> Step {
    let id = format!("{}", random.below(5));
    match random.below(4) {
        0 => Step::Put(id, random.below(100)),
        1 => Step::Remove(id),
        2 => Step::Sum(id),
        _ => Step::Double(id),
    }
}

fn run(rows: &Rows<'_, u64>, step: &Step) -> Result<()> {
    match step {
        Step::Put(id, number) => rows.put(id, number),
        Step::Remove(id) => rows.remove(id).map(drop),
        Step::Sum(id) => {
            let sum = rows.list()?.iter().fold(0_u64, |sum, row| sum.wrapping_add(row.value));
            rows.put(id, &sum)
        }
        Step::Double(id) => match rows.get(id)? {
            Some(number) => rows.put(id, &number.wrapping_mul(2)),
            None => Ok(()),
        },
    }
}

fn model(rows: &mut BTreeMap<String, u64>, step: &Step) {
    match step {
        Step::Put(id, number) => drop(rows.insert(id.clone(), *number)),
        Step::Remove(id) => drop(rows.remove(id)),
        Step::Sum(id) => {
            let sum = rows.values().fold(0_u64, |sum, number| sum.wrapping_add(*number));
            rows.insert(id.clone(), sum);
        }
        Step::Double(id) => {
            if let Some(number) = rows.get_mut(id) {
                *number = number.wrapping_mul(2);
            }
        }
    }
}

#[test]
fn transactions_are_as_if_one_ran_after_another() {
    for seed in 0..300 {
        let mut random = Random(seed);
        let mut expected = BTreeMap::new();
        Host::new().store(&Store::new()).run(|| {
            for _ in 0..12 {
                let steps: Vec<Step> = (0..=random.below(5)).map(|_| step(&mut random)).collect();
                let other = step(&mut random);
                let between = usize::try_from(random.below(6)).unwrap();
                let fails = random.below(5) == 0;
                let runs = Count::new(0);
                let done = transaction(|tx| {
                    let rows = NUMBERS.of(tx);
                    for (at, step) in steps.iter().enumerate() {
                        // A concurrent transaction, once, in the middle of it.
                        if at == between && runs.replace(1) == 0 {
                            transaction(|tx| run(&NUMBERS.of(tx), &other))?;
                        }
                        run(&rows, step)?;
                    }
                    if fails { Err(Failure::conflict("no")) } else { Ok(()) }
                });
                // The other one commits at once: it comes before a transaction that read its writes, and after one that
                // did not, or wrote blindly; both are valid orders if the rows agree with either.
                let mut orders = vec![expected.clone(), expected.clone()];
                let interfered = runs.get() == 1;
                if interfered {
                    model(&mut orders[0], &other);
                }
                if done.is_ok() {
                    for step in &steps {
                        orders.iter_mut().for_each(|rows| model(rows, step));
                    }
                }
                if interfered {
                    model(&mut orders[1], &other);
                }
                let rows: BTreeMap<_, _> =
                    NUMBERS.list().unwrap().into_iter().map(|row| (row.id, row.value)).collect();
                assert!(
                    orders.contains(&rows),
                    "seed {seed}: {steps:?} with {other:?} at {between}: {rows:?} {orders:?}"
                );
                assert_eq!(done.is_err(), fails);
                expected = rows;
            }
        });
    }
}

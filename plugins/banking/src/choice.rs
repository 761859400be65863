//! Which account: the one that the call names, or the one that the person chooses.

use loggia_sdk::{failure::code, prelude::*};

use crate::bank::{Account, Bank};

/// Resolves the account of the parameter `name`. If the call does not name one, the person chooses among all but
/// `except`.
///
/// # Errors
///
/// `not_found` for an unknown account, `cancelled` or `denied` if the person does not choose, and `invalid_params` with
/// the accounts if nobody can be asked.
pub fn account(
    bank: &Bank,
    name: &str,
    given: Option<&str>,
    question: &str,
    except: Option<&str>,
) -> Result<Account> {
    if let Some(id) = given {
        return bank.account(id).cloned();
    }
    let offered = bank.accounts.iter().filter(|account| except != Some(account.id.as_str()));
    let choices: Vec<(&str, String)> = offered.map(|account| (account.id.as_str(), title(account))).collect();
    match host::choose(question, name, &choices) {
        Ok(answer) => bank.account(&answer.accepted()?).cloned(),
        Err(failure) if failure.code == code::CANCELLED => Err(failure),
        Err(failure) => Err(missing(name, &choices, &failure)),
    }
}

/// Failure for a parameter that nobody could be asked for: lists the accounts, so that the next call can name one.
fn missing(name: &str, choices: &[(&str, String)], cause: &Failure) -> Failure {
    let list: Vec<String> = choices.iter().map(|(id, title)| format!("`{id}` ({title})")).collect();
    Failure::invalid_params(format!(
        "`{name}` is missing, and the person could not be asked: {}",
        cause.message
    ))
    .hint(format!("Ask the person for the account, then pass `{name}`: {}.", list.join(", ")))
}

/// What the person sees of an account.
fn title(account: &Account) -> String {
    let locked = if account.locked { ", locked" } else { "" };
    format!("{}, {}{locked}", account.name, account.balance)
}

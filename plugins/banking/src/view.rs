//! Accounts and transfers as they are shown.

use loggia_sdk::prelude::*;

use crate::{
    bank::{Account, Bank, Transfer},
    money::{CURRENCY, Money},
};

/// Number of transfers that are shown with an account.
const RECENT: usize = 5;

/// An account.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
pub struct AccountView {
    id: String,
    name: String,
    balance: f64,
    currency: &'static str,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    locked: bool,
}

/// A transfer.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
pub struct TransferView {
    from: String,
    to: String,
    amount: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    memo: Option<String>,
}

/// An account with its newest transfers.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
pub struct BalanceView {
    #[serde(flatten)]
    account: AccountView,
    /// The newest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    transfers: Vec<TransferView>,
}

impl BalanceView {
    /// The account with its newest transfers.
    pub fn new(bank: &Bank, account: &Account) -> Self {
        let own = bank.transfers.iter().rev().filter(|made| made.from == account.id || made.to == account.id);
        let transfers = own.take(RECENT).map(TransferView::from).collect();
        Self { account: account.into(), transfers }
    }
}

impl From<&Account> for AccountView {
    fn from(account: &Account) -> Self {
        let Account { id, name, balance, locked } = account.clone();
        Self { id, name, balance: balance.units(), currency: CURRENCY, locked }
    }
}

impl From<&Transfer> for TransferView {
    fn from(made: &Transfer) -> Self {
        let Transfer { from, to, amount, memo } = made.clone();
        Self { from, to, amount: Money::units(amount), memo }
    }
}

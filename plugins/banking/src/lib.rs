//! An example bank, as a Loggia plugin: a locked account leads to an agent without a model's decision. See the README.

mod bank;
mod choice;
mod money;
mod transfer;
mod view;

use loggia_sdk::prelude::*;

use bank::Bank;
use money::Money;
use transfer::{TransferRequest, Transferred};
use view::{AccountView, BalanceView};

/// The facade.
pub struct Banking;

/// Example bank.
#[facade(
    default = "list_accounts",
    needs("store", "to store accounts"),
    wants("elicit", "to ask the person for a missing account"),
    wants("invoke: support:request_handoff", "to hand a locked account over to an agent")
)]
impl Banking {
    /// List the accounts.
    #[action(read)]
    fn list_accounts(&self) -> Result<Vec<AccountView>> {
        Ok(Bank::load()?.accounts.iter().map(AccountView::from).collect())
    }

    /// Read an account's balance and newest transfers. The person is asked for a missing account.
    #[action(read, example = r#"{"account": "acc_002"}"#)]
    fn get_balance(&self, #[param(length = 1..=32)] account: Option<String>) -> Result<BalanceView> {
        let bank = Bank::load()?;
        let account =
            choice::account(&bank, "account", account.as_deref(), "The balance of which account?", None)?;
        Ok(BalanceView::new(&bank, &account))
    }

    /// Transfer money. The person is asked for missing accounts.
    #[action(write, example = r#"{"from": "acc_002", "to": "acc_003", "amount": 50}"#)]
    fn transfer(
        &self,
        #[param(length = 1..=32)] from: Option<String>,
        #[param(length = 1..=32)] to: Option<String>,
        #[param(range = 0.01..=1_000_000.0)] amount: f64,
        #[param(length = 1..=200)] memo: Option<String>,
    ) -> Result<Reply<Transferred>> {
        let amount = Money::parse("amount", amount)?;
        transfer::transfer(&TransferRequest { from, to, amount, memo })
    }

    /// Lock an account. Only an agent unlocks it.
    #[action(write, idempotent, example = r#"{"account": "acc_002"}"#)]
    fn lock_account(&self, #[param(length = 1..=32)] account: String) -> Result<AccountView> {
        Bank::change(|bank| {
            let account = bank.account_mut(&account)?;
            account.locked = true;
            Ok(AccountView::from(&*account))
        })
    }
}

loggia_sdk::export!(Banking);

#[cfg(test)]
mod tests;

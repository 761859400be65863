//! The bank as it is stored.

use loggia_sdk::{prelude::*, state, state::Cell};

use crate::money::Money;

/// All accounts, in one row: a transfer changes two of them at once.
static BANK: Cell<Bank> = Cell::new("bank");

/// Number of transfers that are kept.
const TRANSFERS: usize = 100;

/// Accounts of one customer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Bank {
    pub accounts: Vec<Account>,
    /// The newest last.
    pub transfers: Vec<Transfer>,
}

/// An account.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Account {
    pub id: String,
    pub name: String,
    pub balance: Money,
    pub locked: bool,
}

/// A transfer that was made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Transfer {
    pub from: String,
    pub to: String,
    pub amount: Money,
    pub memo: Option<String>,
}

impl Bank {
    /// The stored bank; before anything was changed, the example accounts. A `read` action cannot store them.
    ///
    /// # Errors
    ///
    /// The state's.
    pub fn load() -> Result<Self> {
        Ok(BANK.get()?.unwrap_or_else(Self::examples))
    }

    /// Changes the bank in one transaction, which may run several times.
    ///
    /// # Errors
    ///
    /// Those of the change, and the state's.
    pub fn change<T>(mut change: impl FnMut(&mut Self) -> Result<T>) -> Result<T> {
        state::transaction(|tx| {
            let cell = BANK.of(tx);
            let mut bank = cell.get()?.unwrap_or_else(Self::examples);
            let result = change(&mut bank)?;
            cell.set(&bank)?;
            Ok(result)
        })
    }

    /// The account with this id.
    ///
    /// # Errors
    ///
    /// `not_found`, with the accounts that exist.
    pub fn account(&self, id: &str) -> Result<&Account> {
        self.accounts.iter().find(|account| account.id == id).ok_or_else(|| {
            Failure::not_found(format!("not found: there is no account `{id}`"))
                .hint(format!("Accounts: {}.", self.names()))
                .next(Next::action("list_accounts"))
        })
    }

    /// The same, to change it.
    ///
    /// # Errors
    ///
    /// Like [`account`](Self::account).
    pub fn account_mut(&mut self, id: &str) -> Result<&mut Account> {
        let at = self.accounts.iter().position(|account| account.id == id);
        match at {
            Some(at) => Ok(&mut self.accounts[at]),
            None => Err(self.account(id).err().unwrap_or_else(|| Failure::internal("no account"))),
        }
    }

    /// Records a transfer.
    pub fn record(&mut self, transfer: Transfer) {
        self.transfers.push(transfer);
        let surplus = self.transfers.len().saturating_sub(TRANSFERS);
        self.transfers.drain(..surplus);
    }

    /// Ids and names of all accounts, for messages.
    pub fn names(&self) -> String {
        let names = self.accounts.iter().map(|account| format!("`{}` ({})", account.id, account.name));
        names.collect::<Vec<_>>().join(", ")
    }

    fn examples() -> Self {
        let accounts = vec![
            Account::new(1, "Everyday Checking", Money(125_000), true),
            Account::new(2, "High Yield Savings", Money(840_000), false),
            Account::new(3, "Travel Fund", Money(32_050), false),
        ];
        Self { accounts, transfers: Vec::new() }
    }
}

impl Account {
    fn new(number: usize, name: &str, balance: Money, locked: bool) -> Self {
        Self { id: format!("acc_{number:03}"), name: name.to_owned(), balance, locked }
    }

    /// Name and id, for messages.
    pub fn label(&self) -> String {
        format!("{} ({})", self.name, self.id)
    }
}

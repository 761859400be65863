//! `transfer`: between two accounts, unless the first one is locked.

use loggia_sdk::prelude::*;

use crate::{
    bank::{Account, Bank, Transfer},
    choice,
    money::Money,
    view::{AccountView, TransferView},
};

/// Failure code of a locked account.
const LOCKED: &str = "account_locked";

/// A requested transfer.
pub struct TransferRequest {
    pub from: Option<String>,
    pub to: Option<String>,
    pub amount: Money,
    pub memo: Option<String>,
}

/// Result of a transfer: both accounts after it.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
pub struct Transferred {
    #[serde(flatten)]
    transfer: TransferView,
    accounts: [AccountView; 2],
}

/// Makes a transfer. A missing account is asked for; a locked one leads to an agent before anything else is asked.
///
/// # Errors
///
/// `account_locked` with the handoff as the next call, `conflict` if the balance is too small, and those of
/// [`choice::account`].
pub fn transfer(request: &TransferRequest) -> Result<Reply<Transferred>> {
    let TransferRequest { from, to, amount, memo } = request;
    let bank = Bank::load()?;
    let from = choice::account(
        &bank,
        "from",
        from.as_deref(),
        &format!("Transfer {amount} from which account?"),
        None,
    )?;
    unless_locked(&from, *amount)?;
    let question = format!("Transfer {amount} from {} to which account?", from.name);
    let to = choice::account(&bank, "to", to.as_deref(), &question, Some(&from.id))?;
    if from.id == to.id {
        return Err(Failure::invalid_params(format!(
            "`from` and `to` are the same account: {}",
            from.label()
        ))
        .hint(format!("Accounts: {}.", bank.names())));
    }
    let made = Transfer { from: from.id, to: to.id, amount: *amount, memo: memo.clone() };
    // The person may have taken long to answer: everything is checked again in the transaction.
    let transferred = Bank::change(|bank| book(bank, &made))?;
    let message = format!("{amount} went from {} to {}.", from.name, to.name);
    Ok(Reply::new(transferred).message(message))
}

fn book(bank: &mut Bank, made: &Transfer) -> Result<Transferred> {
    let from = bank.account_mut(&made.from)?;
    unless_locked(from, made.amount)?;
    from.balance = from.balance.minus(made.amount).ok_or_else(|| too_little(from, made.amount))?;
    let from = AccountView::from(&*from);
    let to = bank.account_mut(&made.to)?;
    to.balance = to
        .balance
        .plus(made.amount)
        .ok_or_else(|| Failure::conflict(format!("{} cannot hold so much", to.label())))?;
    let to = AccountView::from(&*to);
    bank.record(made.clone());
    Ok(Transferred { transfer: TransferView::from(made), accounts: [from, to] })
}

/// Fails for a locked account, with the handoff to an agent as the next call. Its parameters depend only on the account
/// and the amount, so that the same transfer always leads to the same handoff.
fn unless_locked(account: &Account, amount: Money) -> Result<()> {
    if !account.locked {
        return Ok(());
    }
    let label = account.label();
    let reason = format!("The customer wanted to transfer {amount} from the locked account {label}.");
    let handoff = Next::of("support", "request_handoff").param("reason", reason);
    let message = format!(
        "Your account {label} is locked, so {amount} could not be transferred. An agent has to unlock it."
    );
    Err(Failure::new(LOCKED, message)
        .hint("Tell the person. The call `next` asks for an agent; do not try another account unless the person wishes it.")
        .next(handoff.reason("an agent unlocks the account")))
}

fn too_little(account: &Account, amount: Money) -> Failure {
    Failure::conflict(format!(
        "{} has only {}, which is less than {amount}",
        account.label(),
        account.balance
    ))
    .hint("Nothing was transferred. Ask the person for a smaller amount or another account.")
    .next(Next::action("list_accounts"))
}

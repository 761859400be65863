//! Changes and reads of tickets.

use loggia_sdk::{
    prelude::*,
    state::{self, number_in_id},
};

use crate::ticket::{Channel, OPEN, PREFIX, QUEUE, TICKETS, Ticket, TicketState, Waiting, missing, now};

/// Opens a ticket, or returns the open one with the same reason: a handoff that is requested twice is one handoff.
///
/// # Errors
///
/// `unavailable` if too many tickets are open; the state's.
pub fn request_handoff(reason: &str, channel: Channel) -> Result<Reply<Ticket>> {
    let reason = reason.trim();
    if reason.is_empty() {
        return Err(Failure::invalid_params("`reason` is blank")
            .hint("Say in one sentence what the person needs the agent for."));
    }
    let (ticket, is_new) = state::transaction(|tx| {
        let (queue, tickets) = (QUEUE.of(tx), TICKETS.of(tx));
        let mut waiting = queue.get()?.unwrap_or_default();
        if let Some(same) = waiting.iter().find(|waiting| waiting.reason == reason) {
            let ticket = tickets.get(&same.id)?.ok_or_else(|| missing(&same.id))?;
            return Ok((ticket.placed(&waiting), false));
        }
        if waiting.len() >= OPEN {
            return Err(Failure::unavailable(format!("{OPEN} tickets are open, and no more are accepted"))
                .hint("Tell the person to try again later. An agent closes tickets with `close`."));
        }
        let ticket = tickets.create(PREFIX, |id| Ticket::new(id, reason, channel))?;
        waiting.push(Waiting { id: ticket.id.clone(), reason: reason.to_owned() });
        queue.set(&waiting)?;
        Ok((ticket.placed(&waiting), true))
    })?;
    let Ticket { id, position, channel, .. } = &ticket;
    let how = match channel {
        Channel::Chat => "An agent will answer in the chat",
        Channel::Call => "An agent will call",
    };
    let known = if is_new { "" } else { " It was requested before." };
    let message = format!("{how}: ticket {id}, place {} in the queue.{known}", position.unwrap_or_default());
    Ok(Reply::new(ticket).message(message))
}

/// Lists tickets: the open ones in the order of the queue, the closed ones from the newest.
///
/// # Errors
///
/// The state's.
pub fn list(closed: bool, limit: u32, cursor: Option<&str>) -> Result<Reply<Vec<Ticket>>> {
    let queue = QUEUE.get()?.unwrap_or_default();
    if closed {
        let page = TICKETS.newest(PREFIX, cursor, limit, |ticket| ticket.state == TicketState::Closed)?;
        let tickets: Vec<Ticket> = page.items.into_iter().map(|item| item.value).collect();
        let mut place = Page::of(tickets.len());
        place.cursor = page.cursor;
        return Ok(Reply::new(tickets).page(place));
    }
    let from = match cursor {
        // The ticket may have been closed since, so its number counts.
        Some(cursor) => {
            let last = number(cursor).ok_or_else(|| {
                Failure::invalid_params(format!("`cursor` is not one: \"{cursor}\""))
                    .hint("Pass the `cursor` of the last answer as it is, or none.")
            })?;
            queue.partition_point(|waiting| number(&waiting.id).is_some_and(|number| number <= last))
        }
        None => 0,
    };
    let to = queue.len().min(from + limit as usize);
    let ids: Vec<String> = queue[from..to].iter().map(|waiting| waiting.id.clone()).collect();
    let tickets = TICKETS.get_many(&ids)?.into_iter().flatten().map(|ticket| ticket.placed(&queue));
    let tickets: Vec<Ticket> = tickets.filter(|ticket| ticket.state == TicketState::Open).collect();
    let mut place = Page::of(tickets.len()).total(queue.len());
    place.cursor = ids.last().filter(|_| to < queue.len()).cloned();
    Ok(Reply::new(tickets).page(place))
}

/// Reads a ticket.
///
/// # Errors
///
/// `not_found`; the state's.
pub fn get(id: &str) -> Result<Ticket> {
    let ticket = TICKETS.get(id)?.ok_or_else(|| missing(id))?;
    Ok(ticket.placed(&QUEUE.get()?.unwrap_or_default()))
}

/// Closes a ticket.
///
/// # Errors
///
/// `not_found`, `conflict` if it is closed; the state's.
pub fn close(id: &str, resolution: &str) -> Result<Ticket> {
    state::transaction(|tx| {
        let (queue, tickets) = (QUEUE.of(tx), TICKETS.of(tx));
        let mut ticket = tickets.get(id)?.ok_or_else(|| missing(id))?;
        if ticket.state == TicketState::Closed {
            let resolution = ticket.resolution.as_deref().unwrap_or_default();
            return Err(Failure::conflict(format!("`{id}` is closed already: {resolution}"))
                .next(Next::action("get").param("id", id)));
        }
        ticket.state = TicketState::Closed;
        ticket.closed = Some(now());
        ticket.resolution = Some(resolution.to_owned());
        tickets.put(id, &ticket)?;
        let mut waiting = queue.get()?.unwrap_or_default();
        waiting.retain(|waiting| waiting.id != id);
        queue.set(&waiting)?;
        Ok(ticket)
    })
}

fn number(id: &str) -> Option<u64> {
    number_in_id(PREFIX, id)
}

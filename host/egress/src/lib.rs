//! Requests that a plugin may send: which, where to, how many, and with which secrets.
//!
//! A [`EgressClient`] holds the grants and connections of one plugin; a [`CallEgress`] counts the requests of one call. A request is
//! *admitted* at once by pure rules ([`policy`]), then its host is resolved once, every address is checked ([`AddressClass`]), and
//! only a checked address is connected to. Secrets are added last and redacted from responses.
//!
//! Nothing here depends on WebAssembly, and proxies of the environment are ignored: a proxy would resolve names itself.

#![warn(unreachable_pub)]

mod address;
mod attach;
mod body;
mod call;
mod call_state;
mod caller;
mod caller_networks;
mod client;
mod connect;
mod destination;
mod download;
mod error;
mod exchange;
mod grants;
mod headers;
mod host;
mod interfaces;
mod known;
mod limits;
mod operator;
pub mod policy;
mod pool;
mod redact;
mod redirect;
mod refusal;
mod resolve;
mod rule;
mod secret;
mod tape;
mod taped_exchange;
mod tls;

pub use address::AddressClass;
pub use body::{BodyIn, BodyOut};
pub use call::{CallEgress, SendTicket};
pub use caller::{CallerCredentials, CallerKey, MissingCredential};
pub use client::{EgressClient, EgressClientBuilder};
pub use destination::RequestTarget;
pub use error::{ExchangePhase, MessagePart, SendError, SendTimeouts, TlsFault};
pub use grants::EgressGrants;
pub use host::{HostError, UrlHost};
pub use limits::EgressLimits;
pub use operator::OperatorClient;
pub use policy::EgressMode;
pub use refusal::RequestRefusal;
pub use resolve::{AddressDialer, InterfaceAddresses, IoFuture, NameResolver};
pub use rule::{HostPattern, HttpRule, RuleDestination, UrlScheme};
pub use secret::{HeaderSecret, SecretSource};
pub use tape::{HttpTape, HttpTapes, TapeChoice, TapedRequest, TapedResponse};
pub use tls::read_authorities;

//! The URL of a database: whom to connect to, and how the connection is protected.

use std::{net::IpAddr, time::Duration};

use tokio_postgres::{
    Config,
    config::{Host, SslMode, TargetSessionAttrs},
};
use url::Url;

use crate::error::PostgresError;

/// Time for each address of the server.
const CONNECT_TIME: Duration = Duration::from_secs(5);
/// Time after which a silent connection is checked, and time within which the server must acknowledge what it was sent.
const SILENCE: Duration = Duration::from_secs(10);

/// How a connection is protected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TlsMode {
    /// Not at all: only for this machine by default.
    Disable,
    /// Encrypted, without a check of the server's certificate.
    Require,
    /// Encrypted, with a certificate of a trusted authority for the host's name.
    VerifyFull,
}

/// A parsed URL.
pub(crate) struct DatabaseUrl {
    pub config: Config,
    pub tls: TlsMode,
    /// Hosts and ports, for messages.
    pub server: String,
}

impl DatabaseUrl {
    /// Parses `postgres://user@host:port/database`. Messages contain no part of it, since it may hold a password.
    pub(crate) fn parse(text: &str) -> Result<Self, PostgresError> {
        let wrong = |reason: &str| PostgresError::Settings(format!("the URL of the database {reason}"));
        if !["postgres://", "postgresql://"].iter().any(|scheme| text.starts_with(scheme)) {
            return Err(wrong("must have the form postgres://user@host/database"));
        }
        let (plain, mode) = take_mode(text);
        let mut config: Config = plain.parse().map_err(|_| {
            wrong("must have the form postgres://user@host/database, with percent-encoded special characters")
        })?;
        if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
            return Err(wrong("names no host"));
        }
        let is_local = is_local(&config);
        let tls = match mode.as_deref() {
            None if is_local => TlsMode::Disable,
            None | Some("verify-full") => TlsMode::VerifyFull,
            Some("disable") => TlsMode::Disable,
            Some("require") => TlsMode::Require,
            Some(_) => return Err(wrong("has an `sslmode` other than disable, require and verify-full")),
        };
        config.ssl_mode(if tls == TlsMode::Disable { SslMode::Disable } else { SslMode::Require });
        config.target_session_attrs(TargetSessionAttrs::ReadWrite);
        config.application_name("loggia");
        config.connect_timeout(config.get_connect_timeout().copied().unwrap_or(CONNECT_TIME));
        config.keepalives_idle(SILENCE).keepalives_interval(SILENCE / 4).tcp_user_timeout(SILENCE);
        let server = server_name(&config);
        Ok(Self { config, tls, server })
    }
}

/// Removes `sslmode` from the query: the driver does not know all its values.
fn take_mode(text: &str) -> (String, Option<String>) {
    let Some((start, query)) = text.split_once('?') else { return (text.to_owned(), None) };
    let (mut mode, mut others) = (None, Vec::new());
    for pair in query.split('&') {
        match pair.strip_prefix("sslmode=") {
            Some(value) => mode = Some(value.to_owned()),
            None => others.push(pair),
        }
    }
    (format!("{start}?{}", others.join("&")), mode)
}

/// Whether all connections stay on this machine.
fn is_local(config: &Config) -> bool {
    let is_local_host = |host: &Host| match host {
        Host::Tcp(name) => {
            let address = name.parse::<IpAddr>();
            let name = name.trim_end_matches('.').to_ascii_lowercase();
            name == "localhost"
                || name.ends_with(".localhost")
                || address.is_ok_and(|address| address.is_loopback())
        }
        #[cfg(unix)]
        Host::Unix(_) => true,
    };
    config.get_hosts().iter().all(is_local_host) && config.get_hostaddrs().iter().all(IpAddr::is_loopback)
}

fn server_name(config: &Config) -> String {
    let port = |index: usize| {
        let ports = config.get_ports();
        ports.get(index).or(ports.first()).copied().unwrap_or(5432)
    };
    let hosts = config.get_hosts().iter().enumerate().map(|(index, host)| match host {
        Host::Tcp(name) => format!("{name}:{}", port(index)),
        #[cfg(unix)]
        Host::Unix(path) => format!("{}:{}", path.display(), port(index)),
    });
    let named: Vec<String> = hosts.collect();
    match named.is_empty() {
        false => named.join(","),
        true => config.get_hostaddrs().iter().map(IpAddr::to_string).collect::<Vec<_>>().join(","),
    }
}

/// Returns a URL without its password, for messages; `None` if it cannot be parsed.
pub fn without_password(url: &str) -> Option<String> {
    let mut url = Url::parse(url).ok()?;
    url.set_password(None).ok()?;
    url.set_query(None);
    Some(url.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_machines_are_verified_by_default() {
        for (url, expected) in [
            ("postgres://ada@localhost/db", Ok(TlsMode::Disable)),
            ("postgres://ada@127.0.0.1:5433/db", Ok(TlsMode::Disable)),
            ("postgres://ada@[::1]/db", Ok(TlsMode::Disable)),
            ("postgres://ada@%2Frun%2Fpostgresql/db", Ok(TlsMode::Disable)),
            ("postgresql://ada@db.example.com/db", Ok(TlsMode::VerifyFull)),
            ("postgres://ada@localhost,db.example.com/db", Ok(TlsMode::VerifyFull)),
            ("postgres://ada@localhost/db?hostaddr=192.0.2.1", Ok(TlsMode::VerifyFull)),
            ("postgres://ada@db.example.com/db?sslmode=disable", Ok(TlsMode::Disable)),
            ("postgres://ada@db.example.com/db?sslmode=require", Ok(TlsMode::Require)),
            ("postgres://ada@localhost/db?connect_timeout=3&sslmode=verify-full", Ok(TlsMode::VerifyFull)),
            ("postgres://ada@db.example.com/db?sslmode=prefer", Err("sslmode")),
            ("postgres:///db", Err("names no host")),
            ("http://db.example.com", Err("must have the form")),
            ("postgres://ada:pass word@host:x/db", Err("must have the form")),
        ] {
            match (DatabaseUrl::parse(url), expected) {
                (Ok(parsed), Ok(mode)) => assert_eq!(parsed.tls, mode, "{url}"),
                (Err(error), Err(part)) => assert!(error.to_string().contains(part), "{url}: {error}"),
                (parsed, expected) => panic!("{url}: {:?}, not {expected:?}", parsed.map(|it| it.tls)),
            }
        }
    }

    #[test]
    fn messages_name_the_server_and_no_password() {
        let parsed = DatabaseUrl::parse("postgres://ada:hunter2@a.example:1,b.example:2/db").unwrap();
        assert_eq!(parsed.server, "a.example:1,b.example:2");
        for wrong in ["postgres://ada:hunter2@/db", "postgres://ada:hunter2@h:x/", "postgres://h/?hunter2=1"]
        {
            let error = DatabaseUrl::parse(wrong).map(|_| ()).unwrap_err().to_string();
            assert!(!error.contains("hunter2"), "{error}");
        }
        let shown = without_password("postgres://ada:hunter2@h/db?password=hunter2").unwrap();
        assert_eq!(shown, "postgres://ada@h/db");
    }
}

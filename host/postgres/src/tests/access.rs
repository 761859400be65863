//! Opening databases: rights, versions, passwords, TLS.

use loggia_gate::journal::Journal;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};

use super::journal::SchemaPlace;
use crate::{
    DatabaseAccess, DatabaseOptions, DatabasePassword, JournalOptions, PostgresError, PostgresJournal,
    migrations::{MIGRATIONS, VERSION},
    testing::PrivateServer,
};

fn open(options: &DatabaseOptions) -> Result<PostgresJournal, PostgresError> {
    PostgresJournal::open(DatabaseAccess::new(options)?, JournalOptions::default())
}

fn error(options: &DatabaseOptions) -> PostgresError {
    let Err(error) = open(options) else { panic!("{options:?} was opened") };
    error
}

async fn execute(options: &DatabaseOptions, sql: &str) {
    let (client, connection) = tokio_postgres::connect(&options.url, tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(connection);
    client.batch_execute(sql).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn errors_say_what_is_wrong() {
    let SchemaPlace { server, options } = SchemaPlace::new();
    let schema = options.schema.clone();
    execute(&options, &format!("CREATE USER guest_{schema}; CREATE USER owner_{schema}")).await;
    let guest = DatabaseOptions { url: server.url(&format!("guest_{schema}")), ..options.clone() };
    let refused = error(&guest);
    assert!(matches!(&refused, PostgresError::Rights { .. }), "{refused}");
    assert!(
        refused.to_string().contains(&format!("may not create or use the schema `{schema}`")),
        "{refused}"
    );
    // The operator creates the schema for a user without further rights.
    execute(&options, &format!("CREATE SCHEMA {schema} AUTHORIZATION owner_{schema}")).await;
    let owner = DatabaseOptions { url: server.url(&format!("owner_{schema}")), ..options.clone() };
    drop(open(&owner).unwrap());
    let refused = error(&guest);
    assert!(
        matches!(&refused, PostgresError::Rights { .. }),
        "another user may not use its tables: {refused}"
    );

    execute(&options, &format!("UPDATE {schema}.format SET version = 99")).await;
    let newer = error(&owner);
    assert!(newer.to_string().contains("was made by a newer Loggia (version 99)"), "{newer}");

    let nobody = DatabaseOptions { url: "postgres://ada:hunter2@127.0.0.1:1/db".into(), ..options.clone() };
    let refused = error(&nobody);
    assert!(matches!(&refused, PostgresError::Unreachable { .. }), "{refused}");
    assert!(
        refused.to_string().contains("127.0.0.1:1") && !refused.to_string().contains("hunter2"),
        "{refused}"
    );
    let missing =
        DatabaseOptions { url: server.url("postgres").replace("/postgres", "/nowhere"), ..options.clone() };
    assert!(matches!(error(&missing), PostgresError::Login { .. }), "{}", error(&missing));
    for schema in ["", "Loggia", "a-b", "pg_x", "a\"b", "1a", &"a".repeat(64)] {
        let wrong = DatabaseOptions { schema: schema.to_owned(), ..options.clone() };
        assert!(matches!(error(&wrong), PostgresError::Settings(_)), "{schema}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn passwords_come_from_a_file_or_the_url() {
    let SchemaPlace { server, options } = SchemaPlace::new();
    // The user is shared by all tests of a server.
    execute(
        &options,
        "DO $$BEGIN CREATE USER locked PASSWORD 'hunter2'; EXCEPTION WHEN duplicate_object THEN NULL; END$$; \
         GRANT CREATE ON DATABASE postgres TO locked",
    )
    .await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("password");
    let by_file = DatabaseOptions {
        url: server.url("locked"),
        password: Some(DatabasePassword::File(file.clone())),
        ..options.clone()
    };
    let missing = error(&by_file).to_string();
    assert!(missing.contains("failed to read the password file"), "{missing}");
    std::fs::write(&file, "wrong-secret\n").unwrap();
    let wrong = error(&by_file);
    assert!(matches!(&wrong, PostgresError::Login { .. }), "{wrong}");
    assert!(!format!("{wrong} {wrong:?} {by_file:?}").contains("wrong-secret"), "{wrong}");
    std::fs::write(&file, "hunter2\n").unwrap();
    let journal = open(&by_file).unwrap();
    assert_eq!(journal.load("a".into()).await.unwrap(), None);
    for (url, password) in [
        (server.url("locked:hunter2"), None),
        (server.url("locked:old"), Some(DatabasePassword::Text("hunter2".into()))),
    ] {
        drop(open(&DatabaseOptions { url, password, ..options.clone() }).unwrap());
    }
    let wrong = DatabaseOptions { url: server.url("locked:wrong-secret"), password: None, ..options.clone() };
    assert!(matches!(error(&wrong), PostgresError::Login { .. }), "{}", error(&wrong));
    assert!(!error(&wrong).to_string().contains("wrong-secret"));
}

#[tokio::test(flavor = "multi_thread")]
async fn many_hosts_create_the_tables_once() {
    let place = SchemaPlace::new();
    let opened: Vec<_> = (0..8)
        .map(|_| {
            let options = place.options.clone();
            tokio::task::spawn_blocking(move || open(&options).unwrap())
        })
        .collect();
    let mut hosts = Vec::new();
    for opened in opened {
        hosts.push(opened.await.unwrap());
    }
    assert_eq!(place.count("SELECT count(*) FROM @format").await, 1);
    assert_eq!(place.count("SELECT count(*) FROM @hosts").await, 8);
}

#[tokio::test(flavor = "multi_thread")]
async fn older_tables_are_upgraded_with_their_rows() {
    let place = SchemaPlace::new();
    let schema = &place.options.schema;
    for made in 1..MIGRATIONS.len() {
        let old = MIGRATIONS[..made].concat().replace('@', &format!("{schema}."));
        execute(
            &place.options,
            &format!(
                "DROP SCHEMA IF EXISTS {schema} CASCADE; CREATE SCHEMA {schema}; {old}
                CREATE TABLE {schema}.format (version INTEGER NOT NULL, swept TIMESTAMPTZ NOT NULL DEFAULT now());
                INSERT INTO {schema}.format (version) VALUES ({made});
                INSERT INTO {schema}.runs (key, id, facade, action, began_ms, fence, entries, bytes)
                    VALUES (7, 'a', 'orders', 'place', 1, 1, 0, 4);
                INSERT INTO {schema}.heads VALUES (7, 'head')"
            ),
        )
        .await;
        let journal = open(&place.options).unwrap();
        assert_eq!(journal.load("a".into()).await.unwrap().unwrap().run.head, b"head");
        assert_eq!(place.count("SELECT version::bigint FROM @format").await, i64::from(VERSION));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn certificates_are_verified_unless_the_url_says_otherwise() {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let certificate =
        CertificateParams::new(vec!["localhost".to_owned()]).unwrap().signed_by(&key, &authority).unwrap();
    let hba = "local all all trust\nhostssl all all all trust\n";
    let server = PrivateServer::start(
        &[("ssl", "on")],
        &[
            ("server.crt", certificate.pem().as_bytes()),
            ("server.key", key.serialize_pem().as_bytes()),
            ("pg_hba.conf", hba.as_bytes()),
        ],
    );
    let with = |query: &str| DatabaseOptions {
        url: format!("postgres://postgres@localhost:{}/postgres{query}", server.port()),
        schema: "tls".into(),
        password: None,
    };
    drop(open(&with("?sslmode=require")).unwrap());
    let unencrypted = error(&with("")).to_string();
    assert!(unencrypted.contains("no encryption"), "{unencrypted}");
    let unverified = error(&with("?sslmode=verify-full")).to_string();
    assert!(unverified.contains("certificate"), "its authority is not trusted: {unverified}");
    // One whose authority the machine trusts.
    let trusting = |options: &DatabaseOptions| {
        let mut roots = rustls::RootCertStore::empty();
        roots.add(authority.der().clone()).unwrap();
        let access = DatabaseAccess::with_authorities(options, || Ok(roots))?;
        PostgresJournal::open(access, JournalOptions::default()).map(drop)
    };
    trusting(&with("?sslmode=verify-full")).unwrap();
    let by_number = with("?sslmode=verify-full").url.replace("localhost", "127.0.0.1");
    let misnamed = trusting(&DatabaseOptions { url: by_number, ..with("") }).unwrap_err().to_string();
    assert!(misnamed.contains("not valid for name"), "{misnamed}");
    let plain = PrivateServer::shared();
    let refused = format!("postgres://postgres@localhost:{}/postgres?sslmode=require", plain.port());
    let refused = error(&DatabaseOptions { url: refused, ..with("") }).to_string();
    assert!(refused.contains("does not support TLS"), "{refused}");
}

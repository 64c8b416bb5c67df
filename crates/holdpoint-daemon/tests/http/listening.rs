//! Where the daemon listens, and on which conditions.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use holdpoint_daemon::http::{Certificate, ListenAddress, bind};
use serde_json::json;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use crate::served::{Served, anywhere, read_reply};

fn refused(place: &ListenAddress, people: usize) -> String {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    match runtime.block_on(bind(place, people)) {
        Ok(bound) => panic!("it listens at {}", bound.address()),
        Err(problem) => {
            assert_eq!(problem.0.lines().count(), 1);
            problem.0
        }
    }
}

/// A certificate for this machine, and its files.
fn certificate(directory: &Path) -> (Certificate, CertificateDer<'static>) {
    let made =
        rcgen::generate_simple_self_signed(["localhost".into(), "127.0.0.1".into()]).unwrap();
    let files = Certificate {
        chain: directory.join("cert.pem"),
        key: directory.join("key.pem"),
    };
    std::fs::write(&files.chain, made.cert.pem()).unwrap();
    std::fs::write(&files.key, made.signing_key.serialize_pem()).unwrap();
    (files, made.cert.der().clone())
}

#[test]
fn others_are_served_only_encrypted_and_only_by_name() {
    let directory = tempfile::tempdir().unwrap();
    let (files, _) = certificate(directory.path());
    let outside: SocketAddr = "192.0.2.1:4717".parse().unwrap();
    let everywhere: SocketAddr = "0.0.0.0:0".parse().unwrap();
    let place = |address, certificate: Option<&Certificate>| ListenAddress {
        address: Some(address),
        names: Vec::new(),
        certificate: certificate.cloned(),
    };
    for address in [outside, everywhere, "[::]:0".parse().unwrap()] {
        assert!(refused(&place(address, None), 5).contains("certificate"));
        assert!(refused(&place(address, Some(&files)), 0).contains("holdpoint people add"));
    }
    assert!(refused(&place(everywhere, Some(&files)), 1).contains("names"));
    let odd = ListenAddress {
        names: vec!["https://gate".into()],
        ..anywhere()
    };
    assert!(refused(&odd, 1).contains("no name of a machine"));
}

#[test]
fn a_certificate_that_is_none_is_said_in_one_line() {
    let directory = tempfile::tempdir().unwrap();
    let (files, _) = certificate(directory.path());
    let with = |chain: &Path, key: &Path| {
        let certificate = Some(Certificate {
            chain: chain.to_owned(),
            key: key.to_owned(),
        });
        ListenAddress {
            certificate,
            ..anywhere()
        }
    };
    let missing = directory.path().join("missing.pem");
    assert!(refused(&with(&missing, &files.key), 0).contains("missing.pem"));
    assert!(refused(&with(&files.chain, &missing), 0).contains("missing.pem"));
    assert!(refused(&with(&files.key, &files.key), 0).contains("no certificate"));
    assert!(refused(&with(&files.chain, &files.chain), 0).contains("no key"));
    let (other, _) = certificate(
        tempfile::tempdir_in(directory.path())
            .unwrap()
            .keep()
            .as_path(),
    );
    assert!(refused(&with(&files.chain, &other.key), 0).contains("cannot be used"));
}

#[test]
fn the_page_is_reached_over_tls() {
    let directory = tempfile::tempdir().unwrap();
    let (files, trusted) = certificate(directory.path());
    let served = Served::at(ListenAddress {
        certificate: Some(files),
        ..anywhere()
    });
    // Somebody who never agrees on keys keeps nobody else out.
    let _silent = served.stranger().connect();
    let mut roots = RootCertStore::empty();
    roots.add(trusted).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let client = ClientConnection::new(Arc::new(config), "127.0.0.1".try_into().unwrap()).unwrap();
    let mut sender = served.stranger();
    sender.origin = Some(format!("https://{}", served.address));
    let mut stream = StreamOwned::new(client, sender.connect());
    let code = served
        .auth
        .new_code("dev", std::time::Instant::now())
        .unwrap();
    let body = json!({ "code": code }).to_string();
    let text = sender.written(
        "POST",
        "/api/sign-in",
        &[("Content-Type", "application/json")],
        Some(&body),
    );
    stream.write_all(text.as_bytes()).unwrap();
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
    let reply = read_reply(&bytes);
    assert_eq!(reply.status, 200, "{}", reply.text());
    assert!(reply.header("set-cookie").unwrap().contains("; Secure"));

    let mut plain = served.stranger().connect();
    plain.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    let mut bytes = Vec::new();
    let _ = plain.read_to_end(&mut bytes);
    assert!(!bytes.starts_with(b"HTTP"), "answered without encryption");
}

#[test]
fn who_never_agrees_on_keys_holds_no_more_places_than_there_are() {
    let directory = tempfile::tempdir().unwrap();
    let (files, _) = certificate(directory.path());
    let served = Served::at(ListenAddress {
        certificate: Some(files),
        ..anywhere()
    });
    // 64 more than are served at a time: so many of them must have lost theirs, long before a handshake is given up.
    let silent: Vec<TcpStream> = (0..320)
        .map(|_| TcpStream::connect(served.address).unwrap())
        .collect();
    let before = Instant::now();
    let mut closed = 0;
    while closed < 64 {
        assert!(before.elapsed().as_secs() < 8, "only {closed} are closed");
        std::thread::sleep(Duration::from_millis(20));
        let is_closed = |mut one: &TcpStream| {
            one.set_nonblocking(true).unwrap();
            match one.read(&mut [0]) {
                Ok(count) => count == 0,
                Err(error) => error.kind() != std::io::ErrorKind::WouldBlock,
            }
        };
        closed = silent.iter().filter(|one| is_closed(one)).count();
    }
    assert_eq!(closed, 64, "those who have a place keep it");
}

#[test]
fn localhost_is_ours_unless_somebody_else_has_its_other_address() {
    let served = Served::start();
    let port = served.address.port();
    let mut client = served.stranger();
    client.host = format!("localhost:{port}");
    assert_eq!(client.get("/").status, 200);
    let Ok(other) = TcpListener::bind("[::1]:0") else {
        // A machine without such addresses.
        return;
    };
    let port = other.local_addr().unwrap().port();
    let served = Served::at(ListenAddress {
        address: Some(SocketAddr::from(([127, 0, 0, 1], port))),
        ..ListenAddress::default()
    });
    let mut client = served.stranger();
    assert_eq!(client.get("/").status, 200);
    client.host = format!("localhost:{port}");
    assert_eq!(client.get("/").status, 421);
}

#[test]
fn an_address_that_is_taken_is_refused_and_the_usual_one_gives_way() {
    let held = TcpListener::bind("127.0.0.1:0").unwrap();
    let place = ListenAddress {
        address: Some(held.local_addr().unwrap()),
        ..ListenAddress::default()
    };
    assert!(refused(&place, 0).contains("choose another address"));
    // Taken by this or by another process, the usual port leads to another.
    let _usual = TcpListener::bind("127.0.0.1:4717");
    let served = Served::at(ListenAddress::default());
    assert_ne!(served.address.port(), 4717);
    assert_eq!(served.stranger().get("/").status, 200);
}

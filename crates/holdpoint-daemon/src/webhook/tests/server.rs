//! A small HTTP server for the tests: one thread, one connection after another.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex};
use std::thread;

use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{ServerConfig, ServerConnection, StreamOwned};

/// A request as it arrived.
#[derive(Clone, Debug)]
pub(crate) struct Arrived {
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Arrived {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

/// What is answered to the nth request; none hangs up.
pub(crate) type Answers = dyn Fn(usize, &Arrived) -> Option<String> + Send + Sync;

pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    arrived: Arc<Mutex<Vec<Arrived>>>,
}

impl Server {
    pub(crate) fn start(answers: Box<Answers>) -> Self {
        Self::serve(answers, None)
    }

    /// With a certificate for `localhost`, signed by the authority whose PEM text comes back.
    pub(crate) fn start_tls(answers: Box<Answers>) -> (Self, String) {
        let mut params = rcgen::CertificateParams::new(Vec::<String>::new()).unwrap();
        params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        let authority_key = rcgen::KeyPair::generate().unwrap();
        let authority = params.self_signed(&authority_key).unwrap();
        let issuer = rcgen::Issuer::new(params, authority_key);
        let key = rcgen::KeyPair::generate().unwrap();
        let params = rcgen::CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        let certificate = params.signed_by(&key, &issuer).unwrap();
        let chain = vec![CertificateDer::from(certificate.der().to_vec())];
        let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        let config = ServerConfig::builder()
            .with_no_client_auth()
            .with_single_cert(chain, key)
            .unwrap();
        (
            Self::serve(answers, Some(Arc::new(config))),
            authority.pem(),
        )
    }

    fn serve(answers: Box<Answers>, tls: Option<Arc<ServerConfig>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let arrived = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&arrived);
        thread::spawn(move || {
            for connection in listener.incoming() {
                let Ok(connection) = connection else { return };
                match &tls {
                    None => serve_one(connection, &answers, &seen),
                    Some(config) => {
                        let session = ServerConnection::new(Arc::clone(config)).unwrap();
                        serve_one(StreamOwned::new(session, connection), &answers, &seen);
                    }
                }
            }
        });
        Self { address, arrived }
    }

    pub(crate) fn arrived(&self) -> Vec<Arrived> {
        self.arrived.lock().unwrap().clone()
    }
}

fn serve_one(mut stream: impl Read + Write, answers: &Answers, seen: &Mutex<Vec<Arrived>>) {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    let request = loop {
        if let Some(request) = whole(&bytes) {
            break request;
        }
        match stream.read(&mut buffer) {
            Ok(0) | Err(_) => return,
            Ok(count) => bytes.extend(&buffer[..count]),
        }
    };
    let number = {
        let mut seen = seen.lock().unwrap();
        seen.push(request.clone());
        seen.len() - 1
    };
    if let Some(answer) = answers(number, &request) {
        let _ = stream.write_all(answer.as_bytes());
        let _ = stream.flush();
    }
}

fn whole(bytes: &[u8]) -> Option<Arrived> {
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n")?;
    let request = Arrived {
        head: String::from_utf8(bytes[..end].to_vec()).unwrap(),
        body: bytes[end + 4..].to_vec(),
    };
    let length: usize = request.header("content-length")?.parse().unwrap();
    (request.body.len() >= length).then_some(request)
}

/// A response with a body.
pub(crate) fn response(status: &str, headers: &str, body: &str) -> Option<String> {
    Some(format!(
        "HTTP/1.1 {status}\r\ncontent-length: {}\r\n{headers}connection: close\r\n\r\n{body}",
        body.len()
    ))
}

pub(crate) fn ok(body: &str) -> Option<String> {
    response("200 OK", "", body)
}

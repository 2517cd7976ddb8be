//! Secure connections that fail, and proxies in the way, each named as what it is. The certificates beside this
//! file are for these tests only; `authority.pem` signed the others.

use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;

use rein_http::{CancellationToken, Client, ClientOptions, HttpError, Method, ProxyMode, Request};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::server::answer_once;

fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/it/tls").join(name)
}

/// Answers one secure connection, as far as the client goes along.
fn serve(certificate: &str) -> (String, JoinHandle<()>) {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let key = PrivateKeyDer::from_pem_file(file(certificate)).unwrap();
    let chain: Vec<_> =
        CertificateDer::pem_file_iter(file(certificate)).unwrap().collect::<Result<_, _>>().unwrap();
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}/", listener.local_addr().unwrap());
    let task = std::thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        answer(stream, Arc::new(config));
    });
    (url, task)
}

fn answer(stream: TcpStream, config: Arc<ServerConfig>) {
    let mut stream = StreamOwned::new(ServerConnection::new(config).unwrap(), stream);
    // A client that does not trust the certificate hangs up here.
    let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi");
    let _ = stream.flush();
    let _ = std::io::copy(&mut stream, &mut std::io::sink());
}

/// The connection is closed by a task of the client, which must be able to run meanwhile.
async fn ended(server: JoinHandle<()>) {
    tokio::task::spawn_blocking(|| server.join().unwrap()).await.unwrap();
}

async fn fetch(url: &str, certificate_file: Option<PathBuf>) -> Result<u16, HttpError> {
    let options = ClientOptions { proxy: ProxyMode::Direct, certificate_file, ..ClientOptions::default() };
    let request = Request::new(Method::Get, url).unwrap();
    let sent = Client::new(options).unwrap().send(request, &CancellationToken::new()).await;
    sent.map(|response| response.status)
}

#[tokio::test]
async fn a_certificate_of_an_unknown_authority_is_named_and_can_be_trusted_by_a_file() {
    let (url, server) = serve("server.pem");
    let error = fetch(&url, None).await.unwrap_err();
    let HttpError::Tls { detail, .. } = &error else { panic!("{error:?}") };
    assert!(
        detail.starts_with("its certificate is signed by an authority that this system does not know"),
        "{detail}"
    );
    assert!(error.to_string().contains("SSL_CERT_FILE"), "{error}");
    ended(server).await;
    let (url, server) = serve("server.pem");
    assert_eq!(fetch(&url, Some(file("authority.pem"))).await, Ok(200));
    ended(server).await;
}

#[tokio::test]
async fn a_certificate_for_another_name_and_one_that_expired_are_told_apart() {
    for (certificate, words) in [
        ("elsewhere.pem", "its certificate is for another name"),
        ("expired.pem", "its certificate has expired, or this machine's clock is wrong"),
    ] {
        let (url, server) = serve(certificate);
        match fetch(&url, Some(file("authority.pem"))).await {
            Err(HttpError::Tls { detail, .. }) => assert!(detail.starts_with(words), "{detail}"),
            other => panic!("{certificate}: {other:?}"),
        }
        ended(server).await;
    }
}

#[tokio::test]
async fn https_where_only_http_is_spoken_is_told_to_be_that() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}/", listener.local_addr().unwrap());
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").unwrap();
        let _ = std::io::copy(&mut stream, &mut std::io::sink());
    });
    match fetch(&url, None).await {
        Err(HttpError::Tls { detail, .. }) => assert!(detail.contains("begins with http://"), "{detail}"),
        other => panic!("{other:?}"),
    }
    ended(server).await;
}

async fn through(proxy: &str, url: &str) -> HttpError {
    let proxy = ProxyMode::Url(proxy.to_owned());
    let client = Client::new(ClientOptions { proxy, ..ClientOptions::default() }).unwrap();
    let request = Request::new(Method::Get, url).unwrap();
    client.send(request, &CancellationToken::new()).await.unwrap_err()
}

#[tokio::test]
async fn a_proxy_that_wants_a_password_says_so_for_http_and_https() {
    for url in ["http://host.invalid/", "https://host.invalid/"] {
        let (proxy, server) =
            answer_once("HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n").await;
        match through(&proxy.replace("http://", "http://user:hunter2@"), url).await {
            HttpError::Proxy { host, proxy: named, detail } => {
                assert_eq!((host.as_str(), named), ("host.invalid", proxy.replace("http://", "")));
                assert!(detail.starts_with("it wants a user name and a password (407)"), "{detail}");
            }
            other => panic!("{url}: {other:?}"),
        }
        server.await.unwrap();
    }
}

#[tokio::test]
async fn a_proxy_that_refuses_or_cannot_be_found_is_named_without_its_password() {
    let (proxy, server) = answer_once("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n").await;
    let error = through(&proxy, "https://host.invalid/").await;
    assert!(matches!(error, HttpError::Proxy { .. }), "{error:?}");
    server.await.unwrap();
    let error = through("http://user:hunter2@proxy.invalid:3128", "https://host.invalid/").await;
    assert!(matches!(&error, HttpError::Proxy { proxy, .. } if proxy == "proxy.invalid:3128"), "{error:?}");
    assert!(!error.to_string().contains("hunter2"), "{error}");
}

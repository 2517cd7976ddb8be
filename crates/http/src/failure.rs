//! Turns the library's errors into [`HttpError`].
//!
//! The library nests its causes several layers deep and hides some of them
//! behind `io::Error`, so the whole chain is walked. No text of the library
//! that may hold the URL is passed on.

use std::error::Error;
use std::io;
use std::time::Duration;

use crate::error::HttpError;

/// Where a request was going, for the messages.
#[derive(Debug, Clone)]
pub(crate) struct Destination {
    /// Host and port.
    pub host: String,
    /// Host and port of the proxy that is in the way, if there is one.
    pub proxy: Option<String>,
    /// How long a connection may take.
    pub connect_timeout: Duration,
}

/// The failure of a request before its answer began.
pub(crate) fn of_request(error: reqwest::Error, destination: &Destination) -> HttpError {
    let host = destination.host.clone();
    let error = error.without_url();
    let chain = Chain::of(&error);
    if error.is_builder() {
        return HttpError::Setup { detail: chain.root() };
    }
    if chain.mentions("tunnel error") || chain.mentions("socks error") {
        let login = chain.mentions("proxy authorization required");
        return proxy_failure(destination, if login { PROXY_LOGIN.to_owned() } else { chain.root() });
    }
    if chain.tls {
        return HttpError::Tls { host, detail: chain.tls_words() };
    }
    if error.is_connect() {
        if destination.proxy.is_some() {
            return proxy_failure(destination, chain.root());
        }
        return of_connection(&error, &chain, destination);
    }
    if error.is_timeout() {
        return HttpError::ConnectTimeout { host, after: destination.connect_timeout };
    }
    of_exchange(&chain, host)
}

/// The failure of an answer that had begun.
pub(crate) fn of_body(error: reqwest::Error, host: &str) -> HttpError {
    of_exchange(&Chain::of(&error.without_url()), host.to_owned())
}

fn of_connection(error: &reqwest::Error, chain: &Chain, destination: &Destination) -> HttpError {
    let host = destination.host.clone();
    if error.is_timeout() || chain.kind == Some(io::ErrorKind::TimedOut) {
        return HttpError::ConnectTimeout { host, after: destination.connect_timeout };
    }
    if error.is_dns() || chain.mentions("dns error") {
        return HttpError::Dns { host };
    }
    if chain.kind == Some(io::ErrorKind::ConnectionRefused) {
        return HttpError::Refused { host };
    }
    HttpError::Unreachable { host, detail: chain.root() }
}

fn of_exchange(chain: &Chain, host: String) -> HttpError {
    let cut_kinds = [
        io::ErrorKind::UnexpectedEof,
        io::ErrorKind::ConnectionReset,
        io::ErrorKind::ConnectionAborted,
        io::ErrorKind::BrokenPipe,
    ];
    let cut_words =
        ["connection closed", "before message completed", "end of file", "reset", "goaway", "refused stream"];
    if chain.kind.is_some_and(|kind| cut_kinds.contains(&kind))
        || cut_words.iter().any(|words| chain.mentions(words))
    {
        return HttpError::Cut { host };
    }
    HttpError::Protocol { host, detail: chain.root() }
}

/// A proxy that wants to know who asks.
pub(crate) fn of_proxy_login(destination: &Destination) -> HttpError {
    proxy_failure(destination, PROXY_LOGIN.to_owned())
}

const PROXY_LOGIN: &str =
    "it wants a user name and a password (407); write them into its address: http://user:password@host:port";

fn proxy_failure(destination: &Destination, detail: String) -> HttpError {
    let proxy = destination.proxy.clone().unwrap_or_else(|| "of the system".to_owned());
    HttpError::Proxy { host: destination.host.clone(), proxy, detail }
}

/// What a chain of causes says.
struct Chain {
    texts: Vec<String>,
    kind: Option<io::ErrorKind>,
    tls: bool,
}

impl Chain {
    fn of(error: &(dyn Error + 'static)) -> Self {
        let mut chain = Self { texts: Vec::new(), kind: None, tls: false };
        let mut next = Some(error);
        while let Some(current) = next {
            chain.texts.push(current.to_string());
            chain.tls |= current.is::<rustls::Error>();
            next = match current.downcast_ref::<io::Error>() {
                Some(io_error) => {
                    if io_error.kind() != io::ErrorKind::Other {
                        chain.kind = Some(io_error.kind());
                    }
                    // `source` of an I/O error skips the error that it wraps.
                    io_error.get_ref().map(|inner| inner as &(dyn Error + 'static))
                }
                None => current.source(),
            };
        }
        chain
    }

    fn mentions(&self, words: &str) -> bool {
        self.texts.iter().any(|text| text.to_ascii_lowercase().contains(words))
    }

    /// What is wrong with a secure connection, in words that say whose matter it is.
    fn tls_words(&self) -> String {
        const WORDS: [(&str, &str); 8] = [
            ("unknownissuer", "its certificate is signed by an authority that this system does not know"),
            ("selfsigned", "its certificate is signed by nobody but itself"),
            ("causedasendentity", "its certificate is that of an authority, not of a server"),
            ("expired", "its certificate has expired, or this machine's clock is wrong"),
            ("notvalidyet", "its certificate is not valid yet, or this machine's clock is wrong"),
            ("notvalidforname", "its certificate is for another name"),
            ("revoked", "its certificate was revoked"),
            ("invalidcontenttype", "it does not speak TLS there; perhaps its address begins with http://"),
        ];
        let root = self.root();
        let plain: String =
            root.chars().filter(char::is_ascii_alphabetic).collect::<String>().to_ascii_lowercase();
        match WORDS.iter().find(|(mark, _)| plain.contains(mark)) {
            Some((_, words)) => format!("{words} ({root})"),
            None => root,
        }
    }

    fn root(&self) -> String {
        self.texts.last().cloned().unwrap_or_default()
    }
}

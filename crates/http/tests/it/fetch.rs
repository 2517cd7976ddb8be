//! Fetching what nobody vouches for, from servers that mean no good. Loopback is let through only where
//! a test says so.

use std::io::Write;
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use rein_http::{
    CancellationToken, ClientOptions, Ending, FetchError, FetchOptions, Fetched, Fetcher, Guard, HttpError,
    Page, ProxyMode, Refusal, Url,
};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use crate::server::{answer_once, listen, read_request};

fn direct() -> FetchOptions {
    let client = ClientOptions { proxy: ProxyMode::Direct, ..ClientOptions::default() };
    FetchOptions { client, ..FetchOptions::default() }
}

fn allowing(patterns: &[&str]) -> FetchOptions {
    FetchOptions { guard: Guard::allowing(patterns).unwrap(), ..direct() }
}

async fn fetch_with(options: FetchOptions, url: &str) -> Result<Fetched, FetchError> {
    let url = Url::parse(url).unwrap();
    Fetcher::new(options).unwrap().fetch(&url, &|_, _| true, &CancellationToken::new()).await
}

async fn fetch(url: &str) -> Result<Fetched, FetchError> {
    fetch_with(allowing(&["127.0.0.1"]), url).await
}

async fn page(options: FetchOptions, url: &str) -> Page {
    match fetch_with(options, url).await {
        Ok(Fetched::Page(page)) => page,
        other => panic!("{url}: {other:?}"),
    }
}

/// Answers every request to `/n` with a redirect made of `n`.
fn redirecting(listener: TcpListener, location: impl Fn(usize) -> String + Send + 'static) -> JoinHandle<()> {
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let request = read_request(&mut stream).await;
            let path = request.split(' ').nth(1).unwrap();
            let step = path.trim_start_matches('/').parse().unwrap_or(0);
            let answer = match location(step) {
                end if end.is_empty() => "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nend".to_owned(),
                to => format!("HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n"),
            };
            let _ = stream.write_all(answer.as_bytes()).await;
        }
    })
}

/// Answers one request and goes on writing as told until the client hangs up.
async fn endless(head: &'static str, piece: Vec<u8>) -> (String, JoinHandle<()>) {
    let (listener, url) = listen().await;
    let task = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        read_request(&mut stream).await;
        stream.write_all(head.as_bytes()).await.unwrap();
        while stream.write_all(&piece).await.is_ok() {}
    });
    (url, task)
}

#[tokio::test]
async fn a_page_comes_with_its_head_and_nothing_of_ours_is_sent() {
    let (url, server) =
        answer_once("HTTP/1.1 404 Gone\r\nContent-Type: text/plain\r\nContent-Length: 4\r\n\r\nnope").await;
    let page = page(allowing(&["127.0.0.1"]), &format!("{url}/a?b=c#d")).await;
    assert_eq!((page.status, page.headers.get("content-type")), (404, Some("text/plain")));
    assert_eq!((page.body.as_slice(), page.ending), (b"nope".as_slice(), Ending::Whole));
    assert_eq!(page.url.as_str(), format!("{url}/a?b=c#d"));
    let seen = server.await.unwrap().to_ascii_lowercase();
    assert!(seen.starts_with("get /a?b=c http/1.1\r\n"), "{seen}");
    for header in ["cookie:", "authorization:", "referer:"] {
        assert!(!seen.contains(header), "{seen}");
    }
}

#[tokio::test]
async fn loopback_is_refused_by_address_and_by_name() {
    let (listener, url) = listen().await;
    let port = listener.local_addr().unwrap().port();
    match fetch_with(direct(), &url).await {
        Err(FetchError::Refused(Refusal::Private { host, what })) => {
            assert_eq!((host.as_str(), what), ("127.0.0.1", "a loopback address"));
        }
        other => panic!("{other:?}"),
    }
    for name in ["localhost", "LOCALHOST"] {
        match fetch_with(direct(), &format!("http://{name}:{port}/")).await {
            Err(FetchError::Refused(Refusal::Private { host, what: "a loopback address" })) => {
                assert!(host.starts_with("localhost"), "{host}");
            }
            other => panic!("{name}: {other:?}"),
        }
    }
    let nobody = tokio::time::timeout(Duration::ZERO, listener.accept()).await;
    assert!(nobody.is_err(), "somebody connected");
}

#[tokio::test]
async fn a_name_that_is_allowed_is_reached_whatever_its_address() {
    let (url, server) = answer_once("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi").await;
    let page = page(allowing(&["localhost"]), &url.replace("127.0.0.1", "localhost")).await;
    assert_eq!(page.body, b"hi");
    server.await.unwrap();
}

#[tokio::test]
async fn a_redirect_into_a_private_network_is_refused() {
    for (target, what) in [
        ("http://169.254.169.254/latest/meta-data/", "a link-local address"),
        ("http://10.0.0.1/", "a private address"),
        ("http://[::1]/", "a loopback address"),
        ("http://2852039166/", "a link-local address"),
        ("//0x0a000001/", "a private address"),
    ] {
        let (listener, url) = listen().await;
        let server = redirecting(listener, move |_| target.to_owned());
        match fetch(&url).await {
            Err(FetchError::Refused(Refusal::Private { what: found, .. })) => {
                assert_eq!(found, what, "{target}")
            }
            other => panic!("{target}: {other:?}"),
        }
        server.abort();
    }
}

/// Only Linux has more than one loopback address without being told to.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_redirect_to_a_name_with_a_private_address_is_refused() {
    let listener = TcpListener::bind("127.0.0.2:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let server = redirecting(listener, |_| "http://localhost:1/".to_owned());
    match fetch_with(allowing(&["127.0.0.2"]), &url).await {
        Err(FetchError::Refused(Refusal::Private { host, what: "a loopback address" })) => {
            assert!(host.starts_with("localhost ("), "{host}");
        }
        other => panic!("{other:?}"),
    }
    server.abort();
}

#[tokio::test]
async fn a_redirect_to_what_is_no_web_page_is_refused() {
    for (target, refusal) in [
        ("file:///etc/passwd", Refusal::Scheme { scheme: "file".to_owned() }),
        ("http://me:secret@example.com/", Refusal::Credentials { host: "example.com".to_owned() }),
    ] {
        let (listener, url) = listen().await;
        let server = redirecting(listener, move |_| target.to_owned());
        assert_eq!(fetch(&url).await, Err(FetchError::Refused(refusal)), "{target}");
        server.abort();
    }
    let (listener, url) = listen().await;
    let server = redirecting(listener, |_| "http://[".to_owned());
    assert!(matches!(fetch(&url).await, Err(FetchError::BadRedirect { .. })));
    server.abort();
}

#[tokio::test]
async fn redirects_are_followed_up_to_the_limit() {
    let (listener, url) = listen().await;
    let server =
        redirecting(listener, |step| if step < 5 { format!("/{}", step + 1) } else { String::new() });
    let end = page(allowing(&["127.0.0.1"]), &format!("{url}/0")).await;
    assert_eq!((end.url.path(), end.body.as_slice()), ("/5", b"end".as_slice()));
    server.abort();

    let (listener, url) = listen().await;
    let host = listener.local_addr().unwrap().to_string();
    let server = redirecting(listener, |step| format!("/{}", step + 1));
    assert_eq!(
        fetch(&format!("{url}/0")).await,
        Err(FetchError::TooManyRedirects { host, limit: 5, url: format!("{url}/6") })
    );
    server.abort();
}

#[tokio::test]
async fn a_redirect_that_the_caller_does_not_want_is_told() {
    let (listener, url) = listen().await;
    let server = redirecting(listener, |_| "https://other.example/page".to_owned());
    let start = Url::parse(&url).unwrap();
    let same_host = |from: &Url, to: &Url| from.host_str() == to.host_str();
    let fetched = Fetcher::new(allowing(&["127.0.0.1"]))
        .unwrap()
        .fetch(&start, &same_host, &CancellationToken::new())
        .await;
    let to = Url::parse("https://other.example/page").unwrap();
    assert_eq!(fetched, Ok(Fetched::Elsewhere { from: start, to, status: 302 }));
    server.abort();
}

#[tokio::test]
async fn an_endless_body_is_cut_at_the_limit() {
    let (url, server) = endless("HTTP/1.1 200 OK\r\n\r\n", vec![b'x'; 4096]).await;
    let page = page(FetchOptions { max_bytes: 100_000, ..allowing(&["127.0.0.1"]) }, &url).await;
    assert_eq!((page.body.len(), page.ending), (100_000, Ending::TooLarge));
    server.await.unwrap();
}

#[tokio::test]
async fn a_bomb_is_counted_after_it_went_off() {
    let mut packed = GzEncoder::new(Vec::new(), Compression::best());
    for _ in 0..16 {
        packed.write_all(&vec![0; 1024 * 1024]).unwrap();
    }
    let packed = packed.finish().unwrap();
    assert!(packed.len() < 100_000);
    let (listener, url) = listen().await;
    let server = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        read_request(&mut stream).await;
        let head =
            format!("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {}\r\n\r\n", packed.len());
        stream.write_all(head.as_bytes()).await.unwrap();
        let _ = stream.write_all(&packed).await;
    });
    let page = page(allowing(&["127.0.0.1"]), &url).await;
    assert_eq!((page.body.len(), page.ending), (5 * 1024 * 1024, Ending::TooLarge));
    server.await.unwrap();
}

#[tokio::test]
async fn slowness_ends_with_what_there_is() {
    let short = || FetchOptions { timeout: Duration::from_millis(300), ..allowing(&["127.0.0.1"]) };
    let (listener, url) = listen().await;
    let host = listener.local_addr().unwrap().to_string();
    assert_eq!(
        fetch_with(short(), &url).await,
        Err(FetchError::TooSlow { host, after: Duration::from_millis(300) })
    );
    drop(listener);

    let (listener, url) = listen().await;
    let server = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        read_request(&mut stream).await;
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nfirst").await.unwrap();
        std::future::pending::<()>().await;
    });
    let page = page(short(), &url).await;
    assert_eq!((page.body.as_slice(), page.ending), (b"first".as_slice(), Ending::TooSlow));
    server.abort();
}

#[tokio::test]
async fn a_cut_connection_is_told_from_the_end() {
    let (url, server) = answer_once("HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nfirst").await;
    let host = url.trim_start_matches("http://").to_owned();
    let page = page(allowing(&["127.0.0.1"]), &url).await;
    assert_eq!(
        (page.body.as_slice(), page.ending),
        (b"first".as_slice(), Ending::Broken(HttpError::Cut { host }))
    );
    server.await.unwrap();

    let (listener, url) = listen().await;
    let host = listener.local_addr().unwrap().to_string();
    drop(listener);
    assert_eq!(fetch(&url).await, Err(FetchError::Http(HttpError::Refused { host })));
}

#[tokio::test]
async fn cancelling_ends_it() {
    let (url, server) = endless("HTTP/1.1 200 OK\r\n\r\n", vec![b'x'; 16]).await;
    let cancel = CancellationToken::new();
    let fetcher = Fetcher::new(FetchOptions { max_bytes: usize::MAX, ..allowing(&["127.0.0.1"]) }).unwrap();
    let url = Url::parse(&url).unwrap();
    let (fetched, ()) = tokio::join!(fetcher.fetch(&url, &|_, _| true, &cancel), async {
        tokio::task::yield_now().await;
        cancel.cancel();
    });
    assert_eq!(fetched, Err(FetchError::Http(HttpError::Cancelled)));
    server.abort();
}

#[tokio::test]
async fn through_a_proxy_names_and_addresses_are_still_judged() {
    let (proxy, server) = answer_once("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi").await;
    let proxy = proxy.replace("http://", "http://me:secret@");
    let options = |patterns: &[&str]| {
        let client = ClientOptions { proxy: ProxyMode::Url(proxy.clone()), ..ClientOptions::default() };
        FetchOptions { client, guard: Guard::allowing(patterns).unwrap(), ..FetchOptions::default() }
    };
    for url in
        ["http://10.0.0.1/", "http://gpu-box/", "http://metadata.google.internal/", "http://localhost:1/"]
    {
        let fetched = fetch_with(options(&[]), url).await;
        assert!(matches!(fetched, Err(FetchError::Refused(Refusal::Private { .. }))), "{url}: {fetched:?}");
    }
    let fetcher = Fetcher::new(options(&[])).unwrap();
    let url = Url::parse("http://public.example/a").unwrap();
    let fetched = fetcher.fetch(&url, &|_, _| true, &CancellationToken::new()).await;
    assert!(matches!(&fetched, Ok(Fetched::Page(page)) if page.body == b"hi"), "{fetched:?}");
    assert!(!format!("{fetcher:?}").contains("secret"), "{fetcher:?}");
    assert!(server.await.unwrap().starts_with("GET http://public.example/a HTTP/1.1\r\n"));
}

//! One connection: reads one request, writes one answer, closes.
//!
//! Only as much HTTP/1.1 as clients of model providers speak, with limits on
//! everything that is read.

use std::io;
use std::time::Duration;

use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufStream};
use tokio::net::TcpStream;

use super::{Pace, RecordedResponse, Script};

const MAX_HEAD: u64 = 64 * 1024;
const MAX_BODY: usize = 64 * 1024 * 1024;
const READ_TIMEOUT: Duration = Duration::from_secs(30);

/// A request as it came.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Received {
    pub method: String,
    pub path: String,
    pub body: Vec<u8>,
}

/// Serves one request.
pub(super) async fn serve(stream: TcpStream, script: &Script) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut stream = BufStream::new(stream);
    let request = tokio::time::timeout(READ_TIMEOUT, receive(&mut stream))
        .await
        .map_err(|_| io::Error::from(io::ErrorKind::TimedOut))??;
    let response = script.answer(&request);
    write(&mut stream, &response, script.pace).await
}

async fn receive<S: AsyncBufRead + AsyncWrite + Unpin>(stream: &mut S) -> io::Result<Received> {
    let head = read_head(stream).await?;
    let mut lines = head.lines();
    let mut words = lines.next().unwrap_or_default().split_whitespace();
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let header = |name: &str| {
        head.lines().skip(1).filter_map(|line| line.split_once(':')).find_map(|(key, value)| {
            key.trim().eq_ignore_ascii_case(name).then(|| value.trim().to_ascii_lowercase())
        })
    };
    if header("expect").is_some_and(|value| value.contains("100-continue")) {
        stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").await?;
        stream.flush().await?;
    }
    let body = if header("transfer-encoding").is_some_and(|value| value.contains("chunked")) {
        read_chunks(stream).await?
    } else {
        let length =
            header("content-length").map_or(Ok(0), |value| value.parse().map_err(|_| invalid("length")))?;
        read_exactly(stream, length).await?
    };
    let path = target.split('?').next().unwrap_or_default().to_owned();
    Ok(Received { method: method.to_owned(), path, body })
}

async fn read_head<S: AsyncBufRead + Unpin>(stream: &mut S) -> io::Result<String> {
    let mut head = Vec::new();
    let mut limited = stream.take(MAX_HEAD);
    loop {
        let before = head.len();
        if limited.read_until(b'\n', &mut head).await? == 0 {
            return Err(invalid("head"));
        }
        if matches!(head.get(before..), Some(b"\r\n" | b"\n")) {
            return Ok(String::from_utf8_lossy(&head).into_owned());
        }
    }
}

async fn read_chunks<S: AsyncBufRead + Unpin>(stream: &mut S) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let size = read_line(stream).await?;
        let digits = size.split(';').next().unwrap_or_default().trim();
        let length = usize::from_str_radix(digits, 16).map_err(|_| invalid("chunk size"))?;
        if length == 0 {
            while !read_line(stream).await?.trim().is_empty() {}
            return Ok(body);
        }
        if body.len().saturating_add(length) > MAX_BODY {
            return Err(invalid("body size"));
        }
        body.extend(read_exactly(stream, length).await?);
        read_line(stream).await?;
    }
}

async fn read_line<S: AsyncBufRead + Unpin>(stream: &mut S) -> io::Result<String> {
    let mut line = Vec::new();
    stream.take(MAX_HEAD).read_until(b'\n', &mut line).await?;
    if line.last() == Some(&b'\n') {
        Ok(String::from_utf8_lossy(&line).into_owned())
    } else {
        Err(invalid("line"))
    }
}

async fn read_exactly<S: AsyncBufRead + Unpin>(stream: &mut S, length: usize) -> io::Result<Vec<u8>> {
    if length > MAX_BODY {
        return Err(invalid("body size"));
    }
    let mut body = Vec::new();
    stream.take(length as u64).read_to_end(&mut body).await?;
    if body.len() == length { Ok(body) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

async fn write<S: AsyncWrite + Unpin>(
    stream: &mut S,
    response: &RecordedResponse,
    pace: Pace,
) -> io::Result<()> {
    let mut head = format!("HTTP/1.1 {} Replayed\r\n", response.status);
    for (name, value) in &response.headers {
        let framing = ["content-length", "transfer-encoding", "connection"];
        if !framing.iter().any(|own| name.eq_ignore_ascii_case(own)) && !value.contains(['\r', '\n']) {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
    }
    head.push_str("transfer-encoding: chunked\r\nconnection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).await?;
    stream.flush().await?;
    for chunk in response.chunks.iter().filter(|chunk| !chunk.text.is_empty()) {
        if pace == Pace::Recorded && chunk.delay_ms > 0 {
            tokio::time::sleep(Duration::from_millis(chunk.delay_ms)).await;
        }
        stream.write_all(format!("{:x}\r\n{}\r\n", chunk.text.len(), chunk.text).as_bytes()).await?;
        stream.flush().await?;
    }
    stream.write_all(b"0\r\n\r\n").await?;
    stream.flush().await?;
    stream.shutdown().await
}

fn invalid(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("bad {what} in a request"))
}

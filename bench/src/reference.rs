//! What the model server takes by itself: the requests that a run made, sent
//! again by a client that does nothing with the answers.
//!
//! A run cannot be quicker than this, and what is beyond it is the binary's.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Instant;

use rein_testkit::{ModelServer, RecordedRequest, Script};

use crate::error::BenchError;
use crate::statistics::Spread;

const TIMES: usize = 3;

/// The median of milliseconds for all of these requests.
pub fn server_alone(script: impl Fn() -> Script, requests: &[RecordedRequest]) -> Result<f64, BenchError> {
    let mut times = Vec::with_capacity(TIMES);
    for _ in 0..TIMES {
        let failed = BenchError::io("send a recorded request to", "the model server");
        times.push(replay(script(), requests).map_err(failed)?);
    }
    Ok(Spread::of(times).median)
}

fn replay(script: Script, requests: &[RecordedRequest]) -> io::Result<f64> {
    let server = ModelServer::start_on(script, 0)?;
    let began = Instant::now();
    for request in requests {
        exchange(server.address(), &closing(&request.raw))?;
    }
    Ok(began.elapsed().as_secs_f64() * 1e3)
}

fn exchange(address: SocketAddr, request: &[u8]) -> io::Result<()> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_nodelay(true)?;
    stream.write_all(request)?;
    let mut buffer = vec![0; 64 << 10];
    while stream.read(&mut buffer)? > 0 {}
    Ok(())
}

/// The request, with the wish that the server closes the connection after its answer.
fn closing(request: &[u8]) -> Vec<u8> {
    const WISH: &[u8] = b"connection: close\r\n";
    let line = request.iter().position(|byte| *byte == b'\n').map_or(request.len(), |end| end + 1);
    let (first, rest) = request.split_at(line);
    [first, WISH, rest].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wish_to_close_comes_before_every_other_header() {
        let request = b"POST /v1 HTTP/1.1\r\nhost: a\r\n\r\nbody\n";
        let expected = b"POST /v1 HTTP/1.1\r\nconnection: close\r\nhost: a\r\n\r\nbody\n";
        assert_eq!(closing(request), expected);
    }
}

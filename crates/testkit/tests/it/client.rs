//! An HTTP client of so few lines that every byte of an answer is seen.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use rein_testkit::ModelServer;
use serde_json::{Value, json};

pub struct Client {
    stream: TcpStream,
}

#[derive(Debug)]
pub struct Head {
    pub status: u16,
    pub headers: Vec<(String, String)>,
}

impl Head {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// A request as a client would send it.
pub fn chat(prompt: &str) -> Value {
    json!({"model": "m", "stream": true, "messages": [{"role": "user", "content": prompt}]})
}

/// The same, asking for usage.
pub fn chat_with_usage(prompt: &str) -> Value {
    let mut body = chat(prompt);
    body["stream_options"] = json!({"include_usage": true});
    body
}

/// The objects in the data lines of a stream, without `[DONE]`.
pub fn events(body: &str) -> Vec<Value> {
    let data = body.lines().filter_map(|line| line.strip_prefix("data: ")).filter(|data| *data != "[DONE]");
    data.map(|data| serde_json::from_str(data).unwrap()).collect()
}

/// All content deltas of a stream.
pub fn content(body: &str) -> String {
    events(body).iter().filter_map(|event| event["choices"][0]["delta"]["content"].as_str()).collect()
}

impl Client {
    pub fn connect(server: &ModelServer) -> Self {
        Self::connect_to(&server.address().to_string())
    }

    pub fn connect_to(address: &str) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        Self { stream }
    }

    /// A new connection with one request on it.
    pub fn asking(server: &ModelServer, body: &Value) -> Self {
        let mut client = Self::connect(server);
        client.post(body);
        client
    }

    /// Asks on a connection of its own and returns the whole body.
    pub fn ask(server: &ModelServer, body: &Value) -> (Head, String) {
        let mut client = Self::asking(server, body);
        let head = client.head();
        let body = client.body(&head);
        (head, String::from_utf8(body).unwrap())
    }

    pub fn post(&mut self, body: &Value) {
        self.post_with(body, "");
    }

    pub fn post_with(&mut self, body: &Value, headers: &str) {
        let body = body.to_string();
        let length = body.len();
        self.send(&format!(
            "POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\n{headers}content-length: {length}\r\n\r\n{body}"
        ));
    }

    pub fn get(&mut self, path: &str) {
        self.send(&format!("GET {path} HTTP/1.1\r\nhost: x\r\n\r\n"));
    }

    pub fn send(&mut self, text: &str) {
        self.stream.write_all(text.as_bytes()).unwrap();
    }

    pub fn head(&mut self) -> Head {
        let start = self.line();
        let status = start.split(' ').nth(1).unwrap().parse().unwrap();
        let mut headers = Vec::new();
        loop {
            let line = self.line();
            let Some((name, value)) = line.split_once(": ") else { break };
            headers.push((name.to_owned(), value.to_owned()));
        }
        Head { status, headers }
    }

    /// The whole body, however its end is found.
    pub fn body(&mut self, head: &Head) -> Vec<u8> {
        if head.header("transfer-encoding").is_some() {
            return std::iter::from_fn(|| self.chunk()).flatten().collect();
        }
        match head.header("content-length") {
            Some(length) => self.exactly(length.parse().unwrap()),
            None => self.rest().unwrap(),
        }
    }

    /// The next chunk; none for the one that ends the body.
    pub fn chunk(&mut self) -> Option<Vec<u8>> {
        let size = usize::from_str_radix(&self.line(), 16).unwrap();
        let chunk = self.exactly(size);
        assert_eq!(self.exactly(2), b"\r\n");
        (size > 0).then_some(chunk)
    }

    pub fn exactly(&mut self, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        self.stream.read_exact(&mut bytes).unwrap();
        bytes
    }

    /// Everything up to the end of the connection.
    pub fn rest(&mut self) -> Result<Vec<u8>, ErrorKind> {
        let mut bytes = Vec::new();
        self.stream.read_to_end(&mut bytes).map_err(|error| error.kind())?;
        Ok(bytes)
    }

    /// Whether nothing has come that was not read.
    pub fn is_quiet(&mut self) -> bool {
        self.stream.set_nonblocking(true).unwrap();
        let quiet = matches!(self.stream.peek(&mut [0]), Err(error) if error.kind() == ErrorKind::WouldBlock);
        self.stream.set_nonblocking(false).unwrap();
        quiet
    }

    fn line(&mut self) -> String {
        let mut line = Vec::new();
        while !line.ends_with(b"\r\n") {
            line.extend(self.exactly(1));
        }
        String::from_utf8(line).unwrap().trim_end().to_owned()
    }
}

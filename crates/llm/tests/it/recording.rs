//! Recordings of every wire: what is played back is told as it was the first
//! time, and the first request that is another is named.

use std::path::PathBuf;
use std::sync::Arc;

use rein_http::{CancellationToken, Client, ClientOptions, Divergence, Player, Recorder};
use rein_llm::{Catalog, ModelError, ModelRequest, Models, ProviderConfig, Wire};
use rein_protocol::{Content, Message};
use secrecy::SecretString;
use serde_json::json;
use tokio::io::AsyncWriteExt;

use crate::matrix::{Told, model};
use crate::server::{listen, read_request};
use crate::speech::{self, End, Say};

const KEY: &str = "canary-of-the-recording";

fn models(wire: Wire, url: &str, client: Client) -> Models {
    let provider = ProviderConfig {
        name: "test".to_owned(),
        wire: Some(wire),
        base_url: Some(url.to_owned()),
        key: Some(SecretString::from(KEY)),
        ..ProviderConfig::default()
    };
    Models::new(client, Catalog::empty().with_provider(provider).unwrap(), |_| None)
}

fn client() -> Client {
    Client::new(ClientOptions::default()).unwrap()
}

async fn ask(models: &Models, words: &str) -> Result<Told, ModelError> {
    let messages = vec![Message::User { content: vec![Content::text(words)] }];
    let request = ModelRequest { messages, ..ModelRequest::default() };
    Ok(Told::of(models.stream(&model(), &request, CancellationToken::new()).await?).await)
}

fn file(wire: Wire) -> PathBuf {
    let name = format!("rein-wire-{}-{}.jsonl", std::process::id(), wire.name());
    std::env::temp_dir().join(name)
}

#[tokio::test]
async fn a_recording_of_any_wire_is_told_as_it_was() {
    for wire in Wire::ALL {
        let call = Say::Call { id: "c", tool: "read", arguments: "{\"path\":\"\u{e9}\"}" };
        let answers = [
            speech::answer(wire, &[Say::Thought("Hm."), Say::Text("Caf\u{e9}"), call, Say::End(End::Calls)]),
            speech::answer(wire, &[Say::Text("half of "), Say::Error("overloaded")]),
        ];
        let (listener, url) = listen().await;
        let serving = async move {
            for body in answers {
                let (mut stream, _) = listener.accept().await.unwrap();
                assert!(read_request(&mut stream).await.contains(KEY));
                let head =
                    format!("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {}\r\n\r\n", body.len());
                let _ = stream.write_all(&[head.as_bytes(), &body].concat()).await;
                let _ = stream.shutdown().await;
            }
        };
        let recorder = Recorder::create(&file(wire), &json!({}), []).unwrap();
        let live = models(wire, &url, client().recorded(recorder.clone()));
        let asking = async { (ask(&live, "one").await.unwrap(), ask(&live, "two").await.unwrap()) };
        let ((first, second), ()) = tokio::join!(asking, serving);
        assert_eq!(first.error, None, "{wire:?}");
        assert!(second.error.is_some(), "{wire:?}");
        recorder.finish().await.unwrap();

        let bytes = std::fs::read(file(wire)).unwrap();
        std::fs::remove_file(file(wire)).unwrap();
        assert!(!String::from_utf8_lossy(&bytes).contains("canary"), "{wire:?}");
        let player = Arc::new(Player::read(&bytes).unwrap());
        let played = models(wire, &url, client().played(Arc::clone(&player)));
        for (words, live) in [("one", &first), ("two", &second)] {
            let told = ask(&played, words).await.unwrap();
            assert_eq!((&told.events, &told.error), (&live.events, &live.error), "{wire:?}");
        }
        assert_eq!((player.finish(), player.served()), (None, 2), "{wire:?}");

        let player = Arc::new(Player::read(&bytes).unwrap());
        let played = models(wire, &url, client().played(Arc::clone(&player)));
        ask(&played, "one").await.unwrap();
        let error = ask(&played, "three").await.err().unwrap();
        assert!(!error.retryable(), "{wire:?} {error:?}");
        match player.finish() {
            Some(Divergence::Differs { request: 2, difference }) => {
                assert!(difference.place.starts_with("body."), "{wire:?} {difference:?}");
                assert_eq!(
                    (difference.expected.as_str(), difference.got.as_str()),
                    ("two", "three"),
                    "{wire:?}"
                );
            }
            other => panic!("{wire:?}: {other:?}"),
        }
    }
}

//! Servers on this machine, real and pretended.

use std::time::Duration;

use rein_http::{Client, ClientOptions};
use rein_llm::LocalServer;
use rein_llm::discovery::local;

use crate::server::{answer, answer_always, listen};

#[tokio::test]
async fn only_servers_with_a_list_of_models_are_found_in_order() {
    let (models, first) =
        answer_always(answer("200 OK", "", r#"{"object":"list","data":[{"id":"a"},{"id":"b"}]}"#)).await;
    let (page, second) = answer_always(answer("200 OK", "", "<html>my app</html>")).await;
    let (missing, third) = answer_always(answer("404 Not Found", "", "{}")).await;
    let (garbage, fourth) = answer_always("SSH-2.0-OpenSSH_9.9\r\n".to_owned()).await;
    let (empty, fifth) = answer_always(answer("200 OK", "", r#"{"object":"list","data":[]}"#)).await;
    let (silent_listener, silent) = listen().await;
    let (closed_listener, closed) = listen().await;
    drop(closed_listener);
    let candidates: Vec<(String, String)> = [&silent, &empty, &page, &missing, &garbage, &closed, &models]
        .iter()
        .enumerate()
        .map(|(place, url)| (format!("p{place}"), (*url).clone()))
        .collect();
    let http = Client::new(ClientOptions::default()).unwrap();
    let found = local(&http, &candidates, Duration::from_secs(2)).await;
    let server = |place: usize, url: &str, models: &[&str]| LocalServer {
        provider: format!("p{place}"),
        base_url: url.to_owned(),
        models: models.iter().map(|id| (*id).to_owned()).collect(),
    };
    assert_eq!(found, [server(1, &empty, &[]), server(6, &models, &["a", "b"])]);
    drop(silent_listener);
    for task in [first, second, third, fourth, fifth] {
        task.abort();
    }
}

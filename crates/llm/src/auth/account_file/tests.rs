//! Accounts of services and of persons, against a server that checks what it is sent.

use std::collections::BTreeMap;

use ring::signature::{KeyPair, RSA_PKCS1_2048_8192_SHA256, UnparsedPublicKey};
use serde_json::Value;

use super::*;

/// Made for this test, and good for nothing else.
const KEY: &str = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC25pHvUyxRAGkb\nQsEYj7DwDkB8th+kuQLQ7ML0Epp4qatRUhNgkOND23uxZslc4lUILvd65TS4F9mk\npgYJAbOwsKjl88EhxFyXCkhP8j5Og+dknDq0ExrpsP0NFnyQyMsFRtvXJtWp6Bbo\nGxjLOX7yc4nMtRhR4cwNAIODUfq64LUA1Qysh5Yh8xFD37GRdKJY4FnmNSdu7jHk\n8WuoTUfxHAnTVBUL4CARoTOxTy7/IdTkr9dN9RrTHAz8Kme5mHcBvQWcxSjpkIM/\n/lJVVbYl315U5aNMPxSFd/da7i2vWlixPUxHK3pDj2Rsz7Vg/y6ivo9i+FUrsNYI\noM88cHibAgMBAAECggEAHHWNEJ2zABmdwTGmZSF6qSe2jhEypElrcEHe5eZ9JbhU\n4W7xd+2jhzwAJ670NyE6lO7l8Df494oygeWZe85JfP1IEpvWmd/5fkEJ1nK9ki8B\nEs0ib0GnxuQUw/QTRt4PhQ8tBvHSfkEQS2Zn+btFDwm+T91/3sHRI9bIH+diKbCo\nqzYfIyOo3s2Al0q3QA2kty8Fh//wJmJdx4/Un6hSz8VJ9WhYRG4P/egpZGQ16dws\nzw6mu1N3/gVSq2ALG1xeTXkBXkWO9jSNeddzpO5BuEiMyk2EgkUXI6ntbcupkf+r\nRQHF1pG8Ke09/gAbVNoTSa+uxqcoRvembU8Y2qmXtQKBgQDs+LTTyFu7SZJwyPc+\nlBqxJh5QC1tmC2nLNSEwrVjdqFMLNFY/HDojGhLdORhBzCo8rr5Qvtk1T/jFf4rh\n4hWKc4c0w9BMJcghMQ/Jq4O6KVWmWZLsS+kHJWR5ZYidRmjyeEB3C/pv8qDiUqLp\naxI6VZN2BbStkAXwC70WXSE0fwKBgQDFllvi2kkNARy5Axct+LJ6WMjsmGz5ptVr\nuNKy0MGEZyIyVKzu25G+W6FIr6EltPRW3wijqvttxy/28pUXrKv3HaXY5iNWP/kK\n/+iifGjE1OEN547xzPhw5P0VjqSapf2Hy4hD+EMPK3QW85MmlntXfnx84ack9nVt\n2k7TOaX95QKBgQDDsWtbTaV7V/mIDF4pnpMgYfM8dPSIo7o9JuX+1diCTCQwJ4tl\n2MCmBj031ZOTmq/ypvfhpImpfh5ZsscVXOgfCuLID0Dv8W+BAYwhJfPFg6cIlgY/\n/zw0O4vquI+GGgRG4EmURh8N3ddAr697hYFrDQqWt4WKo1pT7s27LzNhrwKBgEJe\ntVLIPA2QOBO1hA2/IkSSmjtPIBvj/ICIvs2t7bMJ6aS6aLR7MMOeh9igliLSW9jq\nZj6D6pz/cY8kAQzIxaLmZJUtCOWp63/UYlJiM9caItbG129FiJZzdMfO+F+yLi11\nIrqiI/RuhjpHa0Bk/91t8WcJbVmvJ9bUo/GzxZw5AoGAHr8/tZWlfAG4Hqwm/9KW\nQExbyRRwFtlbfDwoYGhPHO9ObKI8GG2aohAtIx3Snim/8a54DWObtUvTcw+vK87S\n/VzT6o9B0ybXQ/tYLHTWIDfB4sxMqyQn3vlxy42qq7Rgfv706UGy6SM5Pab5jhN3\nwU9i1HUec+5zGL6IqHvIVk4=\n-----END PRIVATE KEY-----\n";

fn account() -> Account {
    serde_json::from_value(json!({
        "type": "service_account", "client_email": "me@example.com", "private_key": KEY, "private_key_id": "k1",
        "token_uri": "https://login.example.com/token", "project_id": "p",
    }))
    .unwrap()
}

#[test]
fn a_service_claims_to_be_itself_and_signs_it() {
    let signed = assertion(&account(), "all of it", Timestamp(1_700_000_000_999)).unwrap();
    let parts: Vec<&str> = signed.expose_secret().split('.').collect();
    let decoded = |part: &str| BASE64_URL_SAFE_NO_PAD.decode(part).unwrap();
    let value = |part: &str| serde_json::from_slice::<Value>(&decoded(part)).unwrap();
    assert_eq!(value(parts[0]), json!({"alg": "RS256", "typ": "JWT", "kid": "k1"}));
    assert_eq!(
        value(parts[1]),
        json!({
            "iss": "me@example.com", "scope": "all of it", "aud": "https://login.example.com/token",
            "iat": 1_700_000_000, "exp": 1_700_003_600,
        })
    );
    let pair = key_pair(KEY).unwrap();
    let public = UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, pair.public_key().as_ref());
    let message = format!("{}.{}", parts[0], parts[1]);
    public.verify(message.as_bytes(), &decoded(parts[2])).unwrap();
}

#[test]
fn what_is_missing_is_named_and_no_key_is_shown() {
    let without = |field: &str| {
        let mut fields: BTreeMap<String, Value> = BTreeMap::from([
            ("type".to_owned(), json!("service_account")),
            ("client_email".to_owned(), json!("me@example.com")),
            ("private_key".to_owned(), json!(KEY)),
        ]);
        fields.remove(field);
        let account: Account = serde_json::from_value(json!(fields)).unwrap();
        assertion(&account, "s", Timestamp(0)).map(|_| ())
    };
    assert_eq!(without("client_email"), Err("it does not say whose account it is (client_email)"));
    assert_eq!(without("private_key"), Err("it holds no private_key"));
    let garbled = Account { private_key: Some("hunter2".into()), ..account() };
    assert_eq!(
        assertion(&garbled, "s", Timestamp(0)).map(|_| ()),
        Err("its private_key is no RSA key that can be read")
    );
}

#[test]
fn a_file_that_describes_no_account_is_told() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("account.json");
    assert!(matches!(read(&file), Err(AuthError::File { .. })));
    std::fs::write(&file, "hunter2").unwrap();
    let told = read(&file).map(|_| ()).unwrap_err().to_string();
    assert!(
        told.contains("it is not the JSON that describes an account") && !told.contains("hunter2"),
        "{told}"
    );
    assert!(matches!(read(directory.path()), Err(AuthError::Unfit { .. })));
}

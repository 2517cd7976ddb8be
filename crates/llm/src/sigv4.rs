//! Signs requests as Amazon wants them signed (Signature Version 4).
//!
//! Pure: the moment and the keys are handed in, headers come out. The secret
//! key goes into a hash and nowhere else.

use jiff::tz::TimeZone;
use rein_protocol::Timestamp;
use ring::{digest, hmac};

const ALGORITHM: &str = "AWS4-HMAC-SHA256";

/// Who signs, for what, and when.
pub(crate) struct Signer<'a> {
    pub access_key: &'a str,
    pub secret_key: &'a str,
    pub session_token: Option<&'a str>,
    pub region: &'a str,
    pub service: &'a str,
    pub moment: Timestamp,
}

/// What is signed. Paths and queries are as they go over the wire.
pub(crate) struct Unsigned<'a> {
    pub method: &'a str,
    pub host: &'a str,
    pub path: &'a str,
    pub query: &'a str,
    pub headers: &'a [(String, String)],
    pub body: &'a [u8],
}

impl Signer<'_> {
    /// The headers that make a request a signed one.
    pub(crate) fn sign(&self, request: &Unsigned) -> Vec<(String, String)> {
        let moment = moment_text(self.moment);
        let day = moment.split('T').next().unwrap_or_default();
        let scope = format!("{day}/{}/{}/aws4_request", self.region, self.service);
        let mut added = vec![("x-amz-date".to_owned(), moment.clone())];
        if let Some(token) = self.session_token {
            added.push(("x-amz-security-token".to_owned(), token.to_owned()));
        }
        let (canonical, names) = canonical(request, &added);
        let to_sign = format!("{ALGORITHM}\n{moment}\n{scope}\n{}", hash(canonical.as_bytes()));
        let key = self.derived_key(day);
        let signature = hex(hmac::sign(&key, to_sign.as_bytes()).as_ref());
        let credential = format!("{}/{scope}", self.access_key);
        let value =
            format!("{ALGORITHM} Credential={credential}, SignedHeaders={names}, Signature={signature}");
        added.push(("authorization".to_owned(), value));
        added
    }

    fn derived_key(&self, day: &str) -> hmac::Key {
        let first = hmac::Key::new(hmac::HMAC_SHA256, format!("AWS4{}", self.secret_key).as_bytes());
        [day, self.region, self.service, "aws4_request"].iter().fold(first, |key, text| {
            hmac::Key::new(hmac::HMAC_SHA256, hmac::sign(&key, text.as_bytes()).as_ref())
        })
    }
}

/// The request in its canonical form, and the names of the headers in it.
fn canonical(request: &Unsigned, added: &[(String, String)]) -> (String, String) {
    let mut headers: Vec<(String, String)> = request
        .headers
        .iter()
        .chain(added)
        .map(|(name, value)| (name.to_ascii_lowercase(), single_spaced(value)))
        .chain([("host".to_owned(), request.host.to_owned())])
        .collect();
    headers.sort();
    let names: Vec<&str> = headers.iter().map(|(name, _)| name.as_str()).collect();
    let names = names.join(";");
    let lines: String = headers.iter().map(|(name, value)| format!("{name}:{value}\n")).collect();
    let mut query: Vec<&str> = request.query.split('&').filter(|pair| !pair.is_empty()).collect();
    query.sort_unstable();
    let query = query.join("&");
    let method = request.method;
    let path = encoded_again(request.path);
    (format!("{method}\n{path}\n{query}\n{lines}\n{names}\n{}", hash(request.body)), names)
}

/// A path whose pieces are encoded once more, as all services but one want it.
fn encoded_again(path: &str) -> String {
    if path.is_empty() {
        return "/".to_owned();
    }
    path.split('/').map(crate::catalog::percent_encoded).collect::<Vec<_>>().join("/")
}

fn single_spaced(value: &str) -> String {
    value.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn moment_text(moment: Timestamp) -> String {
    let moment = jiff::Timestamp::from_millisecond(moment.0).unwrap_or_default();
    moment.to_zoned(TimeZone::UTC).strftime("%Y%m%dT%H%M%SZ").to_string()
}

fn hash(bytes: &[u8]) -> String {
    hex(digest::digest(&digest::SHA256, bytes).as_ref())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2015-08-30T12:36:00Z, the moment of the published examples.
    const MOMENT: Timestamp = Timestamp(1_440_938_160_000);

    fn signer(service: &str) -> Signer<'_> {
        Signer {
            access_key: "AKIDEXAMPLE",
            secret_key: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
            session_token: None,
            region: "us-east-1",
            service,
            moment: MOMENT,
        }
    }

    fn request<'a>(method: &'a str, query: &'a str) -> Unsigned<'a> {
        Unsigned { method, host: "example.amazonaws.com", path: "/", query, headers: &[], body: b"" }
    }

    fn authorization(signer: &Signer, request: &Unsigned) -> String {
        signer.sign(request).into_iter().find(|(name, _)| name == "authorization").unwrap().1
    }

    #[test]
    fn the_published_examples_are_signed_as_published() {
        let head = "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, \
                    SignedHeaders=host;x-amz-date, Signature=";
        for (method, query, signature) in [
            ("GET", "", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
            ("POST", "", "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"),
            (
                "GET",
                "Param2=value2&Param1=value1",
                "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500",
            ),
        ] {
            let signed = authorization(&signer("service"), &request(method, query));
            assert_eq!(signed, format!("{head}{signature}"), "{method} {query}");
        }
        let headers =
            [("content-type".to_owned(), "application/x-www-form-urlencoded;  charset=utf-8".to_owned())];
        let listing = Unsigned {
            host: "iam.amazonaws.com",
            headers: &headers,
            ..request("GET", "Action=ListUsers&Version=2010-05-08")
        };
        assert_eq!(
            authorization(&signer("iam"), &listing),
            "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/iam/aws4_request, \
             SignedHeaders=content-type;host;x-amz-date, \
             Signature=5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7"
        );
    }

    #[test]
    fn a_session_token_is_sent_and_signed() {
        let signer = Signer { session_token: Some("TOKEN"), ..signer("service") };
        let signed = signer.sign(&request("GET", ""));
        assert_eq!(signed[0], ("x-amz-date".to_owned(), "20150830T123600Z".to_owned()));
        assert_eq!(signed[1], ("x-amz-security-token".to_owned(), "TOKEN".to_owned()));
        assert!(signed[2].1.contains("SignedHeaders=host;x-amz-date;x-amz-security-token,"));
    }

    #[test]
    fn what_is_encoded_in_a_path_is_encoded_again_to_be_signed() {
        assert_eq!(encoded_again("/model/a.b-v1%3A0/converse"), "/model/a.b-v1%253A0/converse");
        assert_eq!(encoded_again(""), "/");
    }
}

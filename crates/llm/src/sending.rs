//! What a request carries beside its body: the address, headers, and who asks.
//!
//! Where keys come from, [`auth`](crate::auth) knows. They go into the headers that the provider's [`Access`](crate::catalog::Access)
//! names, as secret ones.

use rein_http::{Method, Request};
use rein_protocol::Timestamp;
use secrecy::{ExposeSecret, SecretString};

use crate::catalog::AccessScheme;
use crate::endpoint::Endpoint;
use crate::error::ModelError;
use crate::scrub::Scrubber;
use crate::sigv4::{Signer, Unsigned};
use crate::wire::EncodedRequest;

/// Who asks. Showing it shows no secrets.
#[derive(Debug, Clone)]
pub enum Credential {
    /// A key, sent as the provider's scheme says.
    Key(SecretString),
    /// A token, sent as a bearer's.
    Token(SecretString),
    /// The keys of an AWS account, with which requests are signed.
    Aws(AwsKeys),
}

/// The keys of an AWS account.
#[derive(Debug, Clone)]
pub struct AwsKeys {
    /// The name of the key.
    pub access_key: String,
    /// The key.
    pub secret_key: SecretString,
    /// What goes with keys that are good for a while only.
    pub session_token: Option<SecretString>,
}

impl Endpoint {
    /// A request of a wire, ready to be sent.
    pub(crate) fn outgoing(&self, encoded: EncodedRequest) -> Result<Request, ModelError> {
        let EncodedRequest { path, mut headers, body } = encoded;
        for (name, value) in &self.quirks.headers {
            headers.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
            headers.push((name.to_ascii_lowercase(), value.clone()));
        }
        if let Some(Credential::Token(_)) = self.credential {
            for (name, value) in &self.access.token_headers {
                add_to(&mut headers, name, value);
            }
        }
        let mut request = self.request(Method::Post, &path)?;
        for (name, value) in &headers {
            request = request.with_header(name, value)?;
        }
        if let (Some(Credential::Aws(keys)), AccessScheme::Aws(service)) =
            (&self.credential, &self.access.scheme)
        {
            for (name, value) in self.signature(keys, service, &path, &headers, &body) {
                request = request.with_secret_header(&name, &value)?;
            }
        }
        Ok(request.with_body(body))
    }

    /// A request with the headers of settings, and the key where it is sent as it is.
    pub(crate) fn request(&self, method: Method, path: &str) -> Result<Request, ModelError> {
        let mut request = Request::new(method, &self.address(path))?;
        for (name, value) in &self.headers {
            request = request.with_secret_header(name, value.expose_secret())?;
        }
        let bearer = |key: &SecretString| format!("Bearer {}", key.expose_secret().trim());
        Ok(match (&self.credential, &self.access.scheme) {
            (Some(Credential::Key(key)), AccessScheme::Header(name)) => {
                request.with_secret_header(name, key.expose_secret().trim())?
            }
            (Some(Credential::Key(key) | Credential::Token(key)), _) => {
                request.with_secret_header("authorization", &bearer(key))?
            }
            (Some(Credential::Aws(_)) | None, _) => request,
        })
    }

    /// The list of models.
    pub(crate) fn list_request(&self) -> Result<Request, ModelError> {
        let mut request = self.request(Method::Get, &self.quirks.list_path(self.wire.models_path()))?;
        for (name, value) in self.wire.standing_headers() {
            request = request.with_header(name, value)?;
        }
        Ok(request)
    }

    /// The whole address of a path. People write base addresses with the version and without it.
    fn address(&self, path: &str) -> String {
        let base = match path.starts_with("/v1/") {
            true => self.base_url.strip_suffix("/v1").unwrap_or(&self.base_url),
            false => &self.base_url,
        };
        format!("{base}{path}")
    }

    fn signature(
        &self,
        keys: &AwsKeys,
        service: &str,
        path: &str,
        headers: &[(String, String)],
        body: &[u8],
    ) -> Vec<(String, String)> {
        let signer = Signer {
            access_key: &keys.access_key,
            secret_key: keys.secret_key.expose_secret(),
            session_token: keys.session_token.as_ref().map(ExposeSecret::expose_secret),
            region: &self.region,
            service,
            moment: Timestamp::now(),
        };
        let address = self.address(path);
        let rest = address.split_once("://").map_or(address.as_str(), |(_, rest)| rest);
        let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let path = format!("/{path}");
        signer.sign(&Unsigned { method: "POST", host, path: &path, query, headers, body })
    }

    pub(crate) fn scrubber(&self) -> Scrubber {
        let secrets: Vec<SecretString> = match &self.credential {
            Some(Credential::Key(key) | Credential::Token(key)) => {
                vec![SecretString::from(key.expose_secret().trim())]
            }
            Some(Credential::Aws(keys)) => {
                [Some(keys.secret_key.clone()), keys.session_token.clone()].into_iter().flatten().collect()
            }
            None => Vec::new(),
        };
        Scrubber::new(secrets.into_iter().chain(self.headers.values().cloned()))
    }
}

/// Adds a value to a header: lists of features come from several places.
fn add_to(headers: &mut Vec<(String, String)>, name: &str, value: &str) {
    match headers.iter_mut().find(|(known, _)| known.eq_ignore_ascii_case(name)) {
        Some((_, list)) => {
            list.push(',');
            list.push_str(value);
        }
        None => headers.push((name.to_ascii_lowercase(), value.to_owned())),
    }
}

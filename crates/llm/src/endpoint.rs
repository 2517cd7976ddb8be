//! Where and how a model is asked: what the catalog, the settings and the
//! environment say of its provider, put together for one request.
//!
//! Asking is left to [`models`](crate::models), and headers to `sending`.

use std::borrow::Cow;
use std::collections::BTreeMap;

use rein_http::Reach;
use secrecy::SecretString;

use crate::auth::KeySource;
use crate::catalog::{self, Access, Provider, Quirks};
use crate::dialect::{Dialect, OfferedTools, Others, Stage, rendered};
use crate::error::{Advice, ErrorKind, ModelError};
use crate::models::Models;
use crate::request::ModelRequest;
use crate::sending::Credential;
use crate::wire::Wire;

/// Where and how a model is asked. Showing it shows no secrets.
#[derive(Debug, Clone)]
pub struct Endpoint {
    /// The provider's name.
    pub provider: String,
    /// The name that the provider knows the model by.
    pub model: String,
    /// The protocol.
    pub wire: Wire,
    /// Where the API begins.
    pub base_url: String,
    /// Where it is, for those who have regions; otherwise empty.
    pub region: String,
    /// Who asks, if that is known.
    pub credential: Option<Credential>,
    /// Where that is known from.
    pub key_source: Option<KeySource>,
    /// How it is shown who asks.
    pub access: Access,
    /// Headers to send with every request.
    pub headers: BTreeMap<String, SecretString>,
    /// What the provider wants different.
    pub quirks: Quirks,
    pub(crate) advice: Advice,
    pub(crate) others: Others,
}

impl Endpoint {
    /// What finds calls in the text of an answer, if there may be any.
    pub(crate) fn stage(&self, request: &ModelRequest) -> Option<Stage> {
        let tools = OfferedTools::new(&request.tools);
        let guarded = self.others == Others::Unmistakable && !tools.is_empty();
        let chosen = self.quirks.dialect.or(self.quirks.teach.then_some(Dialect::Json));
        (chosen.is_some() || guarded).then(|| Stage::new(chosen, self.others, tools))
    }

    /// The request as this model is to get it.
    pub(crate) fn written<'a>(&self, request: &'a ModelRequest) -> Cow<'a, ModelRequest> {
        let request = match self.quirks.teach {
            true => Cow::Owned(rendered(request, self.quirks.dialect.unwrap_or(Dialect::Json))),
            false => Cow::Borrowed(request),
        };
        match request.model == self.model {
            true => request,
            false => Cow::Owned(ModelRequest { model: self.model.clone(), ..request.into_owned() }),
        }
    }
}

impl Models {
    pub(crate) fn endpoint(&self, provider: &Provider, model: &str) -> Endpoint {
        let (base_url, source) = self.address(provider);
        let listed = provider.model(model).is_some();
        let others = match (listed, Reach::of(&base_url)) {
            (true, Reach::Public) => Others::Ignored,
            (false, _) | (_, Reach::Loopback | Reach::Private) => Others::Unmistakable,
        };
        let known = self.catalog().info(provider, model);
        let known = match others {
            Others::Unmistakable => known.speaking(&provider.quirks),
            Others::Ignored => known,
        };
        let own = known.wire.unwrap_or(provider.wire);
        let mut quirks = known.quirks(&provider.quirks);
        quirks.path = quirks.path.map(|path| self.filled_in(&path, provider));
        let (key_source, credential) = self.chosen(provider).unzip();
        let advice = Advice {
            provider: provider.name.clone(),
            model: model.to_owned(),
            near_models: provider.nearest_models(model),
            key_source: key_source.clone(),
            key_env: provider.key_env.clone(),
            account_page: provider.account_page.clone(),
            base_url: shown_address(&base_url),
        };
        Endpoint {
            provider: provider.name.clone(),
            model: model.to_owned(),
            wire: provider.elsewhere.filter(|_| source == AddressSource::Environment).unwrap_or(own),
            base_url,
            region: self.region(provider),
            credential,
            key_source,
            access: provider.access.clone(),
            headers: provider.headers.clone(),
            quirks,
            advice,
            others,
        }
    }

    /// Where a provider's API begins, and who says so.
    pub(crate) fn address(&self, provider: &Provider) -> (String, AddressSource) {
        match provider.base_url_env.iter().find_map(|name| self.variable(name)) {
            Some(url) => (url.trim_end_matches('/').to_owned(), AddressSource::Environment),
            None => {
                let address = provider.base_url.replace("{region}", &self.region(provider));
                (self.filled_in(&address, provider), AddressSource::Catalog)
            }
        }
    }

    fn filled_in(&self, text: &str, provider: &Provider) -> String {
        catalog::filled_in(text, &provider.variables, |name| self.variable(name))
    }

    fn region(&self, provider: &Provider) -> String {
        let set = provider.region_env.iter().find_map(|name| self.variable(name));
        // It becomes a piece of a host's name.
        let sound = |region: &String| region.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        set.filter(sound).or_else(|| provider.region.clone()).unwrap_or_default()
    }
}

/// Who says where a provider is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AddressSource {
    /// The catalog, or settings.
    Catalog,
    /// A variable of the environment.
    Environment,
}

/// Servers on this machine and in private networks seldom want a key.
pub(crate) fn wants_key(provider: &Provider, base_url: &str) -> bool {
    !provider.key_env.is_empty() && Reach::of(base_url) == Reach::Public
}

/// A name in an address that stands for nothing, and the variables that would say for what.
pub(crate) fn unsaid<'a>(provider: &'a Provider, base_url: &'a str) -> Option<(&'a str, &'a [String])> {
    let (name, _) = base_url.split_once('{')?.1.split_once('}')?;
    Some((name, provider.variables.get(name).map(|variable| variable.env.as_slice()).unwrap_or_default()))
}

/// The error that an address is in which a name stands for nothing.
pub(crate) fn missing_variable(provider: &Provider, base_url: &str) -> Option<ModelError> {
    let (name, variables) = unsaid(provider, base_url)?;
    let address = format!("the address of `{}` has a {name} in it", provider.name);
    let whole = format!("set provider.{}.base_url in your settings to the whole address", provider.name);
    let Some(first) = variables.first() else {
        let message = format!("{address}, and nothing says what that stands for");
        return Some(ModelError::new(ErrorKind::BadRequest, message).with_hint(whole));
    };
    let message = format!("{address}, and {first} is not set, or makes no sense");
    Some(ModelError::new(ErrorKind::BadRequest, message).with_hint(format!("export {first}=…, or {whole}")))
}

/// An address as it may be shown: without a user, a password or a query, which can hold keys.
fn shown_address(address: &str) -> String {
    let plain = address.split(['?', '#']).next().unwrap_or_default();
    let Some((scheme, rest)) = plain.split_once("://") else { return plain.to_owned() };
    let (host, path) = rest.split_once('/').map_or((rest, ""), |(host, path)| (host, path));
    let host = host.rsplit('@').next().unwrap_or_default();
    match path.is_empty() {
        true => format!("{scheme}://{host}"),
        false => format!("{scheme}://{host}/{path}"),
    }
}

#[cfg(test)]
mod tests {
    use super::shown_address;

    #[test]
    fn an_address_is_shown_without_what_may_be_secret() {
        for (address, shown) in [
            ("https://api.example.com/v1", "https://api.example.com/v1"),
            ("https://user:pass@api.example.com:8/v1?key=1#x", "https://api.example.com:8/v1"),
            ("http://key@host", "http://host"),
            ("host/v1?key=1", "host/v1"),
        ] {
            assert_eq!(shown_address(address), shown);
        }
    }
}

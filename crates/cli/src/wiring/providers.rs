//! Providers of the settings as the model layer takes them.

use std::collections::BTreeMap;
use std::ffi::OsString;

use rein_config::{ModelSettings, OAuthSettings, ProviderSettings, Secret, ServerUrl};
use rein_http::{HttpError, Method, Request};
use rein_llm::catalog::ImageSupport;
use rein_llm::{
    Catalog, Dialect, Keychain, ModelInfo, Models, OAuth, Prices, Provider, ProviderConfig, Wire,
};
use rein_protocol::ModelRef;
use secrecy::{ExposeSecret, SecretString};

use super::from_model_error;
use crate::error::CommandError;

/// The providers that rein knows, with those of the settings.
pub(super) fn catalog(
    mut catalog: Catalog,
    settings: &BTreeMap<String, ProviderSettings>,
) -> Result<Catalog, CommandError> {
    for (name, provider) in settings {
        let config = config(name, provider, catalog.provider(name))?;
        catalog = catalog.with_provider(config).map_err(from_model_error)?;
    }
    Ok(catalog)
}

/// Refuses an address in a variable that cannot be used, or that holds what must not be sent around.
pub(super) fn check_addresses(
    catalog: &Catalog,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<(), CommandError> {
    for provider in catalog.providers() {
        for name in &provider.base_url_env {
            let Some(address) = variable(name).filter(|address| !address.trim().is_empty()) else { continue };
            let Some(reason) = what_is_wrong(address.trim()) else { continue };
            // The address itself may be what must not be shown.
            let wrong = CommandError::usage(format!("{name} is no address of a model server: {reason}"))
                .hint(format!("write it like {name}=http://host:port/v1"));
            return Err(match provider.key_env.first() {
                Some(key) => wrong.hint(format!("a key belongs into {key}")),
                None => wrong,
            });
        }
    }
    Ok(())
}

fn what_is_wrong(address: &str) -> Option<String> {
    match Request::new(Method::Get, address) {
        Err(HttpError::InvalidUrl { reason, .. }) => return Some(reason),
        Err(_) => return Some("it cannot be read".to_owned()),
        Ok(_) => {}
    }
    if address.contains(['?', '#']) {
        return Some("nothing may follow its path, but there is a `?` or `#` in it".to_owned());
    }
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    let credentials = rest.split(['/', '\\']).next().unwrap_or_default().contains('@');
    credentials.then(|| "there is a user name or a password in it".to_owned())
}

/// The models of providers that can be asked: none of their keys is missing.
pub(super) fn usable(models: &Models) -> Vec<ModelRef> {
    let name = |provider: &Provider, info: &ModelInfo| ModelRef {
        provider: provider.name.clone(),
        model: info.id.clone(),
    };
    let askable = |provider: &&Provider| {
        provider.models.first().is_some_and(|first| models.resolve(&name(provider, first)).is_ok())
    };
    let providers = models.catalog().providers().iter().filter(askable);
    providers.flat_map(|provider| provider.models.iter().map(|info| name(provider, info))).collect()
}

/// Keeps every key from the commands that rein runs, whatever the variables with it are called.
pub(super) fn hide_keys(catalog: &Catalog, keychain: &Keychain, variable: impl Fn(&str) -> Option<OsString>) {
    let providers = catalog.providers();
    let names: Vec<&String> = providers
        .iter()
        .flat_map(|provider| provider.key_env.iter().chain(&provider.access.token_env))
        .collect();
    let set = names.iter().filter_map(|name| variable(name));
    let written = providers.iter().flat_map(|provider| provider.key.iter().chain(provider.headers.values()));
    let stored = keychain.secrets();
    let written = written.chain(&stored).map(|secret| OsString::from(secret.expose_secret()));
    rein_sandbox::hide_variables(names.iter().map(OsString::from), set.chain(written));
}

fn config(
    name: &str,
    settings: &ProviderSettings,
    known: Option<&Provider>,
) -> Result<ProviderConfig, CommandError> {
    let wire =
        settings.wire.as_deref().map(|wire| Wire::from_name(wire).ok_or_else(|| unknown_wire(name, wire)));
    let same_address = settings.base_url.is_none();
    let models = settings.models.iter().map(|(id, model)| {
        let known = known.filter(|_| same_address).and_then(|provider| provider.model(id));
        model_info(name, id, model, known)
    });
    Ok(ProviderConfig {
        name: name.to_owned(),
        wire: wire.transpose()?,
        base_url: settings.base_url.as_ref().map(|url| url.expose().to_owned()),
        key_env: settings.key_env.iter().flat_map(|names| names.names()).map(str::to_owned).collect(),
        key: settings.key.as_ref().map(secret),
        oauth: oauth(&settings.oauth),
        headers: settings.headers.iter().map(|(name, value)| (name.clone(), secret(value))).collect(),
        default_model: None,
        idle_timeout: settings.idle_timeout.map(u64::from),
        quirks: None,
        models: models.collect::<Result<_, _>>()?,
    })
}

/// A login, if anything is said of one.
fn oauth(settings: &OAuthSettings) -> Option<OAuth> {
    let address = |url: &Option<ServerUrl>| url.as_ref().map(|url| url.expose().to_owned());
    let said = OAuth {
        client_id: settings.client_id.clone().unwrap_or_default(),
        token_url: address(&settings.token_url).unwrap_or_default(),
        device_url: address(&settings.device_url),
        authorize_url: address(&settings.authorize_url),
        scopes: settings.scopes.clone(),
        redirect_port: settings.redirect_port,
        redirect_path: settings.redirect_path.clone(),
        parameters: settings.parameters.clone(),
    };
    (said != OAuth::default()).then_some(said)
}

fn unknown_wire(provider: &str, wire: &str) -> CommandError {
    let known: Vec<&str> = Wire::ALL.into_iter().map(Wire::name).collect();
    CommandError::usage(format!(
        "provider.{provider}.wire is `{wire}`, which is no protocol that rein speaks"
    ))
    .hint(format!("there is {}", known.join(", ")))
}

/// Prices are known only together: a cost made of half of them would be wrong.
fn model_info(
    provider: &str,
    id: &str,
    settings: &ModelSettings,
    known: Option<&ModelInfo>,
) -> Result<ModelInfo, CommandError> {
    let dialect = settings.dialect.as_deref().map(|name| {
        name.parse::<Dialect>()
            .map_err(|error| CommandError::usage(format!("provider.{provider}.models.{id}.dialect: {error}")))
    });
    let known = known.and_then(|known| known.prices.as_ref());
    let input = settings.input_price.or(known.map(|prices| prices.input));
    let output = settings.output_price.or(known.map(|prices| prices.output));
    let prices = input.zip(output).map(|(input, output)| Prices {
        input,
        output,
        cached_input: settings.cache_read_price.or(known.and_then(|prices| prices.cached_input)),
        cache_write: settings.cache_write_price.or(known.and_then(|prices| prices.cache_write)),
        ..Prices::default()
    });
    Ok(ModelInfo {
        id: id.to_owned(),
        context: settings.context,
        output: settings.output,
        tools: settings.tools,
        images: settings.images.map(|seen| if seen { ImageSupport::Yes } else { ImageSupport::No }),
        family: settings.family.clone(),
        dialect: dialect.transpose()?,
        teach: settings.teach,
        promote: settings.promote.clone(),
        prices,
        ..ModelInfo::default()
    })
}

fn secret(secret: &Secret) -> SecretString {
    SecretString::from(secret.expose())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rein_config::ServerUrl;

    #[test]
    fn a_provider_of_the_settings_joins_those_that_are_known() {
        let model =
            ModelSettings { input_price: Some(1.0), output_price: Some(2.0), ..ModelSettings::default() };
        let half = ModelSettings { input_price: Some(1.0), ..ModelSettings::default() };
        let provider = ProviderSettings {
            base_url: Some(ServerUrl::new("http://127.0.0.1:9/v1")),
            models: BTreeMap::from([("m".to_owned(), model), ("half".to_owned(), half)]),
            ..ProviderSettings::default()
        };
        let catalog = catalog(Catalog::bundled(), &BTreeMap::from([("mine".to_owned(), provider)])).unwrap();
        let mine = catalog.provider("mine").unwrap();
        let prices = mine.model("m").unwrap().prices.clone().unwrap();
        assert_eq!((prices.input, prices.output), (1.0, 2.0));
        assert_eq!(mine.model("half").unwrap().prices, None);
        assert!(catalog.provider("openai").is_some());
    }

    #[test]
    fn what_settings_say_of_a_model_reaches_the_catalog() {
        let settings = |dialect: &str| {
            let model = ModelSettings {
                dialect: Some(dialect.to_owned()),
                teach: Some(true),
                ..ModelSettings::default()
            };
            let provider = ProviderSettings {
                base_url: Some(ServerUrl::new("http://127.0.0.1:9/v1")),
                idle_timeout: Some(7),
                models: BTreeMap::from([("m".to_owned(), model)]),
                ..ProviderSettings::default()
            };
            BTreeMap::from([("mine".to_owned(), provider)])
        };
        let known = catalog(Catalog::empty(), &settings("qwen-coder")).unwrap();
        let mine = known.provider("mine").unwrap();
        let expected =
            ModelInfo { dialect: Some(Dialect::QwenCoder), teach: Some(true), ..ModelInfo::unlisted("m") };
        assert_eq!((mine.idle_timeout, &mine.models), (Some(7), &vec![expected]));
        let error = catalog(Catalog::empty(), &settings("smoke")).unwrap_err();
        assert_eq!(error.exit(), crate::exit::Exit::Usage);
        assert!(format!("{error:?}").contains("provider.mine.models.m.dialect"), "{error:?}");
    }

    #[test]
    fn an_address_in_a_variable_is_checked_and_not_shown() {
        let checked = |address: &str| {
            let address = address.to_owned();
            check_addresses(&Catalog::bundled(), move |name| {
                (name == "OPENAI_BASE_URL").then(|| address.clone())
            })
        };
        for wrong in [
            "hunter2",
            "localhost:1/hunter2",
            "user:hunter2@host/v1",
            "http://user:hunter2@host/v1",
            "http://hunter2@host",
            "https://host/v1?key=hunter2",
            "https://host/v1#hunter2",
            "ftp://hunter2/v1",
            "http://",
        ] {
            let error = checked(wrong).unwrap_err();
            assert_eq!(error.exit(), crate::exit::Exit::Usage, "{wrong}");
            assert!(!format!("{error:?}").contains("hunter2"), "{error:?}");
        }
        for right in ["", " ", "http://127.0.0.1:9/v1", " https://host/a@b/v1/ "] {
            assert_eq!(checked(right), Ok(()), "{right}");
        }
    }

    #[test]
    fn a_wire_that_does_not_exist_is_a_wrong_setting() {
        let provider = ProviderSettings { wire: Some("smoke".to_owned()), ..ProviderSettings::default() };
        let error =
            catalog(Catalog::bundled(), &BTreeMap::from([("openai".to_owned(), provider)])).unwrap_err();
        assert_eq!(error.exit(), crate::exit::Exit::Usage);
    }
}

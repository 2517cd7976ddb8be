//! What every bundled file must hold.

use std::collections::HashSet;

use super::*;
use crate::catalog::{ModelInfo, Prices};

fn read(name: &str, text: &str) -> Provider {
    toml::from_str(text).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn all() -> Vec<Provider> {
    FILES.iter().map(|(name, text)| read(name, text)).collect()
}

fn is_a_date(text: &str) -> bool {
    text.parse::<jiff::civil::Date>().is_ok() && text.len() == "2026-01-01".len()
}

#[test]
fn there_are_providers_and_models_enough() {
    let providers = all();
    let models: usize = providers.iter().map(|provider| provider.models.len()).sum();
    assert!(providers.len() >= 25, "{} providers", providers.len());
    assert!(models >= 150, "{models} models");
}

#[test]
fn every_file_in_the_folder_is_in_the_list() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("catalog");
    let mut found: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name != "families.toml")
        .map(|name| name.strip_suffix(".toml").unwrap().to_owned())
        .collect();
    let mut listed: Vec<String> = FILES.iter().map(|(name, _)| (*name).to_owned()).collect();
    found.sort();
    listed.sort();
    assert_eq!(found, listed);
}

#[test]
fn every_file_is_a_provider_with_its_name_and_sound_values() {
    let mut names = HashSet::new();
    for (name, text) in FILES {
        let provider = read(name, text);
        assert_eq!(provider.name, *name);
        for name in provider.aliases.iter().chain([&provider.name]) {
            assert!(names.insert(name.clone()), "{name} twice");
        }
        assert!(!provider.title.is_empty(), "{name}");
        assert!(provider.checked.as_deref().is_some_and(is_a_date), "{name}: checked = \"YEAR-MONTH-DAY\"");
        assert!(!provider.base_url.ends_with('/'), "{name}");
        let local = provider.base_url.starts_with("http://127.0.0.1:");
        assert!(local || provider.base_url.starts_with("https://"), "{name}");
        assert_eq!(local, provider.local_port.is_some(), "{name}");
        assert_eq!(local, provider.key_env.is_empty(), "{name}");
        assert!(local || provider.account_page.is_some(), "{name}");
        // Where models have the names that their owner gives them, there is none to name.
        let unnamed = local || provider.models.is_empty();
        assert_eq!(unnamed, provider.default_model.is_none(), "{name}");
        if let Some(port) = provider.local_port {
            assert!(provider.base_url.contains(&format!(":{port}/")), "{name}");
        }
        if let Some(model) = &provider.default_model {
            assert!(provider.model(model).is_some(), "{name}: {model} is not among its models");
        }
        if let Some(oauth) = &provider.oauth {
            let addresses = [&oauth.device_url, &oauth.authorize_url].into_iter().flatten();
            assert!(addresses.chain([&oauth.token_url]).all(|url| url.starts_with("https://")), "{name}");
            assert!(oauth.client_id.is_empty(), "{name}: rein has no client id of its own");
        }
        assert_eq!(provider.access.account_file_env.is_empty(), provider.access.account_scope.is_empty());
        let mut seen = HashSet::new();
        for model in &provider.models {
            assert!(seen.insert(&model.id), "{name}: {} twice", model.id);
            check_model(&provider, model);
        }
    }
}

#[track_caller]
fn check_model(provider: &Provider, model: &ModelInfo) {
    let place = format!("{}/{}", provider.name, model.id);
    if let (Some(context), Some(output)) = (model.context, model.output) {
        assert!(output < context, "{place}: an answer fills the window");
    }
    assert!(model.context.is_none_or(|context| (2_000..=20_000_000).contains(&context)), "{place}");
    assert!(model.family().is_some(), "{place}: no family");
    if let Some(prices) = &model.prices {
        check_prices(&place, prices);
    }
    if let Some(promote) = &model.promote {
        let larger = provider.model(promote).unwrap_or_else(|| panic!("{place}: there is no {promote}"));
        assert!(larger.context > model.context, "{place}: {promote} is not larger");
    }
}

#[track_caller]
fn check_prices(place: &str, prices: &Prices) {
    let mut lowest = (prices.input, prices.output);
    assert!(prices.as_of.as_deref().is_some_and(is_a_date), "{place} has prices without a date");
    assert!(prices.input > 0.0 && prices.output <= 1000.0, "{place}");
    assert!(prices.input <= prices.output, "{place}");
    assert!(prices.cached_input.is_none_or(|cached| cached <= prices.input), "{place}");
    let write = prices.cache_write.unwrap_or(prices.input);
    assert!(write >= prices.input, "{place}");
    assert!(prices.cache_write_hour.is_none_or(|hour| hour >= write), "{place}");
    let mut above = 0;
    for tier in &prices.tiers {
        assert!(tier.above > above, "{place}: tiers are not in order");
        assert!(tier.input >= lowest.0 && tier.output >= lowest.1, "{place}: more is cheaper");
        assert!(tier.cached_input.is_none_or(|cached| cached <= tier.input), "{place}");
        above = tier.above;
        lowest = (tier.input, tier.output);
    }
}

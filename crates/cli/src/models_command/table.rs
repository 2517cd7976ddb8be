//! The list of models for people: a heading a provider, a line a model. On a
//! narrow terminal, or behind a long name, the figures have a line of their own:
//! names are never cut, because they are there to be copied.

use std::io::{self, Write};

use rein_llm::catalog::ImageSupport;
use rein_llm::{ListedModel, ListedProvider, ModelInfo, Prices, Usability};

use crate::terminal::{Ink, Target, neutralise};

/// How wide a line is where nobody says.
const USUAL_WIDTH: usize = 80;
/// What the figures take, with the blanks before them.
const FIGURES: usize = 38;
/// Names have at least so much room beside figures.
const NARROWEST_NAME: usize = 24;

/// How wide the terminal is.
pub fn width(target: Target) -> usize {
    let set = std::env::var("COLUMNS").ok().and_then(|text| text.trim().parse().ok());
    let asked = || match target {
        Target::Terminal => {
            rustix::termios::tcgetwinsize(io::stdout()).ok().map(|size| usize::from(size.ws_col))
        }
        Target::Elsewhere => None,
    };
    set.or_else(asked).filter(|width| *width > 0).unwrap_or(USUAL_WIDTH)
}

/// Writes the list.
pub fn write(out: &mut dyn Write, providers: &[ListedProvider], ink: Ink, width: usize) -> io::Result<()> {
    let names = providers.iter().flat_map(|provider| &provider.models);
    let longest = names.map(|listed| listed.model.to_string().chars().count()).max().unwrap_or(0);
    let room = width.saturating_sub(FIGURES);
    // Nothing: each model has two lines.
    let column = (room >= NARROWEST_NAME).then_some(longest.min(room));
    if let Some(column) = column {
        writeln!(out, "{}", ink.bold(&format!("{:column$}  window  output    $/M in/out  can", "model")))?;
    }
    for provider in providers {
        heading(out, provider, ink, width)?;
        for listed in &provider.models {
            line(out, listed, column)?;
        }
    }
    writeln!(out, "{}", ink.dim("can: t calls tools, i sees images, r thinks; - does not, ? nobody knows"))
}

fn heading(out: &mut dyn Write, provider: &ListedProvider, ink: Ink, width: usize) -> io::Result<()> {
    let status = neutralise(&provider.usability.to_string()).into_owned();
    let together = provider.title.chars().count() + ": ".len() + status.chars().count();
    let between = if together <= width { " " } else { "\n  " };
    let status = match provider.usability {
        Usability::Ready => ink.green(&status),
        _ => ink.yellow(&status),
    };
    writeln!(out, "{}:{between}{status}", ink.bold(&neutralise(&provider.title)))
}

fn line(out: &mut dyn Write, listed: &ListedModel, column: Option<usize>) -> io::Result<()> {
    let name = listed.model.to_string();
    let name = neutralise(&name);
    let info = &listed.info;
    let (window, output) = (tokens(info.context), tokens(info.output));
    let (prices, can) = (price(info.prices.as_ref()), abilities(info));
    match column {
        Some(column) if name.chars().count() <= column => {
            writeln!(out, "{name:column$}  {window:>6}  {output:>6}  {prices:>12}  {can}")
        }
        Some(column) => {
            writeln!(out, "{name}\n{:column$}  {window:>6}  {output:>6}  {prices:>12}  {can}", "")
        }
        None => writeln!(out, "{name}\n  {window} {output} {prices} {can}"),
    }
}

/// Whether a model sees images, if that is known.
pub fn sees(info: &ModelInfo) -> Option<bool> {
    info.images.map(|images| match images {
        ImageSupport::Yes | ImageSupport::FromPersons => true,
        ImageSupport::No => false,
    })
}

/// Window and price in a few letters, as far as known.
pub fn figures(info: &ModelInfo) -> String {
    let window = info.context.map(|_| tokens(info.context));
    let price = info.prices.as_ref().map(|prices| format!("${} per million", price(Some(prices))));
    [window, price].into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

fn abilities(info: &ModelInfo) -> String {
    let mark = |known: Option<bool>, letter: char| match known {
        Some(true) => letter,
        Some(false) => '-',
        None => '?',
    };
    [mark(info.tools, 't'), mark(sees(info), 'i'), mark(info.reasoning, 'r')].iter().collect()
}

fn tokens(count: Option<u64>) -> String {
    match count {
        None => "?".to_owned(),
        Some(count) if count >= 1_000_000 => {
            let tenths = count / 100_000;
            match tenths % 10 {
                0 => format!("{}M", tenths / 10),
                rest => format!("{}.{rest}M", tenths / 10),
            }
        }
        Some(count) if count >= 1_000 => format!("{}k", count / 1_000),
        Some(count) => count.to_string(),
    }
}

/// A `+` says that longer prompts cost more.
fn price(prices: Option<&Prices>) -> String {
    prices.map_or_else(
        || "?".to_owned(),
        |prices| {
            let more = if prices.tiers.is_empty() { "" } else { "+" };
            format!("{}/{}{more}", prices.input, prices.output)
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(id: &str) -> ListedModel {
        let info = ModelInfo {
            id: id.to_owned(),
            context: Some(1_048_576),
            output: Some(65_536),
            tools: Some(true),
            images: Some(ImageSupport::No),
            prices: Some(Prices { input: 0.15, output: 0.6, ..Prices::default() }),
            ..ModelInfo::default()
        };
        ListedModel { model: format!("p/{id}").parse().unwrap(), info }
    }

    fn written(width: usize) -> String {
        let unknown = ListedModel { info: ModelInfo::default(), ..listed("no\u{1b}[31mbody") };
        let long = listed("a-name-that-is-much-longer-than-all-others-are-allowed-to-be");
        let provider = ListedProvider {
            name: "p".to_owned(),
            title: "Provider".to_owned(),
            usability: Usability::NoKey { variables: vec!["KEY".to_owned()] },
            models: vec![listed("short"), unknown, long],
        };
        let mut out = Vec::new();
        write(&mut out, &[provider], Ink::Plain, width).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn figures_stand_beside_names_and_below_long_ones() {
        let expected = [
            "model                                       window  output    $/M in/out  can",
            "Provider: no key: KEY is not set",
            "p/short                                         1M     65k      0.15/0.6  t-?",
            "p/no\\u{1b}[31mbody                               ?       ?             ?  ???",
            "p/a-name-that-is-much-longer-than-all-others-are-allowed-to-be",
            "                                                1M     65k      0.15/0.6  t-?",
            "can: t calls tools, i sees images, r thinks; - does not, ? nobody knows",
            "",
        ];
        assert_eq!(written(80), expected.join("\n"));
    }

    #[test]
    fn a_narrow_terminal_has_two_lines_a_model() {
        assert!(
            written(40).starts_with("Provider: no key: KEY is not set\np/short\n  1M 65k 0.15/0.6 t-?\n")
        );
    }

    #[test]
    fn counts_are_short() {
        let counts = [999, 1000, 131_072, 1_000_000, 1_500_000, 2_000_000].map(|count| tokens(Some(count)));
        assert_eq!(counts, ["999", "1k", "131k", "1M", "1.5M", "2M"]);
    }
}

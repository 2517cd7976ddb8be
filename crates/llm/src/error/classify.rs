//! From an answer to the kind of error it is.
//!
//! The status is not a class: a bad key is 400 somewhere, an overflow is 500
//! or 429 elsewhere. So words come before the status where they are certain,
//! and after it where they are not.

use rein_http::Headers;
use rein_protocol::Timestamp;

use super::body::{Said, read};
use super::phrases::{self, any};
use super::{ErrorKind, ModelError, NextKey};
use crate::retry;

/// What kind of error an answer is, and everything that is known of it. The
/// status may be absent or one of success: errors also come inside of answers
/// that began well, and as mere texts.
#[must_use]
pub fn classify(status: Option<u16>, headers: &Headers, body: &str, now: Timestamp) -> ModelError {
    let said = read(body);
    let http_status = status.filter(|status| *status >= 300);
    let effective = http_status.or(said.status).or_else(|| status_in_words(&said.words));
    let words = match headers.get("x-amzn-errortype") {
        Some(class) => format!("{}{}", said.words, class.to_lowercase()),
        None => said.words.clone(),
    };
    let retry_after = retry::asked_by(headers, &words, now);
    let evidence = Evidence {
        status: effective,
        words: &words,
        empty: body.trim().is_empty(),
        timed: retry_after.is_some(),
    };
    let kind = overruled(kind_of(&evidence), headers.get("x-should-retry"));
    ModelError {
        kind,
        message: message(&said, effective, headers),
        status: http_status.or(said.status),
        retry_after: if kind.retryable() { retry_after } else { None },
        longest_wait: retry::LONGEST_WAIT,
        hint: None,
        request_id: request_id(&said, headers),
        next: NextKey::Same,
    }
}

struct Evidence<'a> {
    status: Option<u16>,
    words: &'a str,
    empty: bool,
    timed: bool,
}

fn kind_of(evidence: &Evidence) -> ErrorKind {
    let Evidence { status, words, .. } = *evidence;
    let throttled = any(phrases::RATE_LIMIT, words);
    if status == Some(402) {
        return ErrorKind::Quota;
    }
    if is_overflow(evidence, throttled) {
        return ErrorKind::Overflow;
    }
    if let Some(kind) = quota(evidence) {
        return kind;
    }
    if status == Some(429) || throttled {
        return ErrorKind::RateLimit;
    }
    if matches!(status, Some(401 | 403)) || any(phrases::AUTH, words) {
        return ErrorKind::Auth;
    }
    if status == Some(404) || (status.is_none_or(|status| status < 500) && any(phrases::NOT_FOUND, words)) {
        return ErrorKind::NotFound;
    }
    by_trouble(status, words)
}

fn is_overflow(evidence: &Evidence, throttled: bool) -> bool {
    let Evidence { status, words, empty, .. } = *evidence;
    // Some servers answer a request that is too large with nothing at all.
    let silent = empty && matches!(status, Some(400 | 413));
    silent || any(phrases::OVERFLOW, words) || (!throttled && any(phrases::OVERFLOW_UNLESS_THROTTLED, words))
}

/// A quota that fills up again within a named time is a rate limit.
fn quota(evidence: &Evidence) -> Option<ErrorKind> {
    let words = evidence.words;
    if any(phrases::QUOTA, words) || limit_is_zero(words) {
        return Some(ErrorKind::Quota);
    }
    if !any(phrases::QUOTA_UNLESS_TIMED, words) {
        return None;
    }
    Some(if evidence.timed { ErrorKind::RateLimit } else { ErrorKind::Quota })
}

/// `limit: 0`, and not `limit: 0.5`: waiting does not help where nothing is granted.
fn limit_is_zero(words: &str) -> bool {
    words.contains("quota")
        && words.match_indices("limit: 0").any(|(at, found)| {
            let mut after = words.get(at + found.len()..).unwrap_or_default().chars();
            match after.next() {
                Some('.') => !after.next().is_some_and(|c| c.is_ascii_digit()),
                Some(c) => !c.is_ascii_digit(),
                None => true,
            }
        })
}

fn by_trouble(status: Option<u16>, words: &str) -> ErrorKind {
    match status {
        Some(408 | 425) => ErrorKind::Network,
        Some(500 | 501) if any(phrases::UNSUPPORTED, words) => ErrorKind::BadRequest,
        Some(500..) => ErrorKind::Overloaded,
        Some(400..) if words.contains("overloaded") => ErrorKind::Overloaded,
        Some(_) => ErrorKind::BadRequest,
        None if any(phrases::OVERLOADED, words) => ErrorKind::Overloaded,
        None if any(phrases::NETWORK, words) => ErrorKind::Network,
        None if any(phrases::BAD_REQUEST, words) => ErrorKind::BadRequest,
        None => ErrorKind::Other,
    }
}

/// Some servers say outright whether to try again.
fn overruled(kind: ErrorKind, should_retry: Option<&str>) -> ErrorKind {
    match (kind, should_retry) {
        (ErrorKind::BadRequest | ErrorKind::Other, Some("true")) => ErrorKind::Overloaded,
        (ErrorKind::RateLimit, Some("false")) => ErrorKind::Quota,
        (ErrorKind::Overloaded, Some("false")) => ErrorKind::Other,
        (kind, _) => kind,
    }
}

/// A status code in a text: `HTTP 503: …`, `status_code=400`, `API error (429)`, `413 Request …`.
fn status_in_words(words: &str) -> Option<u16> {
    let tokens: Vec<&str> =
        words.split(|c: char| !c.is_ascii_alphanumeric()).filter(|token| !token.is_empty()).collect();
    let status = |token: &str| {
        let number = if token.len() == 3 { token.parse::<u16>().ok() } else { None };
        number.filter(|number| (400..600).contains(number))
    };
    let introduced = tokens.windows(2).find_map(|pair| match pair {
        ["http" | "status" | "code" | "error", number] => status(number),
        [number, "status"] => status(number),
        _ => None,
    });
    introduced.or_else(|| status(tokens.first()?))
}

fn message(said: &Said, status: Option<u16>, headers: &Headers) -> String {
    if let (Some(300..400), Some(target)) = (status, headers.get("location")) {
        let target = target.split('?').next().unwrap_or_default();
        return format!(
            "the server sends requests elsewhere, to {target}; set that as the provider's address if you trust it"
        );
    }
    if !said.message.is_empty() {
        return said.message.clone();
    }
    match status {
        Some(status) => format!("the provider answered with status {status} and no explanation"),
        None => "the provider reported an error and no explanation".to_owned(),
    }
}

fn request_id(said: &Said, headers: &Headers) -> Option<String> {
    let names = ["x-request-id", "request-id", "apim-request-id", "x-amzn-requestid", "cf-ray"];
    names.iter().find_map(|name| headers.get(name)).map(ToOwned::to_owned).or_else(|| said.request_id.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp(1_735_689_600_000);

    fn kind(status: u16, body: &str) -> ErrorKind {
        classify(Some(status), &Headers::default(), body, NOW).kind
    }

    fn kind_of_text(text: &str) -> ErrorKind {
        classify(None, &Headers::default(), text, NOW).kind
    }

    #[test]
    fn overflow_is_recognised_in_the_words_of_many_providers() {
        let texts = [
            "prompt is too long: 213462 tokens > 200000 maximum",
            "input length and `max_tokens` exceed context limit: 195000 + 8192 > 200000",
            "Input is too long for requested model.",
            "The model returned the following errors: Input Tokens Exceeded: Number of input tokens exceeds maximum length.",
            "Your input exceeds the context window of this model",
            "This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.",
            "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).",
            "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
            "Please reduce the length of the messages or completion.",
            "This endpoint's maximum context length is 200000 tokens.",
            "prompt token count of 150000 exceeds the limit of 128000",
            "the request exceeds the available context size, try increasing it",
            "Context size has been exceeded.",
            "The number of tokens to keep from the initial prompt is greater than the context length",
            "invalid params, context window exceeds limit (2013)",
            "Your request exceeded model token limit: 262144",
            "prompt too long; exceeded max context length by 5 tokens",
            "Prompt contains 40000 tokens, too large for model with 32768 maximum context length",
            "The total length of all messages is too long.",
            "too many tokens: size limit exceeded by 25836 tokens.",
            "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8193. Given: 9000",
            "`inputs` must have less than 4095 tokens. Given: 5000",
            "Range of input length should be [1, 30720]",
            "Total tokens of image and text exceed max message tokens",
            "Input length 131393 exceeds the maximum allowed input length of 131040 tokens.",
            "The input (516368 tokens) is longer than the model's context length (262144 tokens).",
            "Prompt has 5,958,968 tokens, but the configured context size is 256,000 tokens",
            "the maximum supported sequence length is just 8192!",
            "tokens in request more than max tokens allowed",
            "Request too large for gpt-x on tokens per min (TPM): Limit 30000, Requested 60000.",
            "Prompt exceeds max length",
            "413 Request Entity Too Large: payload too large for request body",
            "model_context_window_exceeded",
            "400 status code (no body)",
        ];
        for text in texts {
            assert_eq!(kind_of_text(text), ErrorKind::Overflow, "{text}");
        }
        assert!(texts.len() >= 30);
    }

    #[test]
    fn what_only_sounds_like_overflow_is_not() {
        let table = [
            ("Throttling error: Too many tokens, please wait before trying again.", ErrorKind::RateLimit),
            (
                "Rate limit reached on tokens per min (TPM): Limit 1, Used 1. Please try again in 28ms.",
                ErrorKind::RateLimit,
            ),
            ("This model has a 128k token capacity", ErrorKind::Other),
            ("413 Forbidden", ErrorKind::BadRequest),
            ("429 status code (no body)", ErrorKind::RateLimit),
        ];
        for (text, expected) in table {
            assert_eq!(kind_of_text(text), expected, "{text}");
        }
    }

    #[test]
    fn the_status_alone_is_not_the_kind() {
        let table = [
            (
                400,
                r#"{"error":{"code":400,"message":"API key not valid.","status":"INVALID_ARGUMENT"}}"#,
                ErrorKind::Auth,
            ),
            (
                400,
                r#"{"code":"Client specified an invalid argument","error":"Incorrect API key provided: xa***1."}"#,
                ErrorKind::Auth,
            ),
            (403, r#"{"error":{"message":"Forbidden"}}"#, ErrorKind::Auth),
            (400, r#"{"error":{"message":"x is not a valid model ID","code":400}}"#, ErrorKind::NotFound),
            (404, r#"{"error":"model 'x' not found"}"#, ErrorKind::NotFound),
            (
                500,
                r#"{"error":{"code":500,"message":"Context size has been exceeded.","type":"server_error"}}"#,
                ErrorKind::Overflow,
            ),
            (
                413,
                r#"{"error":{"message":"Request too large for model `x` on tokens per minute (TPM): Limit 6000, Requested 7000","code":"rate_limit_exceeded"}}"#,
                ErrorKind::Overflow,
            ),
            (413, "", ErrorKind::Overflow),
            (400, "", ErrorKind::Overflow),
            (402, r#"{"error":"You have depleted your monthly included credits."}"#, ErrorKind::Quota),
            (
                429,
                r#"{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","code":"insufficient_quota"}}"#,
                ErrorKind::Quota,
            ),
            (
                429,
                r#"{"error":{"message":"You exceeded your current quota","details":[{"retryDelay":"34.4s"}]}}"#,
                ErrorKind::RateLimit,
            ),
            (
                429,
                r#"{"error":{"message":"Quota exceeded for metric: x, limit: 0. Please retry in 59s."}}"#,
                ErrorKind::Quota,
            ),
            (429, "{}", ErrorKind::RateLimit),
            (
                500,
                r#"{"error":{"message":"audio input is not supported","type":"server_error"}}"#,
                ErrorKind::BadRequest,
            ),
            (500, "", ErrorKind::Overloaded),
            (
                529,
                r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
                ErrorKind::Overloaded,
            ),
            (422, r#"{"message":"No valid response generated"}"#, ErrorKind::BadRequest),
            (408, "", ErrorKind::Network),
            (401, "<html><head><title>401 Authorization Required</title></head></html>", ErrorKind::Auth),
        ];
        for (status, body, expected) in table {
            assert_eq!(kind(status, body), expected, "{status} {body}");
        }
    }

    #[test]
    fn a_text_without_a_status_is_classified_by_its_words() {
        let table = [
            ("Internal server error", ErrorKind::Overloaded),
            ("service-unavailable", ErrorKind::Overloaded),
            ("The system is currently experiencing high demand", ErrorKind::Overloaded),
            ("fetch failed", ErrorKind::Network),
            ("connect ETIMEDOUT 1.2.3.4", ErrorKind::Network),
            ("HTTP 503: upstream gone away", ErrorKind::Overloaded),
            ("status: 401 unauthorized", ErrorKind::Auth),
            ("status_code=400 \u{2014} bad json", ErrorKind::BadRequest),
            ("Rate limit exceeded - unauthorized due to throttling", ErrorKind::RateLimit),
            ("GenerateContentRequest validation failed", ErrorKind::BadRequest),
            ("model gpt-500x rejected the call", ErrorKind::Other),
            ("usage limit reached", ErrorKind::Quota),
            (r#"{"type":"error","error":{"code":"rate_limit_exceeded"}}"#, ErrorKind::RateLimit),
            (r#"{"error":{"message":"no_kv_space"}}"#, ErrorKind::Other),
            ("cancelled", ErrorKind::Other),
            ("", ErrorKind::Other),
        ];
        for (text, expected) in table {
            assert_eq!(kind_of_text(text), expected, "{text}");
        }
    }

    #[test]
    fn everything_known_of_an_answer_is_kept() {
        let headers =
            [("retry-after", "1"), ("retry-after-ms", "0"), ("x-request-id", "req_1")].into_iter().collect();
        let body = r#"{"error":{"code":"RateLimitReached","message":"You have exceeded the rate limit."}}"#;
        let expected = ModelError {
            kind: ErrorKind::RateLimit,
            message: "You have exceeded the rate limit.".to_owned(),
            status: Some(429),
            retry_after: Some(std::time::Duration::from_secs(1)),
            longest_wait: retry::LONGEST_WAIT,
            hint: None,
            request_id: Some("req_1".to_owned()),
            next: NextKey::Same,
        };
        assert_eq!(classify(Some(429), &headers, body, NOW), expected);
    }

    #[test]
    fn a_server_can_say_outright_whether_to_try_again() {
        let says = |answer: &str| [("x-should-retry", answer)].into_iter().collect::<Headers>();
        assert_eq!(classify(Some(400), &says("true"), "{}", NOW).kind, ErrorKind::Overloaded);
        assert_eq!(classify(Some(500), &says("false"), "{}", NOW).kind, ErrorKind::Other);
    }

    #[test]
    fn a_redirect_says_where_to() {
        let headers =
            [("location", "https://other.example/v1/chat/completions?token=1")].into_iter().collect();
        let error = classify(Some(308), &headers, "", NOW);
        assert_eq!(error.kind, ErrorKind::BadRequest);
        assert_eq!(
            error.message,
            "the server sends requests elsewhere, to https://other.example/v1/chat/completions; set that as the provider's address if you trust it"
        );
    }
}

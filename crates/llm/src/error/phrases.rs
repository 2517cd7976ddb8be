//! How providers say it. Data only: each entry is a list of texts, all of
//! which occur in this order, in lower case.

/// Texts that occur in this order.
pub(super) type Phrase = &'static [&'static str];

/// The request does not fit into the model's window, said so that nothing else can be meant.
pub(super) const OVERFLOW: &[Phrase] = &[
    &["context_length_exceeded"],
    &["context length exceeded"],
    &["model_context_window_exceeded"],
    &["model_max_prompt_tokens_exceeded"],
    &["context_window_exceeded"],
    &["too_many_prompt_tokens"],
    &["string_above_max_length"],
    &["request_too_large"],
    &["prompt is too long"],
    &["prompt too long"],
    &["prompt exceeds max length"],
    &["prompt filled the context window"],
    &["input is too long"],
    &["input too long"],
    &["inputs are too long"],
    &["input prompt is too long"],
    &["total length of all messages is too long"],
    &["exceeds the context window"],
    &["exceed the context window"],
    &["exceeds the model's context"],
    &["exceeded the context"],
    &["exceed context limit"],
    &["exceeds context limit"],
    &["exceeds the available context size"],
    &["context size has been exceeded"],
    &["context window exceeds limit"],
    &["context window", "exceeded"],
    &["exceeded model token limit"],
    &["exceed max message tokens"],
    &["greater than the context length"],
    &["longer than the model's context length"],
    &["context length is only"],
    &["maximum context length"],
    &["max context length"],
    &["maximum prompt length is"],
    &["maximum supported sequence length"],
    &["exceeds maximum context"],
    &["exceeded max context"],
    &["exceeds the maximum context"],
    &["tokens, but the configured context size is"],
    &["input token count", "exceeds the maximum"],
    &["exceeds the maximum number of tokens"],
    &["number of input tokens", "exceed"],
    &["input tokens exceeded"],
    &["prompt token count", "exceeds the limit"],
    &["requested token count exceeds"],
    &["tokens in request more than max tokens allowed"],
    &["input length", "exceeds"],
    &["range of input length should be"],
    &["`inputs` tokens + `max_new_tokens` must be"],
    &["`inputs` must have less than"],
    &["reduce the length of the messages"],
    &["reduce the length of the prompt"],
    &["reduce the length of your"],
    &["input or output tokens must be reduced"],
    &["request too large for"],
    &["request entity too large"],
    &["request exceeds the maximum size"],
    &["exceeds the maximum size allowed"],
    &["payload too large"],
    &["too many tokens: size limit exceeded"],
    &["413 status code (no body)"],
    &["400 status code (no body)"],
    &["413 (no body)"],
    &["400 (no body)"],
];

/// The same, but also how some say that too many tokens were used within a minute.
pub(super) const OVERFLOW_UNLESS_THROTTLED: &[Phrase] =
    &[&["too many tokens"], &["too_many_tokens"], &["token limit exceeded"], &["exceeds the limit of"]];

/// Too much was asked in too short a time.
pub(super) const RATE_LIMIT: &[Phrase] = &[
    &["rate limit"],
    &["rate_limit"],
    &["rate-limit"],
    &["ratelimit"],
    &["too many requests"],
    &["too_many_requests"],
    &["throttl"],
    &["requests per min"],
    &["tokens per min"],
    &["per-minute limit"],
    &["resource_exhausted"],
    &["concurrency limit"],
];

/// The account is exhausted, whatever else is said.
pub(super) const QUOTA: &[Phrase] = &[
    &["insufficient_quota"],
    &["billing_hard_limit"],
    &["billing_not_active"],
    &["insufficient balance"],
    &["insufficient credit"],
    &["insufficient funds"],
    &["insufficient_balance"],
    &["not enough credit"],
    &["credit balance is too low"],
    &["out of credits"],
    &["depleted your"],
    &["payment required"],
    &["usage_limit_reached"],
    &["usage limit reached"],
    &["usage limit has been reached"],
    &["reached your specified api usage limits"],
    &["credits_exhausted"],
    &["exceeded your monthly"],
];

/// The account is exhausted, unless a wait is named.
pub(super) const QUOTA_UNLESS_TIMED: &[Phrase] = &[
    &["exceeded your current quota"],
    &["quota exceeded"],
    &["exceeded", "quota"],
    &["quota has been exceeded"],
];

/// The key is missing or wrong.
pub(super) const AUTH: &[Phrase] = &[
    &["api key not valid"],
    &["api_key_invalid"],
    &["invalid_api_key"],
    &["wrong_api_key"],
    &["invalid api key"],
    &["invalid api token"],
    &["invalid x-api-key"],
    &["incorrect api key"],
    &["wrong api key"],
    &["no api key"],
    &["missing api key"],
    &["api key is missing"],
    &["api key is invalid"],
    &["api key expired"],
    &["authentication_error"],
    &["authentication fails"],
    &["authentication failed"],
    &["unauthorized"],
    &["unauthenticated"],
    &["permission_denied"],
    &["permission_error"],
    &["expiredtoken"],
    &["unrecognizedclient"],
    &["accessdenied"],
];

/// There is no such model or address.
pub(super) const NOT_FOUND: &[Phrase] = &[
    &["model_not_found"],
    &["not_found_error"],
    &["model", "does not exist"],
    &["model", "not found"],
    &["model", "is not found"],
    &["not a valid model"],
    &["unknown model"],
    &["no such model"],
    &["invalid model name"],
    &["no endpoints found"],
    &["resourcenotfoundexception"],
];

/// The provider has trouble of its own.
pub(super) const OVERLOADED: &[Phrase] = &[
    &["overloaded"],
    &["high demand"],
    &["no_capacity"],
    &["no capacity"],
    &["at capacity"],
    &["over capacity"],
    &["capacity exceeded"],
    &["capacity_exhausted"],
    &["internal server error"],
    &["internal_server_error"],
    &["internal error"],
    &["server_error"],
    &["server error"],
    &["server had an error"],
    &["server is busy"],
    &["service unavailable"],
    &["service-unavailable"],
    &["service_unavailable"],
    &["serviceunavailable"],
    &["temporarily unavailable"],
    &["currently unavailable"],
    &["bad gateway"],
    &["gateway timeout"],
    &["gateway time-out"],
    &["try your request again"],
    &["try again later"],
    &["system_resource"],
    &["upstream error"],
    &["upstream_error"],
    &["internalserverexception"],
    &["internalfailure"],
    &["modelstreamerror"],
    &["modelerrorexception"],
    &["modelnotready"],
];

/// The provider could not be reached, or the connection broke.
pub(super) const NETWORK: &[Phrase] = &[
    &["fetch failed"],
    &["failed to fetch"],
    &["connection refused"],
    &["connection error"],
    &["connection reset"],
    &["connection closed"],
    &["connection ended"],
    &["connection lost"],
    &["unable to connect"],
    &["upstream connect"],
    &["timed out"],
    &["timeout"],
    &["time-out"],
    &["econn"],
    &["etimedout"],
    &["enotfound"],
    &["eai_again"],
    &["epipe"],
    &["und_err"],
    &["socket hang up"],
    &["other side closed"],
    &["terminated"],
    &["network"],
    &["nghttp2"],
    &["stream closed"],
    &["stream ended"],
    &["stream stall"],
    &["websocket closed"],
    &["decompression failed"],
    &["incomplete json"],
    &["empty response"],
    &["bad_record_mac"],
    &["ssl error"],
    &["tls handshake"],
];

/// The provider does not do such a thing, whatever status it says that with.
pub(super) const UNSUPPORTED: &[Phrase] =
    &[&["is not supported"], &["does not support"], &["doesn't support"], &["not implemented"]];

/// The request is wrong.
pub(super) const BAD_REQUEST: &[Phrase] = &[
    &["invalid_request"],
    &["invalid request"],
    &["invalid_parameter"],
    &["invalid_argument"],
    &["invalid argument"],
    &["validation"],
    &["bad request"],
    &["bad_request"],
    &["unprocessable"],
];

/// Whether one of the phrases occurs in a text in lower case.
pub(super) fn any(phrases: &[Phrase], text: &str) -> bool {
    phrases.iter().any(|phrase| occurs(phrase, text))
}

fn occurs(phrase: Phrase, text: &str) -> bool {
    let mut rest = text;
    phrase.iter().all(|piece| match rest.find(piece) {
        Some(at) => {
            rest = rest.get(at + piece.len()..).unwrap_or_default();
            true
        }
        None => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_must_come_in_order() {
        assert!(any(&[&["a", "b"]], "x a y b z"));
        assert!(!any(&[&["a", "b"]], "b then a"));
        assert!(!any(&[&["aa", "a"]], "aa"));
    }

    #[test]
    fn all_phrases_are_in_lower_case_and_there_are_many_for_overflow() {
        let all = [
            OVERFLOW,
            OVERFLOW_UNLESS_THROTTLED,
            RATE_LIMIT,
            QUOTA,
            QUOTA_UNLESS_TIMED,
            AUTH,
            NOT_FOUND,
            OVERLOADED,
            NETWORK,
            UNSUPPORTED,
            BAD_REQUEST,
        ];
        for piece in all.iter().copied().flatten().copied().flatten() {
            assert_eq!(*piece, piece.to_lowercase());
        }
        assert!(OVERFLOW.len() >= 30);
    }
}

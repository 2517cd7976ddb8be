//! The one HTTP client: TLS, proxies, limits, SSE framing, replay.

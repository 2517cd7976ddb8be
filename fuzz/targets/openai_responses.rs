//! Answers on the wire `openai-responses`, whole and split.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rein_fuzz::answer(rein_llm::Wire::OpenAiResponses, data));

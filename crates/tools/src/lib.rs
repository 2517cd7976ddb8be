//! The agent's hands: one folder a tool, by the two-step contract.

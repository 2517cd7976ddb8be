//! Rules, layers and modes in; allow, ask or deny with the reason out.

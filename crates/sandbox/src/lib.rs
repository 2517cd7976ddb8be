//! Every child process: spawn, output capture, kill ladder.

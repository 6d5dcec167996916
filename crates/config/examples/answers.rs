//! Of each line of the input, a configuration of tc with packets as JSON, a line with what perhop makes of each packet.
//! `lab/recording/differential.py` holds the kernel's answers beside them.

#[path = "../tests/all/lab/answer.rs"]
mod answer;

use std::io::{Write as _, stdin, stdout};

fn main() {
    for line in stdin().lines() {
        let it = serde_json::from_str(&line.expect("text")).expect("a configuration as JSON");
        let answer = serde_json::to_string(&answer::answer(&it)).expect("plain data");
        writeln!(stdout(), "{answer}").expect("a reader");
    }
}

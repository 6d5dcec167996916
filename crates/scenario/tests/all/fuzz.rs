//! The fuzzer's targets for this crate, on edited files of the repository: a fixed number of cases, under stable Rust.
//! `PROPTEST_CASES=100000` runs more; `fuzz/README.md` describes the fuzzer itself.

#[path = "../../../../fuzz/src/edits.rs"]
mod edits;
#[path = "../../../../fuzz/src/texts.rs"]
mod texts;

use edits::{edited, seeds};
use proptest::prelude::*;

const MOST: usize = 16 * 1024;

const WORDS: &[&[u8]] = &[
    b"\"",
    b"[",
    b"]",
    b"[[",
    b"{",
    b"}",
    b"=",
    b"\n",
    b".",
    b",",
    b"#",
    b"'",
    b"\\u0000",
    b"-1",
    b"0",
    b"1e308",
    b"nan",
    b"inf",
    b"99999999999999999999",
    b"true",
    b"\"0B\"",
    b"\"5MB\"",
    b"\"1e30s\"",
    b"\"50%\"",
    b"\"A -> B\"",
    b"\"mark EF\"",
    b"{1..3}",
    b"{i}",
    b"{2*i-0.5}",
    b"{1..9999}",
    b"..",
    b"@red.",
    b"@*.",
    b"?",
];

const OVERRIDES: &[&[u8]] = &[
    b"scenario.duration=9s",
    b"traffic.bulk.flows=3",
    b"@red.limit=\"9p\"",
    b"@*.ecn=true",
    b"@red.nothing?=1",
    b"\n",
    b"|traffic.bulk.flows=1,2",
    b"|@red.max-p=0.1,0.2",
    b"links.'A - B'.rate=\"1kbit/s\"",
    b"change=[]",
    b"=",
    b".",
    b"*",
    b"{1..3}",
    b"[conditioner]",
    b"queue={}",
];

fn scenarios() -> Vec<Vec<u8>> {
    let folders = ["examples", "crates/scenario/tests/good", "crates/scenario/tests/bad"];
    folders.into_iter().flat_map(|folder| seeds(folder, &["toml"], MOST)).collect()
}

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(cases) }
}

proptest! {
    #![proptest_config(config(400))]

    #[test]
    fn scenario(data in edited(scenarios(), WORDS)) {
        texts::scenario(&data);
    }

    #[test]
    fn policy(data in edited(scenarios(), WORDS)) {
        texts::policy(&data);
    }

    #[test]
    fn overrides(data in edited(OVERRIDES.iter().map(|line| line.to_vec()).collect(), OVERRIDES)) {
        texts::overrides(&data);
    }
}

//! Any text: no panic, and every line that speaks of QoS is in the account.

use perhop_config::import_options::ImportOptions;
use perhop_config::tc::DIALECT;
use perhop_config::text::Text;
use proptest::prelude::*;

/// Words of tc, and what is near them.
const WORDS: [&str; 96] = [
    "tc",
    "$ tc",
    "# tc",
    "sudo",
    "qdisc",
    "class",
    "filter",
    "actions",
    "add",
    "change",
    "replace",
    "del",
    "show",
    "dev",
    "eth0",
    "$DEV",
    "root",
    "parent",
    "1:",
    "1:1",
    "1:10",
    "ffff:",
    "handle",
    "classid",
    "htb",
    "hfsc",
    "prio",
    "ets",
    "drr",
    "tbf",
    "netem",
    "cake",
    "fq",
    "fq_codel",
    "red",
    "choke",
    "pie",
    "sfq",
    "rate",
    "ceil",
    "10mbit",
    "8mb",
    "burst",
    "10k",
    "default",
    "20",
    "0x10",
    "limit",
    "100p",
    "latency",
    "50ms",
    "protocol",
    "ip",
    "ipv6",
    "pref",
    "u32",
    "match",
    "src",
    "10.0.0.0/8",
    "dport",
    "0xffff",
    "at",
    "nexthdr+2",
    "-4",
    "flower",
    "ip_tos",
    "0xb8/0xfc",
    "flowid",
    "police",
    "drop",
    "conform-exceed",
    "drop/ok",
    "action",
    "pedit",
    "munge",
    "index",
    "1",
    "ingress",
    "clsact",
    "egress",
    "stab",
    "overhead",
    "[{\"kind\":\"htb\",",
    "\"handle\":\"1:\"",
    "}]",
    "\"options\":{",
    "Sent",
    "bytes",
    "pkt",
    "backlog",
    "0b",
    "\\",
    ";",
    "&&",
    "'",
    "\"",
];

fn words() -> impl Strategy<Value = String> {
    let word = prop_oneof![20 => prop::sample::select(&WORDS[..]).prop_map(str::to_owned), 1 => ".{0,9}"];
    let line = prop::collection::vec(word, 0..14).prop_map(|words| words.join(" "));
    prop::collection::vec(line, 0..12).prop_map(|lines| lines.join("\n"))
}

fn sound(text: &str) -> Result<(), TestCaseError> {
    let text = Text::new(text.as_bytes());
    let Ok(read) = (DIALECT.read)(&text, &ImportOptions::default()) else { return Ok(()) };
    let lines = text.lines().count();
    prop_assert!(read.account.lines.keys().all(|line| (1..=lines).contains(line)));
    let within = |end: usize| end <= text.text.len();
    prop_assert!(read.findings.iter().all(|it| within(it.place.end) && it.place.start <= it.place.end));
    prop_assert!(read.evidence.iter().all(|it| within(it.place.end)));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        sound(&String::from_utf8_lossy(&bytes))?;
    }

    #[test]
    fn any_words_of_tc(text in words()) {
        sound(&text)?;
    }

    /// A command that alters something is never passed over.
    #[test]
    fn every_command_is_in_the_account(
        object in prop::sample::select(vec!["qdisc", "class", "filter"]),
        verb in prop::sample::select(vec!["add", "change", "replace", "del"]),
        rest in prop::collection::vec(prop::sample::select(&WORDS[13..80]), 0..12),
        before in prop::sample::select(vec!["", "$ ", "sudo ", "> ", "  3  ", "root@gw:~# "]),
    ) {
        let text = format!("hello\n{before}tc {object} {verb} {}\nworld\n", rest.join(" "));
        let read = (DIALECT.read)(&Text::new(text.as_bytes()), &ImportOptions::default());
        prop_assert!(read.is_ok_and(|it| it.account.lines.keys().copied().eq([2])), "{}", text);
    }
}

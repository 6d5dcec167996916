use super::*;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Sources below a folder of this crate.
fn sources(folder: &Path, out: &mut Vec<(String, String)>) {
    let mut entries: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            sources(&path, out);
        } else if path.extension().is_some_and(|it| it == "rs") && !path.ends_with("tests.rs") {
            let text = fs::read_to_string(&path).unwrap();
            out.push((path.to_str().unwrap().to_owned(), text.split("#[cfg(test)]").next().unwrap().to_owned()));
        }
    }
}

/// The texts between quotes in a source, without those of comments.
fn literals(source: &str) -> Vec<String> {
    let code: Vec<_> = source.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    let code = code.join("\n").replace("'\"'", "' '");
    let (mut out, mut open, mut escaped) = (Vec::new(), None::<String>, false);
    for c in code.chars() {
        match (&mut open, c) {
            (None, '"') => open = Some(String::new()),
            (None, _) => {}
            (Some(text), c) if escaped => {
                text.push(c);
                escaped = false;
            }
            (Some(_), '\\') => escaped = true,
            (Some(text), '"') => {
                out.push(std::mem::take(text));
                open = None;
            }
            (Some(text), c) => text.push(c),
        }
    }
    out
}

/// Folders that write for devices.
const WRITERS: [&str; 4] = ["/src/as_ios/", "/src/as_tc/", "/src/device/", "/src/tc_stats/"];

/// Words of the counters of tc that were only printed when the words were recorded.
const PRINTED: [&str; 8] = [
    "dropping",
    "threshold_rate",
    "way_indirect_hits",
    "way_misses",
    "way_collisions",
    "unresponsive_flows",
    "max_pkt_len",
    "flow_quantum",
];

/// A word of a message among the patterns of IOS, when the words were recorded.
const OF_A_MESSAGE: &str = "beyond";

/// Words that a reader compares with words of a text, and those that messages have between backticks.
fn named() -> BTreeSet<String> {
    let mut all = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut all);
    let mut words = BTreeSet::new();
    let writes = |path: &str| WRITERS.iter().any(|folder| path.contains(folder));
    for (path, source) in all.into_iter().filter(|(path, _)| !writes(path)) {
        let reads = ["/src/tc/", "/src/ios/"].iter().any(|it| path.contains(it)) && !path.contains("/rules/");
        // Patterns of printed lines have blanks in them.
        let prints = path.contains("/read/show_") || path.ends_with("/tc/counters/lines.rs");
        for text in literals(&source) {
            match text.contains(' ') && !prints {
                true => words.extend(text.split('`').skip(1).step_by(2).flat_map(parts)),
                false if reads => words.extend(parts(&text)),
                false => {}
            }
        }
    }
    PRINTED.iter().for_each(|word| _ = words.remove(*word));
    words.insert(OF_A_MESSAGE.to_owned());
    words
}

fn parts(text: &str) -> Vec<String> {
    let word = |part: &&str| part.contains(|c: char| c.is_ascii_alphabetic()) && !part.contains(['{', '}']);
    let parts = text.split(|c: char| c.is_whitespace() || SIGNS.contains(&c) && !matches!(c, '{' | '}'));
    parts.map(|part| part.trim_end_matches(['.', ':'])).filter(word).map(str::to_owned).collect()
}

/// The words that perhop knows are those that its readers name: `words.txt` has them.
#[test]
fn words_that_readers_name_are_recorded() {
    let text = format!("{}\n", named().into_iter().collect::<Vec<_>>().join("\n"));
    if std::env::var_os("PERHOP_RENEW").is_some() {
        fs::write(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/foreign/words.txt"), text).unwrap();
        return;
    }
    assert!(WORDS == text, "words.txt is out of date: make renew WHAT=words");
}

#[test]
fn words_of_dialects_and_values_are_known() {
    for word in [
        "qdisc",
        "random-detect",
        "10mbit",
        "1:10",
        "ffff:",
        "8001:",
        "0xb8",
        "00fc0000",
        "10.0.0.0/8",
        "2001:db8::/32",
        "02:00:5e:00:53:01",
        "1.5ms",
        "50%",
        "1-7",
        "15kb/8",
        "-4",
        "..",
        "10mbitt",
        "defalt",
        "police:",
    ] {
        assert!(is_known(word), "{word}");
    }
}

#[test]
fn words_of_others_are_not() {
    for word in [
        "TOPSECRET1",
        "root@customer-17",
        "hunter2",
        "0822455D0A16",
        "correct",
        "c1sc0",
        "deadbeefcafe",
        "1234MARKER",
        "12345678901234567890123",
        "p4ssw0rd",
        "Zürich",
        "\u{9b}31m",
        "1mbit\\u009b",
    ] {
        assert!(!is_known(word), "{word}");
    }
}

#[test]
fn first_words_are_names_of_commands() {
    assert!(["ip", "ppp", "key-string", "ipv6", "MARKER"].into_iter().all(is_first));
    let keys =
        ["", "A0030201", "MIIDdzCCAl+gAwIBAgI", "308201D5", "x1y2z3", "a=b", "$1$mERr$hx5rVt7rPNoS4wqbXKX7m0", "ключ"];
    assert!(!keys.into_iter().any(is_first));
}

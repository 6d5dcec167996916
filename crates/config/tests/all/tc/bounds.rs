//! What a script may make of its text is bounded, and said once. What stands in the text is read.

use super::{codes, read};
use perhop_config::account::Verdict;
use perhop_config::dialect::Read;

const HTB: &str = "tc qdisc add dev eth0 root handle 1: htb default 1\n";
const ROOT: &str = "tc qdisc add dev eth0 root fq_codel\n";

/// How many classes are made.
fn classes(read: &Read) -> usize {
    read.device.ports[0].queue.as_ref().map_or(0, |queue| queue.classes.len())
}

/// The messages of W448.
fn met(read: &Read) -> Vec<&str> {
    read.findings.iter().filter(|it| it.code == "W448").map(|it| it.message.as_str()).collect()
}

/// 259 bytes that double a variable thirty times: 10 GB.
#[test]
fn a_value_has_a_most() {
    let text = format!("A=aaaaaaaaaa\n{}{ROOT}", "A=$A$A\n".repeat(30));
    let found = allocation_counter::measure(|| {
        let read = read(&text);
        assert_eq!(codes(&read), ["W448"]);
        assert!(met(&read)[0].starts_with("a value is not read: it has more than 65536 bytes"), "{:?}", met(&read));
        // 10 * 2^12 is the last that fits.
        assert_eq!(read.account.lines[&14].verdict, Verdict::NotModelled);
        assert_eq!(read.account.lines.len(), 2);
    });
    assert!(found.bytes_max < 2_000_000, "{found:?}");
}

/// A value of the longest length in each line would be 64 KiB for each.
#[test]
fn all_values_together_have_a_most() {
    let text = format!("A=aaaaaaaaaa\n{}{}", "A=$A$A\n".repeat(12), "tc qdisc add dev $A root pfifo\n".repeat(2000));
    let found = allocation_counter::measure(|| {
        let read = read(&text);
        let said: Vec<_> = met(&read).into_iter().filter(|it| it.contains("all values together")).collect();
        assert_eq!(said.len(), 1, "{said:?}");
    });
    assert!(found.bytes_max < 60_000_000, "{found:?}");
}

/// Fifty loops over two values each, on one line: 2^50 runs.
#[test]
fn loops_within_loops_end() {
    let loops = "for a in 1 2; do ".repeat(50) + "tc qdisc add dev e$a root fq_codel;" + &" done;".repeat(50);
    let read = read(&format!("{ROOT}{loops}\n"));
    // The first run adds what is there already.
    assert_eq!(codes(&read), ["W400", "W448"]);
    let notes = &read.account.lines[&2].notes;
    assert!(notes.len() <= 4, "each is said once: {notes:?}");
}

/// The first value stands in the text; 20000 more are run.
#[test]
fn so_many_lines_are_run() {
    for (values, met) in [(20_001, 0), (20_002, 1)] {
        let text = format!(
            "{HTB}for ((i = 1; i <= {values}; i++)); do\n tc class add dev eth0 parent 1: classid 1:$i htb rate 1mbit\ndone\n"
        );
        let read = read(&text);
        assert_eq!(read.findings.iter().filter(|it| it.code == "W448").count(), met, "{values}");
    }
    // without a default, as one class that all packets enter is the link
    let htb = HTB.replace(" default 1", "");
    let text = format!(
        "{htb}for i in $(seq 1 9000); do\n for j in 1 2 3; do\n  ip link add e$i-$j\n done\ndone\nfor i in 1 2 3; do\n tc class add dev eth0 parent 1: classid 1:$i htb rate 1mbit\ndone\n"
    );
    let read = read(&text);
    assert_eq!((met(&read).len(), classes(&read)), (1, 1), "the last loop is read once, with its first value");
}

/// However many lines a loop has, and behind however many others it stands.
#[test]
fn lines_of_the_text_are_read() {
    let line = |i: usize| format!(" tc class add dev eth0 parent 1: classid 1:{i:x} htb rate 1mbit\n");
    let body: String = (1..=30_000).map(line).collect();
    let read_all = read(&format!("{HTB}for a in 1 2 3; do\n{body}done\n"));
    assert_eq!((classes(&read_all), met(&read_all).len()), (30_000, 1));
    let list: String =
        (1..=400).map(|i| format!("tc class add dev eth0 parent 1: classid 1:{i:x} htb rate 1mbit; ")).collect();
    let long = read(&format!(
        "{HTB}A=1; {list}for i in 191 192; do tc class add dev eth0 parent 1: classid 1:$i htb rate 1mbit; done; tc class add dev eth0 parent 1: classid 1:193 htb rate 1mbit\n"
    ));
    assert_eq!((classes(&long), met(&long).len()), (403, 0));
}

/// No stack is deep enough for what a text may open.
#[test]
fn depth_ends() {
    let deep = 2_000;
    let texts = [
        format!("{}tc qdisc add dev e root fq_codel;{}\n", "for a in 1; do ".repeat(deep), " done;".repeat(deep)),
        format!("{}tc qdisc add dev e root fq_codel\n{}", "for a in 1; do\n".repeat(deep), "done\n".repeat(deep)),
        format!("A=$(({}1{}))\n", "(".repeat(deep), ")".repeat(deep)),
        format!("A={}\n", "$(echo ".repeat(deep)),
        format!("tc qdisc add dev eth1 root fq_codel limit {}1\n", "${A:-".repeat(deep)),
        "for a in 1; do tc qdisc add dev e root fq_codel; done; ".repeat(deep) + "\n",
        "A=1; for ((;;)); do ".repeat(deep) + "\n",
    ];
    for text in texts {
        let read = read(&format!("{ROOT}{text}"));
        assert!(met(&read).len() <= 1, "{:?}", met(&read));
    }
    let json = format!(
        "[{{\"kind\":\"fq_codel\",\"handle\":\"1:\",\"dev\":\"eth0\",\"root\":true,\"options\":{{\"x\":{}1{},\"limit\":77}}}}]\n",
        "[".repeat(deep),
        "]".repeat(deep)
    );
    let read = read(&json);
    assert!(met(&read)[0].contains("more than 64 brackets are open"), "{:?}", met(&read));
    assert_eq!(super::value(&read.device.ports[0].queue.as_ref().unwrap().settings, "limit"), "77p");
}

/// `i += 100` counts to the end.
#[test]
fn steps_are_taken_to_the_end() {
    let text = format!(
        "{HTB}for ((i = 0; i <= 9900; i += 100)); do\n tc class add dev eth0 parent 1: classid 1:$((i + 1)) htb rate 1mbit\ndone\n"
    );
    assert_eq!(classes(&read(&text)), 100);
}

/// What a loop finds in each of its runs is found once; different findings are each found once.
#[test]
fn findings_of_a_line_are_said_once() {
    let text = format!(
        "{ROOT}for i in $(seq 1 300); do\n tc qdisc add dev eth0 root frob\ndone\nfor i in 1 2 3; do\n tc qdisc add dev eth0 root limit$i 5x\ndone\n"
    );
    let read = read(&text);
    let lines: Vec<_> = read.findings.iter().map(|it| text[..it.place.start].matches('\n').count() + 1).collect();
    assert_eq!(lines.iter().filter(|line| **line == 3).count(), 1, "{:?}", read.findings);
    assert!(read.account.lines[&3].notes.len() == 1);
    assert_eq!(read.account.lines[&6].notes.len(), lines.iter().filter(|line| **line == 6).count());
}

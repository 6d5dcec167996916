//! HTB and its numbers.

use super::{given, none, only};

/// Classes at the root of `eth0`, each with a queue, so that only their numbers are wrong.
fn tree(root: &str, classes: &[[&str; 3]]) -> String {
    let class = |[name, parent, numbers]: &[&str; 3]| {
        let line = format!("tc class add dev eth0 parent {parent} classid {name} htb {numbers}\n");
        let leaf = !classes.iter().any(|other| other[1] == *name);
        let queue = format!("tc qdisc add dev eth0 parent {name} handle {}: sfq\n", &name[2..]);
        if leaf { line + &queue } else { line }
    };
    format!("tc qdisc add dev eth0 root handle 1: htb {root}\n{}", classes.iter().map(class).collect::<String>())
}

fn two(root: &str, one: &str, other: &str) -> String {
    let top = ["1:1", "1:", "rate 100mbit burst 100k"];
    tree(root, &[top, ["1:10", "1:1", one], ["1:20", "1:1", other]])
}

/// 100 Mbit/s are 12.5 MB/s; by 10 that is 1.25 MB, kept at 200000 B: 16.7 to 1 becomes 2.7 to 1.
#[test]
fn quanta_out_of_bounds() {
    let found = only(
        "tc",
        &two("default 20", "rate 6mbit", "rate 100mbit"),
        "W431",
        "tc class add dev eth0 parent 1:1 classid 1:20 htb rate 100mbit",
    );
    assert_eq!(
        found.message,
        "the quantum of `1:20` is kept at 200000 B, where rate / r2q gives 1250000 B (\"quantum of class .. is big\"): the largest \
         class borrows 2.7 times as much as the smallest, by their rates it would be 16.7 times"
    );
    // 6 Mbit/s are 750000 B/s: by 495 at least 1514 B; 100 Mbit/s then get 25252 B.
    assert!(found.instead.contains("r2q 495"), "{}", found.instead);
    none("tc", &two("default 20 r2q 495", "rate 6mbit", "rate 100mbit"));
}

#[test]
fn a_finding_says_which_checks_of_the_scenario_it_replaces() {
    let codes = |text: &str| given("tc", text, &<_>::default()).iter().map(|it| it.0.instead_of).collect::<Vec<_>>();
    assert_eq!(codes(&two("default 20", "rate 6mbit", "rate 100mbit")), [["W327"]]);
    let rates = ["1:9", "1:", "rate 100kbps ceil 1mbit"];
    assert_eq!(codes(&tree("default 9", &[rates])), [<&[&str]>::default()]);
}

#[test]
fn quanta_within_bounds_or_of_their_own_say_nothing() {
    none("tc", &two("default 20", "rate 1mbit", "rate 16mbit"));
    none("tc", &two("default 20", "rate 1mbit quantum 1514", "rate 100mbit quantum 60000"));
    // As `tc -d` prints what was bounded.
    let class = "tc class add dev eth0 parent 1:1 classid 1:20 htb rate 100mbit quantum 200000";
    only("tc", &two("default 20", "rate 1mbit", "rate 100mbit quantum 200000"), "W431", class);
    // A class alone shares with no other.
    none("tc", &tree("default 9", &[["1:9", "1:", "rate 100mbit"]]));
}

/// No r2q serves 64 kbit/s and 100 Mbit/s: 8000 / 1514 = 5, and 12.5 MB / 5 is too much.
#[test]
fn where_no_r2q_serves_quanta_are_written() {
    let all = given("tc", &two("default 20", "rate 64kbit", "rate 100mbit"), &<_>::default());
    let line = "tc class change dev eth0 parent 1:1 classid 1:20 htb rate 100mbit quantum 200000";
    assert!(all[0].0.instead.starts_with(line), "{all:?}");
}

#[test]
fn a_ceil_below_the_rate() {
    let text = two("default 20", "rate 4mbit ceil 1mbit prio 3", "rate 6mbit");
    let found = only("tc", &text, "W432", "ceil 1mbit");
    assert!(found.message.ends_with("25 % of what it is guaranteed"), "{}", found.message);
    assert_eq!(found.instead, "tc class change dev eth0 parent 1:1 classid 1:10 htb rate 4mbit ceil 4mbit prio 3");
}

#[test]
fn no_default_class() {
    let text = two("", "rate 4mbit", "rate 6mbit");
    let all = given("tc", &text, &<_>::default());
    assert_eq!(all[0].0.code, "W433", "{all:?}");
    assert!(all[0].0.instead.contains("htb default 20"), "{all:?}");
    let every = "tc filter add dev eth0 parent 1: protocol all prio 9 matchall flowid 1:20\n";
    none("tc", &(text + every));
}

/// 1000 frames of 1514 B at 2 Mbit/s: 6.056 s.
#[test]
fn a_leaf_without_qdisc() {
    let root = "tc qdisc add dev eth0 root handle 1: htb default 10\ntc class add dev eth0 parent 1: classid 1:1 htb rate 10mbit\n";
    let leaf = "tc class add dev eth0 parent 1:1 classid 1:10 htb rate 1mbit ceil 2mbit\n";
    let text = format!("{root}{leaf}");
    let found = only("tc", &text, "W434", leaf.trim_end());
    assert!(found.message.contains("(2Mbit/s) is a delay of 6.056s"), "{}", found.message);
    assert_eq!(found.instead, "tc qdisc add dev eth0 parent 1:10 fq_codel");
    none("tc", &format!("{text}tc qdisc add dev eth0 parent 1:10 pfifo limit 10\n"));
    none("tc", &text.replace("10mbit", "200mbit").replace("2mbit", "200mbit"));
    // An HTB of one class is read as the rate of the link.
    let one = "tc class add dev eth0 parent 1: classid 1:10 htb rate 2mbit\n";
    let alone = format!("tc qdisc add dev eth0 root handle 1: htb default 10\n{one}");
    assert!(only("tc", &alone, "W434", "rate 2mbit").message.contains("delay of 6.056s"));
    none("tc", &format!("{alone}tc qdisc add dev eth0 parent 1:10 handle 10: sfq\n"));
    // Classes alone say nothing of their queues.
    none("tc", "class htb 1:10 root prio 0 rate 1Mbit ceil 1Mbit burst 1600b cburst 1600b\n");
}

/// 1600 B at 1 Gbit/s last 12.8 us.
#[test]
fn a_burst_shorter_than_a_timer_is_late() {
    let gigabit = |numbers: &str| tree("default 9 r2q 1000", &[["1:9", "1:", numbers], ["1:2", "1:", "rate 20mbit"]]);
    let class = "tc class add dev eth0 parent 1: classid 1:9 htb rate 1gbit";
    let found = only("tc", &gigabit("rate 1gbit"), "W435", class);
    assert!(found.message.contains("1600 B are 12 us at 1Gbit/s"), "{}", found.message);
    assert!(found.instead.ends_with("htb rate 1gbit burst 125000b cburst 125000b"), "{}", found.instead);
    none("tc", &gigabit("rate 1gbit burst 125000b cburst 125000b"));
    let tbf = |burst: &str| format!("tc qdisc add dev eth0 root tbf rate 900mbit burst {burst} latency 50ms\n");
    only("tc", &tbf("5000b"), "W435", "burst 5000b");
    none("tc", &tbf("112500b"));
}

//! What a file becomes is bounded before any of it is made, and what is kept of it is counted by what is reached.

use perhop_scenario::{Options, Sweep};
use std::fmt::Write as _;

fn said(text: &str) -> String {
    Sweep::check(text, &Options::new("it.toml")).map_or_else(|found| found.to_string(), |found| found.0.to_string())
}

/// `n` customers at one bottleneck, with a class, and links, for each.
fn customers(n: usize) -> String {
    format!(
        r#"
[scenario]
duration = "3s"
warmup = "1s"
[links]
"C{{1..{n}}} - E" = {{ rate = "50Mbit/s", delay = "1ms" }}
"H{{1..{n}}} - X" = {{ rate = "50Mbit/s", delay = "1ms" }}
"E - X" = {{ rate = "1Gbit/s", delay = "1ms" }}
[traffic."t{{1..{n}}}"]
model = "ftp"
tcp = "linux"
from = "C{{i}}"
to = "H{{i}}"
"#
    )
}

/// 1,000 customers were refused for 4.8 GB of counters: 1,000 classes at 4,002 ports. Each passes six of them.
#[test]
fn a_thousand_classes_at_ports_of_their_own_are_accepted() {
    assert!(!said(&customers(1000)).contains("E206"));
}

/// 20 kB of text, two million links: 4 GB in `check` once.
#[test]
fn series_are_counted_before_they_are_expanded() {
    let mut text = "[links]\n".to_owned();
    for k in 0..200 {
        let _ = writeln!(text, r#""A{k}x{{1..10000}} - B" = {{ rate = "1Gbit/s", delay = "1ms" }}"#);
    }
    text += "[traffic.t]\nmodel = \"ftp\"\nfrom = \"A1x1\"\nto = \"B\"\n";
    let said = said(&text);
    assert!(said.starts_with("error[E270] the series of this file make 4050000 values or more"), "{said}");
    assert!(said.contains("it.toml:82:2") && said.contains("help: at most 4000000 are allowed: "), "{said}");
    assert_eq!(said.matches("error[").count(), 1, "{said}");
}

/// Points that are kept hold the whole scenario each.
#[test]
fn points_are_counted_before_they_are_made() {
    let values = (1..=80).map(|n| n.to_string()).collect::<Vec<_>>().join(", ");
    let text =
        customers(300) + &format!("[sweep]\n\"scenario.seed\" = [{values}]\n\"traffic.t1.flows\" = [{values}]\n");
    let said = said(&text);
    assert!(said.contains("error[E270] the 6400 points of this sweep hold "), "{said}");
    assert!(said.contains("help: at most 20000000 are allowed: run fewer points, or a smaller scenario"), "{said}");
}

/// A chain of `links` links, and `flows` tables of one class from its one end to the other.
fn chain(links: usize, flows: usize) -> String {
    let mut text = "[links]\n".to_owned();
    for i in 0..links {
        let _ = writeln!(text, r#""N{i} - N{}" = {{ rate = "1Gbit/s", delay = "1us" }}"#, i + 1);
    }
    let to = format!("from = \"N0\"\nto = \"N{links}\"\n");
    text + &format!("[traffic.\"t{{1..{flows}}}\"]\nmodel = \"ftp\"\ntcp = \"linux\"\nclass = \"all\"\n{to}")
}

/// What is looked at for each flow and link is bounded by the first of it that is kept: its route.
#[test]
fn routes_are_counted_before_anything_is_kept_for_each_of_their_links() {
    let text = chain(2500, 10_000);
    let found = allocation_counter::measure(|| {
        let said = said(&text);
        assert!(
            said.starts_with("error[E206] the routes of all traffic have 40005000 hops or more in total"),
            "{said}"
        );
        assert!(
            said.contains("help: at most 40000000 are allowed: shorten the routes, or put several `flows`"),
            "{said}"
        );
    });
    assert!(found.bytes_max < 400_000_000, "{found:?}");
}

/// Conditioners kept a set of looks for each flow at each port: 450 B for each, where 200 do.
#[test]
fn looks_are_shared() {
    let (links, flows) = (60, 400);
    let ports: Vec<_> = (0..links).map(|i| format!("\"N{i} -> N{}\"", i + 1)).collect();
    let policer = |at: &str| {
        format!(
            "[conditioner.c]\nkind = \"token-bucket\"\ncir = \"9Mbit/s\"\ncbs = \"100kB\"\nred = \"drop\"\nat = [{at}]\n"
        )
    };
    let most = |text: String| allocation_counter::measure(|| drop(said(&text))).bytes_max;
    let [one, all] = [&ports[..1], &ports[..]].map(|at| most(chain(links, flows) + &policer(&at.join(", "))));
    let each = (all - one) / (links * flows) as u64;
    assert!(each < 100, "{each} B");
}

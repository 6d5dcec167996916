//! Configurations of tc drawn at random, with what a Linux kernel did with each packet: perhop says the same, but for the
//! packets that are listed as known, which still differ. `lab/recording/differential.py` records them.

mod asked;

use asked::{Asked, answer};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../lab/records/configurations.jsonl");

/// A configuration that is recorded.
#[derive(Deserialize, Serialize)]
struct Kept {
    #[serde(flatten)]
    asked: Asked,
    /// What the kernel did with each packet.
    fates: Vec<String>,
    /// Packets with which perhop does something else, by what the cause is.
    known: Vec<Known>,
}

#[derive(Deserialize, Serialize)]
struct Known {
    kind: String,
    packets: Vec<usize>,
}

/// The packets whose fates differ: all of a text that is refused.
fn differing(kept: &Kept) -> BTreeSet<usize> {
    let fates = answer(&kept.asked).fates;
    (0..kept.fates.len()).filter(|&i| fates.get(i) != Some(&kept.fates[i])).collect()
}

impl Kept {
    /// The packets that are known to differ.
    fn known(&self) -> BTreeSet<usize> {
        self.known.iter().flat_map(|it| &it.packets).copied().collect()
    }

    /// What is not as the list says.
    fn wrong(&self, found: &BTreeSet<usize>) -> Vec<String> {
        let (known, name) = (self.known(), &self.asked.name);
        let new = found.difference(&known).map(|i| format!("{name}, packet {i}: the kernel says {}", self.fates[*i]));
        let mended = known.difference(found).map(|i| format!("{name}, packet {i} is mended: renew the list"));
        new.chain(mended).collect()
    }

    /// Takes what is mended off the list.
    fn shorten(&mut self, found: &BTreeSet<usize>) {
        self.known.iter_mut().for_each(|it| it.packets.retain(|i| found.contains(i)));
        self.known.retain(|it| !it.packets.is_empty());
    }
}

fn recorded() -> Vec<Kept> {
    let text = std::fs::read_to_string(FILE).expect("the recorded configurations");
    text.lines().map(|line| serde_json::from_str(line).expect("as recorded")).collect()
}

/// With `PERHOP_RENEW=1` known differences that are mended leave the file; none comes into it.
#[test]
fn packets_go_where_a_kernel_sends_them_but_for_the_known_ones() {
    let (mut all, mut wrong) = (recorded(), Vec::new());
    let renews = std::env::var_os("PERHOP_RENEW").is_some_and(|it| it == "1");
    for kept in &mut all {
        let found = differing(kept);
        if renews {
            kept.shorten(&found);
        }
        wrong.extend(kept.wrong(&found));
    }
    if renews {
        let lines = all.iter().map(|it| serde_json::to_string(it).expect("plain data") + "\n");
        std::fs::write(FILE, lines.collect::<String>()).expect("written");
    }
    assert_eq!(all.len(), 20);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

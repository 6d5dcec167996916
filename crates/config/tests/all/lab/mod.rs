//! Configurations of tc drawn at random, with what a Linux kernel did with each packet: perhop says the same, or that it does not
//! know. `lab/recording/differential.py` records them.

mod answer;

use answer::{Question, answer};
use serde::Deserialize;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../lab/records/configurations.jsonl");
/// Packets of which perhop may say that it does not know, of a hundred.
const MOST_UNKNOWN: usize = 10;

/// A configuration that is recorded.
#[derive(Deserialize)]
struct Recorded {
    #[serde(flatten)]
    question: Question,
    /// What the kernel did with each packet.
    fates: Vec<String>,
}

impl Recorded {
    /// Packets of which perhop says something else than the kernel, and how many of which it says nothing.
    fn compared(&self) -> (Vec<String>, usize) {
        let answer = answer(&self.question);
        assert_eq!(answer.refused, None, "{}", self.question.text);
        let pairs = self.fates.iter().zip(&answer.fates).enumerate();
        let unlike = pairs.filter(|(_, (kernel, perhop))| kernel != perhop && *perhop != "unknown");
        let name = &self.question.name;
        let wrong = unlike.map(|(i, (kernel, perhop))| format!("{name}, packet {i}: kernel {kernel}, perhop {perhop}"));
        (wrong.collect(), answer.fates.iter().filter(|it| *it == "unknown").count())
    }
}

#[test]
fn packets_go_where_a_kernel_sends_them() {
    let text = std::fs::read_to_string(FILE).expect("the recorded configurations");
    let all: Vec<Recorded> = text.lines().map(|line| serde_json::from_str(line).expect("as recorded")).collect();
    let (wrong, unknown): (Vec<_>, Vec<_>) = all.iter().map(Recorded::compared).unzip();
    assert_eq!(all.len(), 20);
    assert_eq!(wrong.concat(), [""; 0]);
    let packets: usize = all.iter().map(|it| it.fates.len()).sum();
    assert!(100 * unknown.iter().sum::<usize>() <= MOST_UNKNOWN * packets, "{unknown:?} of {packets}");
}

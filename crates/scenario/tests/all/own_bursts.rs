//! Bursts at their host's port: what `check` and `explain` say of them.

use perhop_scenario::explain::explain;
use perhop_scenario::{Options, Scenario};

/// A host with this queue, conditioner and traffic.
fn host(queue: &str, conditioner: &str, traffic: &str) -> String {
    format!(
        "[links]\n\"h - r\" = {{ rate = \"20Mbit/s\", delay = \"5ms\" }}\n\"r - s\" = {{ rate = \"10Mbit/s\", delay = \"5ms\" }}\n\
         \"h -> r\" = {{ queue = {queue} }}\n{conditioner}[traffic.t]\nfrom = \"h\"\nto = \"s\"\n{traffic}"
    )
}

const BULK: &str = "model = \"ftp\"\ntcp = \"linux\"\n";
const MEDIA: &str = "model = \"cbr\"\nrate = \"1Mbit/s\"\nsize = \"1200B\"\ngso = 4\n";
const CODEL: &str = "{ aqm = \"codel\" }";
const MARK: &str = "[conditioner.mark]\nat = \"h -> r\"\nkind = \"tsw2cm\"\ncir = \"2Mbit/s\"\n";

fn codes(text: &str) -> Vec<String> {
    let said = match Scenario::parse(text, &Options::new("x.toml")) {
        Ok((_, said)) | Err(said) => said,
    };
    said.list.iter().map(|it| it.code.to_owned()).collect()
}

fn error(text: &str) -> Option<String> {
    codes(text).into_iter().find(|code| code.starts_with('E'))
}

#[test]
fn a_conditioner_before_a_queue_that_would_meet_bursts_is_a_warning() {
    let warns = |text: String| codes(&text).iter().any(|code| code == "W358");
    assert!(warns(host(CODEL, MARK, BULK)) && warns(host(CODEL, MARK, MEDIA)));
    assert!(!warns(host(CODEL, "", BULK)), "no conditioner");
    assert!(!warns(host("{ limit = \"100p\" }", MARK, BULK)), "nothing that would meet bursts");
    let single = BULK.replace("\"linux\"", "{ stack = \"linux\", burst-segments = 1 }");
    assert!(!warns(host(CODEL, MARK, &single)), "no bursts");
}

/// 65,507 bytes of data, 128 datagrams; for models that send datagrams of one size.
#[test]
fn a_packet_holds_so_many_datagrams() {
    let with = |gso: u32, size: &str| {
        host(CODEL, "", &MEDIA.replace("gso = 4", &format!("gso = {gso}")).replace("1200B", size))
    };
    for (gso, size, code) in [
        (55, "1200B", None),
        (56, "1200B", Some("E293")),
        (128, "100B", None),
        (129, "100B", Some("E293")),
        (0, "100B", Some("E293")),
    ] {
        assert_eq!(error(&with(gso, size)).as_deref(), code, "{gso} of {size}");
    }
    assert_eq!(error(&host(CODEL, "", &format!("{BULK}gso = 4\n"))).as_deref(), Some("E239"));
}

#[test]
fn explain_says_what_the_hosts_queue_counts_once() {
    let said = |text: String| explain(&Scenario::parse(&text, &Options::new("x.toml")).unwrap().0);
    assert!(said(host(CODEL, "", BULK)).contains("; up to 45 segments are one packet at h -> r"));
    assert!(said(host(CODEL, "", MEDIA)).contains("; up to 4 datagrams are one packet at h -> r"));
    for none in [host("{ limit = \"100p\" }", "", BULK), host(CODEL, MARK, BULK)] {
        assert!(!said(none).contains("one packet"));
    }
}

//! The largest packet of a class is that of the packets that can come to it.

use perhop_scenario::{Options, Scenario};

/// Voice of 200 B and bulk TCP of 1040 B meet at `R -> b`; what `check` says, with the value it names.
fn said(queue: &str, more: &str) -> Vec<String> {
    let text = format!(
        "[scenario]\nduration = \"20s\"\n[links]\n\"a - R\" = {{ rate = \"100Mbit/s\" }}\n\"R - b\" = {{ rate = \"10Mbit/s\" }}\n\
         \"R -> b\" = {{ queue = {queue} }}\n[traffic.voice]\nmodel = \"cbr\"\nrate = \"80kbit/s\"\nsize = \"200B\"\nfrom = \"a\"\n\
         to = \"b\"\ndscp = \"EF\"\n[traffic.bulk]\nmodel = \"ftp\"\nfrom = \"a\"\nto = \"b\"\n{more}"
    );
    let list = match Scenario::parse(&text, &Options::new("x.toml")) {
        Ok((_, diagnostics)) => diagnostics.list,
        Err(diagnostics) => diagnostics.list,
    };
    let codes = ["E212", "E217", "E225", "W326", "W327"];
    let sizes = list.into_iter().filter(|it| codes.contains(&it.code));
    sizes.map(|it| format!("{} {} ({})", it.code, it.sentence(), it.label)).collect()
}

/// Bulk that a conditioner at the port may mark EF.
const MARKED: &str = "[conditioner.edge]\nat = \"a -> R\"\nmatch = { traffic = \"bulk\" }\nkind = \"token-bucket\"\ncir = \"1Mbit/s\"\n\
                      cbs = \"5kB\"\ngreen = \"mark EF\"\n";

#[test]
fn packets_of_other_classes_do_not_count() {
    let voice = [
        r#"{ scheduler = "strict-priority", classes = [{ for = "EF", rate = "1Mbit/s", burst = "600B" }, {}] }"#,
        r#"{ scheduler = "ets", classes = [{ for = "EF", rate = "1Mbit/s", burst = "600B" }, { quantum = "1500B" }] }"#,
        r#"{ scheduler = "drr", classes = [{ for = "EF", quantum = "300B" }, { quantum = "1500B" }] }"#,
        r#"{ scheduler = "drr", classes = [{ for = "EF", quantum = "300B", queue = { shape = { rate = "1Mbit/s", burst = "300B" } } }, { quantum = "1500B" }] }"#,
        r#"{ scheduler = "drr", classes = [{ for = "EF", quantum = "300B", queue = { limit = "600B" } }, { quantum = "1500B" }] }"#,
        r#"{ scheduler = "wrr", classes = [{ for = "EF", weight = 1, queue = { scheduler = "drr", classes = [{ for = "AF11", quantum = "1B" }, { quantum = "200B" }] } }, { weight = 1 }] }"#,
        r#"{ scheduler = "htb", classes = [{ for = "EF", rate = "1Mbit/s", quantum = "300B", burst = "300B", cburst = "300B" }, { rate = "8Mbit/s", quantum = "1500B" }] }"#,
    ];
    for queue in voice {
        assert_eq!(said(queue, ""), [""; 0], "{queue}");
    }
    // Any of bulk may come to the class of EF.
    for queue in voice {
        let found = said(queue, MARKED);
        assert!(found.iter().any(|it| it.contains("of traffic `bulk` ")), "{queue}: {found:?}");
    }
}

/// One byte less than the largest packet of a class is too little, in frames too.
#[test]
fn packets_of_the_class_do() {
    let priority = |burst: u32| {
        format!(
            r#"{{ scheduler = "strict-priority", classes = [{{ for = "EF", rate = "1Mbit/s", burst = "{burst}B" }}, {{}}] }}"#
        )
    };
    let message = "E212 class 1: `burst` is 199B, less than one packet (the largest packet of traffic `voice` is 200B)";
    assert_eq!(said(&priority(199), ""), [message]);
    assert_eq!(said(&priority(200), ""), [""; 0]);
    let quanta = |voice: u32, bulk: u32| {
        format!(
            r#"{{ scheduler = "drr", classes = [{{ for = "EF", quantum = "{voice}B" }}, {{ quantum = "{bulk}B" }}] }}"#
        )
    };
    assert_eq!(said(&quanta(199, 1040), "").len(), 1);
    assert_eq!(
        said(&quanta(200, 1039), ""),
        ["E225 class 2: `quantum` is 1039B (the largest packet of traffic `bulk` is 1040B)"]
    );
    let framed = |burst: u32| {
        format!(
            r#"{{ scheduler = "htb", overhead = "18B", classes = [{{ for = "EF", rate = "1Mbit/s", quantum = "300B", burst = "{burst}B", cburst = "300B" }}, {{ rate = "8Mbit/s", quantum = "1500B", burst = "1058B" }}] }}"#
        )
    };
    assert_eq!(said(&framed(218), ""), [""; 0]);
    assert_eq!(said(&framed(217), "").len(), 1);
    let shape = |burst: u32| {
        format!(
            r#"{{ scheduler = "drr", classes = [{{ for = "EF", quantum = "300B", queue = {{ shape = {{ rate = "1Mbit/s", burst = "{burst}B", link-layer = "atm" }} }} }}, {{ quantum = "1500B" }}] }}"#
        )
    };
    assert_eq!((said(&shape(265), ""), said(&shape(264), "").len()), (Vec::new(), 1), "five cells");
}

/// While a conditioner has a fault, it may mark anything: what the classes get is not known, and the largest of all counts.
#[test]
fn where_it_is_not_known_the_largest_of_all_counts() {
    let queue = r#"{ scheduler = "drr", classes = [{ for = "EF", quantum = "300B" }, { quantum = "1500B" }] }"#;
    assert_eq!(said(queue, ""), [""; 0]);
    let faulty = MARKED.replace("1Mbit/s", "fast");
    assert_eq!(said(queue, &faulty).len(), 1);
}

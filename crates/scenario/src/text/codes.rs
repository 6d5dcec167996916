//! Every diagnostic code of perhop, with its meaning. Codes are stable: a retired code is not reused.

/// Code and meaning, in order.
pub const TABLE: &[(&str, &str)] = &[
    ("E001", "the file is not TOML"),
    ("E002", "a name or key is defined twice"),
    ("E003", "a value of the wrong type"),
    ("E004", "an unknown key"),
    ("E005", "a key is missing"),
    ("E006", "an unknown name"),
    ("E007", "the file cannot be read"),
    ("E008", "the file is not UTF-8 text"),
    ("E009", "the file is empty"),
    ("E010", "an override (`-s`, `--vary`) that is not KEY=VALUE"),
    ("E011", "a name that is empty or unfit for a directory"),
    ("E012", "a selector (`@`) that matches no section"),
    ("E020", "results or a capture cannot be written"),
    ("E021", "a capture cannot be read or marked"),
    ("E022", "a path that is not UTF-8 where it is printed as JSON or handed to Python"),
    ("E023", "results on disk are not those that were written"),
    ("E024", "a directory of runs cannot be read"),
    ("E103", "a quantity without its unit"),
    ("E105", "a unit of another quantity, or an unknown one"),
    ("E106", "`K`, `M` or `G` alone: of 1000 or of 1024, bits or bytes?"),
    ("E107", "a quantity that is not a number and a unit"),
    ("E108", "a quantity out of range or finer than its unit can hold"),
    ("E201", "a value out of its bounds"),
    ("E202", "a change that a running algorithm cannot take"),
    ("E203", "the warm-up is not below the duration"),
    ("E204", "the duration is beyond the simulator's clock"),
    ("E205", "more links and sources than the simulator holds"),
    ("E206", "series or counters of a replication that take too much memory"),
    ("E212", "a bucket smaller than the largest packet it meters"),
    ("E213", "`pir` below `cir`"),
    ("E214", "a lower threshold or probability that is not below its upper one"),
    ("E215", "a threshold that the queue's limit keeps out of reach"),
    ("E216", "a probability outside [0, 1]"),
    ("E217", "a queue without room for a packet, or a limit in percent of itself"),
    ("E218", "a threshold that needs an unspecified link rate or limit"),
    ("E219", "thresholds in different units"),
    ("E220", "not a DSCP"),
    ("E221", "not an IP protocol"),
    ("E222", "not an address prefix"),
    ("E223", "a profile that no packet can reach"),
    ("E224", "not an action"),
    ("E225", "a quantum below the largest packet"),
    ("E226", "a queue's own keys together with `scheduler`, or a scheduler within another"),
    ("E227", "a strict class after one that shares by its quantum"),
    ("E230", "not a link"),
    ("E232", "an unknown node"),
    ("E233", "a destination that cannot be reached, or that has no route back"),
    ("E234", "traffic from a node to itself"),
    ("E235", "an unknown port"),
    ("E236", "labels are read that nothing has written"),
    ("E237", "two writers of labels on a path"),
    ("E238", "a scenario without traffic"),
    ("E239", "a key that has no effect"),
    ("E240", "an axis of a sweep without values, with values alike, or that cannot be swept"),
    ("E241", "a sweep of too many points"),
    ("E242", "a policy that matches by named traffic"),
    ("E243", "not an address, or one that two nodes have"),
    ("E244", "a scenario without links"),
    ("E245", "a policy without conditioner"),
    ("E246", "ECN of a traffic that contradicts its `tcp`"),
    ("E250", "not a series of names, or not an expression in one"),
    ("E251", "tickets on ACKs that do not return by the route of their data"),
    ("E252", "a currency loop"),
    ("E255", "a label that a policy's flow labels cannot carry"),
    ("E260", "nothing that the rule of `perhop tune` applies to"),
    ("E261", "a mean given for a law that has none"),
    ("E262", "several senders for a model that has one"),
    ("E263", "a conditioner in a policy that needs what only a simulator knows"),
    ("E900", "packets do not add up: a bug in perhop"),
    ("W301", "a policer whose bucket is too small for the TCP that it holds to a contract"),
    ("W302", "EF traffic that nothing polices"),
    ("W305", "a conditioner that takes no traffic"),
    ("W306", "a conditioner where no traffic passes"),
    ("W307", "a section that nothing uses"),
    ("W310", "a policy that changes no packets"),
    ("W311", "a change that changes nothing"),
    ("W312", "traffic without labels at a queue that reads them"),
    ("W313", "more tickets on a packet than its tag can say, or less than one"),
    ("W314", "a conditioner that looks at return traffic, in a policy that does not say which packets those are"),
    ("W315", "an exchange of tickets that comes before the tagger at its port"),
    ("W316", "a threshold that the queue never reaches, or only after it has overflowed"),
    ("W317", "a threshold below the one at which SVB or MSVB is stable by Lemma 3.1"),
    ("W318", "an AQM that marks, on traffic that is not ECN-capable"),
    ("W319", "a law of draws that has no mean"),
    ("W320", "a conditioner that measures round trips, and traffic whose ACKs do not return past it"),
    ("W321", "a profile, class or code point that no packet reaches"),
    ("W322", "traffic that falls to a last profile or class, which names other packets"),
    ("W323", "a queue of a policy for `mark`, which has none"),
];

/// What a code means.
pub fn meaning(code: &str) -> Option<&'static str> {
    TABLE.iter().find(|c| c.0 == code).map(|c| c.1)
}

/// `docs/diagnostics.md`.
pub fn page() -> String {
    let mut out = String::from(
        "# Diagnostics\n\nWhat `perhop check` and every command that reads a file may report. `E` prevents a run, `W` \
         is a warning. Codes are stable.\nAll errors of a file come in one pass; \
         warnings that need the whole scenario, as W302 and W321, come once there are no\nerrors. This page is made from `crates/scenario/src/text/codes.rs`.\n\n| code | meaning |\n|------|---------|\n",
    );
    for (code, meaning) in TABLE {
        out += &format!("| {code} | {meaning} |\n");
    }
    out
}

//! What reaches the account, and what must not.

use crate::ios::hand::{read, verdict_in};
use perhop_config::account::Verdict;

const SECRETS: &str = "hostname CORE-SECRET\nenable secret 5 $1$abcd\nusername admin password hunter2\nbanner motd ^C keep out ^C\n\
    class-map match-all VOICE\n description the boss's phone\n match dscp ef\n!\npolicy-map WAN\n description for customer ACME\n class \
    VOICE\n  priority 1000\n class class-default\n  fair-queue\n!\ninterface GigabitEthernet0/0\n description to ACME\n ip address \
    198.51.100.7 255.255.255.0\n crypto map VPN\n bandwidth 20000\n service-policy output WAN\n!\nip access-list extended UNUSED\n \
    permit tcp host 203.0.113.9 any\n!\nsnmp-server community s3cret RO\nline vty 0 4\n password 7 0822455D0A16\nend\n";

const WORDS: [&str; 12] = [
    "CORE-SECRET",
    "abcd",
    "hunter2",
    "keep out",
    "boss",
    "ACME",
    "198.51.100.7",
    "VPN",
    "203.0.113.9",
    "s3cret",
    "vty",
    "0822455D0A16",
];

#[test]
fn nothing_outside_qos_is_shown() {
    for text in [SECRETS.to_owned(), SECRETS.replace("\n ", "\n").replace("\n ", "\n")] {
        let read = perhop_config::import::read(text.as_bytes(), None, &crate::ios::hand::given()).unwrap();
        let lines: Vec<_> = read.lines().collect();
        let shown = format!("{:?}{:?}{lines:?}", read.read.device, read.read.findings);
        for word in WORDS {
            assert!(!shown.contains(word), "{word} is shown of\n{text}");
        }
        assert_eq!(read.read.account.count(&Verdict::NotModelled), 0);
        assert_eq!(lines.len(), 10, "{lines:?}");
    }
}

#[test]
fn lines_that_are_not_understood_are_said() {
    let text = "policy-map P\n class class-default\n  shape average 8000000\n  wibble 5\n  shape average fast\n";
    let read = read(text);
    assert_eq!(verdict_in(&read, text, "wibble"), (Verdict::NotModelled, "`wibble` is not understood".into()));
    assert_eq!(verdict_in(&read, text, "fast").0, Verdict::NotModelled);
}

/// Prompts, numbers of lines, a mail's marks, tabs and carriage returns change nothing.
#[test]
fn typed_pasted_and_mailed_texts_are_the_same() {
    let plain = "class-map match-all VOICE\n match dscp ef\npolicy-map WAN\n class VOICE\n  priority 1000\n class class-default\n  \
                 fair-queue\ninterface Gi0/0\n service-policy output WAN\n";
    let device = read(plain).device;
    let each = |change: &dyn Fn(usize, &str) -> String| {
        plain.lines().enumerate().map(|(i, line)| change(i, line)).collect::<String>()
    };
    let typed = each(&|_, line| format!("R1(config-x)#{}\n", line.trim()));
    let flat = each(&|_, line| format!("{}\n", line.trim()));
    let mailed = each(&|_, line| format!("> {line}\n"));
    let numbered = each(&|i, line| format!("{:>4}: {line}\n", i + 1));
    let tabs = each(&|_, line| format!("{}\r\n", line.replace(' ', "\t")));
    let both = format!("Router#show run\n{}", each(&|i, line| format!("> {}: {line}\n", i + 1)));
    for text in [typed, flat, mailed, numbered, tabs, both] {
        assert_eq!(read(&text).device, device, "{text}");
    }
}

/// As devices take them: a beginning that no other word has.
#[test]
fn words_may_be_cut_short() {
    let whole = "class-map match-any V\n match dscp ef\npolicy-map WAN\n class V\n  priority 512\n class class-default\n  \
                 fair-queue\ninterface Gi0/0\n bandwidth 2048\n service-policy output WAN\n";
    let short = "class-m match-any V\n mat dscp ef\npolicy-m WAN\n cl V\n  pri 512\n cl class-default\n  fair\nint Gi0/0\n \
                 bandwidth 2048\n serv out WAN\n";
    assert_eq!(short.lines().count(), whole.lines().count());
    let settings = |text: &str| format!("{:?}", read(text).device.ports[0].queue.as_ref().unwrap().classes.len());
    assert_eq!(settings(short), settings(whole));
    assert_eq!(read(short).account.count(&Verdict::NotModelled), 0, "{:?}", read(short).account);
}

/// Words in any letters are read, and names keep theirs.
#[test]
fn capitals_are_read() {
    let plain = "ip access-list extended Web\n permit tcp any any eq 80\nclass-map match-any Voice\n match dscp ef\n match \
                 access-group name Web\npolicy-map Wan\n class Voice\n  priority percent 10\n class class-default\n  \
                 random-detect dscp-based\ninterface GigabitEthernet0/0\n service-policy output Wan\n";
    let names = ["Web", "Voice", "Wan", "GigabitEthernet0/0"];
    let change = |of: &dyn Fn(&str) -> String| {
        let word = |word: &str| if names.contains(&word.trim()) { word.to_owned() } else { of(word) };
        plain.split_inclusive([' ', '\n']).map(word).collect::<String>()
    };
    let titled = |word: &str| {
        let part = |part: &str| part[..part.len().min(1)].to_uppercase() + &part[part.len().min(1)..];
        word.split('-').map(part).collect::<Vec<_>>().join("-")
    };
    for text in [change(&str::to_uppercase), change(&titled)] {
        let found = perhop_config::import::read(text.as_bytes(), None, &crate::ios::hand::given()).unwrap().read;
        assert_eq!(found.device, read(plain).device, "{text}");
        assert_eq!(found.account, read(plain).account, "{text}");
    }
    let two = "class-map match-any Voice\n match dscp ef\npolicy-map WAN\n class voice\n  priority 512\n";
    assert_eq!(verdict_in(&read(two), two, "class voice").0, Verdict::Approximated);
}

/// `exit` below `police` leads back to the class, by the prompt or where that says nothing.
#[test]
fn exit_leaves_the_policer_first() {
    let typed = [
        ("config", "policy-map QOS"),
        ("config-pmap", "class VOICE"),
        ("config-pmap-c", "police 128000"),
        ("config-pmap-c-police", "conform-action transmit"),
        ("config-pmap-c-police", "exit"),
        ("config-pmap-c", "exit"),
        ("config-pmap", "class class-default"),
        ("config-pmap-c", "fair-queue"),
    ];
    let prompts: String = typed.iter().map(|(mode, line)| format!("R2({mode})#{line}\n")).collect();
    let plain: String = typed.iter().map(|(_, line)| format!("{line}\n")).collect();
    for text in [prompts, plain] {
        let found = read(&text);
        assert_eq!(verdict_in(&found, &text, "fair-queue").0, Verdict::Approximated, "{text}");
    }
}

/// A policy that is taken from its interface is not there.
#[test]
fn a_policy_is_taken_from_its_interface() {
    let text = "policy-map X\n class class-default\n  shape average 1000000\npolicy-map Y\n class class-default\n  shape average \
                2000000\ninterface Gi0/0\n service-policy output X\n no service-policy output X\n service-policy output Y\n";
    let found = read(text);
    assert_eq!(verdict_in(&found, text, "no service-policy").0, Verdict::Taken);
    let at: Vec<_> = found.device.ports.iter().filter(|it| it.interface.is == "Gi0/0").collect();
    assert_eq!(at.len(), 1, "{at:?}");
    assert_eq!(at[0].queue.as_ref().unwrap().name.is, "Y");
}

/// QoS outside of policy maps.
#[test]
fn lines_of_qos_at_interfaces_are_in_the_account() {
    let text = "policy-map P\n class class-default\n  fair-queue\ninterface Multilink1\n ip rsvp bandwidth 100 20\n ppp multilink \
                interleave\n max-reserved-bandwidth 100\n qos pre-classify\n service-policy output P\npriority-list 1 protocol ip \
                high tcp 23\nmap-class frame-relay FR\n frame-relay cir 64000\n service-policy output P\nno policy-map Q\n";
    let found = read(text);
    let switch = format!("mls qos map cos-dscp 0 8 16\n{text}");
    assert_eq!(verdict_in(&read(&switch), &switch, "mls qos map").0, Verdict::NotModelled);
    assert_eq!(verdict_in(&found, text, "max-reserved").0, Verdict::Taken);
    for line in ["ip rsvp", "interleave", "priority-list", "frame-relay cir", "no policy-map"] {
        assert_eq!(verdict_in(&found, text, line).0, Verdict::NotModelled, "{line}");
    }
    assert_eq!(verdict_in(&found, text, "pre-classify").0, Verdict::Approximated);
    let ports: Vec<_> = found.device.ports.iter().map(|it| it.interface.is.as_str()).collect();
    assert_eq!(ports, ["Multilink1", "FR"]);
}

#[test]
fn no_takes_back() {
    let text = "policy-map P\n class class-default\n  shape average 8000000\n  fair-queue\n  no fair-queue\n";
    let read = read(text);
    assert_eq!(read.device.ports[0].queue.as_ref().unwrap().kind, None);
}

/// A precedence takes eight code points, and a bucket of seconds lets as much pass at once: both are said, and taken as they are.
#[test]
fn what_is_more_than_its_words_is_said() {
    let text = "ip access-list extended LIST\n permit ip any any precedence critical\nclass-map match-any A\n match ip precedence 5\n \
                match access-group name LIST\npolicy-map P\n class A\n  police cir 1000000 bc 250000\n class class-default\n  police \
                cir 1000000 bc 31250\n";
    let found = read(text);
    for line in ["match ip precedence", "permit ip"] {
        assert_eq!(verdict_in(&found, text, line), (Verdict::Taken, "it takes 8 code points: 40 to 47".into()));
    }
    let said = "the bucket of 250000 bytes is 2000 ms of 1Mbit/s: as much passes at once";
    assert_eq!(verdict_in(&found, text, "bc 250000"), (Verdict::Taken, said.into()));
    assert_eq!(verdict_in(&found, text, "bc 31250").1, "");
}

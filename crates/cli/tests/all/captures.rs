//! Captures from where users have them: compressed, from a pipe; and what is left when `mark` is ended.

use crate::command::process::{at_once, ended, meanwhile, signal, waits};
use crate::command::{Folder, perhop};
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

const POLICY: &str =
    "[conditioner.all]\nkind = \"token-bucket\"\ncir = \"1Mbit/s\"\ncbs = \"15kB\"\ngreen = \"mark AF11\"\n";

fn capture() -> Vec<u8> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    std::fs::read(root.join("tests/captures/udp-ns.pcap")).unwrap()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut child = Command::new("gzip").arg("-c").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let bytes = bytes.to_vec();
    let writer = std::thread::spawn(move || input.write_all(&bytes).unwrap());
    let out = child.wait_with_output().unwrap();
    writer.join().unwrap();
    out.stdout
}

fn folder() -> Folder {
    let capture = capture();
    Folder::with(&[("in.pcap", &capture), ("in.pcap.gz", &gzip(&capture)), ("policy.toml", POLICY.as_bytes())])
}

/// Runs with `input` on standard input.
fn piped(folder: &Folder, args: &[&str], input: &[u8]) -> Output {
    let mut child = start(folder, args);
    // A reader that refuses what it sees closes the pipe.
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
}

fn start(folder: &Folder, args: &[&str]) -> Child {
    let all = Stdio::piped;
    perhop(args, folder).stdin(all()).stdout(all()).stderr(all()).spawn().unwrap()
}

fn text(out: &Output) -> String {
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout.clone()).unwrap()
}

#[test]
fn a_capture_may_be_compressed_or_come_from_a_pipe() {
    let folder = folder();
    for more in [&["--policy", "policy.toml"][..], &["--bursts"], &["--json", "--bursts"]] {
        let of = |name: &'static str| [&["meter", name][..], more].concat();
        let plain = text(&folder.perhop(&of("in.pcap")));
        let named = |name: &str| plain.replace("\"file\":\"in.pcap\"", &format!("\"file\":\"{name}\""));
        assert_eq!(text(&folder.perhop(&of("in.pcap.gz"))), named("in.pcap.gz"));
        assert_eq!(text(&piped(&folder, &of("-"), &capture())), named("standard input"));
        assert_eq!(text(&piped(&folder, &of("-"), &gzip(&capture()))), named("standard input"));
    }
}

/// The same packets, compressed again if the name says so; the report names the file.
#[test]
fn mark_writes_what_it_names() {
    let folder = folder();
    let mark = |input: &str, output: &str| {
        let out = piped(&folder, &["mark", input, "-o", output, "--policy", "policy.toml"], &capture());
        let said = text(&out);
        assert!(said.contains(&format!("written: {output}, ")), "{said}");
        std::fs::read(folder.path(output)).unwrap()
    };
    let plain = mark("in.pcap", "out.pcap");
    assert_eq!(mark("in.pcap.gz", "unpacked.pcap"), plain);
    assert_eq!(mark("-", "piped.pcap"), plain);
    let packed = mark("in.pcap", "out.pcap.gz");
    assert_eq!(packed[..2], [0x1f, 0x8b]);
    assert_eq!(mark("out.pcap.gz", "again.pcap"), plain, "marking twice changes nothing more");
    let json = folder.perhop(&["mark", "in.pcap", "-o", "out.pcap", "--policy", "policy.toml", "--json", "--force"]);
    assert!(text(&json).contains("\"output\":\"out.pcap\""));
    let said = folder.refused(&["mark", "in.pcap", "-o", "-", "--policy", "policy.toml"]);
    assert!(said.contains("error[E020] `-` as output") && said.contains("give the marked capture a name"), "{said}");
}

/// A gzip stream without its end: an error that says how much there is, or with --partial the packets that are whole.
#[test]
fn a_compressed_capture_may_be_cut_off() {
    let packed = gzip(&capture());
    let folder =
        Folder::with(&[("cut.pcap.gz", &packed[..packed.len() / 2]), ("end.pcap.gz", &packed[..packed.len() - 3])]);
    for name in ["cut.pcap.gz", "end.pcap.gz"] {
        let said = folder.refused(&["meter", name]);
        assert!(said.contains("cut off") && said.contains("--partial keeps"), "{said}");
        let out = folder.perhop(&["meter", name, "--partial"]);
        assert!(text(&out).contains(" packets, "), "{name}");
        assert!(String::from_utf8_lossy(&out.stderr).contains("cut off"), "{name}");
    }
    std::fs::write(folder.path("start.pcap.gz"), &packed[..15]).unwrap();
    let said = folder.refused(&["meter", "start.pcap.gz"]);
    assert!(said.contains("cut off") && said.contains("0 complete packets") && !said.contains("empty"), "{said}");
}

/// `mark` in the middle of its input, its temporary file on the disk.
fn halfway(folder: &Folder) -> Child {
    let mut child = start(folder, &["mark", "-", "-o", "out.pcap", "--policy", "policy.toml", "--force"]);
    child.stdin.as_mut().unwrap().write_all(&capture()[..20_000]).unwrap();
    let id = child.id();
    meanwhile(&mut child, "its temporary file", || has_temporary_of(folder, id));
    child
}

/// Whether the temporary file of this very process is there: another's may lie beside it.
fn has_temporary_of(folder: &Folder, id: u32) -> bool {
    names(folder).iter().any(|name| name.starts_with(&format!(".out.pcap.perhop-{id}-")))
}

fn names(folder: &Folder) -> Vec<String> {
    let entries = std::fs::read_dir(folder.path("")).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Of a file: that is no end of the input. The output's reader makes it wait.
#[test]
fn a_mark_of_a_file_that_is_ended_was_not_done() {
    let folder = folder();
    fifo(&folder, "out");
    let long = [&capture()[..], &capture()[24..].repeat(20)].concat();
    std::fs::write(folder.path("long.pcap"), long).unwrap();
    let mut child = start(&folder, &["mark", "long.pcap", "-o", "out", "--policy", "policy.toml"]);
    waits(&mut child);
    let mut reader = std::fs::File::open(folder.path("out")).unwrap();
    waits(&mut child);
    signal(&child, "TERM");
    waits(&mut child);
    let read = std::thread::spawn(move || std::io::copy(&mut reader, &mut std::io::sink()).unwrap());
    let out = ended(child);
    assert!(read.join().unwrap() > 0);
    let said = String::from_utf8_lossy(&out.stderr);
    assert_eq!(out.status.code(), Some(143), "{said}");
    assert!(said.contains("mark was interrupted: long.pcap was not marked, no output was written"), "{said}");
}

fn fifo(folder: &Folder, name: &str) {
    assert!(Command::new("mkfifo").arg(folder.path(name)).status().unwrap().success());
}

/// What a report says of its packets, and of where the capture is cut off.
fn counted(out: &Output) -> (u64, bool) {
    let report: serde_json::Value = serde_json::from_str(&text(out)).unwrap();
    (report["packets"].as_u64().unwrap(), !report["cut_off"].is_null())
}

/// So many bytes of the capture are whole packets.
const WHOLE: usize = 19_976;

/// On a pipe that is silent the first signal ends the input, in a packet or between two: `meter` reports, `mark` completes
/// its output.
#[test]
fn a_silent_pipe_ends_with_a_signal() {
    for (which, bytes, cut) in [("INT", WHOLE, false), ("TERM", WHOLE + 78, true), ("HUP", WHOLE + 3, true)] {
        let folder = folder();
        let mut meter = start(&folder, &["meter", "-", "--json"]);
        let mut mark = start(&folder, &["mark", "-", "-o", "out.pcap", "--policy", "policy.toml", "--json"]);
        for child in [&mut meter, &mut mark] {
            child.stdin.as_mut().unwrap().write_all(&capture()[..bytes]).unwrap();
            waits(child);
            signal(child, which);
        }
        let (meter, mark) = (ended(meter), ended(mark));
        let whole = text(&folder.perhop(&["meter", "out.pcap", "--json"]));
        let whole: serde_json::Value = serde_json::from_str(&whole).unwrap();
        for (out, verb) in [(&meter, "meter"), (&mark, "mark")] {
            assert_eq!(counted(out), (whole["packets"].as_u64().unwrap(), cut), "{which} {verb}");
            let said = String::from_utf8_lossy(&out.stderr);
            assert!(
                said.contains(&format!(
                    "note: {verb} was interrupted: the report covers what came from standard input"
                )),
                "{said}"
            );
        }
        assert_eq!(std::fs::read(folder.path("out.pcap")).unwrap().len(), WHOLE, "the packets that are whole");
    }
}

/// There is no writer, or one that writes nothing: a report without packets, and no output.
#[test]
fn a_pipe_without_a_writer_ends_with_a_signal() {
    let folder = folder();
    fifo(&folder, "pipe");
    let before = names(&folder);
    for (verb, writer) in [("meter", false), ("meter", true), ("mark", false), ("mark", true)] {
        let args = [
            &[verb, "pipe"][..],
            if verb == "mark" { &["-o", "out.pcap", "--policy=policy.toml"] } else { &["--json"] },
        ];
        let mut child = start(&folder, &args.concat());
        waits(&mut child);
        let writer = writer.then(|| std::fs::File::options().write(true).open(folder.path("pipe")).unwrap());
        waits(&mut child);
        signal(&child, "INT");
        let out = ended(child);
        drop(writer);
        let said = String::from_utf8_lossy(&out.stderr).into_owned();
        if verb == "meter" {
            assert_eq!(counted(&out), (0, false), "{said}");
        } else {
            assert_eq!(out.status.code(), Some(130), "{said}");
            assert!(said.contains("mark was interrupted: pipe was not marked, no output was written"), "{said}");
        }
        assert_eq!(names(&folder), before);
    }
}

/// The second one ends it at once, whatever the writer still does. Of two that come at once the one of the higher number
/// is dealt with first.
#[test]
fn a_second_signal_ends_at_once() {
    let folder = folder();
    let mut child = start(&folder, &["meter", "-"]);
    let mut input = child.stdin.take().unwrap();
    input.write_all(&capture()[..WHOLE]).unwrap();
    waits(&mut child);
    at_once(&mut child, |child| ["TERM", "INT"].iter().for_each(|which| signal(child, which)));
    let out = ended(child);
    assert_eq!((out.status.code(), out.stdout.len()), (Some(130), 0));
}

/// Who is killed cannot clean up; the next one does, and leaves alone what others are writing.
#[test]
fn what_a_killed_mark_leaves_is_removed_by_the_next() {
    let folder = folder();
    let mut killed = halfway(&folder);
    signal(&killed, "KILL");
    killed.wait().unwrap();
    assert!(has_temporary_of(&folder, killed.id()));
    let mut busy = halfway(&folder);
    text(&folder.perhop(&["mark", "in.pcap", "-o", "out.pcap", "--policy", "policy.toml"]));
    assert!(!has_temporary_of(&folder, killed.id()), "{:?}", names(&folder));
    busy.stdin.take().unwrap().write_all(&capture()[20_000..]).unwrap();
    let out = busy.wait_with_output().unwrap();
    assert!(out.status.success(), "its file was taken away: {}", String::from_utf8_lossy(&out.stderr));
    assert_eq!(names(&folder), ["in.pcap", "in.pcap.gz", "out.pcap", "policy.toml"]);
}

/// Ctrl-C is how a capture ends that is metered while it is taken: what came until then is reported.
#[test]
fn a_live_capture_ends_with_an_interrupt() {
    let folder = folder();
    let mut child = start(&folder, &["meter", "-", "--json"]);
    child.stdin.as_mut().unwrap().write_all(&capture()[..19_922]).unwrap();
    waits(&mut child);
    at_once(&mut child, |child| {
        signal(child, "INT");
        // tcpdump writes what it has, and ends
        child.stdin.take().unwrap().write_all(&capture()[19_922..]).unwrap();
    });
    let said = text(&child.wait_with_output().unwrap());
    assert!(said.contains("\"cut_off\":null") && !said.contains("\"packets\":0,\"original"), "{said}");
}

const QUEUES: &str = r#"
[conditioner.all]
match = { dscp = "EF" }
kind = "token-bucket"
cir = "1Mbit/s"
cbs = "15kB"
green = "mark AF11"
red = "mark AF12"

[queue.fifo]
limit = "20p"

[queue.port]
scheduler = "strict-priority"
classes = [{ for = ["AF11"], queue = { limit = "10p" } }, { queue = { limit = "50p" } }]

[queue.fair]
aqm = "csfq"
"#;

fn queues() -> Folder {
    Folder::with(&[("in.pcap", &capture()), ("policy.toml", QUEUES.as_bytes())])
}

/// The bucket of each flow is empty after one packet; all flows of the capture are silent for more than 1 ms at times.
#[test]
fn flows_expire_where_the_user_says_so() {
    let folder = queues();
    let without = text(&metered(&folder, &[]));
    assert!(!without.contains("expired"), "{without}");
    let never = text(&metered(&folder, &["--flow-timeout", "10h"]));
    assert!(never.contains("\nexpired: 0 flows silent for more than 36000 s\n"), "{never}");
    let some = text(&metered(&folder, &["--flow-timeout", "1ms", "--json"]));
    let some: serde_json::Value = serde_json::from_str(&some).unwrap();
    assert!(some["expired_flows"].as_u64().is_some_and(|it| it > 0), "{some}");
    assert_eq!(some["flow_timeout_s"], 0.001);
    for (value, code, help) in
        [("60", "E103", "with its unit"), ("0s", "E201", "above 0"), ("5Mbit/s", "E105", "units of a time")]
    {
        let said = folder.refused(&["meter", "in.pcap", "--flow-timeout", value]);
        assert!(said.contains(code) && said.contains("--flow-timeout") && said.contains(value), "{said}");
        assert!(said.contains(help) && said.contains("nothing was read"), "{said}");
        assert_eq!(said, folder.refused(&["meter", "in.pcap", "--policy", "policy.toml", "--flow-timeout", value]));
    }
}

fn metered(folder: &Folder, more: &[&str]) -> Output {
    folder.perhop(&[&["meter", "in.pcap", "--policy", "policy.toml"], more].concat())
}

/// The queue of a class whose own rate is below the line's drops nothing; without a scheduler it pays for the others.
#[test]
fn a_capture_goes_into_a_queue() {
    let folder = queues();
    let dropped = |queue: &str, rate: &str| {
        let out = text(&metered(&folder, &["--queue", queue, "--link", rate, "--json"]));
        let report: serde_json::Value = serde_json::from_str(&out).unwrap();
        let queue = &report["queue"];
        let of = |dscp: &str| {
            let rows = queue["code_points"].as_array().unwrap().iter();
            rows.filter(|row| row["of"] == dscp).map(|row| row["dropped"]["packets"].as_u64().unwrap()).sum::<u64>()
        };
        assert!(queue["note"].as_str().unwrap().contains("real senders would have reacted"));
        [of("AF11"), of("AF12"), of("BE"), queue["all"]["dropped"]["packets"].as_u64().unwrap()]
    };
    let [green, red, other, all] = dropped("fifo", "1Mbit/s");
    assert!(green > 50 && red > 5 && green + red + other == all);
    let [green, red, ..] = dropped("port", "1500kbit/s");
    assert!(green == 0 && red > 0);
    assert_eq!(dropped("fifo", "100Mbit/s"), [0; 4]);
    let shown = text(&metered(&folder, &["--queue", "port", "--link", "1Mbit/s"]));
    for part in ["queue `port` on a line of 1.000 Mbit/s", "overflow", "wait ms mean", "flows at the queue"] {
        assert!(shown.contains(part), "{shown}");
    }
}

#[test]
fn a_queue_that_cannot_be_is_an_error() {
    let folder = queues();
    let cases: [(&[&str], &str); 7] = [
        (&["--queue", "prot", "--link", "1Mbit/s"], "unknown queue `prot`"),
        (&["--queue", "port"], "`queue` without `link`"),
        (&["--link", "1Mbit/s"], "`link` without `queue`"),
        (&["--queue", "port", "--link", "0Mbit/s"], "`link` is 0bit/s"),
        (&["--queue", "port", "--link", "10"], "E103"),
        (&["--queue", "fifo", "--link", "fast"], "--link"),
        (&["--queue", "fair", "--link", "1Mbit/s"], "reads rates, and no conditioner writes them"),
    ];
    for (args, message) in cases {
        let out = metered(&folder, args);
        let said = String::from_utf8_lossy(&out.stderr).into_owned();
        assert_eq!(out.status.code(), Some(2), "{args:?}: {said}");
        assert!(said.contains(message) && said.contains("help:"), "{args:?}: {said}");
    }
    let out = folder.perhop(&["meter", "in.pcap", "--queue", "fifo", "--link", "1Mbit/s"]);
    assert!(String::from_utf8_lossy(&out.stderr).contains("--policy"));
}

/// A policy may name its queue itself; `mark`, which has none, says so.
#[test]
fn a_policy_may_name_its_queue() {
    let stated = format!("[policy]\nqueue = \"fifo\"\nlink = \"1Mbit/s\"\n{QUEUES}");
    let folder = Folder::with(&[("in.pcap", &capture()), ("policy.toml", stated.as_bytes())]);
    let named = metered(&queues(), &["--queue", "fifo", "--link", "1Mbit/s"]);
    assert_eq!(text(&metered(&folder, &[])), text(&named));
    let out = folder.perhop(&["mark", "in.pcap", "-o", "out.pcap", "--policy", "policy.toml"]);
    assert!(String::from_utf8_lossy(&out.stderr).contains("warning[W323]") && out.status.success());
}

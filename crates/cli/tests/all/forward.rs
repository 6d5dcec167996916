//! `perhop forward` between interfaces of three namespaces. Without root and `ip` it is skipped, and says so.
#![cfg(target_os = "linux")]

use crate::command::Folder;
use crate::command::process::{by_a_terminal, ended, meanwhile, signal, until};
use std::io::Write;
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

const POLICY: &str = "[conditioner.all]\nkind = \"token-bucket\"\ncir = \"1Mbit/s\"\ncbs = \"15kB\"\ngreen = \"mark AF11\"\n\
                      [queue.q]\nlimit = \"20p\"\n";

fn unavailable() -> bool {
    let works = Command::new("ip").args(["netns", "list"]).output().is_ok_and(|it| it.status.success()) && is_root();
    if !works {
        assert!(std::env::var_os("CI").is_none(), "network namespaces need root and iproute2, and CI must not skip");
        writeln!(std::io::stderr(), "skipped: network namespaces need root and iproute2").expect("stderr is open");
    }
    !works
}

/// Whether this process is root's.
fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|it| std::os::unix::fs::MetadataExt::uid(&it) == 0)
}

fn ip(words: &str) -> String {
    let done = Command::new("ip").args(words.split(' ')).output().unwrap();
    assert!(done.status.success(), "ip {words}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap()
}

/// A namespace whose `va` and `vb` lead to interfaces in it, `pa` and `pb`.
struct Namespace(String);

impl Namespace {
    fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let name = format!("live-cli-{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        ip(&format!("netns add {name}"));
        ip(&format!("-n {name} link set lo up"));
        let namespace = Self(name);
        ["a", "b"].into_iter().for_each(|which| namespace.wire(which));
        namespace
    }

    /// `va` and `pa`, and so on.
    fn wire(&self, which: &str) {
        ip(&format!("-n {} link add v{which} type veth peer name p{which}", self.0));
        for end in ["v", "p"] {
            ip(&format!("-n {} link set {end}{which} up", self.0));
        }
    }

    fn command(&self, folder: &Folder, words: &str) -> Command {
        self.between(["va", "vb"], folder, words)
    }

    fn between(&self, [a, b]: [&str; 2], folder: &Folder, words: &str) -> Command {
        self.with(&["--in", a, "--out", b, "--policy", "policy.toml"], folder, words)
    }

    fn with(&self, first: &[&str], folder: &Folder, words: &str) -> Command {
        let mut command = by_a_terminal("ip");
        command.args(["netns", "exec", &self.0, env!("CARGO_BIN_EXE_perhop"), "forward"]);
        command.args(first).args(words.split_whitespace()).current_dir(folder.path(""));
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn output(&self, folder: &Folder, words: &str) -> Output {
        self.command(folder, words).output().unwrap()
    }

    /// Begins, and waits until it forwards.
    fn begin(&self, folder: &Folder, words: &str) -> Child {
        self.begun(self.command(folder, words), "vb")
    }

    /// The same of another command, with this interface.
    fn begun(&self, mut command: Command, interface: &str) -> Child {
        let mut child = command.spawn().unwrap();
        meanwhile(&mut child, "it forwards", || self.is_open(interface));
        child
    }

    fn is_promiscuous(&self) -> bool {
        self.is_open("vb")
    }

    fn is_open(&self, interface: &str) -> bool {
        ip(&format!("-n {} -details link show {interface}", self.0)).contains("promiscuity 1")
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        let _ = Command::new("ip").args(["netns", "delete", &self.0]).status();
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Checks, a dry run, the signals that end it, SIGHUP with a good and with a bad policy, and SIGKILL.
#[test]
fn from_check_to_end() {
    if unavailable() {
        return;
    }
    let (namespace, folder) = (Namespace::new(), Folder::with(&[("policy.toml", POLICY.as_bytes())]));
    let out = namespace.output(&folder, "--dry-run --queue q --link 10Mbit/s");
    assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
    assert!(
        text(&out.stdout)
            .contains("va -> vb: all (token-bucket), then queue q on 10Mbit/s, which counts IP packets (l3)"),
        "{}",
        text(&out.stdout)
    );
    refused(&namespace, &folder);
    ends(&namespace, &folder);
    reloads(&namespace, &folder);
    shows(&namespace, &folder);
    let mut child = namespace.begin(&folder, "");
    child.kill().unwrap();
    child.wait().unwrap();
    until("the interfaces are as found", || !namespace.is_promiscuous());
}

/// Everything that speaks against the interfaces, in one pass.
fn refused(namespace: &Namespace, folder: &Folder) {
    let name = &namespace.0;
    ip(&format!("-n {name} address add 10.8.0.1/24 dev va"));
    ip(&format!("-n {name} link set vb mtu 1400"));
    let out = namespace.output(folder, "");
    let said = text(&out.stderr);
    assert_eq!(out.status.code(), Some(2));
    assert!(said.contains("help: ip address del 10.8.0.1/24 dev va\n"), "{said}");
    assert!(said.contains("help: ip link set va mtu 1400\n2 errors, nothing was touched"), "{said}");
    ip(&format!("-n {name} address del 10.8.0.1/24 dev va"));
    ip(&format!("-n {name} link set vb mtu 1500"));
}

/// SIGINT and SIGTERM are its normal end, with every argument.
fn ends(namespace: &Namespace, folder: &Folder) {
    let all = "--queue q --link 10Mbit/s --seed 2 --flow-timeout 5s --most-flows 9 --fix-offloads --watch --json \
               --real-time --metrics 9108 --trace seen";
    for (which, words) in [("INT", ""), ("TERM", all)] {
        let child = namespace.begin(folder, words);
        signal(&child, which);
        let out = ended(child);
        assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
        let shown = text(&out.stdout);
        assert!(shown.contains("came") && !shown.contains("do not close"), "{shown}");
        assert!(!namespace.is_promiscuous());
    }
}

/// A good policy is in force, with a line; after a bad one the old one is.
fn reloads(namespace: &Namespace, folder: &Folder) {
    let child = namespace.begin(folder, "");
    let caught = format!("/proc/{}/status", child.id());
    for policy in [POLICY.replace("1Mbit/s", "2Mbit/s"), POLICY.replace("15kB", "1B")] {
        std::fs::write(folder.path("policy.toml"), policy).unwrap();
        signal(&child, "HUP");
        until("the signal came", || {
            let status = std::fs::read_to_string(&caught).unwrap();
            status
                .lines()
                .filter(|line| line.starts_with("SigPnd") || line.starts_with("ShdPnd"))
                .all(|it| it.ends_with(&"0".repeat(16)))
        });
        // orders are looked at each 100 ms
        std::thread::sleep(std::time::Duration::from_millis(500));
    }
    std::fs::write(folder.path("policy.toml"), POLICY).unwrap();
    signal(&child, "INT");
    let said = text(&ended(child).stderr);
    assert!(said.contains("policy.toml is in force: all (token-bucket)\n"), "{said}");
    assert!(said.contains("the old policy stays in force"), "{said}");
}

/// What goes into `va` from its other end: so many datagrams.
fn send(namespace: &Namespace, datagrams: u32) {
    let words = format!("for n in {{1..{datagrams}}}; do echo x > /dev/udp/10.7.0.2/9; done");
    let sent = Command::new("ip").args(["netns", "exec", &namespace.0, "bash", "-c", &words]).status().unwrap();
    assert!(sent.success());
}

/// The page of metrics.
fn page(namespace: &Namespace) -> String {
    let words = "exec 3<>/dev/tcp/127.0.0.1/9109; echo GET >&3; cat <&3";
    text(&Command::new("ip").args(["netns", "exec", &namespace.0, "bash", "-c", words]).output().unwrap().stdout)
}

fn value(page: &str, name: &str) -> u64 {
    page.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok()).unwrap_or(0)
}

/// Metrics while another reader hangs, no right that is not needed, and a run for each policy that was in force.
fn shows(namespace: &Namespace, folder: &Folder) {
    let name = &namespace.0;
    addressed(namespace);
    let child = namespace.begin(folder, "--queue q --link 10Mbit/s --metrics 9109 --trace runs");
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    assert!(
        status.contains("CapEff:\t0000000000000000\n") && status.contains("CapPrm:\t0000000000000000\n"),
        "{status}"
    );
    let words = "exec 3<>/dev/tcp/127.0.0.1/9109; sleep 1000";
    let mut hangs = Command::new("ip").args(["netns", "exec", name, "bash", "-c", words]).spawn().unwrap();
    send(namespace, 5);
    let labels = "{device=\"vb\",kind=\"drop-tail\",class=\"q\"}";
    until("they have passed", || value(&page(namespace), &format!("perhop_qdisc_packets_total{labels}")) >= 5);
    let shown = page(namespace);
    let green = "perhop_conditioner_packets_total{device=\"vb\",conditioner=\"all\",colour=\"green\"}";
    assert!(value(&shown, green) >= 5, "{shown}");
    assert_eq!(
        value(&shown, "perhop_came_packets_total{device=\"vb\"}"),
        value(&shown, "perhop_sent_packets_total{device=\"vb\"}")
    );
    signal(&child, "HUP");
    until("another run begins", || page(namespace).contains("qdisc") && runs(folder) == 1);
    send(namespace, 3);
    signal(&child, "INT");
    hangs.kill().unwrap();
    hangs.wait().unwrap();
    let out = ended(child);
    assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
    assert_eq!(runs(folder), 2, "{}", text(&out.stderr));
    let listed = Command::new(env!("CARGO_BIN_EXE_perhop"))
        .args(["runs", "runs"])
        .current_dir(folder.path(""))
        .output()
        .unwrap();
    assert_eq!(listed.status.code(), Some(0), "{}", text(&listed.stderr));
}

/// Complete runs that were recorded.
fn runs(folder: &Folder) -> usize {
    let points = std::fs::read_dir(folder.path("runs/policy")).into_iter().flatten().flatten();
    points.filter(|point| point.path().join("rep-000/events.parquet").exists()).count()
}

/// What a start that has to be refused said; a dry run says the same.
fn refusal(namespace: &Namespace, pair: [&str; 2], folder: &Folder, words: &str) -> String {
    let stderr = |more: &str| {
        let out = namespace.between(pair, folder, &format!("{words} {more}")).output().unwrap();
        assert_eq!(out.status.code(), Some(2), "{pair:?} {words}: {}{}", text(&out.stdout), text(&out.stderr));
        text(&out.stderr)
    };
    let told = stderr("--dry-run");
    assert_eq!(stderr(""), told);
    assert!(told.contains("nothing was touched"), "{told}");
    told
}

/// Any interface that a forwarder has is refused to others, by every name. Other pairs, other namespaces and those that come
/// after its end, however it ended, may have them.
#[test]
fn an_interface_has_one_forwarder() {
    if unavailable() {
        return;
    }
    let (namespace, other) = (Namespace::new(), Namespace::new());
    let folder = Folder::with(&[("policy.toml", POLICY.as_bytes())]);
    ["c", "d"].into_iter().for_each(|which| namespace.wire(which));
    for near in ["va", "vb"] {
        ip(&format!("-n {} link property add dev {near} altname {near}-too", namespace.0));
    }
    assert!(refusal(&namespace, ["va", "va-too"], &folder, "").contains("--in and --out are both va"));
    let mut first = namespace.begin(&folder, "");
    for pair in [["va", "vb"], ["vb", "va"], ["va", "vc"], ["vc", "va"], ["vb", "vc"], ["vc", "vb"], ["vc", "va-too"]] {
        let said = refusal(&namespace, pair, &folder, "");
        assert!(said.contains("is in use by another `perhop forward`: packets would pass twice"), "{pair:?}: {said}");
        assert!(!namespace.is_open("vc"));
    }
    let beside = namespace.begun(namespace.between(["vc", "vd"], &folder, ""), "vd");
    let elsewhere = other.begin(&folder, "");
    first.kill().unwrap();
    first.wait().unwrap();
    let after = namespace.begin(&folder, "");
    for child in [beside, elsewhere, after] {
        signal(&child, "TERM");
        let out = ended(child);
        assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
    }
}

/// Of those that begin at the same moment, one forwards and the others are refused.
#[test]
fn one_of_two_at_once_forwards() {
    if unavailable() {
        return;
    }
    let (namespace, folder) = (Namespace::new(), Folder::with(&[("policy.toml", POLICY.as_bytes())]));
    for _ in 0..10 {
        let pairs = [["va", "vb"], ["vb", "va"], ["va", "vb"]];
        let runs = |child: &mut Child| child.try_wait().unwrap().is_none();
        let mut all: Vec<_> = pairs.map(|pair| namespace.between(pair, &folder, "").spawn().unwrap()).into();
        until("one is left", || all.iter_mut().map(runs).filter(|runs| *runs).count() == 1);
        until("it forwards", || namespace.is_promiscuous());
        let winner = all.iter_mut().position(runs).unwrap();
        let winner = all.remove(winner);
        for child in all {
            let out = ended(child);
            assert_eq!(out.status.code(), Some(2));
            assert!(text(&out.stderr).contains("is in use by another `perhop forward`"), "{}", text(&out.stderr));
        }
        signal(&winner, "TERM");
        let out = ended(winner);
        assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
    }
}

/// An interface that is deleted ends the run with an error, also if another one has its name at once; the counts are
/// printed and the run is recorded. One that goes down and comes back does not.
#[test]
fn a_deleted_interface_ends_it() {
    if unavailable() {
        return;
    }
    let (namespace, folder) = (Namespace::new(), Folder::with(&[("policy.toml", POLICY.as_bytes())]));
    for (n, which) in ["a", "b"].into_iter().enumerate() {
        let name = format!("v{which}");
        let child = namespace.begin(&folder, "--trace runs --metrics 9109");
        passes(&namespace);
        for way in ["down", "up"] {
            ip(&format!("-n {} link set {name} {way}", namespace.0));
        }
        passes(&namespace);
        ip(&format!("-n {} link delete {name}", namespace.0));
        namespace.wire(which);
        let out = ended(child);
        let said = text(&out.stderr);
        assert_eq!(out.status.code(), Some(2), "{said}");
        assert!(said.contains(&format!("error[E031] {name}: the interface was deleted or left")), "{said}");
        assert!(text(&out.stdout).contains("came"), "{}", text(&out.stdout));
        assert_eq!(runs(&folder), n + 1, "{said}");
        let next = namespace.begin(&folder, "");
        signal(&next, "TERM");
        ended(next);
    }
}

/// Waits until packets pass from `va` to `vb`.
fn passes(namespace: &Namespace) {
    addressed(namespace);
    let sent = || value(&page(namespace), "perhop_sent_packets_total{device=\"vb\"}");
    let before = sent();
    until("a packet passes", || {
        send(namespace, 1);
        sent() > before
    });
}

/// What is sent to 10.7.0.2 comes in on `va`.
fn addressed(namespace: &Namespace) {
    for words in ["address replace 10.7.0.1/24 dev pa", "neighbour replace 10.7.0.2 lladdr 02:00:00:00:00:07 dev pa"] {
        ip(&format!("-n {} {words}", namespace.0));
    }
}

/// All that is half-written.
fn half_written(folder: &Folder) -> Vec<String> {
    let names = folder.names().into_iter().map(|path| path.to_string_lossy().into_owned());
    names.filter(|name| name.ends_with(".partial")).collect()
}

/// A start removes what killed ones left, also of other policies, and nothing of one that still runs.
#[test]
fn the_next_start_removes_what_a_killed_one_left() {
    if unavailable() {
        return;
    }
    let (namespace, other) = (Namespace::new(), Namespace::new());
    let files = [("policy.toml", POLICY.as_bytes()), ("second.toml", POLICY.as_bytes())];
    let folder = Folder::with(&files);
    let writes = |namespace: &Namespace, policy: &str| {
        let before = half_written(&folder);
        let command = namespace.with(&["--in", "va", "--out", "vb", "--policy", policy], &folder, "--trace runs");
        let child = namespace.begun(command, "vb");
        until("it records", || half_written(&folder).iter().any(|name| !before.contains(name)));
        child
    };
    let living = writes(&other, "policy.toml");
    let [own] = half_written(&folder).try_into().unwrap();
    for policy in ["policy.toml", "second.toml"] {
        let mut killed = writes(&namespace, policy);
        killed.kill().unwrap();
        killed.wait().unwrap();
        until("the interfaces are free", || !namespace.is_promiscuous());
    }
    let left = half_written(&folder);
    assert_eq!(left.len(), 2, "the second start removed what the first one left: {left:?}");
    let foreign = folder.path("runs/policy/recording/.rep-000.4242.partial");
    std::fs::write(&foreign, "").unwrap();
    let said = text(&namespace.output(&folder, "--trace runs --dry-run").stdout);
    assert!(said.contains("recording/.rep-000.4242.partial is half-written and stays"), "{said}");
    let third = writes(&namespace, "policy.toml");
    let left = half_written(&folder);
    assert!(left.len() == 3 && left.contains(&own) && foreign.exists(), "{left:?}");
    for child in [third, living] {
        signal(&child, "INT");
        let out = ended(child);
        assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
    }
    assert_eq!(runs(&folder), 2);
    assert_eq!(text(&namespace.output(&folder, "--trace runs --dry-run").stdout).matches("half-written").count(), 0);
}

/// A dry run says what a start would say: `refusal` compares them.
#[test]
fn a_dry_run_says_what_a_start_would() {
    if unavailable() {
        return;
    }
    let (namespace, folder) = (Namespace::new(), Folder::with(&[("policy.toml", POLICY.as_bytes()), ("file", b"")]));
    namespace.wire("c");
    namespace.wire("d");
    let pair = ["va", "vb"];
    let serving = namespace.begun(namespace.between(["vc", "vd"], &folder, "--metrics 9107"), "vd");
    assert!(refusal(&namespace, pair, &folder, "--metrics 9107").contains("error[E030] --metrics 9107"));
    signal(&serving, "TERM");
    ended(serving);
    let said = refusal(&namespace, pair, &folder, "--trace file/runs");
    assert!(said.contains("error[E020] cannot write"), "{said}");
    ip(&format!("-n {} link set va down", namespace.0));
    ip(&format!("-n {} link set vb mtu 1400", namespace.0));
    let said = refusal(&namespace, pair, &folder, "--trace file/runs");
    for part in ["va is down", "ip link set va mtu 1400", "error[E020]", "3 errors, nothing"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    ip(&format!("-n {} link set va up", namespace.0));
    ip(&format!("-n {} link set vb mtu 1500", namespace.0));
    without_rights(&namespace, &folder);
    let gro = Command::new("ip").args(["netns", "exec", &namespace.0, "ethtool", "-K", "va", "gro", "on"]).status();
    if gro.is_ok_and(|status| status.success()) {
        let line = "note: frames above the MTU are lost; ethtool -K va gro off, or --fix-offloads";
        assert!(text(&namespace.output(&folder, "--dry-run").stdout).contains(line));
        assert!(
            text(&namespace.output(&folder, "--dry-run --fix-offloads").stdout).contains("would do: ethtool -K va gro")
        );
        let child = namespace.begin(&folder, "");
        signal(&child, "TERM");
        let said = text(&ended(child).stderr);
        assert!(said.contains(line), "{said}");
    }
}

/// A root that lacks a right, and a directory that is another user's: root without rights may not write it.
fn without_rights(namespace: &Namespace, folder: &Folder) {
    std::fs::create_dir(folder.path("theirs")).unwrap();
    std::os::unix::fs::chown(folder.path("theirs"), Some(12345), Some(12345)).unwrap();
    assert!(
        refusal(namespace, ["va", "vb"], folder, "--trace theirs/runs").contains("error[E020] cannot write theirs")
    );
    let words = ["netns", "exec", &namespace.0, "setpriv", "--bounding-set=-net_raw", env!("CARGO_BIN_EXE_perhop")];
    let forward = ["forward", "--in", "va", "--out", "vb", "--policy", "policy.toml"];
    let said = [&["--dry-run"][..], &[]].map(|more| {
        let mut command = Command::new("ip");
        let out = command.args(words).args(forward).args(more).current_dir(folder.path("")).output().unwrap();
        assert_eq!(out.status.code(), Some(2), "{}", text(&out.stderr));
        text(&out.stderr)
    });
    assert!(said[0].contains("packet sockets need CAP_NET_RAW") && said[0] == said[1], "{said:?}");
}

/// Interfaces say which way packets go, so nothing is said of `inside`; captures need it.
#[test]
fn what_concerns_captures_is_not_said() {
    if unavailable() {
        return;
    }
    let policy = "[conditioner.contract]\nkind = \"rtt-rto\"\ncir = \"2Mbit/s\"\ngreen = \"mark AF11\"\n";
    let (namespace, folder) = (Namespace::new(), Folder::with(&[("policy.toml", policy.as_bytes())]));
    let out = namespace.output(&folder, "--dry-run");
    assert_eq!((out.status.code(), text(&out.stderr)), (Some(0), String::new()));
    assert!(text(&folder.perhop(&["check", "policy.toml"]).stdout).contains("W314"));
}

//! `perhop forward` between interfaces of three namespaces. Without root and `ip` it is skipped, and says so.
#![cfg(target_os = "linux")]

#[allow(dead_code)]
mod command;

use command::Folder;
use command::process::{ended, signal, until};
use std::io::Write;
use std::process::{Child, Command, Output, Stdio};

const POLICY: &str = "[conditioner.all]\nkind = \"token-bucket\"\ncir = \"1Mbit/s\"\ncbs = \"15kB\"\ngreen = \"mark AF11\"\n\
                      [queue.q]\nlimit = \"20p\"\n";

fn unavailable() -> bool {
    let works = Command::new("ip").args(["netns", "add", "live-probe"]).output().is_ok_and(|it| it.status.success());
    if works {
        ip("netns delete live-probe");
    } else {
        assert!(std::env::var_os("CI").is_none(), "network namespaces need root and iproute2, and CI must not skip");
        writeln!(std::io::stderr(), "skipped: network namespaces need root and iproute2").expect("stderr is open");
    }
    !works
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
        let name = format!("live-cli-{}", std::process::id());
        ip(&format!("netns add {name}"));
        ip(&format!("-n {name} link set lo up"));
        for (near, far) in [("va", "pa"), ("vb", "pb")] {
            ip(&format!("-n {name} link add {near} type veth peer name {far}"));
            ip(&format!("-n {name} link set {near} up"));
            ip(&format!("-n {name} link set {far} up"));
        }
        Self(name)
    }

    fn command(&self, folder: &Folder, words: &str) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.0, env!("CARGO_BIN_EXE_perhop"), "forward", "--in", "va", "--out", "vb"]);
        command.args(["--policy", "policy.toml"]).args(words.split_whitespace()).current_dir(folder.path(""));
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn output(&self, folder: &Folder, words: &str) -> Output {
        self.command(folder, words).output().unwrap()
    }

    /// Begins, and waits until it forwards.
    fn begin(&self, folder: &Folder, words: &str) -> Child {
        let child = self.command(folder, words).spawn().unwrap();
        until("it forwards", || self.is_promiscuous());
        child
    }

    fn is_promiscuous(&self) -> bool {
        ip(&format!("-n {} -details link show vb", self.0)).contains("promiscuity 1")
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
    for words in ["address add 10.7.0.1/24 dev pa", "neighbour add 10.7.0.2 lladdr 02:00:00:00:00:07 dev pa"] {
        ip(&format!("-n {name} {words}"));
    }
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

//! The cells of `lab/cells/cells.toml`, and what Linux did in them.

use flate2::read::GzDecoder;
use perhop_core::dscp::Dscp;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use toml_span::Value;

/// Interfaces of the router, as in `lab/recording/cells.py`: packets leave by the first, come by the second.
pub const LEAVING: &str = "r1";
pub const COMING: &str = "r0";

/// A port and a pattern.
#[derive(Clone, Debug)]
pub struct Cell {
    pub port: String,
    pub pattern: String,
    /// Whether every packet is compared; else shares and delays.
    pub exact: bool,
    /// The port as a policy.
    pub perhop: String,
    /// The name of its queue there.
    pub queue: String,
    /// The rate of the line behind it, where there is one.
    pub link: Option<String>,
    /// Why it is outside the tolerance, if it is.
    pub explained: Option<String>,
}

/// A port of the list, with what its page needs.
pub struct Described {
    pub name: String,
    pub about: String,
    pub commands: Vec<String>,
    /// The pattern that its figure shows.
    pub figure: Option<String>,
}

/// When a packet left, ns, and its ECN field then; `None`: it was dropped.
pub type Left = Option<(u64, u8)>;

/// A packet at the kernel's port.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// Nanoseconds of the cell.
    pub came: u64,
    /// IP bytes.
    pub bytes: u32,
    pub dscp: u8,
    pub ecn: u8,
    /// UDP source port.
    pub port: u16,
    pub left: Left,
}

pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lab")
}

/// Reads a TOML file of that folder and shows its tables, in the order of the file.
pub fn tables<T>(file: &str, each: impl Fn(&str, &Value<'_>) -> T) -> Vec<T> {
    let text = std::fs::read_to_string(folder().join(file)).unwrap();
    let root = toml_span::parse(&text).unwrap();
    let mut tables: Vec<_> = root.as_table().unwrap().iter().collect();
    tables.sort_by_key(|(key, _)| key.span.start);
    tables.into_iter().map(|(key, value)| each(&key.name, value)).collect()
}

pub fn text(value: &Value<'_>, key: &str) -> Option<String> {
    Some(value.pointer(&format!("/{key}"))?.as_str()?.to_owned())
}

pub fn texts(value: &Value<'_>, key: &str) -> Vec<String> {
    let list = value.pointer(&format!("/{key}")).and_then(Value::as_array);
    list.into_iter().flatten().map(|it| it.as_str().unwrap().to_owned()).collect()
}

/// Every cell.
pub fn cells() -> Vec<Cell> {
    let of_port = |port: &str, value: &Value<'_>| -> Vec<Cell> {
        let cell = |pattern: String| Cell {
            port: port.to_owned(),
            exact: text(value, "kind").unwrap() == "exact",
            perhop: text(value, "perhop").unwrap(),
            queue: "port".to_owned(),
            link: None,
            explained: text(value, &format!("explained/{pattern}")).or_else(|| text(value, "explained/all")),
            pattern,
        };
        texts(value, "patterns").into_iter().map(cell).collect()
    };
    tables("cells/cells.toml", of_port).into_iter().flatten().collect()
}

/// Every port; `tcp` is a table of other cells.
pub fn ports() -> Vec<Described> {
    let described = tables("cells/cells.toml", |name, value| Described {
        name: name.to_owned(),
        about: text(value, "about").unwrap_or_default(),
        commands: texts(value, "tc"),
        figure: text(value, "figure"),
    });
    described.into_iter().filter(|it| it.name != "tcp").collect()
}

/// The words behind a name in braces.
fn word(name: &str) -> String {
    let prio = |prio: u8, matches: String| format!("protocol ip prio {prio} u32 match {matches}");
    match name {
        "dev" => LEAVING.to_owned(),
        "in" => COMING.to_owned(),
        "rest" => prio(2, "u32 0 0".to_owned()),
        port if port.chars().all(|c| c.is_ascii_digit()) => prio(1, format!("ip sport {port} 0xffff")),
        dscp => {
            let code: Dscp = dscp.parse().unwrap_or_else(|_| panic!("{dscp}"));
            prio(1, format!("ip dsfield {:#x} 0xfc", code.get() << 2))
        }
    }
}

/// A command without braces.
pub fn typed(command: &str) -> String {
    let mut parts = command.split(['{', '}']).enumerate();
    parts
        .by_ref()
        .fold("tc ".to_owned(), |line, (i, part)| line + &if i % 2 == 1 { word(part) } else { part.to_owned() })
}

impl Cell {
    pub fn name(&self) -> String {
        format!("{}/{}", self.port, self.pattern)
    }

    /// What the kernel did, packet by packet.
    pub fn recorded(&self) -> Vec<Row> {
        let path = folder().join("vectors").join(&self.port).join(format!("{}.csv.gz", self.pattern));
        let lines = BufReader::new(GzDecoder::new(File::open(&path).unwrap())).lines();
        let (mut came, mut left) = (0, 0);
        lines.skip(1).map(|line| row(&line.unwrap(), &mut came, &mut left)).collect()
    }
}

/// Times are differences to the packet before, and to the last one that left.
fn row(line: &str, came: &mut u64, left: &mut i64) -> Row {
    let fields: Vec<_> = line.split(',').collect();
    let [gap, bytes, dscp, ecn, port, departure, ecn_out] = fields[..] else { panic!("{line}") };
    *came += gap.parse::<u64>().unwrap();
    let left = (!departure.is_empty()).then(|| {
        *left += departure.parse::<i64>().unwrap();
        (u64::try_from(*left).unwrap(), ecn_out.parse().unwrap())
    });
    let number = |text: &str| text.parse().unwrap();
    Row {
        came: *came,
        bytes: number(bytes),
        dscp: number(dscp) as u8,
        ecn: number(ecn) as u8,
        port: number(port) as u16,
        left,
    }
}

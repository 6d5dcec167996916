//! The vectors of `lab/vectors/live`: a packet in the kernel's run and in the live host's.

use crate::kernel::cells::{Cell, Left, Row, folder};
use flate2::read::GzDecoder;
use std::fs::File;
use std::io::{BufRead, BufReader};

/// A packet in both runs.
#[derive(Clone, Copy, Debug)]
pub struct Both {
    /// At the kernel's port; it leaves with this time and its TOS byte.
    pub row: Row,
    /// When it came to the live host, ns.
    pub came: u64,
    /// When it left it, and its TOS byte then.
    pub live: Left,
}

/// What became of the packets of a cell.
pub fn read(cell: &Cell) -> Vec<Both> {
    let path = folder().join("vectors/live").join(&cell.port).join(format!("{}.csv.gz", cell.pattern));
    let file = File::open(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let (mut came, mut left) = (0, 0);
    BufReader::new(GzDecoder::new(file))
        .lines()
        .skip(1)
        .map(|line| both(&line.unwrap(), &mut came, &mut left))
        .collect()
}

/// Times are differences, as `lab/recording/live.py` says.
fn both(line: &str, came: &mut i64, left: &mut i64) -> Both {
    let fields: Vec<_> = line.split(',').collect();
    let [gap, bytes, tos, port, kernel, kernel_tos, live_came, live, live_tos] = fields[..] else { panic!("{line}") };
    let number = |text: &str| text.parse::<i64>().unwrap();
    let byte = |text: &str| number(text) as u8;
    *came += number(gap);
    let departed = (!kernel.is_empty()).then(|| {
        *left += number(kernel);
        *left
    });
    let time = |at: i64| u64::try_from(at).unwrap();
    let live = (!live.is_empty()).then(|| (time(departed.unwrap_or(*came) + number(live)), byte(live_tos)));
    let row = Row {
        came: time(*came),
        bytes: number(bytes) as u32,
        dscp: byte(tos) >> 2,
        ecn: byte(tos) & 3,
        port: number(port) as u16,
        left: departed.map(|at| (time(at), byte(kernel_tos))),
    };
    Both { row, came: time(*came + number(live_came)), live }
}

//! Conditioners by their names, and captures sent through them.

use std::path::{Path, PathBuf};

use perhop_capture::mark::{MarkError, Marking, Report, run};
use perhop_capture::{Capture, Pump};
use perhop_core::Scope;
use perhop_core::classify::Match;
use perhop_core::conditioner::ConditionerParams;
use perhop_core::params::{Place, Problems, Reader, Table, Tree};
use perhop_core::port::edge::{Action, Per, StageSpec};
use perhop_edge::{IpHeaders, locate};

pub(crate) fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/captures").join(name)
}

pub(crate) fn af(text: &str) -> Action {
    Action::mark(text.parse().expect("a name"))
}

pub(crate) fn stage(name: &str, params: ConditionerParams) -> StageSpec {
    StageSpec {
        name: name.into(),
        matches: Match::default(),
        per: Per::Aggregate,
        params,
        actions: [af("AF11"), af("AF12"), af("AF13"), Action::TRANSMIT],
        scope: Scope::default(),
    }
}

pub(crate) fn by_name(name: &str, entries: Vec<(&str, Tree)>) -> ConditionerParams {
    let Tree::Table(table) = Tree::table(entries) else { unreachable!() };
    read(name, &table)
}

pub(crate) fn read(name: &str, table: &Table) -> ConditionerParams {
    let mut problems = Problems::default();
    let read =
        ConditionerParams::read(name, Place::default(), &mut Reader::new(table, Place::default(), &mut problems));
    read.unwrap_or_else(|| panic!("{problems:?}"))
}

pub(crate) fn marking(stages: Vec<StageSpec>) -> Marking {
    Marking { stages, seed: 1, ..Marking::default() }
}

pub(crate) fn marked(input: &[u8], marking: Marking) -> Result<(Vec<u8>, Report), MarkError> {
    let mut output = Vec::new();
    let report = run(marking, &mut Capture::new(input)?, Some(&mut output), &Pump::default())?;
    Ok((output, report))
}

/// A packet of a capture.
pub(crate) struct Seen {
    pub(crate) stamp_ns: u64,
    pub(crate) original: u32,
    pub(crate) data: Vec<u8>,
    pub(crate) ip: Option<IpHeaders>,
}

pub(crate) fn packets(bytes: &[u8]) -> Vec<Seen> {
    let mut capture = Capture::new(bytes).expect("a capture");
    let mut found = Vec::new();
    while let Some(mut chunk) = capture.next_chunk().expect("sound") {
        let Some(record) = chunk.record() else { continue };
        let ip = locate(record.link, record.data, record.original).ok();
        let original = record.original;
        found.push(Seen { stamp_ns: record.time_ns.expect("timed"), original, data: record.data.to_vec(), ip });
    }
    found
}

//! `events.parquet`: a row for each packet at each port, written while the run goes on, a group of rows at a time.
//!
//! It is no part of the results that their hash covers: a run with it has the same hash as one without.

pub use perhop_results::tables::events::NAME;

use super::disk::regular;
use super::parquet::{Constant, column, physical, properties, schema_of, values_of, write_column};
use parquet::column::writer::{ColumnCloseResult, ColumnWriter};
use parquet::data_type::ByteArray;
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::ParquetMetaData;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::serialized_reader::ReadOptionsBuilder;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use perhop_core::packet::Ecn;
use perhop_results::tables::events::declared;
use perhop_sim::plan::Plan;
use perhop_sim::record::{EventSink, PortEvent, PortFate};
use std::fs::File;
use std::io;
use std::io::BufWriter;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// Names, each shared by all rows that have it.
struct Names {
    ports: Vec<ByteArray>,
    classes: Vec<ByteArray>,
    traffic: Vec<ByteArray>,
}

impl Names {
    fn new(plan: &Plan) -> Self {
        let all = |names: Vec<&str>| names.into_iter().map(ByteArray::from).collect();
        Self {
            ports: all(plan.links.iter().map(|link| link.name.as_str()).collect()),
            classes: all(plan.classes.iter().map(String::as_str).collect()),
            traffic: all(plan.traffic.iter().map(|it| it.name.as_str()).collect()),
        }
    }
}

type Written = SerializedFileWriter<BufWriter<File>>;

/// A file of events being written. Errors are kept for [`Writer::finish`]; after one nothing more is written.
pub struct Writer {
    shared: Arc<Mutex<Shared>>,
}

struct Shared {
    names: Names,
    constants: Vec<Constant>,
    file: Option<Written>,
    failed: Option<ParquetError>,
}

impl Writer {
    /// Begins the file at `path` for a run of `plan`; every row begins with the constants.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn begin(path: &Path, plan: &Plan, constants: Vec<Constant>) -> io::Result<Self> {
        let file = Some(begun(path, &constants).map_err(io_error)?);
        let shared = Shared { names: Names::new(plan), constants, file, failed: None };
        Ok(Self { shared: Arc::new(Mutex::new(shared)) })
    }

    /// What the simulation hands its rows to.
    pub fn sink(&self) -> EventSink {
        let shared = self.shared.clone();
        EventSink::new(move |batch| lock(&shared).take(batch))
    }

    /// Whether something could not be written: the run may as well end.
    pub fn failed(&self) -> bool {
        lock(&self.shared).failed.is_some()
    }

    /// Completes the file.
    ///
    /// # Errors
    /// The first one met.
    pub fn finish(self) -> io::Result<()> {
        let Shared { file, failed, .. } = &mut *lock(&self.shared);
        if let Some(error) = failed.take() {
            return Err(io_error(error));
        }
        file.take().map_or(Ok(()), ended)
    }
}

/// Writes the file at `from` with other constants to `to`; its own columns are copied as they are.
///
/// # Errors
/// When one cannot be read or the other not written.
pub fn relabel(from: &Path, to: &Path, constants: &[Constant]) -> io::Result<()> {
    let source = regular::open(from, u64::MAX)?;
    let indexed = ReadOptionsBuilder::new().with_page_index().build();
    let read = SerializedFileReader::new_with_options(source.try_clone()?, indexed).map_err(io_error)?;
    let mut file = begun(to, constants).map_err(io_error)?;
    for group in 0..read.num_row_groups() {
        copy(&mut file, constants, &source, (read.metadata(), group)).map_err(io_error)?;
    }
    ended(file)
}

fn copy(to: &mut Written, constants: &[Constant], from: &File, it: (&ParquetMetaData, usize)) -> Result<()> {
    let (all, group) = (it.0, it.0.row_group(it.1));
    let (mut out, rows) = (to.next_row_group()?, group.num_rows());
    label(&mut out, constants, rows as usize)?;
    for i in group.num_columns() - declared().columns.len()..group.num_columns() {
        let metadata = group.column(i).clone();
        let whole = ColumnCloseResult {
            bytes_written: metadata.compressed_size() as u64,
            rows_written: rows as u64,
            metadata,
            bloom_filter: None,
            column_index: all.column_index().map(|each| each[it.1][i].clone()),
            offset_index: all.offset_index().map(|each| each[it.1][i].clone()),
        };
        out.append_column(from, whole)?;
    }
    out.close().map(drop)
}

fn label(group: &mut SerializedRowGroupWriter<'_, BufWriter<File>>, all: &[Constant], rows: usize) -> Result<()> {
    all.iter().try_for_each(|it| column(group, |to| write_column(to, &it.value.repeated(rows))))
}

fn begun(path: &Path, constants: &[Constant]) -> Result<Written> {
    let declared = declared();
    let own = declared.columns.iter().map(|column| (&*column.name, physical(column.kind)));
    let schema = schema_of(NAME, constants.iter().map(Constant::declared).chain(own))?;
    SerializedFileWriter::new(BufWriter::new(File::create(path)?), Arc::new(schema), Arc::new(properties()?))
}

fn ended(file: Written) -> io::Result<()> {
    let to = file.into_inner().map_err(io_error)?;
    to.into_inner().map_err(io::IntoInnerError::into_error).map(drop)
}

fn lock(shared: &Mutex<Shared>) -> std::sync::MutexGuard<'_, Shared> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The cause, if it is one of input or output.
fn io_error(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(cause) => cause.downcast::<io::Error>().map_or_else(io::Error::other, |io| *io),
        other => io::Error::other(other),
    }
}

impl Shared {
    fn take(&mut self, batch: &[PortEvent]) {
        let Some(file) = self.file.as_mut().filter(|_| self.failed.is_none()) else { return };
        if let Err(error) = write_group(file, &self.names, &self.constants, batch) {
            self.failed = Some(error);
        }
    }
}

/// One group of rows, column after column, in the order in which they are declared.
fn write_group(file: &mut Written, names: &Names, constants: &[Constant], batch: &[PortEvent]) -> Result<()> {
    let mut group = Group { to: file.next_row_group()?, batch };
    label(&mut group.to, constants, batch.len())?;
    group.integers(|it| Some(it.number))?;
    group.texts(|it| Some(names.ports[it.link as usize].clone()))?;
    group.texts(|it| Some(names.classes[usize::from(it.packet.class)].clone()))?;
    group.texts(|it| Some(names.traffic[it.flow.table as usize].clone()))?;
    group.integers(|it| Some(u64::from(it.flow.number)))?;
    group.names(|it| Some(if it.packet.flow.0.is_multiple_of(2) { "out" } else { "back" }))?;
    group.integers(|it| Some(u64::from(it.packet.size)))?;
    group.integers(|it| Some(u64::from(it.wire)))?;
    group.integers(|it| Some(it.came.ns()))?;
    group.integers(|it| it.left.map(|left| left.ns()))?;
    group.integers(|it| it.dropped.map(|at| at.ns()))?;
    group.names(|it| Some(fate(it.fate)))?;
    group.names(|it| if let PortFate::Dropped(reason) = it.fate { Some(reason.name()) } else { None })?;
    group.names(|it| Some(it.colour_in.name()))?;
    group.names(|it| Some(it.packet.colour.name()))?;
    group.integers(|it| Some(u64::from(it.packet.dscp.get())))?;
    group.names(|it| Some(ecn(it.packet.ecn)))?;
    group.integers(|it| Some(u64::from(it.found_packets)))?;
    group.integers(|it| Some(it.found_bytes))?;
    group.to.close()?;
    Ok(())
}

struct Group<'a, 'w> {
    to: SerializedRowGroupWriter<'w, BufWriter<File>>,
    batch: &'a [PortEvent],
}

impl Group<'_, '_> {
    fn integers(&mut self, of: impl Fn(&PortEvent) -> Option<u64>) -> Result<()> {
        let values: Vec<_> = self.batch.iter().map(|it| of(it).map(|n| n as i64)).collect();
        column(&mut self.to, |to| match to {
            ColumnWriter::Int64ColumnWriter(to) => values_of(to, &values),
            _ => unreachable!("the columns are written in the schema's order"),
        })
    }

    fn texts(&mut self, of: impl Fn(&PortEvent) -> Option<ByteArray>) -> Result<()> {
        let values: Vec<_> = self.batch.iter().map(of).collect();
        column(&mut self.to, |to| match to {
            ColumnWriter::ByteArrayColumnWriter(to) => values_of(to, &values),
            _ => unreachable!("the columns are written in the schema's order"),
        })
    }

    fn names(&mut self, of: impl Fn(&PortEvent) -> Option<&'static str>) -> Result<()> {
        self.texts(|it| of(it).map(|name| ByteArray::from(bytes::Bytes::from_static(name.as_bytes()))))
    }
}

const fn fate(fate: PortFate) -> &'static str {
    match fate {
        PortFate::Sent => "sent",
        PortFate::Marked => "marked",
        PortFate::Dropped(_) => "dropped",
        PortFate::Waiting => "waiting",
        PortFate::InFlight => "in-flight",
    }
}

const fn ecn(ecn: Ecn) -> &'static str {
    match ecn {
        Ecn::NotEct => "not-ect",
        Ecn::Ect1 => "ect1",
        Ecn::Ect0 => "ect0",
        Ecn::Ce => "ce",
    }
}

//! Tables as Parquet: one row group, no Arrow, the same bytes for the same values; and back. Small tables are stored as they
//! are, larger ones with Zstandard and, of texts, dictionaries.
//!
//! Decision: docs/decisions/085-parquet-without-arrow.md

use bytes::Bytes;
use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical, ZstdLevel};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::column::writer::{ColumnWriter, ColumnWriterImpl};
use parquet::data_type::{ByteArray, DataType};
use parquet::errors::{ParquetError, Result};
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesBuilder};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{ColumnPath, Type};
use perhop_results::tables::column::Kind;
use perhop_results::tables::columns::{Known, Table, Values};
use std::collections::HashMap;
use std::io::Write;
use std::sync::Arc;

/// Up to this many bytes a table is small: to compress it would take longer than to write it.
const SMALL: usize = 8192;

/// A column that has one value in all rows: of which point they are, and of which replication.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constant {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: One,
}

/// The value of a constant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum One {
    /// A number.
    Integer(i64),
    /// A text.
    Text(Arc<str>),
}

impl Constant {
    /// Its name and type.
    pub(super) fn declared(&self) -> (&str, Physical) {
        (&self.name, physical(self.value.repeated(0).kind()))
    }
}

impl One {
    pub(super) fn repeated(&self, rows: usize) -> Values {
        match self {
            Self::Integer(n) => Values::Integers(vec![Some(*n); rows]),
            Self::Text(text) => Values::Texts(vec![Some(text.clone()); rows]),
        }
    }
}

/// Writes a table, with constants before its own columns.
///
/// # Errors
/// When `to` cannot be written.
pub fn write(table: &Table, constants: &[Constant], to: impl Write + Send) -> Result<()> {
    let properties = if bytes(table) <= SMALL { bare() } else { packed(table)? };
    let dictionary =
        |to: WriterPropertiesBuilder, it: &Constant| to.set_column_dictionary_enabled(path(&it.name), true);
    let properties = constants.iter().fold(properties, dictionary).build();
    let mut file = SerializedFileWriter::new(to, Arc::new(schema(table, constants)?), Arc::new(properties))?;
    let mut group = file.next_row_group()?;
    for it in constants {
        column(&mut group, |to| write_column(to, &it.value.repeated(table.rows())))?;
    }
    for (_, values) in &table.columns {
        column(&mut group, |to| write_column(to, values))?;
    }
    group.close()?;
    file.close()?;
    Ok(())
}

/// Bytes of a table's values.
fn bytes(table: &Table) -> usize {
    let of = |values: &Values| match values {
        Values::Integers(v) => size_of_val(v.as_slice()),
        Values::Reals(v) => size_of_val(v.as_slice()),
        Values::Texts(v) => v.iter().flatten().map(|text| text.len()).sum(),
    };
    table.columns.iter().map(|(_, values)| of(values)).sum()
}

/// Values one after the other: who reads a table reads it whole, and needs neither statistics nor an index.
fn bare() -> WriterPropertiesBuilder {
    let bare = WriterProperties::builder().set_dictionary_enabled(false).set_offset_index_disabled(true);
    bare.set_statistics_enabled(EnabledStatistics::None).set_created_by("perhop".into())
}

/// How a larger table is written. Texts repeat, numbers hardly.
fn packed(table: &Table) -> Result<WriterPropertiesBuilder> {
    let texts = table.columns.iter().filter(|(_, values)| matches!(values, Values::Texts(_)));
    let packed = bare().set_compression(Compression::ZSTD(ZstdLevel::try_new(1)?));
    Ok(texts.fold(packed, |to, (name, _)| to.set_column_dictionary_enabled(path(name), true)))
}

/// A name is one part, whatever points are in it.
fn path(name: &str) -> ColumnPath {
    ColumnPath::new(vec![name.to_owned()])
}

/// How packets at ports are written: as they come, to be searched.
pub(super) fn properties() -> Result<WriterProperties> {
    let compression = Compression::ZSTD(ZstdLevel::try_new(1)?);
    Ok(WriterProperties::builder().set_compression(compression).set_created_by("perhop".into()).build())
}

/// Writes the next column of a group.
pub(super) fn column<W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    write: impl FnOnce(&mut ColumnWriter<'_>) -> Result<usize>,
) -> Result<()> {
    let mut column = group.next_column()?.expect("as many columns as the schema has");
    write(column.untyped())?;
    column.close()
}

fn schema(table: &Table, constants: &[Constant]) -> Result<Type> {
    let own = table.columns.iter().map(|(name, values)| (name.as_str(), physical(values.kind())));
    schema_of(table.name, constants.iter().map(Constant::declared).chain(own))
}

pub(super) fn physical(kind: Kind) -> Physical {
    match kind {
        Kind::Integer => Physical::INT64,
        Kind::Real => Physical::DOUBLE,
        Kind::Text => Physical::BYTE_ARRAY,
    }
}

/// A table of these columns; each may lack values, and bytes are text.
pub(super) fn schema_of<'a>(name: &str, columns: impl IntoIterator<Item = (&'a str, Physical)>) -> Result<Type> {
    let field = |(name, physical)| {
        let logical = (physical == Physical::BYTE_ARRAY).then_some(LogicalType::String);
        let column = Type::primitive_type_builder(name, physical).with_logical_type(logical);
        column.with_repetition(Repetition::OPTIONAL).build().map(Arc::new)
    };
    let fields = columns.into_iter().map(field).collect::<Result<Vec<_>>>()?;
    Type::group_type_builder(name).with_fields(fields).build()
}

pub(super) fn write_column(column: &mut ColumnWriter<'_>, values: &Values) -> Result<usize> {
    match (column, values) {
        (ColumnWriter::Int64ColumnWriter(w), Values::Integers(v)) => values_of(w, v),
        (ColumnWriter::DoubleColumnWriter(w), Values::Reals(v)) => values_of(w, v),
        (ColumnWriter::ByteArrayColumnWriter(w), Values::Texts(v)) => {
            // Few of them differ: each is copied once.
            let mut known = HashMap::new();
            let mut shared = |text| known.entry(text).or_insert_with(|| ByteArray::from(text)).clone();
            values_of(w, &v.iter().map(|text| text.as_deref().map(&mut shared)).collect::<Vec<_>>())
        }
        _ => unreachable!("the schema is made from the table"),
    }
}

/// Writes a column's values: 1 as its definition where there is one, 0 where there is none.
pub(super) fn values_of<T: DataType>(to: &mut ColumnWriterImpl<'_, T>, values: &[Option<T::T>]) -> Result<usize> {
    let present: Vec<_> = values.iter().flatten().cloned().collect();
    let definitions: Vec<_> = values.iter().map(|v| i16::from(v.is_some())).collect();
    to.write_batch(&present, Some(&definitions), None)
}

/// Reads a table that [`write`] wrote, from the column on that `is_first` says is its first.
///
/// # Errors
/// When `bytes` are not such a file.
pub fn read(name: &'static str, bytes: Vec<u8>, is_first: impl Fn(&str) -> bool) -> Result<Table> {
    let file = SerializedFileReader::new(Bytes::from(bytes))?;
    let schema = file.metadata().file_metadata().schema_descr_ptr();
    let constants = schema.columns().iter().take_while(|column| !is_first(column.name())).count();
    let own = schema.columns().iter().skip(constants);
    let mut columns = own.map(|c| Ok((c.name().to_owned(), empty(c.physical_type())?))).collect::<Result<Vec<_>>>()?;
    for index in 0..file.num_row_groups() {
        let group = file.get_row_group(index)?;
        let rows = usize::try_from(group.metadata().num_rows())?;
        for (i, (_, values)) in columns.iter_mut().enumerate() {
            read_column(group.get_column_reader(constants + i)?, rows, values)?;
        }
    }
    Ok(Table::new(name, columns))
}

fn empty(of: Physical) -> Result<Values> {
    match of {
        Physical::INT64 => Ok(Values::Integers(Vec::new())),
        Physical::DOUBLE => Ok(Values::Reals(Vec::new())),
        Physical::BYTE_ARRAY => Ok(Values::Texts(Vec::new())),
        other => Err(ParquetError::General(format!("a column of {other}: none of perhop's"))),
    }
}

fn read_column(column: ColumnReader, rows: usize, values: &mut Values) -> Result<()> {
    match (column, values) {
        (ColumnReader::Int64ColumnReader(r), Values::Integers(v)) => v.extend(read_values(r, rows)?),
        (ColumnReader::DoubleColumnReader(r), Values::Reals(v)) => v.extend(read_values(r, rows)?),
        (ColumnReader::ByteArrayColumnReader(r), Values::Texts(v)) => {
            let mut known = Known::default();
            for text in read_values(r, rows)? {
                v.push(text.map(|t: ByteArray| t.as_utf8().map(|text| known.share(text))).transpose()?);
            }
        }
        _ => unreachable!("the columns are made from the schema"),
    }
    Ok(())
}

fn read_values<T: DataType>(mut reader: ColumnReaderImpl<T>, rows: usize) -> Result<Vec<Option<T::T>>> {
    let (mut present, mut definitions) = (Vec::new(), Vec::new());
    let (read, _, _) = reader.read_records(rows, Some(&mut definitions), None, &mut present)?;
    if read != rows || definitions.len() != rows {
        return Err(ParquetError::EOF(format!("{read} of {rows} rows")));
    }
    let mut present = present.into_iter();
    Ok(definitions.into_iter().map(|defined| (defined > 0).then(|| present.next()).flatten()).collect())
}

//! Tables as Parquet: one row group, Zstandard, no Arrow, the same bytes for the same values; and back.

use super::columns::{Table, Values};
use bytes::Bytes;
use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical, ZstdLevel};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::{ByteArray, DataType};
use parquet::errors::{ParquetError, Result};
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;
use std::io::Write;
use std::sync::Arc;

/// Writes a table.
///
/// # Errors
/// When `to` cannot be written.
pub fn write(table: &Table, to: impl Write + Send) -> Result<()> {
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(1)?))
        .set_created_by("perhop".into())
        .build();
    let mut file = SerializedFileWriter::new(to, Arc::new(schema(table)?), Arc::new(properties))?;
    let mut group = file.next_row_group()?;
    for (_, values) in &table.columns {
        let mut column = group.next_column()?.expect("as many columns as the schema has");
        write_column(column.untyped(), values)?;
        column.close()?;
    }
    group.close()?;
    file.close()?;
    Ok(())
}

fn schema(table: &Table) -> Result<Type> {
    let field = |(name, values): &(String, Values)| {
        let (physical, logical) = match values {
            Values::Integers(_) => (Physical::INT64, None),
            Values::Reals(_) => (Physical::DOUBLE, None),
            Values::Texts(_) => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        };
        let column = Type::primitive_type_builder(name, physical).with_logical_type(logical);
        column.with_repetition(Repetition::OPTIONAL).build().map(Arc::new)
    };
    let fields = table.columns.iter().map(field).collect::<Result<Vec<_>>>()?;
    Type::group_type_builder(table.name).with_fields(fields).build()
}

fn write_column(column: &mut ColumnWriter<'_>, values: &Values) -> Result<usize> {
    match (column, values) {
        (ColumnWriter::Int64ColumnWriter(w), Values::Integers(v)) => {
            w.write_batch(&present(v), Some(&definitions(v)), None)
        }
        (ColumnWriter::DoubleColumnWriter(w), Values::Reals(v)) => {
            w.write_batch(&present(v), Some(&definitions(v)), None)
        }
        (ColumnWriter::ByteArrayColumnWriter(w), Values::Texts(v)) => {
            let texts: Vec<ByteArray> = v.iter().flatten().map(|t| t.as_str().into()).collect();
            w.write_batch(&texts, Some(&definitions(v)), None)
        }
        _ => unreachable!("the schema is made from the table"),
    }
}

fn present<T: Copy>(values: &[Option<T>]) -> Vec<T> {
    values.iter().flatten().copied().collect()
}

/// 1 where there is a value, 0 where there is none.
fn definitions<T>(values: &[Option<T>]) -> Vec<i16> {
    values.iter().map(|v| i16::from(v.is_some())).collect()
}

/// Reads a table that [`write`] wrote.
///
/// # Errors
/// When `bytes` are not such a file.
pub fn read(name: &'static str, bytes: Vec<u8>) -> Result<Table> {
    let file = SerializedFileReader::new(Bytes::from(bytes))?;
    let schema = file.metadata().file_metadata().schema_descr_ptr();
    let mut columns = schema.columns().iter().map(|c| Ok((c.name().to_owned(), empty(c.physical_type())?)));
    let mut columns = columns.by_ref().collect::<Result<Vec<_>>>()?;
    for index in 0..file.num_row_groups() {
        let group = file.get_row_group(index)?;
        let rows = usize::try_from(group.metadata().num_rows())?;
        for (i, (_, values)) in columns.iter_mut().enumerate() {
            read_column(group.get_column_reader(i)?, rows, values)?;
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
            for text in read_values(r, rows)? {
                v.push(text.map(|t: ByteArray| t.as_utf8().map(str::to_owned)).transpose()?);
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

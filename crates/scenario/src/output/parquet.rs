//! Tables as Parquet: one row group, Zstandard, no Arrow, the same bytes for the same values.

use super::columns::{Table, Values};
use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical, ZstdLevel};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::Result;
use parquet::file::properties::WriterProperties;
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

//! Tables of several replications as one, and back: the rows of one after the other, with `replication` as the first column.
//! Of one alone it is a constant of its files.

use perhop_results::tables::columns::{Table, Values};

/// The column that tells rows of different replications apart.
pub const REPLICATION: &str = "replication";

/// The tables of each replication as one of each name; of one alone as they are.
///
/// # Panics
/// When they have different columns: those of one point never do.
pub fn join(mut each: Vec<(u32, Vec<Table>)>) -> Vec<Table> {
    if each.len() == 1 {
        return each.remove(0).1;
    }
    let mut joined: Vec<(Vec<Option<i64>>, Vec<Table>)> = Vec::new();
    for (number, tables) in each {
        joined.resize_with(tables.len(), Default::default);
        for ((numbers, all), table) in joined.iter_mut().zip(tables) {
            numbers.extend(std::iter::repeat_n(Some(i64::from(number)), table.rows()));
            all.push(table);
        }
    }
    joined.into_iter().map(|(numbers, all)| one_of(numbers, all)).collect()
}

fn one_of(numbers: Vec<Option<i64>>, all: Vec<Table>) -> Table {
    let mut all = all.into_iter();
    let Table { name, mut columns, .. } = all.next().expect("a table of each replication");
    for table in all {
        assert_eq!(columns.len(), table.columns.len(), "all have the columns of {name}");
        columns.iter_mut().zip(table.columns).for_each(|((_, to), (_, values))| append(to, values));
    }
    columns.insert(0, (REPLICATION.to_owned(), Values::Integers(numbers)));
    Table::new(name, columns)
}

fn append(to: &mut Values, values: Values) {
    match (to, values) {
        (Values::Integers(to), Values::Integers(v)) => to.extend(v),
        (Values::Reals(to), Values::Reals(v)) => to.extend(v),
        (Values::Texts(to), Values::Texts(v)) => to.extend(v),
        _ => panic!("a column has values of one kind"),
    }
}

/// The tables of each of these replications. Tables without the column are of the only one.
///
/// # Errors
/// When rows are of none of them, or in another order.
pub fn split(tables: Vec<Table>, replications: &[u32]) -> Result<Vec<Vec<Table>>, String> {
    let mut each: Vec<_> = replications.iter().map(|_| Vec::with_capacity(tables.len())).collect();
    for table in tables {
        let (name, rows) = (table.name, rows_of(&table, replications));
        let rows =
            rows.ok_or_else(|| format!("{name}.parquet does not have the replications that its manifest lists"))?;
        each.iter_mut().zip(divide(table, &rows)).for_each(|(tables, part)| tables.push(part));
    }
    Ok(each)
}

/// How many rows each replication has; `None` if some are of none of them.
fn rows_of(table: &Table, replications: &[u32]) -> Option<Vec<usize>> {
    let Some(Values::Integers(numbers)) = table.columns.first().filter(|c| c.0 == REPLICATION).map(|c| &c.1) else {
        return (replications.len() == 1 || table.rows() == 0).then(|| match replications {
            [_] => vec![table.rows()],
            _ => vec![0; replications.len()],
        });
    };
    let mut at = 0;
    let mut count = |number: &u32| {
        let of = numbers[at..].iter().take_while(|n| **n == Some(i64::from(*number))).count();
        at += of;
        of
    };
    let rows: Vec<_> = replications.iter().map(&mut count).collect();
    (at == numbers.len()).then_some(rows)
}

/// Parts of a table, of so many rows each, without the column that tells them apart.
fn divide(table: Table, rows: &[usize]) -> Vec<Table> {
    let mut parts: Vec<Vec<(String, Values)>> = rows.iter().map(|_| Vec::with_capacity(table.columns.len())).collect();
    for (name, values) in table.columns.into_iter().filter(|column| column.0 != REPLICATION) {
        let divided = match values {
            Values::Integers(v) => parts_of(v, rows, Values::Integers),
            Values::Reals(v) => parts_of(v, rows, Values::Reals),
            Values::Texts(v) => parts_of(v, rows, Values::Texts),
        };
        parts.iter_mut().zip(divided).for_each(|(part, values)| part.push((name.clone(), values)));
    }
    parts.into_iter().map(|columns| Table::new(table.name, columns)).collect()
}

fn parts_of<T>(values: Vec<T>, rows: &[usize], of: fn(Vec<T>) -> Values) -> Vec<Values> {
    let mut values = values.into_iter();
    rows.iter().map(|&rows| of(values.by_ref().take(rows).collect())).collect()
}

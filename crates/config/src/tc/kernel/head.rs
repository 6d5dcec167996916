//! What stands before the kind of a queueing discipline or a class.

use crate::tc::handles::{INGRESS, INGRESS_HANDLE, ROOT, id, qdisc_id};
use crate::tc::options::{self, Options, Row};
use crate::tc::table;
use crate::tc::words::{Statement, Taken, Token, Words};

/// What stands before the kind of a queueing discipline or a class.
#[derive(Debug, Default)]
pub(super) struct Head<'a> {
    pub(super) handle: Option<u32>,
    pub(super) parent: Option<u32>,
    pub(super) stab: Options<'a>,
    pub(super) kind: Option<Token<'a>>,
    pub(super) options: Vec<Token<'a>>,
}

/// Words of a size table.
const STAB: &[Row] = table::STAB;

/// Reads up to the kind.
///
/// # Errors
/// What tc would refuse.
pub(super) fn head<'a>(statement: &Statement<'a>) -> Taken<Head<'a>> {
    let mut words = Words::new(&statement.words);
    let mut head = Head::default();
    while let Some(word) = words.next() {
        match &*word.text {
            "classid" => head.handle = Some(id(words.value(word)?)?),
            "handle" => head.handle = Some(qdisc_id(words.value(word)?)?),
            "parent" => head.parent = Some(id(words.value(word)?)?),
            "root" => head.parent = Some(ROOT),
            "ingress" | "clsact" => {
                (head.parent, head.handle, head.kind) = (Some(INGRESS), Some(INGRESS_HANDLE), Some(word.clone()));
                head.options = words.rest().to_vec();
                return Ok(head);
            }
            "estimator" | "est" => _ = (words.value(word)?, words.value(word)?),
            "ingress_block" | "egress_block" => _ = words.value(word)?,
            "stab" => {
                while let Some(row) = words.peek().and_then(|word| STAB.iter().find(|row| row.word == word.text)) {
                    let Some(word) = words.next() else { break };
                    head.stab.list.push(options::option(row, word, &mut words, statement.form())?);
                }
            }
            _ => {
                (head.kind, head.options) = (Some(word.clone()), words.rest().to_vec());
                return Ok(head);
            }
        }
    }
    Ok(head)
}

//! The account of a text on standard input: what became of its lines, and what it says. With `--json` as JSON; with `--model` the model.

use perhop_config::account::Account;
use perhop_config::dialect::Read;
use perhop_config::given::Given;
use perhop_config::tc;
use perhop_config::text::Text;
use serde_json::{Value, json};
use std::io::Read as _;

fn main() -> std::io::Result<()> {
    let mut bytes = Vec::new();
    std::io::stdin().read_to_end(&mut bytes)?;
    let text = Text::new(&bytes);
    let options: Vec<_> = std::env::args().skip(1).collect();
    let has = |name: &str| options.iter().any(|option| option == name);
    let interface = options.iter().find_map(|option| option.strip_prefix("--interface=")).map(str::to_owned);
    match (tc::DIALECT.read)(&text, &Given { interface, ..Given::default() }) {
        Err(fault) if has("--json") => {
            println!("{}", json!({ "fault": fault.code, "message": fault.message, "help": fault.help }))
        }
        Err(fault) => println!("error[{}] {}\n   help: {}", fault.code, fault.message, fault.help),
        Ok(read) if has("--json") => println!("{}", whole(&text, &read, has("--model"))),
        Ok(read) => {
            print!("{}", read.account.shown(&text));
            for finding in &read.findings {
                println!(
                    "{} line {}: {} [{}]",
                    finding.code,
                    text.line_of(finding.place),
                    finding.message,
                    finding.instead
                );
            }
            if has("--model") {
                println!("{:#?}", read.device);
            }
        }
    }
    Ok(())
}

fn whole(text: &Text, read: &Read, model: bool) -> Value {
    let findings: Vec<_> = read
        .findings
        .iter()
        .map(|it| json!({ "code": it.code, "line": text.line_of(it.place), "message": it.message, "instead": it.instead }))
        .collect();
    let evidence: Vec<_> = read
        .evidence
        .iter()
        .map(|it| json!({ "of": it.of, "kind": it.kind, "interface": it.interface, "counts": it.counts }))
        .collect();
    let mut all = json!({ "account": account(&read.account), "findings": findings, "evidence": evidence });
    if model {
        all["model"] = Value::String(format!("{:?}", read.device));
    }
    all
}

fn account(account: &Account) -> Value {
    let line = |(number, entry): (&usize, &perhop_config::account::Entry)| json!({ "line": number, "verdict": entry.verdict.name(), "notes": entry.notes });
    account.lines.iter().map(line).collect()
}

//! Writes the generated part of docs/: `make renew WHAT=docs`.

use std::path::Path;

fn main() -> std::io::Result<()> {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    std::fs::create_dir_all(docs.join("algorithms"))?;
    for (name, text) in perhop::docs::files() {
        std::fs::write(docs.join(name), text)?;
    }
    Ok(())
}

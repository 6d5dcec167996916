//! Ownership: a type's fields are accessed only in its own file or folder. Reads the source files of all crates.
//!
//! - No struct has more than 12 fields visible to other files. In a file with modules below it, private fields count too:
//!   these modules see them.
//! - No type has `impl` blocks outside its own folder, except those of another folder's trait.
//! - In this crate, a folder imports only from the folders listed above it in `lib.rs`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use syn::{Fields, Item, ItemImpl, ItemStruct, Type, Visibility};

/// The largest number of fields visible to other files.
const MOST: usize = 12;

/// A source file, without its tests.
struct Source {
    path: PathBuf,
    items: Vec<Item>,
}

impl Source {
    fn folder(&self) -> &Path {
        self.path.parent().expect("a file is in a folder")
    }

    /// The folders of its definitions: its own, and that of the modules below it.
    fn folders(&self) -> [PathBuf; 2] {
        [self.folder().to_owned(), self.path.with_extension("")]
    }

    /// Whether modules of other files are below it.
    fn is_parent(&self) -> bool {
        self.path.ends_with("mod.rs") || self.path.ends_with("lib.rs")
    }
}

/// The folders `src` of all crates.
fn crates() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("crates are in a folder");
    let mut all: Vec<_> = root.read_dir().unwrap().map(|entry| entry.unwrap().path().join("src")).collect();
    all.retain(|src| src.is_dir());
    all.sort();
    all
}

fn sources(folder: &Path) -> Vec<Source> {
    let mut all = Vec::new();
    for entry in folder.read_dir().unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all.extend(sources(&path));
        } else if path.extension().is_some_and(|ext| ext == "rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            all.push(source(path, &text));
        }
    }
    all
}

fn source(path: PathBuf, text: &str) -> Source {
    let file = syn::parse_file(text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    Source { path, items: flat(file.items) }
}

/// All items, inline modules replaced by their contents; without test modules.
fn flat(items: Vec<Item>) -> Vec<Item> {
    let mut all = Vec::new();
    for item in items {
        match item {
            Item::Mod(module) if module.attrs.iter().any(|attr| attr.path().is_ident("cfg")) => {}
            Item::Mod(module) => all.extend(flat(module.content.map_or_else(Vec::new, |(_, items)| items))),
            other => all.push(other),
        }
    }
    all
}

fn visible(of: &ItemStruct, all: bool) -> usize {
    let Fields::Named(fields) = &of.fields else { return 0 };
    fields.named.iter().filter(|field| all || !matches!(field.vis, Visibility::Inherited)).count()
}

/// `file: Struct: count` of each struct with too many fields visible to other files.
fn too_open(sources: &[Source]) -> Vec<String> {
    let mut found = Vec::new();
    for source in sources {
        for item in &source.items {
            if let Item::Struct(of) = item
                && visible(of, source.is_parent()) > MOST
            {
                found.push(format!("{}: {}: {}", source.path.display(), of.ident, visible(of, source.is_parent())));
            }
        }
    }
    found
}

fn name_of(of: &ItemImpl) -> Option<String> {
    let mut of = &*of.self_ty;
    while let Type::Reference(reference) = of {
        of = &reference.elem;
    }
    let Type::Path(path) = of else { return None };
    Some(path.path.segments.last()?.ident.to_string())
}

/// The folders of each type and each trait of a crate.
fn homes(sources: &[Source]) -> BTreeMap<String, BTreeSet<PathBuf>> {
    let mut homes: BTreeMap<String, BTreeSet<PathBuf>> = BTreeMap::new();
    for source in sources {
        for item in &source.items {
            let name = match item {
                Item::Struct(of) => &of.ident,
                Item::Enum(of) => &of.ident,
                Item::Trait(of) => &of.ident,
                _ => continue,
            };
            homes.entry(name.to_string()).or_default().extend(source.folders());
        }
    }
    homes
}

/// `file: impl Type` of each block that is not in the type's folder.
fn strays(sources: &[Source]) -> Vec<String> {
    let homes = homes(sources);
    let at_home = |name: &str, folder: &Path| homes.get(name).is_none_or(|homes| homes.contains(folder));
    let mut found = Vec::new();
    for source in sources {
        for item in &source.items {
            let Item::Impl(block) = item else { continue };
            let Some(name) = name_of(block) else { continue };
            let of_trait = block.trait_.as_ref().and_then(|(_, path, _)| path.segments.last());
            let by_trait = of_trait.is_some_and(|of| {
                let name = of.ident.to_string();
                homes.contains_key(&name) && at_home(&name, source.folder())
            });
            if !by_trait && !at_home(&name, source.folder()) {
                found.push(format!("{}: impl {name}", source.path.display()));
            }
        }
    }
    found
}

#[test]
fn no_struct_is_open_to_other_files() {
    let found: Vec<_> = crates().iter().flat_map(|src| too_open(&sources(src))).collect();
    assert!(found.is_empty(), "more than {MOST} fields visible to other files:\n{}", found.join("\n"));
}

#[test]
fn types_are_implemented_in_their_folders() {
    let found: Vec<_> = crates().iter().flat_map(|src| strays(&sources(src))).collect();
    assert!(found.is_empty(), "outside the type's folder:\n{}", found.join("\n"));
}

/// The two tests above find files that break the rules.
#[test]
fn breaches_are_found() {
    let fields = |vis: &str, n: u32| (0..n).map(|i| format!("{vis} f{i}: u8,")).collect::<String>();
    let open =
        |path: &str, vis: &str, n| too_open(&[source(path.into(), &format!("struct S {{ {} }}", fields(vis, n)))]);
    assert!(open("a/b.rs", "pub(crate)", 12).is_empty() && open("a/b.rs", "", 31).is_empty());
    assert_eq!(open("a/b.rs", "pub(super)", 13), ["a/b.rs: S: 13"]);
    assert_eq!(open("a/mod.rs", "", 13), ["a/mod.rs: S: 13"], "modules below it see private fields");

    let home = || source("a/one.rs".into(), "pub struct S; trait Local {}");
    let stray = |path: &str, text: &str| strays(&[home(), source(path.into(), text)]);
    assert!(stray("a/two.rs", "impl S {} impl Clone for S {}").is_empty());
    assert_eq!(stray("b/two.rs", "impl S {}"), ["b/two.rs: impl S"]);
    assert_eq!(stray("b/two.rs", "impl Clone for S {}"), ["b/two.rs: impl S"]);
    assert!(stray("b/two.rs", "trait Here {} impl Here for S {}").is_empty());
    assert_eq!(stray("b/two.rs", "impl Local for S {}"), ["b/two.rs: impl S"]);
    assert!(stray("a/one/below.rs", "impl S {}").is_empty(), "a module below the type's");
    assert!(stray("b/two.rs", "mod inner { impl u8 {} } #[cfg(test)] mod tests { impl S {} }").is_empty());
}

/// The folders of this crate in the order in which `lib.rs` declares them.
fn folders() -> Vec<String> {
    let lib = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lib.rs");
    let file = syn::parse_file(&std::fs::read_to_string(lib).unwrap()).unwrap();
    let name = |item: &Item| if let Item::Mod(module) = item { Some(module.ident.to_string()) } else { None };
    file.items.iter().filter_map(name).collect()
}

/// The folders that a text names after `crate::`.
fn imported<'a>(text: &str, folders: &'a [String]) -> BTreeSet<&'a String> {
    let paths = text.split("crate::").skip(1);
    let names = paths.map(|path| path.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or(""));
    names.filter_map(|name| folders.iter().find(|folder| *folder == name)).collect()
}

#[test]
fn folders_import_from_those_above_them() {
    let (folders, src) = (folders(), Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    assert!(folders.len() >= 8, "{folders:?}");
    for (i, folder) in folders.iter().enumerate() {
        for source in sources(&src.join(folder)) {
            let text = std::fs::read_to_string(&source.path).unwrap();
            let text = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
            let later: Vec<_> = imported(text, &folders[i + 1..]).into_iter().collect();
            assert!(later.is_empty(), "{} imports {later:?}", source.path.display());
        }
    }
    let of = |text| imported(text, &folders).len();
    assert_eq!((of("use crate::net::Net; crate::hosts::x()"), of("use super::net;")), (2, 0));
}

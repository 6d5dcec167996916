//! `#[derive(Params)]` and `#[derive(Choice)]`: a parameter is declared once.
//!
//! The struct's fields become keys of a scenario file (`max_p` is written `max-p`), their doc
//! comments the documentation, `#[param(default = ...)]` the default. What is generated from that
//! one place: the reader, the list of fields (schema, tables, generators) and the inverse, to text.
//!
//! `#[forward(AnyX: dispatch)]` on a trait: a method is declared once, and the enum of all that have it passes it on.
//!
//! Decision: docs/decisions/003-parameters-declared-once.md

mod forward;

use proc_macro::TokenStream;
use proc_macro2::TokenStream as Tokens;
use quote::quote;
use syn::{Attribute, Data, DeriveInput, Expr, ExprLit, Fields, Ident, Lit, LitStr, Meta, parse_macro_input};

/// Implements `Params` and `Value` for a struct with named fields.
///
/// `#[param(default = X)]` with X text, number or bool; `#[param(name = "key")]` where the key differs
/// from the field's name; `#[param(flatten)]` for a field whose keys are in the same table.
#[proc_macro_derive(Params, attributes(param))]
pub fn params(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    expand_params(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Implements `Value` for an enum of plain variants, written in kebab case (`ColourBlind` is `"colour-blind"`),
/// or as `#[param(name = "...")]` says.
#[proc_macro_derive(Choice, attributes(param))]
pub fn choice(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    expand_choice(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Implements a trait for enums of all that implement it: each method is passed on to the variant at hand, by a macro that
/// `algorithms!` or the file makes: `#[forward(AnyAqm: dispatch, Params = AqmParams)]`.
///
/// `Params = X` sets an associated type. A method whose arguments mention one is not passed on but is the enum's own
/// method of that name. `#[inline]` goes to what passes on, not to the trait.
#[proc_macro_attribute]
pub fn forward(targets: TokenStream, declared: TokenStream) -> TokenStream {
    let targets = parse_macro_input!(targets as forward::Targets);
    let declared = parse_macro_input!(declared as syn::ItemTrait);
    forward::expand(&targets, declared).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// What `#[param(...)]` says.
#[derive(Default)]
struct Options {
    default: Option<Lit>,
    negative: bool,
    name: Option<String>,
    flatten: bool,
}

impl Options {
    fn read(attributes: &[Attribute]) -> syn::Result<Self> {
        let mut options = <Self as Default>::default();
        for attribute in attributes.iter().filter(|a| a.path().is_ident("param")) {
            attribute.parse_nested_meta(|meta| {
                if meta.path.is_ident("default") {
                    let value = meta.value()?;
                    options.negative = value.parse::<syn::Token![-]>().is_ok();
                    options.default = Some(value.parse()?);
                } else if meta.path.is_ident("name") {
                    options.name = Some(meta.value()?.parse::<LitStr>()?.value());
                } else if meta.path.is_ident("flatten") {
                    options.flatten = true;
                } else {
                    return Err(meta.error("expected `default`, `name` or `flatten`"));
                }
                Ok(())
            })?;
        }
        Ok(options)
    }

    fn default_literal(&self) -> syn::Result<Tokens> {
        let sign = if self.negative { quote!(-) } else { quote!() };
        Ok(match &self.default {
            None => quote!(None),
            Some(Lit::Str(text)) => quote!(Some(::perhop_core::params::Literal::Text(#text))),
            Some(Lit::Int(n)) => quote!(Some(::perhop_core::params::Literal::Integer(#sign #n))),
            Some(Lit::Float(x)) => quote!(Some(::perhop_core::params::Literal::Float(#sign #x))),
            Some(Lit::Bool(b)) => quote!(Some(::perhop_core::params::Literal::Bool(#b))),
            Some(other) => return Err(syn::Error::new_spanned(other, "a default is text, a number or a bool")),
        })
    }
}

fn doc(attributes: &[Attribute]) -> String {
    let line = |a: &Attribute| match &a.meta {
        Meta::NameValue(m) if m.path.is_ident("doc") => match &m.value {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value().trim().to_owned()),
            _ => None,
        },
        _ => None,
    };
    attributes.iter().filter_map(line).collect::<Vec<_>>().join(" ")
}

fn kebab(name: &Ident) -> String {
    let mut out = String::new();
    for c in name.to_string().chars() {
        match c {
            '_' => out.push('-'),
            c if c.is_uppercase() && !out.is_empty() => out.extend(['-', c.to_ascii_lowercase()]),
            c => out.extend(c.to_lowercase()),
        }
    }
    out.trim_start_matches("r#").to_owned()
}

fn expand_params(input: &DeriveInput) -> syn::Result<Tokens> {
    let Data::Struct(data) = &input.data else {
        return Err(syn::Error::new_spanned(input, "Params is for structs"));
    };
    let Fields::Named(fields) = &data.fields else {
        return Err(syn::Error::new_spanned(input, "Params needs named fields"));
    };
    let (mut declared, mut read, mut built, mut shown) = (vec![], vec![], vec![], vec![]);
    for field in &fields.named {
        let (ident, ty) = (field.ident.as_ref().expect("named"), &field.ty);
        let options = Options::read(&field.attrs)?;
        built.push(quote!(#ident: #ident?));
        if options.flatten {
            declared.push(quote!(::perhop_core::params::Field::flattened::<#ty>()));
            read.push(quote!(let #ident = <#ty as ::perhop_core::params::Params>::read(reader);));
            shown.push(quote!(::perhop_core::params::Params::show(&self.#ident, out);));
            continue;
        }
        let name = options.name.clone().unwrap_or_else(|| kebab(ident));
        let (doc, default, i) = (doc(&field.attrs), options.default_literal()?, declared.len());
        declared.push(quote!(::perhop_core::params::Field {
            name: #name, doc: #doc, kind: <#ty as ::perhop_core::params::Value>::KIND,
            default: #default, optional: <#ty as ::perhop_core::params::Value>::OPTIONAL,
        }));
        read.push(quote!(let #ident = reader.field::<#ty>(&Self::FIELDS[#i]);));
        shown.push(
            quote!(if let Some(tree) = ::perhop_core::params::Value::tree(&self.#ident) { out.push((#name, tree)); }),
        );
    }
    let (name, (of, with, bounds)) = (&input.ident, input.generics.split_for_impl());
    Ok(quote! {
        impl #of ::perhop_core::params::Params for #name #with #bounds {
            const FIELDS: &'static [::perhop_core::params::Field] = &[#(#declared),*];
            fn read(reader: &mut ::perhop_core::params::Reader<'_>) -> Option<Self> {
                #(#read)*
                Some(Self { #(#built),* })
            }
            fn show(&self, out: &mut Vec<(&'static str, ::perhop_core::params::Tree)>) { #(#shown)* }
        }
        impl #of ::perhop_core::params::Value for #name #with #bounds {
            const KIND: ::perhop_core::params::Kind =
                ::perhop_core::params::Kind::Table(<Self as ::perhop_core::params::Params>::FIELDS);
            fn read(
                node: &::perhop_core::params::Node, problems: &mut ::perhop_core::params::Problems,
            ) -> Option<Self> {
                ::perhop_core::params::read_table(node, problems)
            }
            fn tree(&self) -> Option<::perhop_core::params::Tree> {
                Some(::perhop_core::params::show_table(self))
            }
        }
    })
}

fn expand_choice(input: &DeriveInput) -> syn::Result<Tokens> {
    let Data::Enum(data) = &input.data else {
        return Err(syn::Error::new_spanned(input, "Choice is for enums"));
    };
    let (mut idents, mut names) = (vec![], vec![]);
    for variant in &data.variants {
        let options = Options::read(&variant.attrs)?;
        idents.push(&variant.ident);
        names.push(options.name.unwrap_or_else(|| kebab(&variant.ident)));
    }
    let name = &input.ident;
    Ok(quote! {
        impl #name {
            /// The names a scenario file may use, in order.
            pub const NAMES: &'static [&'static str] = &[#(#names),*];
            /// The name a scenario file uses.
            pub const fn name(self) -> &'static str {
                match self { #(Self::#idents => #names),* }
            }
        }
        impl ::perhop_core::params::Value for #name {
            const KIND: ::perhop_core::params::Kind = ::perhop_core::params::Kind::Choice(Self::NAMES);
            fn read(
                node: &::perhop_core::params::Node, problems: &mut ::perhop_core::params::Problems,
            ) -> Option<Self> {
                match problems.choice(node, Self::NAMES)? { #(#names => Some(Self::#idents),)* _ => None }
            }
            fn tree(&self) -> Option<::perhop_core::params::Tree> {
                Some(::perhop_core::params::Tree::Text(self.name().to_owned()))
            }
        }
    })
}

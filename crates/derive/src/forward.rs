//! `#[forward(...)]`: a trait's methods, called through an enum of all that implement it.

use proc_macro2::TokenStream as Tokens;
use quote::{ToTokens, quote};
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Attribute, FnArg, Ident, ItemTrait, Pat, Token, TraitItem, TraitItemFn, Type};

/// What stands in the attribute: types with the macros that open them, and what the trait's own types are for them.
#[derive(Default)]
pub(crate) struct Targets {
    /// `AnyAqm: dispatch`
    opened: Vec<(Ident, Ident)>,
    /// `Params = AqmParams`
    types: Vec<(Ident, Type)>,
}

impl Parse for Targets {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let mut it = Self::default();
        while !input.is_empty() {
            let name: Ident = input.parse()?;
            if input.parse::<Option<Token![=]>>()?.is_some() {
                it.types.push((name, input.parse()?));
            } else {
                input.parse::<Token![:]>()?;
                it.opened.push((name, input.parse()?));
            }
            input.parse::<Option<Token![,]>>()?;
        }
        Ok(it)
    }
}

/// The trait, and its implementation for each target. `#[inline]` on a method is meant for the calls that are forwarded.
pub(crate) fn expand(targets: &Targets, mut declared: ItemTrait) -> syn::Result<Tokens> {
    let name = declared.ident.clone();
    let methods: Vec<_> = declared.items.iter().filter_map(method).cloned().collect();
    for item in &mut declared.items {
        if let TraitItem::Fn(method) = item {
            method.attrs.retain(|it| !is_inline(it));
        }
    }
    let types: Vec<_> = targets.types.iter().map(|(name, is)| quote!(type #name = #is;)).collect();
    let mut out = declared.into_token_stream();
    for (target, open) in &targets.opened {
        let calls = methods.iter().map(|it| forwarded(it, target, open)).collect::<syn::Result<Vec<_>>>()?;
        out.extend(quote!(impl #name for #target { #(#types)* #(#calls)* }));
    }
    Ok(out)
}

fn method(item: &TraitItem) -> Option<&TraitItemFn> {
    if let TraitItem::Fn(method) = item { Some(method) } else { None }
}

fn is_inline(attribute: &Attribute) -> bool {
    attribute.path().is_ident("inline")
}

/// One that takes what only the list knows how to match, `Self::Params`, is the enum's own of the same name.
fn forwarded(method: &TraitItemFn, target: &Ident, open: &Ident) -> syn::Result<Tokens> {
    let (signature, inline) = (&method.sig, method.attrs.iter().filter(|it| is_inline(it)));
    let (name, arguments) = (&signature.ident, arguments(&signature.inputs)?);
    let own = signature.inputs.to_token_stream().to_string().contains("Self ::");
    let call = match own {
        true => quote!(self.#name(#(#arguments),*)),
        false => quote!(#open!(#target, self, it => it.#name(#(#arguments),*))),
    };
    Ok(quote!(#(#inline)* #signature { #call }))
}

/// The names of all but `self`.
fn arguments(inputs: &Punctuated<FnArg, Token![,]>) -> syn::Result<Vec<&Ident>> {
    let patterns = inputs.iter().filter_map(|it| if let FnArg::Typed(it) = it { Some(&*it.pat) } else { None });
    patterns.map(name).collect()
}

fn name(pattern: &Pat) -> syn::Result<&Ident> {
    match pattern {
        Pat::Ident(named) => Ok(&named.ident),
        other => Err(syn::Error::new_spanned(other, "an argument that is passed on has a name")),
    }
}

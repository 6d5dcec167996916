//! Items of a list with their indices.

/// An item of a list, with its index.
#[derive(Debug)]
pub struct Indexed<'a, T> {
    /// From 0.
    pub index: usize,
    /// The item itself.
    pub it: &'a T,
}

impl<T> Clone for Indexed<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Indexed<'_, T> {}

/// Every item of a list, with its index.
pub fn indexed<T>(list: &[T]) -> impl Iterator<Item = Indexed<'_, T>> {
    list.iter().enumerate().map(|(index, it)| Indexed { index, it })
}

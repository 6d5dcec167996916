//! Things with their numbers.

/// One of a list, with its index there.
#[derive(Debug)]
pub struct Indexed<'a, T> {
    /// From 0.
    pub index: usize,
    /// The thing itself.
    pub it: &'a T,
}

impl<T> Clone for Indexed<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Indexed<'_, T> {}

/// All of a list.
pub fn indexed<T>(list: &[T]) -> impl Iterator<Item = Indexed<'_, T>> {
    list.iter().enumerate().map(|(index, it)| Indexed { index, it })
}

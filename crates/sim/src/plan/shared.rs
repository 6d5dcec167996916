//! A list that copies of a plan share until one of them alters it.

use std::ops::{Deref, DerefMut};
use std::slice::{Iter, IterMut};
use std::sync::Arc;

/// A list that is copied when it is altered, and only if it is shared.
#[derive(Debug, PartialEq)]
pub struct Shared<T>(Arc<Vec<T>>);

impl<T> Shared<T> {
    /// The list, to be altered, if no other copy shares it.
    pub fn alone_mut(&mut self) -> Option<&mut [T]> {
        Arc::get_mut(&mut self.0).map(Vec::as_mut_slice)
    }
}

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> Default for Shared<T> {
    fn default() -> Self {
        Vec::new().into()
    }
}

impl<T> From<Vec<T>> for Shared<T> {
    fn from(list: Vec<T>) -> Self {
        Self(Arc::new(list))
    }
}

impl<T> FromIterator<T> for Shared<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        Vec::from_iter(items).into()
    }
}

impl<T> Deref for Shared<T> {
    type Target = Vec<T>;
    fn deref(&self) -> &Vec<T> {
        &self.0
    }
}

impl<T: Clone> DerefMut for Shared<T> {
    fn deref_mut(&mut self) -> &mut Vec<T> {
        Arc::make_mut(&mut self.0)
    }
}

impl<'a, T> IntoIterator for &'a Shared<T> {
    type Item = &'a T;
    type IntoIter = Iter<'a, T>;
    fn into_iter(self) -> Iter<'a, T> {
        self.0.iter()
    }
}

impl<'a, T: Clone> IntoIterator for &'a mut Shared<T> {
    type Item = &'a mut T;
    type IntoIter = IterMut<'a, T>;
    fn into_iter(self) -> IterMut<'a, T> {
        self.iter_mut()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_altered_is_copied() {
        let first: Shared<_> = vec![1, 2].into();
        let mut second = first.clone();
        assert!(std::ptr::eq(&*first, &*second) && second.alone_mut().is_none());
        second.push(3);
        assert_eq!((&*first, &*second), (&vec![1, 2], &vec![1, 2, 3]));
        let place = second.as_ptr();
        second[0] = 5;
        assert!(second.alone_mut().is_some());
        assert_eq!((second[0], second.as_ptr()), (5, place), "it is not shared");
    }
}

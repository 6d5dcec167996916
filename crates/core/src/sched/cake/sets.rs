//! Set-associative hashing: assigns places in a table. Entries whose hashes agree in the lower digits share a set;
//! each of them has its own place until the set is full.

/// What a hash finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slot {
    /// The place that was last given to it, the first of its set.
    Own(usize),
    /// The same, another of its set.
    Beside(usize),
    /// A place that is free.
    Free(usize),
    /// A place that another uses: there is no free one in its set.
    Shared(usize),
}

/// Who was last given each place.
#[derive(Clone, Debug)]
pub(super) struct Sets {
    /// Places in a set.
    ways: usize,
    tags: Vec<u32>,
}

impl Sets {
    pub(super) fn new(places: usize, ways: usize) -> Self {
        Self { ways, tags: vec![0; places] }
    }

    pub(super) fn places(&self) -> usize {
        self.tags.len()
    }

    /// The place for a hash, which is its own from now on.
    pub(super) fn claim(&mut self, hash: u32, in_use: impl Fn(usize) -> bool) -> Slot {
        let found = self.find(hash, in_use);
        let (Slot::Own(place) | Slot::Beside(place) | Slot::Free(place) | Slot::Shared(place)) = found;
        self.tags[place] = hash;
        found
    }

    fn find(&self, hash: u32, in_use: impl Fn(usize) -> bool) -> Slot {
        let first = hash as usize % self.tags.len();
        if self.tags[first] == hash {
            return Slot::Own(first);
        }
        let from = first - first % self.ways;
        let ways = self.ways.min(self.tags.len() - from);
        let set = || (0..ways).map(|step| from + (first - from + step) % ways);
        let own = set().find(|&place| self.tags[place] == hash).map(Slot::Beside);
        let free = || set().find(|&place| !in_use(place)).map(Slot::Free);
        own.or_else(free).unwrap_or(Slot::Shared(first))
    }
}

//! Heap use of a value, as the allocator reports it.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
};

/// The system's allocator, which counts what each thread has.
struct Counting;

thread_local! {
    static TAKEN: Cell<isize> = const { Cell::new(0) };
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

fn count(bytes: isize) {
    // A thread that ends frees after its own figures are gone.
    let _ = TAKEN.try_with(|taken| taken.set(taken.get() + bytes));
}

// SAFETY: every call is the system allocator's own.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size().cast_signed());
        let _ = ALLOCATIONS.try_with(|made| made.set(made.get() + 1));
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        count(-layout.size().cast_signed());
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Result of a function, and the number of heap bytes allocated since.
pub(crate) fn taken_by<T>(make: impl FnOnce() -> T) -> (T, usize) {
    let before = TAKEN.get();
    let made = make();
    (made, usize::try_from(TAKEN.get() - before).unwrap_or_default())
}

/// Result of a function, and the number of its allocations, whether freed or not.
pub(crate) fn allocations_of<T>(make: impl FnOnce() -> T) -> (T, usize) {
    let before = ALLOCATIONS.get();
    let made = make();
    (made, ALLOCATIONS.get() - before)
}

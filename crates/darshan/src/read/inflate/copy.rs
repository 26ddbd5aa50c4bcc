//! Copies what was decompressed before to where it comes again. Where the two overlap, what is copied is copied on.

/// Bytes that [`roughly`] may write behind those that were asked for.
pub(super) const MOST: usize = 32;

/// Copies at least `length` bytes from `distance` before `at`, in strides: a few more are cheaper than a few less.
///
/// The bytes behind must have room for [`MOST`] more.
#[inline(always)]
pub(super) fn roughly(bytes: &mut [u8], at: usize, distance: usize, length: usize) {
    match distance {
        32.. => strides::<32>(bytes, at, distance, length),
        16.. => strides::<16>(bytes, at, distance, length),
        8.. => strides::<8>(bytes, at, distance, length),
        1 => repeat(bytes, at, length),
        _ => exactly(bytes, at, distance, length),
    }
}

/// A stride must not be longer than the distance.
#[inline(always)]
fn strides<const STRIDE: usize>(bytes: &mut [u8], at: usize, distance: usize, length: usize) {
    let (mut from, mut to) = (at - distance, at);
    let end = at + length;
    while to < end {
        let Some(&piece) = bytes.get(from..).and_then(<[u8]>::first_chunk::<STRIDE>) else {
            return;
        };
        let Some(place) = bytes.get_mut(to..).and_then(<[u8]>::first_chunk_mut) else { return };
        *place = piece;
        from += STRIDE;
        to += STRIDE;
    }
}

/// The byte before, again and again.
#[inline(always)]
fn repeat(bytes: &mut [u8], at: usize, length: usize) {
    let piece = [bytes[at - 1]; MOST];
    let (mut to, end) = (at, at + length);
    while to < end {
        let Some(place) = bytes.get_mut(to..).and_then(<[u8]>::first_chunk_mut) else { return };
        *place = piece;
        to += MOST;
    }
}

/// The same without a byte too much.
pub(super) fn exactly(bytes: &mut [u8], at: usize, distance: usize, length: usize) {
    for to in at..at + length {
        bytes[to] = bytes[to - distance];
    }
}

//! The board: every frame that a daemon takes is shown here, and subscribers get what they wish for.
//! Whoever shows a frame never waits, and without subscribers it costs a look at one number.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use netra_event::frame::Head;

use super::queue::{Item, Limits, Loss, Queue};
use super::tag::{Wish, is_essential, tag_of, worth};

/// Subscribers at a time.
pub const MOST: usize = 256;

/// Where frames are shown.
#[derive(Debug, Default)]
pub struct Board {
    /// How many subscribers there are, for those who show frames.
    count: AtomicUsize,
    subscribers: Mutex<Vec<Arc<Shelf>>>,
}

/// A subscriber's place on the board.
#[derive(Debug)]
struct Shelf {
    wish: Wish,
    queue: Mutex<Queue>,
    news: Condvar,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing is left half done by a panic in between.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Board {
    /// Somebody wishes for frames from now on.
    ///
    /// # Errors
    /// There are too many already.
    pub fn subscribe(
        self: &Arc<Board>,
        wish: Wish,
        limits: Limits,
    ) -> Result<Subscription, String> {
        let mut subscribers = lock(&self.subscribers);
        if subscribers.len() >= MOST {
            return Err(format!("there are {MOST} subscribers already"));
        }
        let queue = Mutex::new(Queue::new(limits));
        let shelf = Arc::new(Shelf { wish, queue, news: Condvar::new() });
        subscribers.push(Arc::clone(&shelf));
        self.count.store(subscribers.len(), Ordering::Release);
        Ok(Subscription { board: Arc::clone(self), shelf })
    }

    /// How many subscribers there are.
    #[must_use]
    pub fn subscribers(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }

    /// Shows a frame; says how many events and messages were missed by those who had no room.
    pub fn show(&self, head: &Head, frame: &[u8]) -> u64 {
        // Who subscribes at this very moment may miss it: it wished for what comes from now on.
        if self.count.load(Ordering::Acquire) == 0 {
            return 0;
        }
        let tag = tag_of(head, frame);
        let mut missed = 0;
        let mut shared: Option<Arc<[u8]>> = None;
        for shelf in lock(&self.subscribers).iter() {
            if shelf.wish.takes(head.kind, tag.as_deref()) {
                let frame = shared.get_or_insert_with(|| frame.into());
                let (events, essential) = (worth(head), is_essential(head.kind));
                if !lock(&shelf.queue).push(frame, events, essential) {
                    missed += events;
                }
                shelf.news.notify_one();
            }
        }
        missed
    }
}

/// What a subscriber holds; letting it go ends the subscription.
#[derive(Debug)]
pub struct Subscription {
    board: Arc<Board>,
    shelf: Arc<Shelf>,
}

impl Subscription {
    /// The next item, or none if nothing came in this time.
    #[must_use]
    pub fn next(&self, patience: Duration) -> Option<Item> {
        let mut item = None;
        // A wake-up may be for a frame that was taken without waiting: it does not end the patience.
        let empty = |queue: &mut Queue| {
            item = queue.pop();
            item.is_none() && !queue.is_given_up()
        };
        let waited = self.shelf.news.wait_timeout_while(lock(&self.shelf.queue), patience, empty);
        drop(waited);
        item
    }

    /// Puts a frame in front of what is shown later, such as what was known before.
    pub fn prepare(&self, frame: &[u8]) {
        lock(&self.shelf.queue).push(&frame.into(), 0, true);
    }

    /// Whether it fell so far behind that it can not be helped.
    #[must_use]
    pub fn is_given_up(&self) -> bool {
        lock(&self.shelf.queue).is_given_up()
    }

    /// What it missed so far.
    #[must_use]
    pub fn missed(&self) -> Loss {
        lock(&self.shelf.queue).missed()
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        let mut subscribers = lock(&self.board.subscribers);
        subscribers.retain(|shelf| !Arc::ptr_eq(shelf, &self.shelf));
        self.board.count.store(subscribers.len(), Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::{Form, Message};
    use crate::frame::{self, Subject};
    use netra_event::frame::{Kind, Producer};

    fn message(tag: &str, number: u64) -> (Head, Vec<u8>) {
        let bytes = number.to_le_bytes();
        let body =
            Message { tag: tag.as_bytes(), form: Form::Bytes, time: 0, uid: 0, bytes: &bytes };
        let mut out = Vec::new();
        let subject = Subject::single(Kind::Message, Producer::default(), 0, number, 0);
        frame::seal(&subject, &body.pack(), &mut out).unwrap();
        (frame::check(&out).unwrap(), out)
    }

    fn wish(text: &str) -> Wish {
        Wish::parse(text).unwrap()
    }

    #[test]
    fn subscribers_get_what_they_wish_for_until_they_go() {
        let board = Arc::new(Board::default());
        let one = board.subscribe(wish("a"), Limits::default()).unwrap();
        let all = board.subscribe(wish("*"), Limits::default()).unwrap();
        let frames = [message("a", 1), message("b", 2)];
        for (head, frame) in &frames {
            board.show(head, frame);
        }
        let got = |from: &Subscription| {
            std::iter::from_fn(|| from.next(Duration::ZERO)).collect::<Vec<_>>()
        };
        let frame = |at: usize| Item::Frame(frames[at].1.as_slice().into());
        assert_eq!(got(&one), [frame(0)]);
        assert_eq!(got(&all), [frame(0), frame(1)]);
        drop(one);
        assert_eq!(board.subscribers(), 1);
        drop(all);
        assert_eq!(board.subscribers(), 0);
        board.show(&frames[0].0, &frames[0].1);
    }

    #[test]
    fn too_many_subscribers_are_refused() {
        let board = Arc::new(Board::default());
        let held: Vec<_> =
            (0..MOST).map(|_| board.subscribe(wish("a"), Limits::default()).unwrap()).collect();
        assert!(board.subscribe(wish("a"), Limits::default()).is_err());
        drop(held);
        assert!(board.subscribe(wish("a"), Limits::default()).is_ok());
    }

    /// Four threads show frames as fast as they can, one subscriber is quick and one does nothing; the
    /// quick one's frames and losses add up, and nobody waits for the other.
    #[test]
    fn a_slow_subscriber_holds_nobody_back() {
        const EACH: u64 = 5000;
        let board = Arc::new(Board::default());
        let limits = Limits { ordinary: 1 << 16, essential: 0 };
        let (quick, slow) = (
            board.subscribe(wish("*"), limits).unwrap(),
            board.subscribe(wish("*"), limits).unwrap(),
        );
        let (mut frames, mut missed) = (0, 0);
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let board = &board;
                scope.spawn(move || {
                    for number in 0..EACH {
                        let (head, frame) = message("t", thread * EACH + number);
                        board.show(&head, &frame);
                    }
                });
            }
            while frames + missed < 4 * EACH {
                match quick.next(Duration::from_secs(20)).expect("frames keep coming") {
                    Item::Frame(_) => frames += 1,
                    Item::Missed(loss) => missed += loss.frames,
                }
            }
        });
        assert_eq!(quick.missed().frames, missed);
        let mut seen = (0, 0);
        while let Some(item) = slow.next(Duration::ZERO) {
            match item {
                Item::Frame(_) => seen.0 += 1,
                Item::Missed(loss) => seen.1 += loss.frames,
            }
        }
        assert_eq!(seen.0 + seen.1, 4 * EACH);
        assert!(seen.1 > 0, "the slow one missed nothing");
    }
}

//! What was taken and is in no file yet. It is shown to queries from here, and leaves table by table as their commits land.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use datafusion::arrow::record_batch::RecordBatch;
use netra_event::frame::Producer;
use netra_stream::batch::{Batch, Events, Image, Images, Payload, Phase, Process};
use netra_stream::sample::{Sample, TAG};

use super::apart::{Apart, Placed};
use super::ending::{self, Ending};
use super::event::{self, Codes, Making, Rows};
use super::heard::{self, Hosts};
use super::rollup::{Functions, Seconds};
use super::sheets::Sheets;
use super::text::Texts;
use super::user::Users;
use super::who::{Who, name_for_ever};
use crate::schema::{self, Table};
use crate::table::{Hot, asked};
use crate::{Error, Result};

/// Texts that are remembered from commit to commit.
const REMEMBERED: usize = 200_000;

/// What was taken and is in no file yet.
#[derive(Debug)]
pub(super) struct Pending {
    inner: Mutex<Inner>,
}

#[derive(Debug)]
struct Inner {
    /// Where the batch that is being taken lies.
    position: i64,
    /// What tables have already, by the position up to which they do.
    past: BTreeMap<&'static str, i64>,
    who: Vec<Who>,
    places: BTreeMap<Producer, usize>,
    rows: Vec<Rows>,
    events: usize,
    seconds: Seconds,
    functions: Functions,
    sheets: Sheets,
    texts: Texts,
    codes: Codes,
    users: Users,
    hosts: Hosts,
    /// Processes whose record is not complete.
    running: BTreeMap<Producer, Running>,
    /// Whether those that began before this start were looked for.
    searched: bool,
    /// Events as queries see them.
    shown: Vec<RecordBatch>,
    /// Rows of tables that can not be written.
    apart: Apart,
    /// Batches whose body was not what its head says.
    odd: u64,
    /// Whether the job's log brings what processes leave when they end.
    has_log: bool,
}

/// A process that runs, as far as it is known.
#[derive(Debug, Default)]
struct Running {
    life: Option<Process>,
    image: Option<Arc<Image>>,
}

/// Rows of one table that are ready for their file.
pub(super) struct Prepared {
    pub(super) table: &'static Table,
    pub(super) batches: Vec<RecordBatch>,
    /// Whether they are in the table's order.
    pub(super) is_sorted: bool,
}

impl Default for Pending {
    fn default() -> Pending {
        Pending { inner: Mutex::new(Inner::new()) }
    }
}

impl Pending {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins anew: what lies before these positions is in the tables or set aside; and some tables can not be written.
    pub(super) fn reset(&self, past: BTreeMap<&'static str, i64>, unwritable: Vec<&'static str>) {
        let mut inner = self.lock();
        let apart = Apart::of(unwritable);
        *inner = Inner { past, apart, has_log: inner.has_log, ..Inner::new() };
    }

    /// What processes leave when they end comes with their job's log: it is shown, and not committed.
    pub(super) fn expect_log(&self) {
        self.lock().has_log = true;
    }

    /// Rows that wait.
    pub(super) fn rows(&self) -> usize {
        let inner = self.lock();
        inner.events + inner.sheets.count() + inner.apart.count()
    }

    /// Takes a batch that lies before this position.
    pub(super) fn take(&self, position: i64, batch: &Batch, images: &Images) -> Result<()> {
        let mut inner = self.lock();
        inner.position = position;
        inner.take(batch, images)?;
        inner.apart.names().into_iter().try_for_each(|table| inner.divide(table))
    }

    /// Batches that could not be understood, since the last time.
    pub(super) fn take_odd(&self) -> u64 {
        std::mem::take(&mut self.lock().odd)
    }

    /// Everything that waits, table by table; it stays until it has landed.
    pub(super) fn prepare(&self) -> Result<Vec<Prepared>> {
        self.lock().prepare()
    }

    /// A table can not be written: what waits for it and what comes is kept apart, with its position.
    pub(super) fn set_apart(&self, table: &'static str) -> Result<()> {
        self.lock().divide(table)
    }

    /// The rows of tables that can not be written.
    pub(super) fn take_apart(&self) -> Vec<(&'static str, Placed)> {
        self.lock().apart.take()
    }

    /// A table can be written again, and takes what comes behind a position.
    pub(super) fn take_up(&self, table: &'static str, position: i64) {
        let mut inner = self.lock();
        inner.apart.remove(table);
        inner.past.insert(table, position);
    }

    /// Everything has landed: what is not needed for running processes is forgotten.
    pub(super) fn settle(&self) {
        self.lock().settle();
    }
}

impl Hot for Pending {
    fn rows(&self, table: &'static Table) -> Result<Vec<RecordBatch>> {
        self.lock().hot(table)
    }

    fn landed(&self, table: &'static Table) {
        self.lock().forget(table.name);
    }
}

fn of(name: &str) -> Result<&'static Table> {
    schema::table(name).ok_or_else(|| Error::NoTable { name: name.to_owned() })
}

impl Inner {
    fn new() -> Inner {
        Inner {
            position: 0,
            past: BTreeMap::new(),
            who: Vec::new(),
            places: BTreeMap::new(),
            rows: Vec::new(),
            events: 0,
            seconds: Seconds::default(),
            functions: Functions::default(),
            sheets: Sheets::default(),
            texts: Texts::default(),
            codes: Codes::default(),
            users: Users::of_system(),
            hosts: Hosts::new(),
            running: BTreeMap::new(),
            searched: false,
            shown: Vec::new(),
            apart: Apart::default(),
            odd: 0,
            has_log: false,
        }
    }

    /// Forgets the rows of a table.
    fn forget(&mut self, table: &str) {
        match table {
            "events" => {
                self.rows.iter_mut().for_each(|rows| *rows = Rows::default());
                self.events = 0;
                self.shown.clear();
            }
            "activity" => self.seconds.clear(),
            "functions" => self.functions.clear(),
            other => self.sheets.clear(other),
        }
    }

    /// Whether a table does not have the batch that is being taken.
    fn wants(&self, table: &str) -> bool {
        self.past.get(table).is_none_or(|&past| self.position > past)
    }

    /// The process of a batch, with what is known of it.
    fn who(&mut self, producer: Producer, image: Option<&Arc<Image>>) -> usize {
        let place = match self.places.get(&producer) {
            Some(&place) => place,
            None => {
                let place = self.who.len();
                self.who.push(Who::new(&producer, &mut self.texts));
                self.rows.push(Rows::default());
                self.places.insert(producer, place);
                let running = self.running.get(&producer);
                if let Some(life) = running.and_then(|running| running.life.as_ref()) {
                    self.who[place].life(life, &mut self.texts, &mut self.users);
                }
                place
            }
        };
        self.who[place].image(image, &mut self.texts, &mut self.users);
        place
    }

    fn take(&mut self, batch: &Batch, images: &Images) -> Result<()> {
        let head = &batch.head;
        let image = images.get(&head.producer);
        if !std::mem::replace(&mut self.searched, true) {
            self.find_running(images);
        }
        let payload = match batch.payload() {
            Ok(Some(payload)) => payload,
            Ok(None) => return Ok(()),
            Err(_) => {
                self.odd += 1;
                return Ok(());
            }
        };
        match payload {
            Payload::Events(events) => self.events(batch, image, events),
            Payload::Tables(_) | Payload::Snapshot(_) => {
                self.running.entry(head.producer).or_default().image = image.cloned();
            }
            Payload::Life(life) => {
                self.hosts.learn(&life.host);
                let who = self.who(head.producer, image);
                self.who[who].life(&life, &mut self.texts, &mut self.users);
                let running = self.running.entry(head.producer).or_default();
                running.life = Some(life);
                running.image = image.cloned().or(running.image.take());
            }
            Payload::Ledger(account) if account.is_final && !self.has_log => {
                let who = self.who(head.producer, image);
                if self.wants("ledger") {
                    let sheet = self.sheets.of("ledger")?;
                    heard::account(head, &account, &self.who[who], &self.texts, sheet)?;
                }
                self.end(head.producer, image)?;
            }
            Payload::Ledger(_) => {}
            Payload::Metrics(bytes) => match Sample::unpack(bytes) {
                Ok(sample) if self.wants("metrics") => {
                    heard::metrics(head, &sample, &self.hosts, self.sheets.of("metrics")?)?;
                }
                Ok(_) => {}
                Err(_) => self.odd += 1,
            },
            Payload::Message(message) => {
                if self.wants("messages") {
                    heard::message(head, &message, self.sheets.of("messages")?)?;
                }
                if message.tag == TAG && self.wants("metrics") {
                    heard::told_metrics(&message, self.sheets.of("metrics")?)?;
                }
            }
        }
        Ok(())
    }

    fn events(&mut self, batch: &Batch, image: Option<&Arc<Image>>, events: Events<'_>) {
        let wants = ["events", "activity", "functions"].map(|table| self.wants(table));
        if wants == [false; 3] {
            return;
        }
        let [keep, by_second, by_function] = wants;
        let place = self.who(batch.head.producer, image);
        let Inner { who, rows, texts, codes, seconds, functions, .. } = self;
        let Rows { rows, selections, .. } = &mut rows[place];
        let before = rows.len();
        let (lane, made) = (batch.head.lane, batch.head.time);
        event::take(&mut who[place], lane, made, events, texts, selections, |row, who, texts| {
            if by_second {
                let file = who.file(row.file, texts);
                seconds.add(place, &row, codes.get(row.code, texts), &file);
            }
            if by_function {
                functions.add(place, &row);
            }
            if keep {
                rows.push(row);
            }
        });
        self.events += rows.len() - before;
    }

    /// The record of a process is complete.
    fn end(&mut self, producer: Producer, image: Option<&Arc<Image>>) -> Result<()> {
        let running = self.running.remove(&producer).unwrap_or_default();
        let image = image.cloned().or(running.image);
        let view = image.as_ref().and_then(|image| image.view());
        let life = running
            .life
            .or_else(|| Some(Process::of(view.as_ref()?, Phase::of_gone(view.as_ref()?))));
        let Some(life) = life else { return Ok(()) };
        let (past, position) = (&self.past, self.position);
        let wants = |table: &str| past.get(table).is_none_or(|&past| position > past);
        let process = name_for_ever(&producer);
        Ending { process, life: &life, view, users: &mut self.users, wants: &wants }
            .write(&mut self.sheets)
    }

    /// After a start: processes that began before what is read now, and run.
    fn find_running(&mut self, images: &Images) {
        for (producer, image) in images {
            let Some(view) = image.view() else { continue };
            if view.end().is_none() {
                let life = Some(Process::of(&view, Phase::Began));
                self.running.insert(*producer, Running { life, image: Some(Arc::clone(image)) });
            }
        }
    }

    fn prepare(&mut self) -> Result<Vec<Prepared>> {
        let names = ["events", "activity", "functions"].into_iter().chain(self.sheets.names());
        let all: Vec<_> = names.collect();
        all.into_iter().filter_map(|name| self.prepare_table(name).transpose()).collect()
    }

    /// What waits for one table.
    fn prepare_table(&mut self, name: &'static str) -> Result<Option<Prepared>> {
        let batches = match name {
            "events" if self.events == 0 => Vec::new(),
            "events" => vec![self.event_batch(false)?],
            "activity" if self.seconds.is_empty() => Vec::new(),
            "activity" => vec![self.seconds.batch(of(name)?, &self.who, &self.texts)?],
            "functions" if self.functions.is_empty() => Vec::new(),
            "functions" => vec![self.function_batch()?],
            name => self.sheets.rows(name)?.to_vec(),
        };
        let (table, is_sorted) = (of(name)?, name == "events");
        Ok((!batches.is_empty()).then_some(Prepared { table, batches, is_sorted }))
    }

    /// What waits for a table that can not be written leaves the others.
    fn divide(&mut self, table: &'static str) -> Result<()> {
        let rows = self.prepare_table(table)?.map_or_else(Vec::new, |prepared| prepared.batches);
        self.apart.put(table, self.position, rows);
        self.forget(table);
        Ok(())
    }

    fn event_batch(&mut self, skip_shown: bool) -> Result<RecordBatch> {
        let placed = event::in_order(&self.who, &self.texts, &self.rows, skip_shown);
        let selections: Vec<_> = self.rows.iter().map(|rows| rows.selections.as_slice()).collect();
        let mut making = Making {
            table: of("events")?,
            who: &mut self.who,
            selections: &selections,
            texts: &mut self.texts,
            codes: &mut self.codes,
        };
        making.batch(&placed)
    }

    fn function_batch(&mut self) -> Result<RecordBatch> {
        let Inner { functions, who, texts, codes, .. } = self;
        functions.batch(of("functions")?, who, texts, codes)
    }

    /// The rows of a table as queries see them.
    fn hot(&mut self, table: &'static Table) -> Result<Vec<RecordBatch>> {
        let rows = match table.name {
            "events" => {
                if self.rows.iter().any(|rows| rows.shown < rows.rows.len()) {
                    let batch = self.event_batch(true)?;
                    self.shown.push(asked(table, &batch)?);
                    self.rows.iter_mut().for_each(|rows| rows.shown = rows.rows.len());
                }
                return Ok(self.shown.clone());
            }
            name => {
                let prepared = self.prepare_table(name)?;
                let mut rows = prepared.map_or_else(Vec::new, |prepared| prepared.batches);
                rows.extend(self.of_running(name)?);
                rows
            }
        };
        let rows = rows.iter().filter(|batch| batch.num_rows() > 0);
        rows.map(|batch| asked(table, batch)).collect()
    }

    /// What processes that run would leave if they ended now.
    fn of_running(&mut self, table: &'static str) -> Result<Vec<RecordBatch>> {
        let counted = netra_event::Module::ALL
            .iter()
            .any(|&module| schema::counter_table(module) == Some(table));
        if !counted && !ending::TABLES.contains(&table) {
            return Ok(Vec::new());
        }
        let mut sheets = Sheets::default();
        for (producer, running) in &self.running {
            let Some(life) = &running.life else { continue };
            let view = running.image.as_ref().and_then(|image| image.view());
            let wants = |wanted: &str| wanted == table;
            let (process, users) = (name_for_ever(producer), &mut self.users);
            Ending { process, life, view, users, wants: &wants }.write(&mut sheets)?;
        }
        Ok(sheets.rows(table)?.to_vec())
    }

    fn settle(&mut self) {
        if self.texts.len() > REMEMBERED {
            self.texts = Texts::default();
            self.codes = Codes::default();
            self.who.clear();
            self.rows.clear();
            self.places.clear();
            return;
        }
        let running = &self.running;
        let (mut who, mut places) = (Vec::new(), BTreeMap::new());
        let mut old: Vec<Option<Who>> =
            std::mem::take(&mut self.who).into_iter().map(Some).collect();
        for (producer, place) in std::mem::take(&mut self.places) {
            if let Some(kept) = old.get_mut(place).and_then(Option::take)
                && running.contains_key(&producer)
            {
                places.insert(producer, who.len());
                who.push(kept);
            }
        }
        self.rows = who.iter().map(|_| Rows::default()).collect();
        (self.who, self.places) = (who, places);
    }
}

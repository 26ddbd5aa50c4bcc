//! Running jobs in a terminal: which run, what they move, their ranks, files and findings.
//!
//! [`run`] has the terminal until somebody quits; [`Screen::draw`] makes one picture of what is known and
//! knows nothing of keys or clocks.

mod part;

use std::io;
use std::time::{Duration, Instant};

use ratatui::Frame;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers};
use ratatui::layout::{Constraint, Layout};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Line;
use ratatui::widgets::Paragraph;

use crate::live::{Job, Live, State};

/// How often the picture is made anew.
const TICK: Duration = Duration::from_millis(500);

/// What is chosen.
#[derive(Debug, Clone, Default)]
pub struct Screen {
    /// Which job, counted from the top of the list.
    chosen: usize,
    paused: bool,
    /// Whether somebody wants to leave.
    quit: bool,
    /// Only jobs of this user, unless nothing.
    uid: Option<u32>,
    /// Why nothing comes; empty while the daemon is followed.
    pub away: String,
}

impl Screen {
    /// Jobs of one user, or of all.
    #[must_use]
    pub fn new(uid: Option<u32>) -> Screen {
        Screen { uid, ..Screen::default() }
    }

    /// The jobs that are shown: those that run first, the newest first.
    fn jobs<'a>(&self, state: &'a State) -> Vec<&'a Job> {
        let mine = |job: &&Job| self.uid.is_none() || job.uid() == self.uid;
        let mut jobs: Vec<&Job> = state.jobs.values().filter(mine).collect();
        jobs.sort_by_key(|job| (job.end().is_some(), std::cmp::Reverse(job.start()), &job.key));
        jobs
    }

    /// One picture.
    pub fn draw(&mut self, frame: &mut Frame<'_>, state: &State, now: u64) {
        let jobs = self.jobs(state);
        let listed = u16::try_from(jobs.len().min(8)).unwrap_or(8) + 3;
        let rows = [
            Constraint::Length(1),
            Constraint::Length(listed),
            Constraint::Length(7),
            Constraint::Min(6),
            Constraint::Length(1),
        ];
        let [head, list, flow, rest, foot] = Layout::vertical(rows).areas(frame.area());
        frame.render_widget(Paragraph::new(self.title(&jobs)), head);
        let bold = Style::new().add_modifier(Modifier::DIM);
        let keys = "q quits, ↑ ↓ choose a job, p pauses";
        if self.away.is_empty() {
            frame.render_widget(Paragraph::new(keys).style(bold), foot);
        } else {
            let says = format!("q quits; nothing comes, tried again: {}", self.away);
            frame.render_widget(Paragraph::new(says).style(Style::new().fg(Color::Red)), foot);
        }
        let chosen = self.chosen.min(jobs.len().saturating_sub(1));
        self.chosen = chosen;
        part::jobs(frame, list, &jobs, chosen, now);
        let Some(job) = jobs.get(chosen) else { return };
        part::flow(frame, flow, job, now);
        let halves = [Constraint::Percentage(50), Constraint::Percentage(50)];
        let [left, right] = Layout::horizontal(halves).areas(rest);
        let [ranks, files] = Layout::vertical(halves).areas(left);
        part::ranks(frame, ranks, job);
        part::files(frame, files, job);
        part::findings(frame, right, job);
    }

    fn title(&self, jobs: &[&Job]) -> Line<'static> {
        let running = jobs.iter().filter(|job| job.end().is_none()).count();
        let paused = if self.paused { ", paused" } else { "" };
        let many = if jobs.len() == 1 { "" } else { "s" };
        let text = format!("netra top: {} job{many}, {running} running{paused}", jobs.len());
        Line::styled(text, Style::new().add_modifier(Modifier::BOLD))
    }

    /// A key was pressed.
    pub fn key(&mut self, code: KeyCode, with: KeyModifiers) {
        match code {
            KeyCode::Char('q') | KeyCode::Esc => self.quit = true,
            KeyCode::Char('c') if with.contains(KeyModifiers::CONTROL) => self.quit = true,
            KeyCode::Char('p') => self.paused = !self.paused,
            KeyCode::Up | KeyCode::Char('k') => self.chosen = self.chosen.saturating_sub(1),
            KeyCode::Down | KeyCode::Char('j') => self.chosen += 1,
            _ => {}
        }
    }
}

/// Has the terminal until somebody quits. `away` says why nothing comes, if so.
///
/// # Errors
/// There is no terminal.
pub fn run(
    live: &Live,
    uid: Option<u32>,
    clock: &dyn Fn() -> u64,
    away: &dyn Fn() -> String,
) -> io::Result<()> {
    let mut terminal = ratatui::try_init()?;
    let mut screen = Screen::new(uid);
    let mut stands = false;
    let outcome = loop {
        screen.away = away();
        // That it stands still is drawn too.
        if !(screen.paused && stands) {
            stands = screen.paused;
            let drawn = terminal.draw(|frame| screen.draw(frame, &live.lock(), clock()));
            if let Err(error) = drawn {
                break Err(error);
            }
        }
        if let Err(error) = listen(&mut screen) {
            break Err(error);
        }
        if screen.quit {
            break Ok(());
        }
    };
    ratatui::try_restore()?;
    outcome
}

/// Waits for keys until the next picture is due.
fn listen(screen: &mut Screen) -> io::Result<()> {
    let until = Instant::now() + TICK;
    loop {
        let left = until.saturating_duration_since(Instant::now());
        if !event::poll(left)? {
            return Ok(());
        }
        if let Event::Key(key) = event::read()?
            && key.kind == KeyEventKind::Press
        {
            screen.key(key.code, key.modifiers);
            return Ok(());
        }
    }
}

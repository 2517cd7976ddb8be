//! An ask that waits for a person: what was pressed and what it means.
//!
//! An ask may appear while somebody types. Until it has been there for a moment
//! in which nothing was typed, keys are not its; from then on all of them are.

use std::collections::BTreeSet;
use std::time::Duration;

use crossterm::event::{KeyCode, KeyEvent};
use rein_protocol::{Answer, Ask, Grant, Question, Reply, Said, Scope, Selection};

use super::input::Input;

/// How long nothing may have been typed before keys count as an answer.
const GUARD: Duration = Duration::from_millis(300);

/// An ask on the screen.
#[derive(Debug)]
pub(crate) struct Dialog {
    pub(crate) ask: Ask,
    pub(crate) stage: Stage,
    /// Lines of what is shown that are scrolled away.
    pub(crate) scroll: usize,
    since: Duration,
    armed: bool,
    /// Whether it took the place of one that was just answered.
    follows: bool,
}

/// What is being decided.
#[derive(Debug)]
pub(crate) enum Stage {
    /// Yes, always or no.
    Choose,
    /// What exactly is always allowed, and where.
    Always {
        /// As offered, with the changes made.
        grants: Vec<Grant>,
        /// Which one is being changed.
        at: usize,
        /// Its pattern.
        input: Input,
        /// How far it reaches.
        scope: Scope,
    },
    /// What to do instead.
    Words(Input),
    /// The answer to a question.
    Question {
        /// The choice that the cursor is on; the one after the last is words of one's own.
        at: usize,
        /// Those that were chosen.
        chosen: BTreeSet<usize>,
        /// Words of one's own.
        input: Input,
    },
}

/// What a key led to.
#[derive(Debug, PartialEq)]
pub(crate) enum Outcome {
    /// Nothing, or something to be seen.
    Stays,
    /// The answer.
    Answered(Reply),
    /// The whole turn is to stop.
    Interrupt,
}

/// Every scope, from narrow to wide.
pub(crate) const SCOPES: [Scope; 3] = [Scope::Session, Scope::Project, Scope::Everywhere];

impl Dialog {
    pub(crate) fn new(ask: Ask, now: Duration) -> Self {
        let stage = match &ask.question {
            Some(_) => Stage::Question { at: 0, chosen: BTreeSet::new(), input: Input::default() },
            None => Stage::Choose,
        };
        Self { ask, stage, scroll: 0, since: now, armed: false, follows: false }
    }

    /// It takes the place of another one.
    pub(crate) fn appears(&mut self, now: Duration) {
        self.since = now;
        self.armed = false;
        self.follows = true;
    }

    /// When its keys begin to count, if they do not yet.
    pub(crate) fn arms_at(&self, typed: Option<Duration>) -> Option<Duration> {
        if self.armed {
            return None;
        }
        Some(self.since.max(typed.unwrap_or_default()) + GUARD)
    }

    /// Keys count from now on, if it is time.
    pub(crate) fn arm(&mut self, now: Duration, typed: Option<Duration>) {
        if self.arms_at(typed).is_some_and(|at| at <= now) {
            self.armed = true;
        }
    }

    pub(crate) fn is_armed(&self) -> bool {
        self.armed
    }

    /// Keys that come too early were meant for the one before.
    pub(crate) fn drops_early_keys(&self) -> bool {
        self.follows
    }

    pub(crate) fn may_always(&self) -> bool {
        !self.ask.always.is_empty()
    }

    pub(crate) fn key(&mut self, key: KeyEvent) -> Outcome {
        match (&mut self.stage, key.code) {
            (_, KeyCode::PageDown) => self.scroll = self.scroll.saturating_add(5),
            (_, KeyCode::PageUp) => self.scroll = self.scroll.saturating_sub(5),
            (Stage::Choose, code) => return self.choose(code),
            (Stage::Always { .. }, _) => return self.always(key),
            (Stage::Words(input), KeyCode::Enter) => {
                let message = input.text().trim().to_owned();
                let message = Some(message).filter(|message| !message.is_empty());
                return self.answer(Answer::Reject { message });
            }
            (Stage::Words(_), KeyCode::Esc) => self.stage = Stage::Choose,
            (Stage::Words(input), _) => {
                input.handle(key);
            }
            (Stage::Question { .. }, _) => return self.question(key),
        }
        Outcome::Stays
    }

    pub(crate) fn paste(&mut self, text: &str) {
        match &mut self.stage {
            Stage::Choose => {}
            Stage::Always { input, .. } | Stage::Words(input) | Stage::Question { input, .. } => {
                input.paste(text);
            }
        }
    }

    fn answer(&self, answer: Answer) -> Outcome {
        Outcome::Answered(Reply { ask: self.ask.id.clone(), answer })
    }

    fn choose(&mut self, code: KeyCode) -> Outcome {
        match code {
            KeyCode::Char('y') => self.answer(Answer::Once),
            KeyCode::Char('a') if self.may_always() => {
                let grants = self.ask.always.clone();
                let input = Input::with(grants.first().map_or("", |grant| &grant.pattern));
                self.stage = Stage::Always { grants, at: 0, input, scope: Scope::Session };
                Outcome::Stays
            }
            KeyCode::Char('n') => self.answer(Answer::Reject { message: None }),
            KeyCode::Char('N') => {
                self.stage = Stage::Words(Input::default());
                Outcome::Stays
            }
            KeyCode::Esc => Outcome::Interrupt,
            KeyCode::Down | KeyCode::Char('j') => {
                self.scroll = self.scroll.saturating_add(1);
                Outcome::Stays
            }
            KeyCode::Up | KeyCode::Char('k') => {
                self.scroll = self.scroll.saturating_sub(1);
                Outcome::Stays
            }
            _ => Outcome::Stays,
        }
    }

    fn always(&mut self, key: KeyEvent) -> Outcome {
        let Stage::Always { grants, at, input, scope } = &mut self.stage else { return Outcome::Stays };
        let keep = |grants: &mut Vec<Grant>, at: usize, input: &Input| {
            if let Some(grant) = grants.get_mut(at) {
                grant.pattern = input.text();
            }
        };
        match key.code {
            KeyCode::Esc => self.stage = Stage::Choose,
            KeyCode::Tab => *scope = next_scope(*scope),
            KeyCode::Up | KeyCode::Down => {
                keep(grants, *at, input);
                let step = if key.code == KeyCode::Up { -1 } else { 1 };
                *at = at.saturating_add_signed(step).min(grants.len().saturating_sub(1));
                *input = Input::with(grants.get(*at).map_or("", |grant| &grant.pattern));
            }
            KeyCode::Enter => {
                keep(grants, *at, input);
                // An empty pattern would be a grant of nothing that looks like one of everything.
                if grants.iter().all(|grant| !grant.pattern.trim().is_empty()) {
                    let answer = Answer::Always { grants: Some(grants.clone()), scope: *scope };
                    return self.answer(answer);
                }
            }
            _ => {
                input.handle(key);
            }
        }
        Outcome::Stays
    }

    fn question(&mut self, key: KeyEvent) -> Outcome {
        let Some(question) = self.ask.question.clone() else { return Outcome::Stays };
        let Stage::Question { at, chosen, input } = &mut self.stage else { return Outcome::Stays };
        let own = question.choices.len();
        match key.code {
            KeyCode::Esc => return Outcome::Interrupt,
            KeyCode::Up => *at = at.saturating_sub(1),
            KeyCode::Down | KeyCode::Tab => *at = (*at + 1).min(own),
            KeyCode::Enter => {
                let said = said(&question, *at, chosen, input);
                if !said.is_empty() {
                    return self.answer(Answer::Said { said });
                }
            }
            KeyCode::Char(' ') if *at < own && question.selection == Selection::Several => {
                if !chosen.remove(at) {
                    chosen.insert(*at);
                }
            }
            KeyCode::Char(digit @ '1'..='9') if *at < own && input.is_empty() => {
                let place = usize::from(digit as u8 - b'1');
                if place < own {
                    *at = place;
                    if question.selection == Selection::One {
                        let said = said(&question, place, chosen, input);
                        return self.answer(Answer::Said { said });
                    }
                    if !chosen.remove(at) {
                        chosen.insert(*at);
                    }
                }
            }
            _ => {
                // Whoever begins to write has words of their own.
                if input.handle(key) {
                    *at = own;
                }
            }
        }
        Outcome::Stays
    }
}

fn said(question: &Question, at: usize, chosen: &BTreeSet<usize>, input: &Input) -> Said {
    let label = |index: &usize| question.choices.get(*index).map(|choice| choice.label.clone());
    let mut labels: Vec<String> = chosen.iter().filter_map(label).collect();
    if labels.is_empty() {
        labels.extend(label(&at));
    }
    let text = Some(input.text().trim().to_owned()).filter(|text| !text.is_empty());
    Said { chosen: labels, text }
}

fn next_scope(scope: Scope) -> Scope {
    match scope {
        Scope::Session => Scope::Project,
        Scope::Project => Scope::Everywhere,
        Scope::Everywhere => Scope::Session,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crossterm::event::KeyModifiers;
    use rein_protocol::{AskId, CallId, Choice, Display, SessionId, TurnId};

    fn ask(question: Option<Question>) -> Ask {
        Ask {
            id: AskId::new(),
            session: SessionId::new(),
            turn: TurnId::new(),
            call: CallId::new(),
            items: Vec::new(),
            always: vec![Grant { permission: "bash".into(), pattern: "cargo *".into() }],
            display: Display::titled("$ cargo test"),
            question,
        }
    }

    fn press(dialog: &mut Dialog, codes: impl IntoIterator<Item = KeyCode>) -> Option<Answer> {
        codes.into_iter().fold(None, |_, code| match dialog.key(KeyEvent::new(code, KeyModifiers::NONE)) {
            Outcome::Answered(reply) => Some(reply.answer),
            Outcome::Stays | Outcome::Interrupt => None,
        })
    }

    fn typed(text: &str) -> Vec<KeyCode> {
        text.chars().map(KeyCode::Char).collect()
    }

    #[test]
    fn the_keys_answer() {
        let mut dialog = Dialog::new(ask(None), Duration::ZERO);
        assert_eq!(press(&mut dialog, [KeyCode::Char('y')]), Some(Answer::Once));
        assert_eq!(press(&mut dialog, [KeyCode::Char('n')]), Some(Answer::Reject { message: None }));
        let mut keys = vec![KeyCode::Char('N')];
        keys.extend(typed("use make"));
        keys.push(KeyCode::Enter);
        assert_eq!(press(&mut dialog, keys), Some(Answer::Reject { message: Some("use make".into()) }));
    }

    #[test]
    fn always_shows_the_pattern_and_takes_the_changed_one() {
        let mut dialog = Dialog::new(ask(None), Duration::ZERO);
        let mut keys = vec![KeyCode::Char('a'), KeyCode::Backspace];
        keys.extend(typed("test*"));
        keys.extend([KeyCode::Tab, KeyCode::Enter]);
        let grants = Some(vec![Grant { permission: "bash".into(), pattern: "cargo test*".into() }]);
        assert_eq!(press(&mut dialog, keys), Some(Answer::Always { grants, scope: Scope::Project }));
    }

    #[test]
    fn an_emptied_pattern_is_not_a_grant() {
        let mut dialog = Dialog::new(ask(None), Duration::ZERO);
        let mut keys = vec![KeyCode::Char('a')];
        keys.extend([KeyCode::Backspace; 20]);
        keys.push(KeyCode::Enter);
        assert_eq!(press(&mut dialog, keys), None);
    }

    #[test]
    fn keys_count_only_after_a_moment_without_typing() {
        let at = Duration::from_millis;
        let mut dialog = Dialog::new(ask(None), at(1000));
        assert_eq!(dialog.arms_at(None), Some(at(1300)));
        assert_eq!(dialog.arms_at(Some(at(1200))), Some(at(1500)));
        dialog.arm(at(1400), Some(at(1200)));
        assert!(!dialog.is_armed());
        dialog.arm(at(1500), Some(at(1200)));
        assert!(dialog.is_armed());
    }

    #[test]
    fn a_question_takes_choices_and_own_words() {
        let choice = |label: &str| Choice { label: label.into(), description: None };
        let mut question = Question {
            text: "Which?".into(),
            choices: vec![choice("red"), choice("blue")],
            selection: Selection::One,
            timeout: None,
        };
        let mut dialog = Dialog::new(ask(Some(question.clone())), Duration::ZERO);
        let blue = Said { chosen: vec!["blue".into()], text: None };
        assert_eq!(press(&mut dialog, [KeyCode::Char('2')]), Some(Answer::Said { said: blue.clone() }));
        let mut dialog = Dialog::new(ask(Some(question.clone())), Duration::ZERO);
        assert_eq!(press(&mut dialog, [KeyCode::Down, KeyCode::Enter]), Some(Answer::Said { said: blue }));
        let mut keys = typed("green");
        keys.push(KeyCode::Enter);
        let mut dialog = Dialog::new(ask(Some(question.clone())), Duration::ZERO);
        let green = Said { chosen: Vec::new(), text: Some("green".into()) };
        assert_eq!(press(&mut dialog, keys), Some(Answer::Said { said: green }));
        question.selection = Selection::Several;
        let mut dialog = Dialog::new(ask(Some(question)), Duration::ZERO);
        let keys = [KeyCode::Char('1'), KeyCode::Char('2'), KeyCode::Enter];
        let both = Said { chosen: vec!["red".into(), "blue".into()], text: None };
        assert_eq!(press(&mut dialog, keys), Some(Answer::Said { said: both }));
    }
}

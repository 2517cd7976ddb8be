//! Searching files on several threads, with a result that does not depend on
//! which of them is faster: the first matches by path and line.
//!
//! Everything is searched, so that the count is true, but only as much is kept
//! as can be shown.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use grep_matcher::Matcher;
use grep_regex::RegexMatcher;
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder};

use super::collect::{Collector, Hits, SHOWN_MATCHES, Show, stopped};
use super::kinds::Kind;
use super::pattern::Weight;
use crate::contract::Scene;
use crate::crowd::Crowd;
use crate::deadline::Stop;
use crate::walk::{self, Filter, Manner, Met};

/// Memory for one file: a file with a longer line cannot be searched.
const HEAP: usize = 64 * 1024 * 1024;

/// The same for a heavy pattern, whose search of one line cannot be stopped and takes as long as its
/// size times that of the line.
const HEAVY_HEAP: usize = 256 * 1024;

/// What is looked for.
pub(super) struct Query {
    pub(super) matcher: RegexMatcher,
    pub(super) weight: Weight,
    pub(super) filter: Option<Filter>,
    pub(super) kind: Option<Kind>,
    pub(super) context: usize,
    pub(super) binary: Binary,
    pub(super) show: Show,
    pub(super) order: Order,
    pub(super) manner: Manner,
}

/// What happens to a file that is no text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Binary {
    Skipped,
    Searched,
}

/// Which file comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// By its path.
    Path,
    /// By when it was changed.
    Newest,
    /// By how many matches it has.
    Most,
}

/// The place of a file among others; all of one search have the same kind.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Path,
    Newest(Reverse<SystemTime>),
    Most(Reverse<usize>),
}

/// What was found.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// The first files with matches.
    kept: BTreeMap<(Rank, PathBuf), Hits>,
    kept_matches: usize,
    /// All matches.
    pub(super) matches: usize,
    /// All files with matches.
    pub(super) files: usize,
    /// Files that could not be searched.
    pub(super) unsearched: usize,
    /// Files that are no text.
    pub(super) binary: usize,
    /// Those of them that have matches, as far as one looked.
    pub(super) binary_matching: usize,
    /// Where the matches are.
    pub(super) crowd: Crowd,
}

impl Found {
    /// The first files with matches, in order.
    pub(super) fn first(&self) -> impl Iterator<Item = (&Path, &Hits)> {
        self.kept.iter().map(|((_, path), hits)| (path.as_path(), hits))
    }

    fn add(&mut self, path: &Path, relative: &Path, rank: Rank, hits: Hits) {
        self.matches += hits.matches;
        self.files += 1;
        self.crowd.add(relative, hits.matches);
        self.kept_matches += hits.kept;
        self.kept.insert((rank, path.to_owned()), hits);
        // The last file goes when there are enough matches before it.
        while let Some((_, last)) = self.kept.last_key_value()
            && self.kept_matches - last.kept >= SHOWN_MATCHES
        {
            self.kept_matches -= last.kept;
            self.kept.pop_last();
        }
    }
}

/// Searches a file, or all files below a directory, until stopped.
pub(super) fn search(
    root: &Path,
    query: &Query,
    scene: &Scene,
    found: &Mutex<Found>,
    met: &Arc<Met>,
    stop: &Stop,
) -> io::Result<()> {
    walk::visit(root, query.manner, met, stop, || {
        let mut searcher = searcher(query);
        Box::new(move |entry| {
            let path = entry.path();
            let relative = path.strip_prefix(root).unwrap_or(path);
            // A file that was named itself is searched whatever its name.
            let is_root = relative.as_os_str().is_empty();
            if !is_root && !query.covers(relative) {
                return;
            }
            if !is_root && !(scene.may_read)(path) {
                met.leave_out();
                return;
            }
            let searched = search_file(&mut searcher, path, query, stop);
            let found = || found.lock().unwrap_or_else(PoisonError::into_inner);
            match searched {
                Ok(hits) if hits.is_binary => {
                    let mut found = found();
                    found.binary += 1;
                    found.binary_matching += usize::from(hits.matches > 0);
                }
                Ok(hits) if hits.matches == 0 => {}
                Ok(hits) => {
                    let rank = query.order.rank(path, &hits);
                    found().add(path, relative, rank, hits);
                }
                Err(_) if stop.is_set() => {}
                Err(_) => found().unsearched += 1,
            }
        })
    })
}

impl Query {
    fn covers(&self, relative: &Path) -> bool {
        self.filter.as_ref().is_none_or(|filter| filter.accepts(relative))
            && self.kind.as_ref().is_none_or(|kind| kind.fits(relative))
    }
}

impl Order {
    fn rank(self, path: &Path, hits: &Hits) -> Rank {
        match self {
            Self::Path => Rank::Path,
            Self::Newest => {
                let modified = path.symlink_metadata().and_then(|metadata| metadata.modified());
                Rank::Newest(Reverse(modified.unwrap_or(SystemTime::UNIX_EPOCH)))
            }
            Self::Most => Rank::Most(Reverse(hits.matches)),
        }
    }
}

fn searcher(query: &Query) -> Searcher {
    let binary = match query.binary {
        Binary::Skipped => BinaryDetection::quit(0),
        Binary::Searched => BinaryDetection::none(),
    };
    let heap = match query.weight {
        Weight::Light => HEAP,
        Weight::Heavy => HEAVY_HEAP,
    };
    SearcherBuilder::new()
        .binary_detection(binary)
        .line_number(query.show == Show::Lines)
        .multi_line(query.matcher.line_terminator().is_none())
        .before_context(query.context)
        .after_context(query.context)
        .heap_limit(Some(heap))
        .build()
}

fn search_file(searcher: &mut Searcher, path: &Path, query: &Query, stop: &Stop) -> io::Result<Hits> {
    search_stream(searcher, walk::open(path)?, query, stop)
}

fn search_stream(searcher: &mut Searcher, source: impl Read, query: &Query, stop: &Stop) -> io::Result<Hits> {
    let mut collector = Collector::new(&query.matcher, query.show, stop);
    searcher.search_reader(&query.matcher, Stoppable { source, stop, is_over: false }, &mut collector)?;
    Ok(collector.hits)
}

/// A file whose reading fails once it is stopped, so that a large one does not hold up the end. Who
/// asks again after the end gets the same answer without asking the system.
struct Stoppable<'a, R> {
    source: R,
    stop: &'a Stop,
    is_over: bool,
}

impl<R: Read> Read for Stoppable<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.stop.is_set() {
            return Err(stopped());
        }
        if self.is_over {
            return Ok(0);
        }
        let read = self.source.read(buffer)?;
        self.is_over = read == 0 && !buffer.is_empty();
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grep::pattern::{Case, Reach, Syntax, matcher};
    use crate::walk::Hidden;

    /// A stream without end that is stopped while it is read, and must not be read much longer.
    struct Endless<'a> {
        reads: usize,
        stop: &'a Stop,
    }

    impl Read for Endless<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            assert!(!self.stop.is_set(), "it is read after it was stopped");
            self.reads += 1;
            if self.reads == 100 {
                self.stop.set();
            }
            buffer.fill(b'\n');
            Ok(buffer.len())
        }
    }

    fn query(pattern: &str) -> Query {
        let (matcher, weight) = matcher(pattern, Syntax::Regex, Case::Sensitive, Reach::Line).unwrap();
        Query {
            matcher,
            weight,
            filter: None,
            kind: None,
            context: 0,
            binary: Binary::Skipped,
            show: Show::Lines,
            order: Order::Path,
            manner: Manner { hidden: Hidden::Skipped, threads: 1 },
        }
    }

    #[test]
    fn matches_are_not_taken_after_the_search_was_stopped() {
        let stop = Stop::default();
        let query = query("needle");
        let source = io::Cursor::new("needle\n".repeat(10));
        let mut collector = Collector::new(&query.matcher, Show::Lines, &stop);
        stop.set();
        // Without the reader that is stopped too, only the collector can stop it.
        let searched = searcher(&query).search_reader(&query.matcher, source, &mut collector);
        assert_eq!(searched.unwrap_err().to_string(), "stopped");
        assert_eq!(collector.hits.matches, 0);
    }

    #[test]
    fn a_heavy_pattern_is_not_tried_on_a_line_on_which_it_would_take_forever() {
        let stop = Stop::default();
        let (light, heavy) = (query(r"x{3}y"), query(r"x{5000}y"));
        assert_eq!((light.weight, heavy.weight), (Weight::Light, Weight::Heavy));
        let search = |query: &Query, line: &str| {
            search_stream(&mut searcher(query), io::Cursor::new(line.to_owned()), query, &stop)
                .map(|hits| hits.matches)
        };
        let line = "x".repeat(512 * 1024);
        assert_eq!(search(&light, &line).unwrap(), 0);
        assert!(search(&heavy, &line).is_err());
        assert_eq!(search(&heavy, &format!("{}y\n", "x".repeat(5001))).unwrap(), 1);
        // What developers write is light.
        for pattern in [
            r"fn \w+\(",
            r"(?i)error|warning|failed",
            r"^\s*(pub )?struct \w{1,8}",
            r"[A-Z_]{3,40}",
            r"\w{3,40}",
            "[é-ü]+",
        ] {
            assert_eq!(self::query(pattern).weight, Weight::Light, "{pattern}");
        }
    }

    #[test]
    fn a_search_is_stopped_in_the_middle_of_a_file() {
        let stop = Stop::default();
        let query = query("needle");
        let searched = search_stream(&mut searcher(&query), Endless { reads: 0, stop: &stop }, &query, &stop);
        assert_eq!(searched.unwrap_err().to_string(), "stopped");
    }

    #[test]
    fn a_line_that_does_not_fit_into_memory_is_an_error_and_no_trouble() {
        let stop = Stop::default();
        let query = query("needle");
        assert!(search_stream(&mut searcher(&query), io::repeat(b'x'), &query, &stop).is_err());
    }

    struct NoArtifacts;

    #[async_trait::async_trait]
    impl crate::ArtifactSource for NoArtifacts {
        async fn path(&self, _: &rein_protocol::ArtifactId) -> Option<PathBuf> {
            None
        }
    }

    fn scene(workspace: &Path, may_read: impl Fn(&Path) -> bool + Send + Sync + 'static) -> Scene {
        Scene {
            workspace: workspace.to_owned(),
            files: Arc::default(),
            artifacts: Arc::new(NoArtifacts),
            shell: "/bin/sh".into(),
            command_timeout: std::time::Duration::from_secs(1),
            may_read: Arc::new(may_read),
            images: crate::ImageSupport::Refused,
            snapshots: Arc::new(crate::NoSnapshots),
            todos: Arc::default(),
            edit_form: crate::EditForm::default(),
            instructions: Arc::default(),
            jobs: Arc::default(),
            said: None,
            jail: None,
            keep_variables: Arc::default(),
            shell_state: Arc::default(),
        }
    }

    #[test]
    fn what_was_found_before_the_search_was_stopped_is_kept() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap();
        for name in ["a.txt", "b.txt", "c.txt"] {
            std::fs::write(root.join(name), "needle\n").unwrap();
        }
        let (stop, asked) = (Stop::default(), std::sync::atomic::AtomicUsize::new(0));
        let inner = stop.clone();
        let scene = scene(&root, move |_| {
            if asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed) == 1 {
                inner.set();
            }
            true
        });
        let (found, met) = (Mutex::<Found>::default(), Arc::<Met>::default());
        search(&root, &query("needle"), &scene, &found, &met, &stop).unwrap();
        let found = found.into_inner().unwrap();
        assert_eq!((found.files, found.matches, found.unsearched), (1, 1, 0));
        assert_eq!(found.first().count(), 1);
    }
}

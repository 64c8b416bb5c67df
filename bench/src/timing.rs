//! Times of batches: the quiet ones for single calls, medians for whole runs.

use std::hint::black_box;
use std::time::{Duration, Instant};

/// How long one batch should take: many clock ticks, few interruptions.
const BATCH: Duration = Duration::from_micros(500);

const WARM_UP: Duration = Duration::from_millis(30);

/// The time of one `work` in the quietest tenth of `batches` batches after a warm-up, in
/// nanoseconds: what it costs when nothing else runs on the core, for us and for the peers alike.
pub fn quiet_ns<T>(batches: usize, work: impl FnMut() -> T) -> f64 {
    let mut timed = Timed::new(work);
    (0..batches).for_each(|_| timed.batch());
    timed.quiet()
}

/// Lets every work do `batches` batches in turns, so that a busy moment of the machine falls on each
/// of them: what is compared was measured in the same moments.
pub fn in_turns(batches: usize, works: &mut [Timed<'_>]) {
    for _ in 0..batches {
        works.iter_mut().for_each(Timed::batch);
    }
}

/// Work that is timed in batches.
pub struct Timed<'w> {
    run: Box<dyn FnMut(u32) -> Duration + 'w>,
    /// How often it is done in a batch.
    times: u32,
    costs: Vec<f64>,
}

impl<'w> Timed<'w> {
    /// Warms the work up: doubles the size of a batch until it lasts long enough, then repeats it.
    pub fn new<T>(mut work: impl FnMut() -> T + 'w) -> Self {
        let mut run = move |times: u32| {
            let start = Instant::now();
            for _ in 0..times {
                black_box(work());
            }
            start.elapsed()
        };
        let start = Instant::now();
        let mut times = 1;
        while run(times) < BATCH {
            times *= 2;
        }
        while start.elapsed() < WARM_UP {
            run(times);
        }
        Self {
            run: Box::new(run),
            times,
            costs: Vec::new(),
        }
    }

    /// Times a batch, behind one that is not counted: what ran before has taken its place in the caches.
    fn batch(&mut self) {
        (self.run)(1);
        let took = (self.run)(self.times);
        self.costs
            .push(took.as_secs_f64() * 1e9 / f64::from(self.times));
    }

    /// The time of one in the quietest tenth of the batches, in nanoseconds.
    pub fn quiet(&self) -> f64 {
        quiet(self.costs.clone())
    }
}

/// The value a tenth of all stays below; 0 of none.
pub fn quiet(values: Vec<f64>) -> f64 {
    percentile(values, 10)
}

/// The middle value; 0 of none.
pub fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    percentile(values.into_iter().collect(), 50)
}

/// The value so many of a hundred stay below; 0 of none.
pub fn percentile(mut values: Vec<f64>, of_hundred: usize) -> f64 {
    values.sort_by(f64::total_cmp);
    let place = values.len() * of_hundred / 100;
    values.get(place).copied().unwrap_or_default()
}

/// Whose CPU time is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    /// This process's.
    Own,
    /// That of all its children that have ended.
    Children,
}

/// CPU seconds, as Linux counts them; 0 elsewhere.
pub fn cpu_seconds(whose: Whose) -> f64 {
    const TICKS_A_SECOND: f64 = 100.0;
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // Fields are counted behind the program's name, which may contain anything; the name is the
    // second field, user and system times are the 14th and 15th, the children's follow.
    let fields = stat.rsplit(") ").next().unwrap_or_default().split(' ');
    let before = match whose {
        Whose::Own => 11,
        Whose::Children => 13,
    };
    let ticks: f64 = fields
        .skip(before)
        .take(2)
        .filter_map(|field| field.parse::<f64>().ok())
        .sum();
    ticks / TICKS_A_SECOND
}

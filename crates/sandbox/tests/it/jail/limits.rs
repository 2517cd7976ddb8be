//! How much of the machine a process may use.

use super::{Place, WHOLE, run_in};

#[tokio::test]
async fn a_fork_bomb_stops_at_the_limit() {
    let place = Place::new();
    // A shell would wait and try again for half a minute.
    let text = "python3 - <<'END'
import os, time
count = 0
try:
    for _ in range(600):
        if os.fork() == 0: time.sleep(1000)
        count += 1
except OSError: pass
print(count)
END";
    for preference in WHOLE {
        let mut jail = place.jail(preference);
        jail.limits.processes = 60;
        let Some((exit, printed)) = run_in(jail, &place.work(), text).await else { continue };
        let count: Option<u32> = printed.lines().next().and_then(|line| line.trim().parse().ok());
        // The kernel refuses the next one, or the attendant has ended them all.
        assert!(count.is_none_or(|count| count < 400), "{preference:?}: {exit:?} {printed}");
    }
}

#[tokio::test]
async fn a_temporary_directory_in_memory_has_an_end() {
    let place = Place::new();
    let text = "head -c 3000000 /dev/zero > /tmp/big; head -c 1000 /dev/zero > small && wc -c < small";
    for preference in WHOLE {
        let mut jail = place.jail(preference);
        jail.temporary.limit_bytes = 1 << 20;
        let Some((_, printed)) = run_in(jail, &place.work(), text).await else { continue };
        assert!(
            printed.contains("No space left on device") && printed.ends_with("1000\n"),
            "{preference:?}: {printed}"
        );
    }
}

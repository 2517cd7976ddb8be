//! measure
#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs)]
use rein_shell::*;
fn inside(p: &str) -> bool {
    let q = paths::comparable(p);
    let pre = ["/workspace/project", "/tmp", "/private/tmp", "/var/folders", "/app", "/testbed", "/private/var/folders"];
    if pre.iter().any(|x| q == *x || q.starts_with(&format!("{x}/"))) { return true; }
    for h in ["/users/user/", "/home/user/", "/c/users/user/", "c:/users/user/", "/mnt/c/users/user/", "e:/", "d:/","/e/","/d/", "c:/", "/c/", "/applications/servbay/www/"] {
        if let Some(r) = q.strip_prefix(h) { return !r.starts_with('.') && r.contains('/') && !r.starts_with("windows") && !r.starts_with("program files"); }
    }
    false
}
fn output(p: &str) -> bool {
    let q = paths::comparable(p);
    let outs = ["target","build","dist","node_modules","__pycache__",".pytest_cache","coverage",".next","out",".cache",".turbo",".mypy_cache",".ruff_cache",".venv","venv","htmlcov","tmp","temp","bin","obj"];
    q.starts_with("/tmp/") || q.starts_with("/private/tmp/") || q.split('/').any(|c| outs.contains(&c)) 
}
fn decide(a: &Analysis, home: &str) -> (u8, String) {
    for h in &a.hazards { if h.class == Danger::Catastrophic { return (2, format!("CATASTROPHIC {} {}", h.reason, h.shown)); } }
    if let Some(u) = a.unknowns.first() { return (1, format!("unknown: {} [{}]", u.reason, u.detail.chars().take(60).collect::<String>())); }
    if let Some(n) = a.notes.first() { return (1, format!("note {:?}", n.character)); }
    for h in &a.hazards { if h.class != Danger::Unbounded { return (1, format!("hazard {:?} {} [{}]", h.class, h.reason, h.shown.chars().take(60).collect::<String>())); } }
    for c in &a.commands { if !c.loudest().quiet_when_confined() { return (1, format!("effect {:?} {} [{}]", c.effects[0].0, c.effects[0].1, c.text().chars().take(60).collect::<String>())); } }
    for p in &a.paths {
        let Some(path) = &p.path else {
            if matches!(p.usage, Usage::Delete | Usage::DeleteTree | Usage::Execute) { return (1, format!("unknown path {:?} {}", p.usage, p.shown)); }
            continue
        };
        if matches!(p.usage, Usage::Read | Usage::Execute | Usage::Unknown | Usage::Write | Usage::Delete | Usage::DeleteTree) {
            if let Some(r) = paths::secret(path, Some(home)) { return (1, format!("secret {path} {r}")); }
        }
        if path.starts_with("//") || path.starts_with("\\\\") { return (1, format!("unc {path}")); }
        match p.usage {
            Usage::Write | Usage::Delete | Usage::DeleteTree => {
                if let Some(r) = paths::persistence(path, Some(home)) { return (1, format!("persistence {path} {r}")); }
                if !inside(path) { return (1, format!("outside {:?} {path}", p.usage)); }
                if p.usage == Usage::DeleteTree && !output(path) { return (1, format!("delete tree {path}")); }
            }
            Usage::Execute => if !inside(path) { return (1, format!("executes outside {path}")); }
            _ => {}
        }
    }
    (0, String::new())
}
fn main() {
    let home = "/home/user";
    let s = Surroundings::new("/workspace/project").with_home(home);
    let args: Vec<String> = std::env::args().collect();
    if args.get(1).map(String::as_str) == Some("show") {
        let a = analyze(&args[2], &s);
        println!("{a:#?}"); println!("{:?}", decide(&a, home)); return;
    }
    if args.get(1).map(String::as_str) == Some("brief") {
        for c in &args[2..] {
            let a = analyze(c, &s);
            println!("== {c}");
            for x in &a.commands { println!("   {:?} {} via {:?} always {:?} {:?}", x.loudest(), x.text(), x.via.iter().map(|w| &w.name).collect::<Vec<_>>(), x.always(), x.effects); }
            for p in &a.paths { println!("   path {:?} {:?}", p.usage, p.path); }
            for u in &a.unknowns { println!("   unknown {} [{}]", u.reason, u.detail); }
            for h in &a.hazards { println!("   hazard {:?} {} [{}]", h.class, h.reason, h.shown); }
            println!("   {:?}", decide(&a, home));
        }
        return;
    }
    let file = args.get(1).cloned().unwrap_or("/work/shared/cases/agent-commands.jsonl".into());
    let data = std::fs::read_to_string(file).unwrap();
    let (mut allow, mut allow_asked, mut ask, mut let_through) = (0, 0, 0, 0);
    let mut why: std::collections::BTreeMap<String, usize> = Default::default();
    let t = std::time::Instant::now();
    let mut lines = vec![];
    for l in data.lines() {
        let v: serde_json::Value = serde_json::from_str(l).unwrap();
        let c = v["cmd"].as_str().unwrap();
        let exp = v["expect_in_write_mode"].as_str().unwrap();
        let a = analyze(c, &s);
        let (d, r) = decide(&a, home);
        let short = c.chars().take(260).collect::<String>().replace('\n', "⏎");
        if exp == "allow" { allow += 1; if d > 0 { allow_asked += 1; *why.entry(r.split(['[', '/']).next().unwrap().to_string()).or_default() += 1; lines.push(format!("NOISE {r} || {short}")); } }
        else { ask += 1; if d == 0 { let_through += 1; lines.push(format!("THROUGH ({}) {}", v["why"].as_str().unwrap(), short)); } }
    }
    for l in lines { println!("{l}"); }
    let mut w: Vec<_> = why.into_iter().collect(); w.sort_by_key(|x| std::cmp::Reverse(x.1));
    for (k, n) in w.iter().take(60) { println!("{n:5} {k}"); }
    println!("allow {allow} asked {allow_asked} ({:.1}%)  ask {ask} through {let_through}  {:?}", 100.0 * allow_asked as f64 / allow as f64, t.elapsed());
}

//! Real work inside.

use super::{Place, WHOLE, is_well, run_in};

/// Tools that a machine may lack; those that it has must work.
fn has(tool: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|directory| directory.join(tool).is_file())
}

async fn works(tool: &str, text: &str, expected: &str) {
    if !has(tool) {
        return;
    }
    for preference in WHOLE {
        let place = Place::new();
        let Some((exit, printed)) = run_in(place.jail(preference), &place.work(), text).await else {
            continue;
        };
        assert!(is_well(&exit) && printed.contains(expected), "{preference:?}: {printed}");
    }
}

#[tokio::test]
async fn cargo_builds_and_tests_a_crate() {
    let text = "mkdir src && printf '[package]\\nname=\"tiny\"\\nversion=\"0.1.0\"\\nedition=\"2021\"\\n[workspace]\\n' > Cargo.toml && echo '#[test] fn works() { assert_eq!(2 + 2, 4); }' > src/lib.rs && cargo test -q --offline 2>&1";
    works("cargo", text, "test result: ok. 1 passed").await;
}

#[tokio::test]
async fn node_runs_a_test_script_through_npm() {
    let text = r#"cat > package.json <<'END'
{"name":"t","version":"1.0.0","scripts":{"test":"node test.js"}}
END
echo "const h=require('http');const s=h.createServer((q,r)=>r.end('hello')).listen(0,'127.0.0.1',()=>h.get({port:s.address().port,host:'127.0.0.1'},r=>r.on('data',d=>{console.log('got '+d);process.exit(0)})))" > test.js
npm test --silent"#;
    works("npm", text, "got hello").await;
}

#[tokio::test]
async fn python_runs_unit_tests() {
    let text = "cat > test_it.py <<'END'
import unittest, tempfile, multiprocessing, subprocess
class T(unittest.TestCase):
    def test_files(self):
        with tempfile.NamedTemporaryFile() as f: f.write(b'x')
    def test_processes(self):
        with multiprocessing.Pool(2) as p: self.assertEqual(p.map(abs, [-1, -2]), [1, 2])
    def test_commands(self):
        self.assertEqual(subprocess.check_output(['echo', 'x']), b'x\\n')
END
python3 -m unittest 2>&1";
    works("python3", text, "OK").await;
}

#[tokio::test]
async fn make_and_a_compiler_build_a_program() {
    let text = "printf 'int main(void){return 0;}' > m.c; printf 'all: m\\n\\t./m && echo ran\\nm: m.c\\n\\tcc -o m m.c\\n' > Makefile; make -j2";
    works("make", text, "ran").await;
}

#[tokio::test]
async fn a_new_repository_is_made_and_committed_to() {
    let text = "export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
        mkdir r && cd r && git init -q && echo x > f && git add f && git commit -qm one && git status --short && git log --oneline | wc -l";
    works("git", text, "1").await;
}

//! What the analysis knows about variables, directories and functions, against
//! the real bash: every argument that it says is known is the one that bash
//! hands over.

use crate::bash::{Laboratory, exists};
use crate::differential::{agrees, runner};
use proptest::prelude::*;

/// Statements that set and use variables in every way that a walker may get wrong, one a line.
const STATEMENTS: &str = r#"
alpha $X
beta "$X" $Y
X=a
X='a b'
Y=$X
X=$X-b
X+=k
if false; then X=c; fi
if true; then X=c; else X=d; fi
if alpha; then Y=c; elif beta; then Y=d; fi
for X in a b; do alpha $X $Y; Y=$X; done
for Y in $X; do beta $Y; done
for X in a b c; do alpha $X; [ $X = a ] && continue; Y=$X; break; done
(X=z; alpha $X)
{ X=w; alpha $X; }
{ X=h; } | cat
echo | X=p
X=q & wait
f() { local X=l; alpha $X; }; f
f() { X=g; alpha $1 "$@"; }; f $X y
g() { f; }; f() { Y=m; }; g
f() { return; X=r; }; f; alpha $X
beta || f() { X=x; alpha; }; f
X=i alpha $X
unset X
while read X; do alpha $X; done <<< 'r s'
read X Y <<< 't u'
case $X in a) X=m;; *) Y=n;; esac
case a in a) X=o;& b) Y=p;; esac
true && X=n
false || X=o
false && X=e
true || Y=f
set -- p 'q r'; alpha $1 "$@" $#
shift; alpha $1
IFS=-; alpha $X
eval 'X=e; alpha $X'
export X=f
declare Y=d
printf -v X u
X=$(echo v)
Y=`echo $X`
((X=3))
let Y=4
for ((X=0; X<2; X++)); do alpha $X; done
bash -c 'alpha $X'
X=j bash -c 'alpha $X'
trap 'alpha $X' EXIT
alpha ${X:-dd} ${X:+aa}
alpha ${X%b} ${X#a} ${#X}
X=${Y:=zz}; beta $Y
cd /; alpha $PWD $(pwd); cd - > /dev/null
HOME=/x; alpha ~
alpha {$X,y}
Y="$X"; Y="${Y}c"; beta $Y
until true; do X=never; done
while alpha; do X=once; break; done
exec 3>o; alpha $X >&3
X=(1 2); alpha ${X[0]} "${X[@]}"
Y=1; while [ $Y -lt 3 ]; do alpha $Y; Y=$((Y+1)); done
X=c cat <<< "$(X=b; alpha $X)"
"#;

#[test]
fn what_the_analysis_knows_about_variables_is_true() {
    if !exists() {
        return;
    }
    let laboratory = Laboratory::new();
    let statements: Vec<&str> = STATEMENTS.lines().filter(|line| !line.is_empty()).collect();
    let separators = prop::sample::select(vec!["\n", "; ", " && ", "\n", " || "]);
    let statement = (prop::sample::select(statements), separators);
    let lines = prop::collection::vec(statement, 2..8).prop_map(|statements| {
        let mut text = String::new();
        for (statement, separator) in statements {
            text.push_str(statement);
            text.push_str(if statement.ends_with("wait") { "\n" } else { separator });
        }
        text + "alpha $X \"$Y\""
    });
    let result = runner(500).run(&lines, |text| agrees(&laboratory, &text).map_err(TestCaseError::fail));
    if let Err(error) = result {
        panic!("{error}");
    }
    assert!(laboratory.records() > 100, "{} programs started", laboratory.records());
}

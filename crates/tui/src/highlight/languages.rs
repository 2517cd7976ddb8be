//! The table of languages.
//!
//! A new language is one row. Words are separated by spaces.

/// How a language is cut into tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Family {
    Code,
    Markup,
    Diff,
}

/// What else makes a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extra {
    None,
    /// Words with a capital are types, words of capitals constants.
    Capitals,
    KeysBeforeColon,
    KeysBeforeEquals,
}

/// How text is quoted.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Quote {
    pub(super) open: &'static str,
    pub(super) close: &'static str,
    /// A backslash takes the next character's meaning.
    pub(super) escapes: bool,
    /// May go over several lines.
    pub(super) lines: bool,
    /// Holds one character, or is none.
    pub(super) character: bool,
}

/// A language.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Language {
    pub(super) names: &'static str,
    pub(super) family: Family,
    pub(super) keywords: &'static str,
    pub(super) types: &'static str,
    pub(super) constants: &'static str,
    pub(super) line_comments: &'static [&'static str],
    pub(super) comments: &'static [(&'static str, &'static str)],
    pub(super) quotes: &'static [Quote],
    /// Characters that begin a name.
    pub(super) sigils: &'static str,
    /// Words may contain dashes.
    pub(super) dashes: bool,
    /// Words mean the same in any letter case.
    pub(super) any_case: bool,
    pub(super) extra: Extra,
}

impl Language {
    pub(super) fn has(&self, words: &str, word: &str) -> bool {
        words.split(' ').any(|known| known == word || (self.any_case && known.eq_ignore_ascii_case(word)))
    }
}

/// The language with this name or extension.
pub(super) fn find(name: &str) -> Option<&'static Language> {
    let name = name.to_ascii_lowercase();
    if name.is_empty() {
        return None;
    }
    LANGUAGES.iter().find(|language| language.names.split(' ').any(|known| known == name))
}

const fn quote(open: &'static str, close: &'static str) -> Quote {
    Quote { open, close, escapes: true, lines: false, character: false }
}

const fn over_lines(quote: Quote) -> Quote {
    Quote { lines: true, ..quote }
}

const fn raw(quote: Quote) -> Quote {
    Quote { escapes: false, ..quote }
}

const DOUBLE: Quote = quote("\"", "\"");
const SINGLE: Quote = quote("'", "'");
const CHARACTER: Quote = Quote { character: true, ..quote("'", "'") };
const BACKTICK: Quote = over_lines(quote("`", "`"));
const TRIPLE_DOUBLE: Quote = over_lines(quote("\"\"\"", "\"\"\""));
const TRIPLE_SINGLE: Quote = over_lines(quote("'''", "'''"));

const QUOTES: &[Quote] = &[DOUBLE, SINGLE];
const C_COMMENTS: &[(&str, &str)] = &[("/*", "*/")];

const BASE: Language = Language {
    names: "",
    family: Family::Code,
    keywords: "",
    types: "",
    constants: "true false null",
    line_comments: &[],
    comments: &[],
    quotes: QUOTES,
    sigils: "",
    dashes: false,
    any_case: false,
    extra: Extra::None,
};

/// Languages with the comments of C.
const CURLY: Language =
    Language { line_comments: &["//"], comments: C_COMMENTS, extra: Extra::Capitals, ..BASE };

/// Languages with the comments of the shell.
const HASHED: Language = Language { line_comments: &["#"], ..BASE };

static LANGUAGES: &[Language] = &[
    Language {
        names: "rust rs",
        keywords: "as async await break const continue crate dyn else enum extern fn for if impl in let loop match mod move mut pub ref return static struct super trait type union unsafe use where while yield macro_rules",
        types: "bool char str i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize f32 f64 Self",
        constants: "true false self None Some Ok Err",
        quotes: &[
            over_lines(raw(quote("r#\"", "\"#"))),
            over_lines(raw(quote("br#\"", "\"#"))),
            over_lines(raw(quote("r\"", "\""))),
            over_lines(quote("b\"", "\"")),
            over_lines(DOUBLE),
            CHARACTER,
        ],
        ..CURLY
    },
    Language {
        names: "python py pyi python3 pycon",
        keywords: "and as assert async await break case class continue def del elif else except finally for from global if import in is lambda match nonlocal not or pass raise return try while with yield",
        types: "int float str bool bytes list dict set tuple object type complex frozenset",
        constants: "True False None self cls",
        quotes: &[
            over_lines(quote("f\"\"\"", "\"\"\"")),
            over_lines(quote("r\"\"\"", "\"\"\"")),
            TRIPLE_DOUBLE,
            TRIPLE_SINGLE,
            quote("f\"", "\""),
            quote("f'", "'"),
            quote("b\"", "\""),
            quote("b'", "'"),
            quote("r\"", "\""),
            quote("r'", "'"),
            DOUBLE,
            SINGLE,
        ],
        sigils: "@",
        extra: Extra::Capitals,
        ..HASHED
    },
    Language {
        names: "javascript js jsx mjs cjs node typescript ts tsx mts cts",
        keywords: "abstract as asserts async await break case catch class const continue debugger declare default delete do else enum export extends finally for from function get if implements import in infer instanceof interface is keyof let namespace new of override private protected public readonly return satisfies set static super switch throw try type typeof var void while with yield",
        types: "any bigint boolean never number object string symbol unknown",
        constants: "true false null undefined this NaN Infinity",
        quotes: &[DOUBLE, SINGLE, BACKTICK],
        sigils: "@",
        ..CURLY
    },
    Language {
        names: "go golang",
        keywords: "break case chan const continue default defer else fallthrough for func go goto if import interface map package range return select struct switch type var",
        types: "any bool byte comparable complex64 complex128 error float32 float64 int int8 int16 int32 int64 rune string uint uint8 uint16 uint32 uint64 uintptr",
        constants: "true false nil iota",
        quotes: &[DOUBLE, SINGLE, raw(BACKTICK)],
        ..CURLY
    },
    Language {
        names: "c h cpp c++ cc cxx hpp hh hxx objc objective-c m arduino ino cuda cu",
        keywords: "alignas alignof auto break case catch class co_await co_return co_yield concept const consteval constexpr constinit const_cast continue decltype default delete do dynamic_cast else enum explicit export extern final for friend goto if inline mutable namespace new noexcept operator override private protected public register reinterpret_cast requires restrict return sizeof static static_assert static_cast struct switch template throw try typedef typeid typename union using virtual volatile while",
        types: "bool char char8_t char16_t char32_t double float int long short signed unsigned void size_t ssize_t ptrdiff_t wchar_t int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t uintptr_t intptr_t",
        constants: "true false NULL nullptr this",
        sigils: "#",
        ..CURLY
    },
    Language {
        names: "java groovy gradle",
        keywords: "abstract assert break case catch class const continue default def do else enum extends final finally for goto if implements import instanceof interface native new non-sealed package permits private protected public record return sealed static strictfp super switch synchronized throw throws transient try var volatile while yield",
        types: "boolean byte char double float int long short void",
        constants: "true false null this",
        quotes: &[TRIPLE_DOUBLE, DOUBLE, SINGLE],
        sigils: "@",
        ..CURLY
    },
    Language {
        names: "csharp cs c#",
        keywords: "abstract as async await base break case catch checked class const continue default delegate do else enum event explicit extern finally fixed for foreach get goto if implicit in init interface internal is lock namespace new operator out override params partial private protected public readonly record ref required return sealed set sizeof stackalloc static struct switch throw try typeof unchecked unsafe using value var virtual volatile when where while with yield",
        types: "bool byte char decimal double dynamic float int long nint nuint object sbyte short string uint ulong ushort void",
        constants: "true false null this",
        quotes: &[TRIPLE_DOUBLE, quote("$\"", "\""), over_lines(raw(quote("@\"", "\""))), DOUBLE, SINGLE],
        sigils: "#",
        ..CURLY
    },
    Language {
        names: "kotlin kt kts",
        keywords: "abstract actual as break by catch class companion const constructor continue crossinline data do else enum expect external final finally for fun get if import in infix init inline inner interface internal is lateinit noinline object open operator out override package private protected public reified return sealed set super suspend tailrec throw try typealias val value var vararg when where while",
        constants: "true false null this it",
        quotes: &[TRIPLE_DOUBLE, DOUBLE, SINGLE],
        sigils: "@",
        ..CURLY
    },
    Language {
        names: "swift",
        keywords: "actor any as associatedtype async await break case catch class continue default defer deinit didSet do else enum extension fallthrough fileprivate final for func get guard if import in indirect init inout internal is isolated lazy let mutating nonisolated open operator override private protocol public repeat rethrows return set some static struct subscript super switch throw throws try typealias unowned var weak where while willSet",
        constants: "true false nil self Self",
        quotes: &[TRIPLE_DOUBLE, DOUBLE],
        sigils: "@#",
        ..CURLY
    },
    Language {
        names: "scala sc sbt",
        keywords: "abstract case catch class def derives do else enum export extends extension final finally for forSome given if implicit import inline lazy match new object open opaque override package private protected return sealed super then throw trait transparent try type using val var while with yield",
        constants: "true false null this",
        quotes: &[TRIPLE_DOUBLE, quote("s\"", "\""), quote("f\"", "\""), DOUBLE, CHARACTER],
        sigils: "@",
        ..CURLY
    },
    Language {
        names: "dart",
        keywords: "abstract as assert async await base break case catch class const continue covariant default deferred do dynamic else enum export extends extension external factory final finally for get hide if implements import in interface is late library mixin new on operator part required rethrow return sealed set show static super switch sync throw try typedef var void when while with yield",
        types: "bool double int num",
        constants: "true false null this",
        quotes: &[TRIPLE_DOUBLE, TRIPLE_SINGLE, DOUBLE, SINGLE],
        sigils: "@",
        ..CURLY
    },
    Language {
        names: "zig",
        keywords: "align allowzero and anyframe anytype asm async await break callconv catch comptime const continue defer else enum errdefer error export extern fn for if inline linksection noalias noinline nosuspend opaque or orelse packed pub resume return struct suspend switch test threadlocal try union unreachable usingnamespace var volatile while",
        types: "anyerror bool comptime_float comptime_int f16 f32 f64 i8 i16 i32 i64 isize noreturn type u8 u16 u32 u64 usize void",
        constants: "true false null undefined",
        line_comments: &["//"],
        sigils: "@",
        extra: Extra::Capitals,
        ..BASE
    },
    Language {
        names: "php",
        keywords: "abstract and array as break callable case catch class clone const continue declare default do echo else elseif empty enum extends final finally fn for foreach function global goto if implements include include_once instanceof insteadof interface isset list match namespace new or print private protected public readonly require require_once return static switch throw trait try unset use var while xor yield",
        types: "bool float int iterable mixed never object string void",
        line_comments: &["//", "#"],
        comments: C_COMMENTS,
        quotes: &[over_lines(DOUBLE), over_lines(SINGLE)],
        sigils: "$",
        extra: Extra::Capitals,
        ..BASE
    },
    Language {
        names: "ruby rb rakefile gemfile",
        keywords: "alias and begin break case class def defined? do else elsif end ensure extend for if in include loop module next not or private protected public raise redo require require_relative rescue retry return super then undef unless until when while yield attr_accessor attr_reader attr_writer",
        constants: "true false nil self __FILE__",
        comments: &[("=begin", "=end")],
        sigils: "@$:",
        extra: Extra::Capitals,
        ..HASHED
    },
    Language {
        names: "bash sh shell zsh fish console shell-session ksh bashrc zshrc env",
        keywords: "case coproc do done elif else esac export fi for function if in local readonly return select then time trap typeset until unset while alias declare eval exec exit set shift source begin end",
        constants: "true false",
        quotes: &[over_lines(DOUBLE), over_lines(raw(SINGLE))],
        sigils: "$",
        dashes: true,
        ..HASHED
    },
    Language {
        names: "powershell ps1 pwsh",
        keywords: "begin break catch class continue data do dynamicparam else elseif end enum exit filter finally for foreach function if in param process return switch throw trap try until using while",
        comments: &[("<#", "#>")],
        sigils: "$",
        dashes: true,
        any_case: true,
        ..HASHED
    },
    Language {
        names: "sql psql postgres postgresql mysql sqlite plsql tsql",
        keywords: "add all alter and any as asc begin between by cascade case check column commit constraint create cross database default delete desc distinct drop else end exists explain foreign from full function grant group having if in index inner insert intersect into is join key left like limit not offset on or order outer over partition pragma primary procedure references rename replace returning revoke right rollback select set table then transaction trigger truncate union unique update using values view when where window with recursive materialized",
        types: "bigint blob boolean bytea char date datetime decimal double float int integer json jsonb numeric real serial smallint text time timestamp timestamptz uuid varchar",
        line_comments: &["--"],
        comments: C_COMMENTS,
        quotes: &[DOUBLE, over_lines(raw(SINGLE))],
        any_case: true,
        ..BASE
    },
    Language {
        names: "json jsonc json5 ndjson jsonl ipynb",
        line_comments: &["//"],
        comments: C_COMMENTS,
        extra: Extra::KeysBeforeColon,
        ..BASE
    },
    Language {
        names: "yaml yml docker-compose",
        constants: "true false null yes no on off",
        sigils: "&*",
        dashes: true,
        extra: Extra::KeysBeforeColon,
        ..HASHED
    },
    Language {
        names: "toml ini cfg conf properties desktop editorconfig gitconfig lock",
        line_comments: &["#", ";"],
        quotes: &[TRIPLE_DOUBLE, over_lines(raw(TRIPLE_SINGLE)), DOUBLE, raw(SINGLE)],
        dashes: true,
        extra: Extra::KeysBeforeEquals,
        ..BASE
    },
    Language {
        names: "html htm xml svg xhtml vue svelte astro plist xsd xsl",
        family: Family::Markup,
        comments: &[("<!--", "-->")],
        ..BASE
    },
    Language {
        names: "css scss sass less",
        keywords: "important and not only from to",
        constants: "auto none inherit initial unset block flex grid inline absolute relative fixed",
        sigils: ".#@$",
        dashes: true,
        extra: Extra::KeysBeforeColon,
        line_comments: &["//"],
        comments: C_COMMENTS,
        ..BASE
    },
    Language {
        names: "lua luau",
        keywords: "and break do else elseif end for function goto if in local not or repeat return then until while",
        constants: "true false nil self",
        line_comments: &["--"],
        comments: &[("--[[", "]]")],
        quotes: &[raw(over_lines(quote("[[", "]]"))), DOUBLE, SINGLE],
        ..BASE
    },
    Language {
        names: "haskell hs elm purescript purs",
        keywords: "case class data default deriving do else exposing forall foreign if import in infix infixl infixr instance let module newtype of port qualified then type where",
        constants: "True False otherwise",
        line_comments: &["--"],
        comments: &[("{-", "-}")],
        quotes: &[TRIPLE_DOUBLE, DOUBLE, CHARACTER],
        extra: Extra::Capitals,
        ..BASE
    },
    Language {
        names: "ocaml ml mli fsharp fs f#",
        keywords: "and as assert begin class constraint do done downto else end exception external for fun function functor if in include inherit initializer lazy let match method module mutable new object of open or private rec sig struct then to try type val virtual when while with yield use",
        types: "int float bool string char unit list option array",
        constants: "true false None Some",
        comments: &[("(*", "*)")],
        line_comments: &["//"],
        quotes: &[TRIPLE_DOUBLE, over_lines(DOUBLE), CHARACTER],
        extra: Extra::Capitals,
        ..BASE
    },
    Language {
        names: "elixir ex exs erlang erl",
        keywords: "after and case catch cond def defdelegate defexception defguard defimpl defmacro defmodule defp defprotocol defstruct do else end fn for if import in not or quote raise receive require rescue super try unless unquote use when with",
        constants: "true false nil",
        quotes: &[TRIPLE_DOUBLE, over_lines(DOUBLE), SINGLE],
        sigils: "@:",
        extra: Extra::Capitals,
        ..HASHED
    },
    Language {
        names: "clojure clj cljs edn lisp el elisp scheme scm racket rkt",
        keywords: "def defn defn- defmacro defmethod defmulti defprotocol defrecord deftype defun defvar define lambda let let* letrec if cond case when when-not unless do begin fn loop recur ns require import quote set! setq progn",
        constants: "true false nil t",
        line_comments: &[";"],
        quotes: &[over_lines(DOUBLE)],
        sigils: ":",
        dashes: true,
        ..BASE
    },
    Language {
        names: "perl pl pm raku",
        keywords: "and bless case cmp continue default die do else elsif eq for foreach ge given gt if last le local lt my ne next no not or our package print redo require return say state sub unless until use when while xor",
        constants: "undef",
        sigils: "$@%",
        ..HASHED
    },
    Language {
        names: "r rscript",
        keywords: "break else for function if in library next repeat require return while",
        constants: "TRUE FALSE NULL NA NaN Inf",
        ..HASHED
    },
    Language {
        names: "julia jl",
        keywords: "abstract baremodule begin break catch const continue do else elseif end export finally for function global if import in isa let local macro module mutable primitive quote return struct try type using where while",
        constants: "true false nothing missing",
        comments: &[("#=", "=#")],
        quotes: &[TRIPLE_DOUBLE, DOUBLE, CHARACTER],
        sigils: "@",
        extra: Extra::Capitals,
        ..HASHED
    },
    Language {
        names: "nix",
        keywords: "assert else if import in inherit let or rec then with",
        comments: C_COMMENTS,
        quotes: &[over_lines(raw(quote("''", "''"))), over_lines(DOUBLE)],
        dashes: true,
        ..HASHED
    },
    Language {
        names: "hcl terraform tf tfvars",
        keywords: "data for for_each if in locals module output provider resource terraform variable dynamic moved import",
        types: "string number bool list map set object any",
        line_comments: &["#", "//"],
        comments: C_COMMENTS,
        ..BASE
    },
    Language {
        names: "protobuf proto thrift graphql gql",
        keywords: "directive enum extend extends fragment implements import input interface message mutation on oneof option optional package public query repeated required reserved returns rpc scalar schema service stream struct subscription syntax type union",
        types: "bool bytes double fixed32 fixed64 float int32 int64 sint32 sint64 string uint32 uint64 Boolean Float ID Int String",
        line_comments: &["//", "#"],
        comments: C_COMMENTS,
        quotes: &[TRIPLE_DOUBLE, DOUBLE, SINGLE],
        sigils: "@$",
        extra: Extra::Capitals,
        ..BASE
    },
    Language {
        names: "dockerfile docker containerfile",
        keywords: "add arg as cmd copy entrypoint env expose from healthcheck label maintainer onbuild run shell stopsignal user volume workdir",
        sigils: "$",
        dashes: true,
        any_case: true,
        ..HASHED
    },
    Language {
        names: "makefile make mk cmake just justfile",
        keywords: "define else endef endif export ifdef ifeq ifndef ifneq include override private unexport vpath set add_executable add_library target_link_libraries project find_package if endif foreach endforeach function endfunction",
        sigils: "$",
        dashes: true,
        ..HASHED
    },
    Language { names: "diff patch udiff", family: Family::Diff, ..BASE },
];

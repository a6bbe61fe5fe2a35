#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The HTML page's scripts hand no text to the browser's HTML parser, and its markup has no code of its own:
# names of unknown origin then cannot become code.
. "$top_srcdir/tests/tap.sh"
page=$(cd "$top_srcdir/src/html" && pwd)

# Prints uses of what parses text as markup, as code, or as an address.
script_faults() {
	grep -nE 'innerHTML|outerHTML|insertAdjacent|document\.write|DOMParser|createContextualFragment|srcdoc' "$@"
	grep -nE '\beval\(|new Function|setTimeout\(["'"'"'`]|import\(' "$@"
	grep -nE 'setAttribute\(["'"'"'`](on|style|href|src)|\.(href|src|action|cssText) *=|javascript:' "$@"
	grep -nE 'fetch\(|XMLHttpRequest|WebSocket|sendBeacon|localStorage|document\.cookie' "$@"
	grep -nE '</script|</style|<!--|@[A-Z_]+@' "$@"
	return 0
}

# Prints attributes of the markup that are code, style or addresses.
markup_faults() {
	grep -nE '<[^>]* (on[a-z]+|style|href|src|action)=' "$@"
	grep -nE 'unsafe-inline|unsafe-eval|https?:' "$@"
	return 0
}

cat >"$tmp/script" <<'END'
row.innerHTML = name;
row.setAttribute("onclick", name);
link.href = name;
eval(name);
fetch(name);
END
cat >"$tmp/markup" <<'END'
<p onclick="go()">
<p style="color: red">
<img src="http://example.com/">
END
script_faults "$tmp/script" >"$tmp/found"
check "each kind of fault in a script is found" sh -c '[ "$(wc -l <"$1")" = 5 ]' sh "$tmp/found"
markup_faults "$tmp/markup" | cut -d : -f 1 | sort -u >"$tmp/found"
check "each kind of fault in markup is found" sh -c '[ "$(wc -l <"$1")" = 3 ]' sh "$tmp/found"
: >"$tmp/none"
script_faults "$page"/*.js "$page/page.css" >"$tmp/found"
same "the scripts have none" "$tmp/none" "$tmp/found"
markup_faults "$page/page.html" >"$tmp/found"
same "the markup has none" "$tmp/none" "$tmp/found"
# Scripts are joined: a second function of one name would replace the first.
sed -n 's/^\(async \)*\(function\|class\|const\|let\) *\([A-Za-z0-9_]*\).*/\3/p' "$page"/*.js | sort | uniq -d >"$tmp/found"
same "no two functions have one name" "$tmp/none" "$tmp/found"
check "the policy allows the page's own script and style only" grep -q \
	"content=\"default-src 'none'; script-src 'sha256-@SCRIPT_HASH@'; style-src 'sha256-@STYLE_HASH@'; base-uri" \
	"$page/page.html"
check "scripts and style are ASCII" sh -c '! LC_ALL=C grep -n "[^ -~	]" "$@"' sh "$page"/*.js "$page/page.css" \
	"$page/page.html"
finish

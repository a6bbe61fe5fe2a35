#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# libsprof exports exactly the functions that its headers declare, and each is documented. Functions of
# include/sprof/private are exported for the command only, in the version node LIBSPROF_PRIVATE.
. "$top_srcdir/tests/tap.sh"
cd "$top_srcdir" || exit 99
library=$top_builddir/lib/.libs/libsprof.so
[ -e "$library" ] || skip_all "there is no shared library in this build"
command -v nm >/dev/null || skip_all "needs nm (binutils)"

# "NAME documented|bare" of every SP_API function in the given headers: a
# comment stands above the paragraph it is declared in.
declared() {
	awk '
		FNR == 1 { documented = 0 }
		/^[ \t]*$/ { documented = 0; next }
		/\*\/[ \t]*$/ { documented = 1; next }
		/^SP_API/ && !/#define/ {
			line = $0
			sub(/\(.*/, "", line)
			n = split(line, word, /[ *]+/)
			print word[n], documented ? "documented" : "bare"
		}' "$@"
}

# exported NODE: names with that version.
exported() {
	nm -D --defined-only "$library" | awk '$2 != "A" { print $3 }' |
		grep -vE '^(__asan|__ubsan|__odr_asan|__tsan|__sanitizer|_init$|_fini$)' |
		sed -n "s/@@*$1\$//p" | sort -u
}

exported LIBSPROF_0 >"$tmp/exported"
declared include/sprof/*.h | sort >"$tmp/declared"
cut -d ' ' -f 1 "$tmp/declared" | sort -u >"$tmp/names"

check "something is exported" test -s "$tmp/exported"
grep -v '^sp_' "$tmp/exported" >"$tmp/odd"
: >"$tmp/none"
same "every exported symbol begins with sp_" "$tmp/none" "$tmp/odd"
comm -23 "$tmp/exported" "$tmp/names" >"$tmp/undeclared"
same "every exported symbol is declared in include/sprof" "$tmp/none" "$tmp/undeclared"
comm -13 "$tmp/exported" "$tmp/names" >"$tmp/undefined"
same "every function declared in include/sprof is exported" "$tmp/none" "$tmp/undefined"
declared include/sprof/private/*.h | tee -a "$tmp/declared" | cut -d ' ' -f 1 | sort -u >"$tmp/private"
exported LIBSPROF_PRIVATE >"$tmp/got"
check "there are private functions" test -s "$tmp/private"
same "private functions are exported as such" "$tmp/private" "$tmp/got"
check "no public header includes a private one" sh -c '! grep -n "sprof/private" include/sprof/*.h'
sed -n 's/ bare$//p' "$tmp/declared" >"$tmp/bare"
same "every public function has a comment" "$tmp/none" "$tmp/bare"

man='doc/libsprof.3 doc/libsprof-symbolizer.3 doc/libsprof-unwinder.3'
if [ -f doc/libsprof.3 ]; then
	while read -r name; do
		# shellcheck disable=SC2086
		sed 's/\\-/-/g' $man | grep -qw "$name" || echo "$name"
	done <"$tmp/names" >"$tmp/unmentioned"
	same "the manual names every public function" "$tmp/none" "$tmp/unmentioned"
	# shellcheck disable=SC2086
	grep -ohw 'sp_[a-z0-9_]*' $man | grep -vE '^sp_(log_fn)$' | sort -u >"$tmp/mentioned"
	{
		cat "$tmp/names"
		grep -ohE '\b(struct|enum|union) sp_[a-z0-9_]+' include/sprof/*.h | sed 's/.* //'
	} | sort -u >"$tmp/known"
	comm -23 "$tmp/mentioned" "$tmp/known" >"$tmp/unknown"
	same "the manual names nothing that is not there" "$tmp/none" "$tmp/unknown"
fi

# Users' programs must not depend on the size of structs and enums of results.
check "no function returns a struct by value" \
	sh -c '! grep -nE "^SP_API (const )?struct sp_[a-z0-9_]+ sp_" include/sprof/*.h'
check "no enum has a count" sh -c '! grep -nE "\bSP_[A-Z_]*COUNT\b" include/sprof/*.h'
printf '#include <sprof/sprof.h>\n%s\n' 'int pid(const struct sp_profile *p) { return p->rows[1].pid; }' \
	>"$tmp/stride.c"
sed 's/p->rows\[1\]\./sp_profile_row(p, 1)->/' "$tmp/stride.c" >"$tmp/index.c"
check "results are read by index" $CC -Iinclude -fsyntax-only "$tmp/index.c"
check "results are not read by stride" sh -c '! "$@" 2>/dev/null' sh \
	$CC -Iinclude -fsyntax-only "$tmp/stride.c"

# The checker itself.
cat >"$tmp/made-up.h" <<'END'
/* Documented. */
SP_API int sp_one(void);
SP_API struct sp_error *sp_two(struct sp_x *x,
			       int y);

SP_API void sp_three(void);
END
printf 'sp_one documented\nsp_two documented\nsp_three bare\n' >"$tmp/wanted"
declared "$tmp/made-up.h" >"$tmp/got"
same "a function without a comment is caught" "$tmp/wanted" "$tmp/got"
finish

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Each command has a manual page, pages have this version's heading, and groff and mandoc find nothing to
# complain of. A release's files name one version.
. "$top_srcdir/tests/tap.sh"
version=$(sed -n 's/^AC_INIT(\[sprof\], \[\([0-9.]*\)\].*/\1/p' "$top_srcdir/configure.ac")

"$SPROF" --help >"$tmp/help" 2>&1
commands=$(sed -n 's/^  \([a-z]*\)  .*/\1/p' "$tmp/help" | sort -u)
for command in $commands; do
	case $command in
	help) continue ;;
	esac
	check "sprof $command has a manual page" test -f "$top_srcdir/doc/sprof-$command.1"
done
check "help lists commands" test "$(echo "$commands" | grep -cxE 'archive|info|list|record|report|script|stat')" = 7

for page in "$top_srcdir"/doc/*.[1-8]; do
	name=${page##*/}
	check "$name has this version's heading" \
		grep -qE "^\.TH [A-Z\\-]+ [1-8] [0-9]{4}-[0-9]{2}-[0-9]{2} \"sprof $version\" " "$page"
	if command -v groff >/dev/null; then
		groff -man -ww -Tutf8 -z "$page" >"$tmp/out" 2>&1
		same "groff: $name" /dev/null "$tmp/out"
	fi
	if command -v mandoc >/dev/null; then
		mandoc -Tlint -W warning "$page" >"$tmp/out" 2>&1
		same "mandoc: $name" /dev/null "$tmp/out"
	fi
done
for tool in groff mandoc; do
	command -v $tool >/dev/null || skip "$tool" "there is no $tool"
done

check "NEWS has this version" grep -q "^sprof $version" "$top_srcdir/NEWS"
for file in debian/changelog sprof.spec PKGBUILD; do
	check "$file has this version" grep -qE "^(sprof \(|Version: *|pkgver=)$version(-|\$)" \
		"$top_srcdir/contrib/$file"
done
finish

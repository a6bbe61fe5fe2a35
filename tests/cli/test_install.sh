#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Installation: needs nothing that only tests need; the program starts from a DESTDIR and after a
# move; uninstall leaves no files and no directories of its own.
. "$top_srcdir/tests/cli/lib.sh"
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES DESTDIR LD_LIBRARY_PATH
stage=$tmp/stage

# Programs of a target that would be linked again if the unit tests' main.c were new.
linked_with_tests() {
	make -C "$top_builddir" -n -o config.h -W "$top_srcdir/tests/unit/main.c" "$1" \
		2>"$tmp/err" </dev/null | sed -n 's/.*mode=link.* -o \([^ ]*\).*/\1/p'
}

echo tests/unit/unit >"$tmp/wanted"
linked_with_tests tests/unit/unit >"$tmp/linked"
same "the unit tests are linked with their main.c" "$tmp/wanted" "$tmp/linked"
: >"$tmp/nothing"
linked_with_tests all-am >"$tmp/linked"
same "'make all' links nothing with it" "$tmp/nothing" "$tmp/linked"

status "make install below DESTDIR" 0 make -C "$top_builddir" -s install DESTDIR="$stage"
program=$(cd "$stage" && find . -path '*/bin/sprof')
page=$(find "$stage" -name sprof.1)
check "its manual page is there" grep -q 'sampling profiler' "$page"
if grep -q '^RPATH_LDFLAGS = ..*' "$top_builddir/Makefile"; then
	status "the program starts from there" 0 "$stage/$program" --version
	mv "$stage" "$stage.moved"
	status "and after the directory was moved" 0 "$stage.moved/$program" --version
	mv "$stage.moved" "$stage"
	# The loader ignores $ORIGIN in a program with capabilities.
	libdir=$(make -C "$top_builddir" -s --eval='show-libdir: ; @echo $(libdir)' show-libdir)
	readelf -d "$stage/$program" >"$tmp/dynamic"
	check "the configured directory is searched too" grep -q "RUNPATH.*:$libdir\\]" "$tmp/dynamic"
else
	skip "the program starts from there" "configured with --disable-rpath"
fi

status "make uninstall" 0 make -C "$top_builddir" -s uninstall DESTDIR="$stage"
(cd "$stage" && find . ! -type d) >"$tmp/files"
same "no file is left" "$tmp/nothing" "$tmp/files"
find "$stage" -type d -empty | grep -vE '/(bin|lib|include|share|man)$' >"$tmp/empty"
same "no empty directory is left that installation made" "$tmp/nothing" "$tmp/empty"
finish

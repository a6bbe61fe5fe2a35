#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# --symfs DIR is the root of all paths of a recording: neither ".." nor a link leaves it, and
# absolute links stay in it, as they would after chroot(8).
. "$top_srcdir/tests/cli/lib.sh"
opened=$top_builddir/tests/faults/opened
cd "$tmp" || exit 99

mkdir -p outside root/usr/lib root/opt root/tmp root/etc
cp "$workload/proportions" outside/program
at=$(nm outside/program | sed -n 's/^\([0-9a-f]*\) T compress$/\1/p')
base=$(readelf -lW outside/program | awk '$1 == "LOAD" { print $3; exit }')
ip=$((0x10000000 + 0x$at - base))

# report_of PATH [OPTION]...: of a sample in compress, in $tmp/out and $tmp/err; opens are counted.
report_of() {
	report_path=$1
	shift
	recording data <<-END
		event cpu-clock
		comm 7 7 demo
		mmap 7 0x10000000 0x100000 0 $report_path
		sample 0 7 7 0 1000 1 $ip
	END
	"$opened" outside/program -- "$SPROF" report -i data --symfs root "$@" >"$tmp/out" 2>"$tmp/err"
}
outside() { # NAME PATH
	report_of "$2" -s symbol,srcline
	check "$1: no name" sh -c '! grep -q compress "$1"' sh "$tmp/out"
	check "$1: nothing outside is opened" grep -q 'opened: 0' "$tmp/err"
}
cp outside/program root/opt/program
report_of /opt/program -s symbol
check "a file in the directory gives names" grep -q compress "$tmp/out"

outside ".. from the directory" /../outside/program
outside ".. without a slash before it" ../outside/program
outside ".. from within" /opt/../../outside/program
ln -s "$tmp/outside/program" root/opt/absolute
ln -s ../../outside/program root/opt/relative
ln -s "$tmp/outside" root/opt/folder
outside "an absolute link" /opt/absolute
outside "a relative link" /opt/relative
outside "a link to a directory" /opt/folder/program
ln -s /etc/passwd root/etc/passwd
report_of /etc/passwd -s symbol
"$SPROF" info --findings --symfs root -i data >"$tmp/out"
check "a link to /etc/passwd leads to nothing" grep -q 'root/etc/passwd' "$tmp/out"
check "which is not this machine's" sh -c '! grep -q "ELF" "$1"' sh "$tmp/out"

# Links as the recorded machine had them.
ln -s /opt/program root/usr/lib/inner
for key in symbol srcfile; do
	report_of /usr/lib/inner -s $key
	check "an absolute link stays in the directory ($key)" \
		grep -q 'compress\|proportions.c' "$tmp/out"
done

# Debug files and what a program's links name.
if command -v objcopy >"$tmp/out"; then
	cp outside/program outside/program.debug
	strip -o root/opt/stripped outside/program
	(cd outside && objcopy --add-gnu-debuglink=program.debug ../root/opt/stripped)
	ln -s "$tmp/outside/program.debug" root/opt/program.debug
	report_of /opt/stripped -s symbol
	check "a debug link's link is not followed out" sh -c '! grep -q compress "$1"' sh "$tmp/out"
else
	skip "a debug link's link is not followed out" "there is no objcopy"
fi

# Perf maps, in a directory that is a link.
rmdir root/tmp
ln -s "$tmp/outside" root/tmp
echo "10000000 100000 planted" >outside/perf-7.map
report_of //anon -s symbol
check "a perf map outside is not read" sh -c '! grep -q planted "$1"' sh "$tmp/out"
rm root/tmp
mkdir root/tmp
cp outside/perf-7.map root/tmp
report_of //anon -s symbol
check "one inside is" grep -q planted "$tmp/out"
finish

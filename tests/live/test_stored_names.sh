#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Names that recordings store: a report is the same after files, containers and maps are gone, after a
# rebuild, and on another machine (--symfs with an empty directory). perf reads the files as before.
. "$top_srcdir/tests/tap.sh"
need_sampling
export HOME="$tmp" XDG_CACHE_HOME="$tmp/cache"
mkdir "$tmp/empty"
: >"$tmp/nothing"

# perf would keep copies of files, which sprof finds by their build-ids (-N).

# Forms of a report; findings are about files and may differ.
forms="-s|dso,symbol -s|function,srcline --format|folded -g|caller -g|callee"

# reports NAME DATA [OPTION]...: all forms in $tmp/NAME.
reports() {
	reports_to=$tmp/$1 reports_data=$2
	shift 2
	for form in $forms; do
		echo "== $form"
		# shellcheck disable=SC2046
		"$SPROF" report -q -i "$reports_data" "$@" $(echo "$form" | tr '|' ' ') 2>&1
	done >"$reports_to"
}

# repeats NAME DATA [OPTION]...: the reports are those made before.
repeats() {
	repeats_name=$1
	shift
	reports after "$@"
	same "$repeats_name" "$tmp/before" "$tmp/after"
}

# record FILE PROGRAM [ARG]...: with $record_options.
record_options=
record() {
	record_file=$1
	shift
	# shellcheck disable=SC2086
	"$SPROF" record -q $record_options -e cpu-clock -o "$record_file" -- "$@" >"$tmp/out" 2>"$tmp/err" ||
		not_ok "$1 is recorded" "$(cat "$tmp/err")"
	await_names "$record_file"
}

stores() {
	check "$1" sh -c '"$1" info -i "$2" | grep -q "^  stored .* addresses"' sh "$SPROF" "$2"
}

# -- Files --------------------------------------------------------------------
cp "$workload/proportions" "$tmp/program"
record "$tmp/deleted" "$tmp/program" 0.4
stores "record stores names" "$tmp/deleted"
reports before "$tmp/deleted"
check "inlined functions and lines are among them" grep -q 'blend.*proportions.c:' "$tmp/before"
repeats "another machine" "$tmp/deleted" --symfs "$tmp/empty"
repeats "another machine and kernel" "$tmp/deleted" --symfs "$tmp/empty" --kallsyms "$tmp/nothing"
rm "$tmp/program"
repeats "a deleted program" "$tmp/deleted"
echo 'int main(void) { return 0; }' >"$tmp/other.c"
$CC -o "$tmp/program" "$tmp/other.c"
repeats "a rebuilt program" "$tmp/deleted"
"$SPROF" info -i "$tmp/deleted" --findings 2>&1 | tr -s '\n ' '  ' >"$tmp/found"
check "that they are used is a finding" grep -q 'names of 1 file come from the recording' "$tmp/found"
cp "$workload/proportions" "$tmp/program"
strip "$tmp/program"
repeats "a program that was stripped" "$tmp/deleted"

# -- Files that know less than the recording ------------------------------------
$CC -O1 -Wl,--build-id -o "$tmp/program" "$top_srcdir/tests/workloads/proportions.c" 2>"$tmp/err" ||
	cp "$workload/proportions" "$tmp/program"
strip -g "$tmp/program"
cp "$tmp/program" "$tmp/with-symbols"
record "$tmp/symbols" "$tmp/program" 0.4
reports before "$tmp/symbols"
check "functions of the symbol table are among them" grep -q compress "$tmp/before"
strip --strip-all --keep-symbol=main -o "$tmp/program" "$tmp/with-symbols"
repeats "a program with one symbol" "$tmp/symbols"
objcopy --strip-symbol=compress "$tmp/with-symbols" "$tmp/program"
repeats "a program without its hot function's symbol" "$tmp/symbols"
objcopy --only-keep-debug "$tmp/with-symbols" "$tmp/program"
repeats "its debug information only" "$tmp/symbols"
objcopy --strip-symbol=compress "$tmp/program"
repeats "debug information without the symbol" "$tmp/symbols"
objcopy --strip-all "$tmp/program" 2>"$tmp/err"
repeats "debug information without symbols" "$tmp/symbols"
for size in 0 64 700 4000; do
	head -c $size "$tmp/with-symbols" >"$tmp/program"
	repeats "a program of which $size bytes are left" "$tmp/symbols"
done
printf 'version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n' >"$tmp/program"
repeats "a text in the program's place" "$tmp/symbols"
rm "$tmp/program"
mkdir "$tmp/program"
repeats "a directory in the program's place" "$tmp/symbols"
rmdir "$tmp/program"
cp "$workload/proportions" "$tmp/program"

# The remedy of a recording's own finding: debug symbols that come later.
objcopy --only-keep-debug "$tmp/program" "$tmp/program.debug"
objcopy --strip-all --add-gnu-debuglink="$tmp/program.debug" "$tmp/program" "$tmp/bare"
mv "$tmp/program.debug" "$tmp/later"
record "$tmp/stripped" "$tmp/bare" 0.4
"$SPROF" report -i "$tmp/stripped" >"$tmp/found"
check "a stripped program has a finding, and its remedy" \
	sh -c 'grep -A 2 "have no symbols.*bare" "$0" | tr -s "\n " " " |
		grep -q "install its debug symbols"' "$tmp/found"
mv "$tmp/later" "$tmp/program.debug"
"$SPROF" report -i "$tmp/stripped" >"$tmp/found"
check "with them, there are names and no finding" \
	sh -c 'grep -q compress "$0" && ! grep -q "have no symbols.*bare" "$0"' "$tmp/found"

"$SPROF" record -q --no-names -e cpu-clock -o "$tmp/none" -- "$tmp/program" 0.1 >"$tmp/out" 2>"$tmp/err"
check "--no-names stores none" sh -c '! "$1" info -i "$2" | grep -q "^  stored"' sh "$SPROF" "$tmp/none"

# -- Code ---------------------------------------------------------------------
annotates() { # NAME FILE [OPTION]...
	annotates_to=$tmp/$1
	shift
	"$SPROF" annotate -i "$@" compress >"$annotates_to" 2>&1
}

record_options=--store-code
record "$tmp/coded" "$tmp/program" 0.4
chmod go-r "$tmp/program"
record "$tmp/private" "$tmp/program" 0.4
record_options=
annotates before "$tmp/coded"
check "a function is annotated" grep -q 'proportions.c:[0-9]' "$tmp/before"
annotates shown "$tmp/private"
check "code of a private file is shown while the file is here" \
	grep -q "proportions.c:[0-9]" "$tmp/shown"
mv "$tmp/program" "$tmp/kept"
annotates after "$tmp/coded"
same "the stored code of a deleted program, with its lines" "$tmp/before" "$tmp/after"
cp "$tmp/coded" "$tmp/coded.again"
"$SPROF" archive -q "$tmp/coded.again"
annotates after "$tmp/coded.again"
same "a new archive keeps the code" "$tmp/before" "$tmp/after"
annotates after "$tmp/private"
check "code of a private file is not stored" grep -q 'record again with --store-code' "$tmp/after"
annotates after "$tmp/deleted"
check "without --store-code there is none" grep -q 'record again with --store-code' "$tmp/after"
mv "$tmp/kept" "$tmp/program"
chmod go+r "$tmp/program"
check "--store-code and --no-names exclude each other" sh -c \
	'! "$0" record --store-code --no-names true 2>"$1" && grep -q "exclude each other" "$1"' \
	"$SPROF" "$tmp/err"

# -- The cache ----------------------------------------------------------------
# Compressed debug information and the kernel's symbols come from the cache, if it has them.
seq 2000 | sed 's/.*/static inline long long add_a_number_&(long long x) { return x * & ^ x >> 3; }/' >"$tmp/big.c"
{
	echo 'int main(void) { volatile long long x = 1; for (int i = 0; i < 300000; i++) {'
	seq 1 7 2000 | sed 's/.*/x = add_a_number_&(x);/'
	echo '} return 0; }'
} >>"$tmp/big.c"
if $CC -O2 -g -gz=zlib -o "$tmp/big" "$tmp/big.c" 2>"$tmp/err"; then
	"$SPROF" record -q --no-names -e cpu-clock -o "$tmp/cold" -- "$tmp/big" >"$tmp/out" 2>"$tmp/err"
	for copy in warm mended without; do
		cp "$tmp/cold" "$tmp/$copy"
	done
	rm -rf "$XDG_CACHE_HOME"
	"$SPROF" archive -q "$tmp/cold"
	find "$XDG_CACHE_HOME" -type f -printf '%P %i %m\n' | sort >"$tmp/cached"
	check "debug information is cached" grep -q '^sprof/debug/.* 600$' "$tmp/cached"
	"$SPROF" archive -q "$tmp/warm"
	same "names from the cache" "$tmp/cold" "$tmp/warm"
	find "$XDG_CACHE_HOME" -type f -printf '%P %i %m\n' | sort >"$tmp/cached-again"
	same "and nothing is cached twice" "$tmp/cached" "$tmp/cached-again"
	cp -r "$XDG_CACHE_HOME/sprof/debug" "$tmp/good"
	# All bytes after the header and the hashes are damaged.
	for file in $(find "$XDG_CACHE_HOME" -type f); do
		tr '\0-\377' '\1-\377\0' <"$file" | tail -c +4097 |
			dd of="$file" bs=4096 seek=1 conv=notrunc status=none
	done
	"$SPROF" archive -q "$tmp/mended"
	same "names with a damaged cache" "$tmp/cold" "$tmp/mended"
	check "damaged files are replaced" diff -r "$tmp/good" "$XDG_CACHE_HOME/sprof/debug"
	XDG_CACHE_HOME=$tmp/big "$SPROF" archive -q "$tmp/without"
	same "names without a cache" "$tmp/cold" "$tmp/without"
else
	skip "the cache" "$CC does not compress debug information"
fi

# -- Recordings of other kinds ------------------------------------------------
# later NAME DATA: archived, the report is the same after the program is gone.
later() {
	reports before "$2"
	check "$1 is archived" "$SPROF" archive -q "$2"
	repeats "$1" "$2" --symfs "$tmp/empty"
}
cp "$workload/proportions" "$tmp/program"
"$SPROF" record -q --no-names -z -e cpu-clock -o "$tmp/zip" -- "$tmp/program" 0.2 >"$tmp/out" 2>"$tmp/err"
later "a compressed recording" "$tmp/zip"
# The program's own output must not be in the stream.
"$SPROF" record -q -e cpu-clock -o - -- sh -c '"$1" 0.2 >/dev/null' sh "$tmp/program" 2>"$tmp/err" \
	>"$tmp/pipe"
later "a stream" "$tmp/pipe"
"$SPROF" record -q --no-names --call-graph dwarf --unwind later -F 499 -e cpu-clock -o "$tmp/copies" -- \
	"$tmp/program" 0.2 >"$tmp/out" 2>"$tmp/err"
later "a recording of stack copies" "$tmp/copies"
check "archive again, without the files" "$SPROF" archive -q --symfs "$tmp/empty" "$tmp/copies"
repeats "names and files are kept" "$tmp/copies" --symfs "$tmp/empty"
if command -v perf >/dev/null; then
	perf record -N -q -g -e cpu-clock -o "$tmp/perf" -- "$tmp/program" 0.2 >"$tmp/out" 2>&1
	later "perf's recording" "$tmp/perf"
	perf record -N -q --call-graph dwarf -F 499 -e cpu-clock -o "$tmp/perf-dwarf" -- "$tmp/program" 0.2 \
		>"$tmp/out" 2>&1
	later "perf's recording of stack copies" "$tmp/perf-dwarf"
	"$SPROF" record -q --no-names -e cpu-clock -o "$tmp/plain" -- "$tmp/program" 0.2 >"$tmp/out" 2>"$tmp/err"
	cp "$tmp/plain" "$tmp/named"
	"$SPROF" archive -q "$tmp/named"
	for how in "script" "report --stdio" "buildid-list" "evlist"; do
		# shellcheck disable=SC2086
		for which in plain named; do
			perf $how -i "$tmp/$which" 2>&1 | sed "s/$which/FILE/g; /(Tip: /d" >"$tmp/perf-$which"
		done
		same "perf $how reads a file with names as one without" "$tmp/perf-plain" "$tmp/perf-named"
	done
else
	skip "perf reads the files" "perf is not installed"
fi

# Files are bounded in the background process, which reads programs of all users.
cp "$workload/proportions" "$tmp/large"
head -c 70000000 /dev/urandom >"$tmp/section"
if objcopy --add-section .bulk="$tmp/section" "$tmp/large" 2>"$tmp/err"; then
	rm "$tmp/section"
	"$SPROF" record -q --call-graph dwarf --unwind later -F 499 -e cpu-clock -o "$tmp/bounded" -- \
		"$tmp/large" 0.2 >"$tmp/out" 2>"$tmp/err"
	await_names "$tmp/bounded"
	check "a large program is not stored" test "$(stat -c %s "$tmp/bounded")" -lt 70000000
	"$SPROF" info -i "$tmp/bounded" >"$tmp/info" 2>&1
	check "but smaller files are" grep -q '^  stored .*, and [1-9][0-9]* of the files' "$tmp/info"
	check "it is named as left out" grep -q '^  left out *1 file (70.* MB)' "$tmp/info"
	"$SPROF" info -i "$tmp/bounded" --format json 2>&1 | tr -d " \n" >"$tmp/json"
	check "also in JSON" grep -q '"left_out":1,"left_out_bytes":70' "$tmp/json"
	"$SPROF" report -i "$tmp/bounded" --symfs "$tmp/empty" --format json >"$tmp/report" 2>"$tmp/err"
	check "a report without the program names the cause" grep -q '"file_left_out"' "$tmp/report"
	reports before "$tmp/bounded"
	check "archive stores it" "$SPROF" archive -q "$tmp/bounded"
	check "its size shows that" test "$(stat -c %s "$tmp/bounded")" -gt 70000000
	repeats "a large program" "$tmp/bounded" --symfs "$tmp/empty"
	rm "$tmp/large" "$tmp/bounded"
else
	skip "a large program" "objcopy adds no section"
fi

# -- Instructions -------------------------------------------------------------
record "$tmp/insn" "$tmp/program" 0.2
"$SPROF" script -i "$tmp/insn" -F ip,insn 2>"$tmp/err" | sed 1,2d >"$tmp/insn-before"
"$SPROF" archive -q --with-binaries "$tmp/insn"
"$SPROF" script -i "$tmp/insn" -F ip,insn --symfs "$tmp/empty" 2>"$tmp/err" | sed 1,2d >"$tmp/insn-after"
same "--with-binaries keeps instructions" "$tmp/insn-before" "$tmp/insn-after"

# -- Untrusted names ------------------------------------------------------------
if command -v python3 >/dev/null; then
	record "$tmp/hostile" "$workload/proportions" 0.2
	python3 "$top_srcdir/tests/live/hostile_names.py" "$tmp/hostile" >"$tmp/out" 2>&1 ||
		not_ok "a name is replaced" "$(cat "$tmp/out")"
	for form in "-g caller" "--format folded" "--format json"; do
		# shellcheck disable=SC2086
		"$SPROF" report -i "$tmp/hostile" --symfs "$tmp/empty" $form >"$tmp/report" 2>"$tmp/err"
		check "control characters in names are not printed: $form" sh -c \
			'grep -q "2J" "$1" && ! tr -d "\n\t" <"$1" | LC_ALL=C grep -q "[[:cntrl:]]"' sh "$tmp/report"
	done
else
	skip "names from strangers" "there is no python3"
fi

# -- JIT code -----------------------------------------------------------------
mkdir "$tmp/dump"
record "$tmp/jit" "$workload/jitdump" "$tmp/dump" 0.3
reports before "$tmp/jit"
check "JIT code has names" grep -q '\(alpha\|beta\|gamma\)' "$tmp/before"
rm -r "$tmp/dump"
repeats "JIT code whose dump is gone" "$tmp/jit"
check "archive again, without the dump" "$SPROF" archive -q "$tmp/jit"
repeats "the dump is kept" "$tmp/jit"

# -- Containers ---------------------------------------------------------------
# named NAME DATA: the functions of the program have names.
named() {
	"$SPROF" report -q -i "$2" -s function >"$tmp/report" 2>&1
	check "$1" grep -q 'compress' "$tmp/report"
}
if [ "$(id -u)" = 0 ] && unshare -m true 2>"$tmp/err"; then
	mkdir -p "$tmp/root/lib64" "$tmp/root/usr/lib" "$tmp/root/proc"
	cp "$workload/proportions" "$tmp/root/program"
	ldd "$workload/proportions" | grep -o '/[^ ]*' | while read -r library; do
		mkdir -p "$tmp/root$(dirname "$library")"
		cp -L "$library" "$tmp/root$library"
	done
	"$SPROF" record -q -e cpu-clock --call-graph dwarf -o "$tmp/chroot" -- chroot "$tmp/root" /program 0.4 \
		>"$tmp/out" 2>"$tmp/err"
	sleep 1
	rm -r "$tmp/root"
	named "a program that ended in a chroot, which is gone" "$tmp/chroot"
	# Its path has another program here.
	mkdir "$tmp/inner"
	cp "$workload/proportions" "$tmp/inner/program"
	cp "$workload/threads" "$tmp/program"
	"$SPROF" record -q -e cpu-clock --call-graph dwarf -o "$tmp/mounted" -- unshare -m sh -c '
		mount --bind "$1/inner/program" "$1/program" && "$1/program" 0.4; :' sh "$tmp" \
		>"$tmp/out" 2>"$tmp/err"
	sleep 1
	named "a program that ended in a mount namespace" "$tmp/mounted"
else
	skip "containers" "no mount namespace may be made"
fi
finish

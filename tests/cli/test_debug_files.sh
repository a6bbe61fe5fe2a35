#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Debug files of a program, a kernel and a module: where distributions install them, in a root directory
# for each layout, and from a debuginfod server. nm finds the addresses of the sampled functions.
. "$top_srcdir/tests/cli/lib.sh"
for tool in gcc nm objcopy readelf strip; do
	command -v $tool >/dev/null || skip_all "needs $tool"
done
unset NIX_DEBUG_INFO_DIRS DEBUGINFOD_URLS
export HOME="$tmp/home"
cd "$tmp" || exit 99
release=6.1.0-7-test
ko=/lib/modules/$release/kernel/play.ko

id_of() {
	readelf -n "$1" | sed -n 's/.*Build ID: //p'
}

# id_path FILE: its build-id as a path of .build-id
id_path() {
	id_of "$1" | sed 's,^..,&/,'
}

at() { # FILE FUNCTION
	echo "0x$(nm "$1" | sed -n "s/ [tT] $2\$//p")"
}

cat >program.c <<'END'
struct with_a_long_name { int first_member, second_member, third_member; };
static inline __attribute__((always_inline)) int shared_with_others(struct with_a_long_name *thing, int x)
{
	for (int i = 0; i < x; i++)
		thing[i].first_member += thing[i].second_member * thing[i].third_member;
	return thing->first_member;
}
__attribute__((noinline)) int inner(struct with_a_long_name *thing, int x)
{
	return shared_with_others(thing, x) * 3 + 1;
}
#ifndef MODULE
int main(int count, char **words)
{
	struct with_a_long_name things[9] = {0};
	return words ? inner(things, count & 7) : 0;
}
#endif
END
cat >kernel.c <<'END'
__asm__(".globl _text\n\t.set _text, first");
int first(void) { return 1; }
int vm_work(int x) { return x * first(); }
END
gcc -g -O1 -no-pie -Wl,--build-id=sha1 -o program program.c &&
	gcc -g -O1 -fno-pic -no-pie -nostdlib -static -Wl,--build-id=sha1 -Wl,-Ttext=0x7f000000 \
		-Wl,-e,first -o vmlinux kernel.c 2>err &&
	gcc -g -O1 -fno-pic -DMODULE -c -o play.o program.c &&
	ld -r --build-id=sha1 -o play.ko play.o || skip_all "$(tail -n 1 err)"
objcopy --only-keep-debug program program.debug
strip -o stripped program
objcopy --add-gnu-debuglink=program.debug stripped
objcopy --only-keep-debug play.ko play.ko.debug
strip -o play.stripped play.ko
ip=$(at program inner)
base=$(readelf -lW program | awk '$1 == "LOAD" && $7 == "E" { print $2, $3 }
	$1 == "LOAD" && $8 == "E" { print $2, $3 }' | head -n 1)
start=$((${base#* } - ${base% *}))
work=$(printf '0xffffffff%x' $((0x81000000 + $(at vmlinux vm_work) - $(at vmlinux first) + 1)))
inner=$(printf '0xffffffff%x' $((0xc0100000 + $(at play.ko inner) + 1)))

# recorded PATH [BUILD-ID]: samples in inner() of the program, in vm_work() of the kernel, and in the module
recorded() {
	recording data <<-END
		event cpu-clock
		osrelease $release
		mmap -1 0xffffffff81000000 0x1000000 0xffffffff81000000 [kernel.kallsyms]_text $(id_of vmlinux)
		mmap -1 0xffffffffc0100000 0x1000 0 $ko $(id_of play.ko)
		comm 7 7 demo
		mmap 7 $start 0x100000 0 $1 $2
		sample 0 7 7 0 1000 1 $((ip + 1))
		sample 0 7 7 0 1001 1 $work
		sample 0 7 7 0 1002 1 $inner
	END
}

report() {
	"$SPROF" report -i data --symfs root "$@" >out 2>err
}

# named NAME FUNCTION [OPTION]...: the report has the function. Leaves an empty root.
named() {
	named_name=$1 named_function=$2
	shift 2
	report -s dso,symbol "$@"
	check "$named_name" grep -q " $named_function\$" out
}
empty() {
	rm -rf root
	mkdir -p root/usr/bin
	cp stripped root/usr/bin/program
}
# put FILE PATH-BELOW-ROOT
put() {
	mkdir -p "root/$(dirname "$2")"
	cp "$1" "root/$2"
}

# Programs
recorded /usr/bin/program
empty
report -s dso,symbol
check "without a debug file there is no name" sh -c '! grep -q inner out'
for place in usr/bin usr/bin/.debug usr/lib/debug/usr/bin usr/lib/debug/bin; do
	empty
	put program.debug $place/program.debug
	named "a debug link to /$place" '\[.\] inner'
done
recorded /bin/program
for place in usr/lib/debug/bin usr/lib/debug/usr/bin; do
	empty
	ln -s usr/bin root/bin
	put program.debug $place/program.debug
	named "run as /bin/program: /$place" '\[.\] inner'
done
recorded /usr/bin/program
empty
put program.debug usr/lib/debug/bin/program.debug
printf x >>root/usr/lib/debug/bin/program.debug
objcopy --remove-section=.note.gnu.build-id root/usr/bin/program
report -s dso,symbol
check "another CRC is refused" sh -c '! grep -q inner out'
empty
put program.debug "usr/lib/debug/.build-id/$(id_path program).debug"
named "a build-id below /usr/lib/debug" '\[.\] inner'
empty
put program.debug "nix/store/a-debug/lib/debug/.build-id/$(id_path program).debug"
report -s dso,symbol
check "a directory that is not listed is not searched" sh -c '! grep -q inner out'
export NIX_DEBUG_INFO_DIRS=/nix/store/b-debug/lib/debug:/nix/store/a-debug/lib/debug
named "a directory of NIX_DEBUG_INFO_DIRS" '\[.\] inner'
put program.debug "usr/lib/debug/.build-id/$(id_path program).debug"
rm -r root/nix
named "/usr/lib/debug is searched with it" '\[.\] inner'
unset NIX_DEBUG_INFO_DIRS

# A file with debug information only, in the program's place.
recorded /usr/bin/program "$(id_of program)"
empty
put program.debug usr/bin/program
named "debug information in the program's place" '\[.\] inner'
report -s dso,srcline
check "and its lines" grep -q 'program.*program.c:' out
put program.debug "usr/lib/debug/.build-id/$(id_path program).debug"
rm root/usr/bin/program
named "and by build-id, without the program" '\[.\] inner'
objcopy --strip-symbol=inner program.debug fewer
put fewer usr/bin/program
report -s dso,symbol
check "another function's name is not used" sh -c '! grep -q " main$" out'
gcc -g -O1 -no-pie -Wl,--build-id=0x1234 -o other program.c
objcopy --only-keep-debug other other.debug
empty
put other.debug usr/bin/program
report -s dso,symbol
check "debug information of another build-id is refused" sh -c '! grep -q inner out'
for tool in llvm-objcopy eu-strip; do
	if ! command -v $tool >out; then
		skip "debug information by $tool" "there is none"
		continue
	fi
	empty
	case $tool in
	eu-strip) eu-strip -f only -o stripped-too program ;;
	*) $tool --only-keep-debug program only ;;
	esac
	put only usr/bin/program
	named "debug information by $tool" '\[.\] inner'
done
for layout in -z,separate-code -z,noseparate-code -z,max-page-size=0x200000; do
	gcc -g -O1 -no-pie -Wl,--build-id=sha1,$layout -o laid program.c
	laid_base=$(readelf -lW laid | awk '$1 == "LOAD" && / R E / { print $2, $3 }' | head -n 1)
	recording data <<-END
		event cpu-clock
		comm 7 7 demo
		mmap 7 $((${laid_base#* } & ~4095)) 0x10000 $((${laid_base% *} & ~4095)) /usr/bin/program $(id_of laid)
		sample 0 7 7 0 1000 1 $(($(at laid inner) + 1))
	END
	empty
	objcopy --only-keep-debug laid root/usr/bin/program
	named "debug information of a layout by $layout" '\[.\] inner'
done
recorded /usr/bin/program

# Kernels
for path in boot/vmlinux-$release usr/lib/debug/boot/vmlinux-$release \
	usr/lib/debug/boot/vmlinux-$release.debug \
	usr/lib/debug/lib/modules/$release/vmlinux usr/lib/debug/lib/modules/$release/vmlinux.debug \
	usr/lib/debug/usr/lib/modules/$release/vmlinux \
	usr/lib/debug/usr/lib/modules/$release/vmlinux.debug \
	lib/modules/$release/build/vmlinux lib/modules/$release/vmlinux \
	usr/lib/modules/$release/build/vmlinux usr/lib/modules/$release/vmlinux \
	"usr/lib/debug/.build-id/$(id_path vmlinux).debug"; do
	empty
	put vmlinux "$path"
	named "a kernel in /$path" '\[k\] vm_work'
	report -s dso,srcline
	check "and its lines" grep -q 'kernel.*kernel.c:3$' out
done
pack() { # PROGRAM FILE PACKED
	command -v "$1" >/dev/null && "$1" -q -c "$2" >"$3"
}
for how in xz:xz zstd:zst; do
	end=${how#*:}
	for path in boot/vmlinux-$release.$end usr/lib/modules/$release/vmlinux.$end; do
		empty
		if pack "${how%:*}" vmlinux "packed.$end"; then
			put "packed.$end" "$path"
			named "a kernel in /$path" '\[k\] vm_work'
		else
			skip "a kernel in /$path" "there is no ${how%:*}"
		fi
	done
done
empty
objcopy --remove-section=.note.gnu.build-id vmlinux other
put other boot/vmlinux-$release
report -s dso,symbol
check "a kernel of another build is refused" sh -c '! grep -q vm_work out'

# Modules: names without kallsyms, and lines
for path in usr/lib/debug$ko usr/lib/debug$ko.debug usr/lib/debug/usr$ko usr/lib/debug/usr$ko.debug \
	"usr/lib/debug/.build-id/$(id_path play.ko).debug"; do
	empty
	put play.stripped $ko
	put play.ko.debug "$path"
	named "a module's names from /$path" '\[k\] inner'
	report -s dso,srcline
	check "and its lines" grep -q 'play.*program.c:[1-9]*$' out
done
for how in xz:xz zstd:zst; do
	end=${how#*:}
	for path in usr/lib/debug$ko.$end usr/lib/debug$ko.debug.$end; do
		empty
		if pack "${how%:*}" play.ko.debug "packed.$end"; then
			put "packed.$end" "$path"
			named "a module that is not here: /$path" '\[k\] inner'
		else
			skip "a module that is not here: /$path" "there is no ${how%:*}"
		fi
	done
done
# Debug information that dwz moved to a file of several packages
alone() { # LINK: makes program.dwz, whose information is also in common.dwz
	rm -f common.dwz
	cp program program.dwz
	gcc -g -O1 -no-pie -Dmain=start -Wl,-e,start -nostdlib -o second.dwz program.c 2>err
	dwz -m common.dwz -M "$1" program.dwz second.dwz 2>err
	objcopy --only-keep-debug program.dwz linked.dwz
}
inlined() { # NAME [OPTION]...
	inlined_name=$1
	shift
	report -s dso,function "$@"
	check "$inlined_name" grep -q 'shared_with_others (inlined)' out
}
if command -v dwz >/dev/null && alone /usr/lib/debug/.dwz/pool/common.dwz && [ -f common.dwz ]; then
	empty
	put linked.dwz usr/lib/debug/usr/bin/program.debug
	strip -o root/usr/bin/program program
	(cd root/usr/lib/debug/usr/bin && objcopy --add-gnu-debuglink=program.debug ../../../../bin/program)
	report -s dso,function
	check "without dwz's file, inlined functions are unknown" sh -c '! grep -q shared_with_others out'
	put common.dwz usr/lib/debug/.dwz/pool/common.dwz
	inlined "dwz's file by its path"
	mkdir -p "root/usr/lib/debug/.build-id/$(id_path common.dwz | cut -c 1-2)"
	mv root/usr/lib/debug/.dwz/pool/common.dwz "root/usr/lib/debug/.build-id/$(id_path common.dwz).debug"
	inlined "dwz's file by its build-id"
	# Fedora's layout: a path relative to the file, which is opened by a link.
	alone ../../../.dwz/pool/common.dwz
	put linked.dwz usr/lib/debug/usr/libexec/demo/program-1.fc40.debug
	rm -r root/usr/lib/debug/usr/bin/program.debug root/usr/lib/debug/.build-id
	mkdir -p "root/usr/lib/debug/.build-id/$(id_path program | cut -c 1-2)"
	ln -s ../../usr/libexec/demo/program-1.fc40.debug "root/usr/lib/debug/.build-id/$(id_path program).debug"
	put common.dwz usr/lib/debug/.dwz/pool/common.dwz
	inlined "dwz's file by a path relative to a link's target"
	empty
	dwz_files=y
else
	skip "dwz's files" "needs dwz"
	dwz_files=
fi

# A debuginfod server on this machine: python3's, with files as the protocol names them
serve() { # FILE KIND BUILD-ID
	mkdir -p "served/buildid/$3"
	cp "$1" "served/buildid/$3/$2"
}
python3 - served >port 2>requests <<'END' &
import functools, http.server, sys
handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=sys.argv[1])
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
print(server.server_port, flush=True)
server.serve_forever()
END
server=$!
trap 'kill $server; rm -rf "$tmp"' EXIT
while [ ! -s port ] && kill -0 $server 2>/dev/null; do
	sleep 0.1
done
[ -s port ] || {
	skip "a debuginfod server" "needs python3"
	finish
	exit 0
}
unset http_proxy HTTP_PROXY all_proxy ALL_PROXY DEBUGINFOD_TIMEOUT
export DEBUGINFOD_URLS="http://127.0.0.1:$(cat port)" DEBUGINFOD_CACHE_PATH="$tmp/downloads"
recorded /usr/bin/program "$(id_of program)"
rm -r root
mkdir root
serve stripped executable "$(id_of program)"
serve program.debug debuginfo "$(id_of program)"
serve vmlinux debuginfo "$(id_of vmlinux)"
serve play.ko.debug debuginfo "$(id_of play.ko)"
report -s dso,symbol
check "nothing is downloaded without --debuginfod" [ ! -s requests ]
report -s dso,symbol --debuginfod
if [ ! -s requests ] && "$SPROF" info --findings --debuginfod -i data --symfs root | grep -q 'libdebuginfod\|--with-'; then
	skip "a debuginfod server" "there is no libdebuginfod"
	finish
	exit 0
fi
check "a server's executable and its debug file" grep -q '\[.\] inner$' out
check "a server's kernel" grep -q '\[k\] vm_work$' out
check "a server's module" grep -q 'play.*\[k\] inner$' out
report -s dso,srcline --debuginfod
check "lines of the kernel" grep -q 'kernel.*kernel.c:3$' out
check "lines of the program" grep -q 'program .*program.c:[1-9]*$' out
check "lines of the module" grep -q 'play.*program.c:[1-9]*$' out

# Servers that do not answer lack no file.
put stripped usr/bin/program
for url in http://no-host.invalid http://127.0.0.1:9; do
	DEBUGINFOD_URLS=$url DEBUGINFOD_CACHE_PATH="$tmp/unanswered" \
		"$SPROF" info --findings --debuginfod -i data --symfs root >findings
	check "$url: the remedy is the network" grep -q 'check the network' findings
done

# For root with another user's HOME, that user could choose where files are written and removed.
if [ "$(id -u)" = 0 ]; then
	mkdir -p theirs/.cache elsewhere
	ln -s "$tmp/elsewhere" theirs/.cache/debuginfod_client
	chown -R 65534 theirs
	unset XDG_CACHE_HOME
	put stripped usr/bin/program
	: >requests
	(
		unset DEBUGINFOD_CACHE_PATH
		export HOME="$tmp/theirs"
		report -s dso,symbol --debuginfod
		"$SPROF" info --findings --debuginfod -i data --symfs root >findings
	)
	check "nothing is downloaded into another user's directory" [ ! -s requests ]
	check "nothing is written there" [ -z "$(ls elsewhere)" ]
	check "the remedy names the variable" grep -q 'set DEBUGINFOD_CACHE_PATH' findings
else
	skip "another user's directory for downloads" "only root can change users"
fi

# Files that are here are not downloaded.
rm -r downloads
: >requests
put vmlinux usr/lib/debug/boot/vmlinux-$release
put play.ko.debug usr/lib/debug$ko.debug
put program usr/bin/program
report -s dso,symbol,srcline --debuginfod
check "installed files give the names" [ "$(grep -c 'inner\|vm_work' out)" = 3 ]
check "and nothing is downloaded" [ ! -s requests ]
[ ! -s requests ] || comment "$(cat requests)"
if [ "$dwz_files" ]; then
	strip -o root/usr/bin/program program
	serve linked.dwz debuginfo "$(id_of program)"
	serve common.dwz debuginfo "$(id_of common.dwz)"
	inlined "a server's dwz file" --debuginfod
fi

# Inlined functions have no address of their own. Without lines, names distinguish them.
cat >marks.c <<'END'
#define MARK \
	__asm__ volatile("1: nop\n\t.pushsection .marks,\"\",%progbits\n\t.dc.a 1b\n\t.popsection")
static inline __attribute__((always_inline)) void alpha(void) { MARK; }
static inline __attribute__((always_inline)) void beta(void) { MARK; }
int main(void)
{
	alpha();
	beta();
	return 0;
}
END
gcc -O2 -g -no-pie -o marks marks.c && objcopy --dump-section .marks=marked marks &&
	objcopy --remove-section .debug_line marks || exit 99
{
	echo "event cpu-clock"
	readelf -lW marks | awk '/LOAD.* R E / { print "mmap 1", $3, $5, $2, "'"$tmp"'/marks" }'
	od -An -v -tx8 marked | tr -s ' ' '\n' | sed -n 's/^..*/sample 0 1 1 0 1000 1 0x&/p'
} | recording inlined
"$SPROF" report -q -i inlined -s function >out
check "inlined functions without lines" [ "$(grep -c '50.*\(alpha\|beta\)' out)" = 2 ]
finish

# SPDX-License-Identifier: GPL-2.0-or-later
"""Layouts of the program: compilers, linkers, debug information, and what is done to files afterwards."""
import os
import re
import shlex
import shutil
import subprocess

LARGE = "-DLARGE "
LLVM = ["", "-19", "-18", "-17", "-16", "-15", "-14"]


class Unavailable(Exception):
    pass


class Layout:
    """
    A file whose addresses are named. `after`: commands that change `program`; the unchanged file is the twin,
    which has the same code. `twin_flags`: the twin is compiled with these instead. `tables`: files with the
    symbol table that the file leads to, and `dynamic`: files with a dynamic one.
    """

    def __init__(self, name, cc="gcc", flags="-gdwarf-5", link="", after="", tables=("program",), dynamic=(),
                 debug_path="", twin_flags=None, sample=False, needs=()):
        self.name, self.cc, self.flags, self.link, self.after = name, cc, flags, link, after
        self.tables, self.dynamic, self.sample, self.needs = tables, dynamic, sample, needs
        self.debug = debug_path
        # The linker drops the large function: the code is the same without it.
        self.twin_flags = flags.replace(LARGE, "") if LARGE in flags else twin_flags
        self.folder = self.path = self.twin = self.home = self.debug_path = None
        self.is_pie = False


def tool(name):
    """An LLVM tool's name here, with its version."""
    for version in LLVM:
        if shutil.which(name + version):
            return name + version
    raise Unavailable("there is no " + name)


def shell(folder, command):
    done = subprocess.run(["sh", "-ec", command], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace", check=False)
    if done.returncode:
        lines = [line for line in done.stdout.splitlines() if re.search("rror|not|nknown", line)]
        raise Unavailable((lines or done.stdout.splitlines() or ["status %d" % done.returncode])[0])
    return done.stdout


class Builder:
    def __init__(self, folder):
        self.folder, self.objects, self.made = folder, {}, 0
        self.sources = os.path.join(folder, "sources")

    def compile(self, cc, flags):
        """Compiles the sources once for all layouts with the same flags; returns the objects."""
        cxx = {"gcc": "g++", "clang": "clang++"}[cc]
        if (cc, flags) not in self.objects:
            folder = os.path.join(self.folder, "objects%d" % self.made)
            self.made += 1
            os.mkdir(folder)
            common = "-O2 -ffunction-sections -w " + flags + " -I" + shlex.quote(self.sources) + " -c "
            for name in "part.c", "main.c", "code.S", "classes.cc":
                compiler = cxx if name.endswith(".cc") else cc
                options = "-fno-exceptions -fno-rtti " if name.endswith(".cc") else ""
                shell(folder, "%s %s%s%s/%s" % (compiler, options, common, shlex.quote(self.sources), name))
            self.objects[cc, flags] = folder
        return self.objects[cc, flags]

    def link(self, layout, flags, name):
        objects = self.compile(layout.cc, flags)
        shell(layout.folder, "%s -O2 %s %s %s/*.o -o %s" % (layout.cc, flags, layout.link, shlex.quote(objects),
                                                          name))

    def build(self, layout):
        for program in (layout.cc,) + tuple(layout.needs):
            if not shutil.which(program):
                raise Unavailable("there is no " + program)
        layout.folder = os.path.join(self.folder, layout.name)
        layout.home = os.path.join(self.folder, "home")
        os.mkdir(layout.folder)
        self.link(layout, layout.flags, "program")
        if layout.twin_flags is not None:
            self.link(layout, layout.twin_flags, "twin")
        elif layout.after:
            shutil.copy(os.path.join(layout.folder, "program"), os.path.join(layout.folder, "twin"))
        if layout.after:
            after = re.sub(r"\{([a-z-]+)\}", lambda found: tool(found.group(1)), layout.after)
            shell(layout.folder, after.replace("OBJECTS", self.compile(layout.cc, layout.flags)))
        layout.path = os.path.join(layout.folder, "program")
        twin = os.path.join(layout.folder, "twin")
        layout.twin = twin if os.path.exists(twin) else None
        layout.debug_path = os.path.join(layout.folder, layout.debug) if layout.debug else ""
        with open(layout.path, "rb") as file:
            layout.is_pie = file.read(18)[16] == 3


TO_DEBUG_FILE = "objcopy --only-keep-debug program program.debug\n"
LINKED = TO_DEBUG_FILE + "strip -s program\nobjcopy --add-gnu-debuglink=program.debug program\n"
BY_BUILD_ID = """\
id=$(readelf -n program | sed -n 's/.*Build ID: //p')
rest=${id#??}
mkdir -p debug/.build-id/${id%"$rest"}
objcopy --only-keep-debug program debug/.build-id/${id%"$rest"}/$rest.debug
strip -s program
mv debug/.build-id/${id%"$rest"}/$rest.debug by-id
mkdir -p debug/.build-id/${id%"$rest"}
cp by-id debug/.build-id/${id%"$rest"}/$rest.debug
"""
# As rpm's find-debuginfo does.
MINI = """\
nm -D program --format=posix --defined-only | awk '{ print $1 }' | sort >dynamic
nm program --format=posix --defined-only | awk '$2 ~ /^[TtD]$/ { print $1 }' | sort >functions
comm -13 dynamic functions >kept
objcopy --only-keep-debug program program.debug
objcopy -S --remove-section .gdb_index --remove-section .comment --keep-symbols=kept program.debug mini
strip -s program
rm program.debug
xz -k mini
objcopy --add-section .gnu_debugdata=mini.xz program
"""
# Zeroes the section headers' place, number and names, as sstrip does, and cuts the file after its segments.
SSTRIP = """\
strip -s program
python3 - <<'PY'
import struct
data = bytearray(open("program", "rb").read())
offset, size, count = (struct.unpack_from("<Q", data, 32)[0],) + struct.unpack_from("<HH", data, 54)
end = max(sum(struct.unpack_from("<Q24xQ", data, offset + i * size + 8)) for i in range(count))
data[40:48] = bytes(8)
data[58:64] = bytes(6)
open("program", "wb").write(data[:end])
PY
"""
BOLT = """\
{llvm-bolt} program -o moved -update-debug-sections -reorder-blocks=reverse -split-functions \
-split-strategy=all -reorder-functions=none
mv moved program
rm twin
"""

LAYOUTS = [
    # Linkers, compilers and versions of DWARF.
    Layout("gcc-bfd-5", flags="-gdwarf-5", link="-fuse-ld=bfd", sample=True),
    Layout("gcc-bfd-4", flags="-gdwarf-4", link="-fuse-ld=bfd"),
    Layout("gcc-bfd-none", flags="-g0", link="-fuse-ld=bfd"),
    Layout("gcc-gold-5", flags=LARGE + "-gdwarf-5", link="-fuse-ld=gold -Wl,--gc-sections", needs=["ld.gold"]),
    Layout("gcc-gold-none", flags="-g0", link="-fuse-ld=gold", needs=["ld.gold"]),
    Layout("gcc-lld-4", flags="-gdwarf-4", link="-fuse-ld=lld", needs=["ld.lld"]),
    Layout("gcc-mold-5", flags="-gdwarf-5", link="-fuse-ld=mold -Wl,--gc-sections", needs=["mold"]),
    Layout("clang-bfd-5", cc="clang", flags="-gdwarf-5", link="-fuse-ld=bfd", sample=True),
    Layout("clang-gold-4", cc="clang", flags="-gdwarf-4", link="-fuse-ld=gold", needs=["ld.gold"]),
    Layout("clang-lld-5", cc="clang", flags=LARGE + "-gdwarf-5", link="-fuse-ld=lld -Wl,--gc-sections",
           needs=["ld.lld"], sample=True),
    Layout("clang-mold-4", cc="clang", flags="-gdwarf-4", link="-fuse-ld=mold", needs=["mold"]),
    Layout("clang-lld-none", cc="clang", flags="-g0", link="-fuse-ld=lld", needs=["ld.lld"]),
    # Code that the linker drops or folds.
    Layout("gc-bfd-gcc-5", flags=LARGE + "-gdwarf-5", link="-fuse-ld=bfd -Wl,--gc-sections", sample=True),
    Layout("gc-bfd-gcc-4", flags=LARGE + "-gdwarf-4", link="-fuse-ld=bfd -Wl,--gc-sections -Wl,-z,noseparate-code"),
    Layout("gc-bfd-clang-5", cc="clang", flags=LARGE + "-gdwarf-5", link="-fuse-ld=bfd -Wl,--gc-sections"),
    Layout("gc-lld-gcc-5", flags=LARGE + "-gdwarf-5", link="-fuse-ld=lld -Wl,--gc-sections", needs=["ld.lld"]),
    Layout("gc-low", flags=LARGE + "-gdwarf-4 -fno-pie", link="-no-pie -Wl,--gc-sections -Wl,-Ttext-segment=0x10000"),
    Layout("icf-gold", flags=LARGE + "-gdwarf-4", link="-fuse-ld=gold -Wl,--icf=all -Wl,--gc-sections",
           needs=["ld.gold"]),
    Layout("icf-lld", cc="clang", flags=LARGE + "-gdwarf-5", link="-fuse-ld=lld -Wl,--icf=all -Wl,--gc-sections",
           needs=["ld.lld"]),
    Layout("icf-mold", flags="-gdwarf-5", link="-fuse-ld=mold -Wl,--icf=all", needs=["mold"]),
    Layout("lto-gcc", flags="-gdwarf-5 -flto"),
    Layout("lto-clang", cc="clang", flags="-gdwarf-5 -flto", link="-fuse-ld=lld", needs=["ld.lld"]),
    # Debug information elsewhere, or stored otherwise.
    Layout("split-5", flags="-gdwarf-5 -gsplit-dwarf", twin_flags="-gdwarf-5"),
    Layout("split-4", flags="-gdwarf-4 -gsplit-dwarf", twin_flags="-gdwarf-4"),
    Layout("split-clang", cc="clang", flags="-gdwarf-5 -gsplit-dwarf", twin_flags="-gdwarf-5"),
    Layout("split-single", cc="clang", flags="-gdwarf-5 -gsplit-dwarf=single", twin_flags="-gdwarf-5"),
    Layout("dwp-4", flags="-gdwarf-4 -gsplit-dwarf -DDWP", twin_flags="-gdwarf-4 -DDWP", needs=["dwp"],
           after="here=$PWD\ncd OBJECTS\ndwp -e $here/program -o $here/program.dwp\nrm *.dwo"),
    Layout("dwp-5", cc="clang", flags="-gdwarf-5 -gsplit-dwarf -DDWP", twin_flags="-gdwarf-5 -DDWP",
           after="here=$PWD\ncd OBJECTS\n{llvm-dwp} -e $here/program -o $here/program.dwp\nrm *.dwo"),
    Layout("zstd", after="objcopy --compress-debug-sections=zstd program"),
    Layout("zlib", after="objcopy --compress-debug-sections=zlib program"),
    Layout("zlib-gnu", flags="-gdwarf-4", after="objcopy --compress-debug-sections=zlib-gnu program"),
    Layout("debuglink", after=LINKED, tables=["program.debug"], sample=True),
    Layout("build-id-path", link="-Wl,--build-id", after=BY_BUILD_ID, tables=["by-id"], debug_path="debug"),
    Layout("eu-strip", after="eu-strip -f program.debug program", tables=["program.debug"],
           needs=["eu-strip"]),
    Layout("dwz", flags="-gdwarf-5", after="dwz program", needs=["dwz"], sample=True),
    Layout("dwz-common", flags="-gdwarf-4", after="cp program other\ndwz -m common program other",
           needs=["dwz"]),
    Layout("dwz-debuglink", flags="-gdwarf-5", after="dwz program\n" + LINKED, tables=["program.debug"],
           needs=["dwz"]),
    Layout("minidebuginfo", after=MINI, tables=["mini"], dynamic=["program"], needs=["xz"], sample=True),
    Layout("type-units", flags="-gdwarf-5 -fdebug-types-section"),
    Layout("gdb-index", flags="-gdwarf-5 -ggnu-pubnames", link="-fuse-ld=lld -Wl,--gdb-index",
           needs=["ld.lld"]),
    Layout("dwarf64", flags="-gdwarf-5 -gdwarf64"),
    Layout("line-tables", cc="clang", flags="-gline-tables-only"),
    Layout("g1", flags="-g1"),
    Layout("g3", flags="-g3 -gdwarf-5"),
    Layout("simple-template-names", cc="clang", flags="-gdwarf-5 -gsimple-template-names"),
    Layout("unique-names", cc="clang", flags="-gdwarf-5 -funique-internal-linkage-names"),
    # Symbols dropped or changed, debug information kept.
    Layout("strip-all", after="strip -s program", tables=(), dynamic=["program"], sample=True),
    Layout("strip-all-dynamic", link="-rdynamic", after="strip -s program", tables=(), dynamic=["program"]),
    Layout("strip-debug", after="strip -g program"),
    Layout("strip-locals", after="objcopy -x --keep-section='.debug*' program"),
    Layout("strip-symbols", after="objcopy --strip-all --keep-section='.debug*' program", tables=(),
           dynamic=["program"], sample=True),
    Layout("strip-locals-none", flags="-g0", after="objcopy -x program"),
    Layout("no-unwind-tables", flags="-g0 -fno-asynchronous-unwind-tables -fno-unwind-tables",
           after="strip -s program", tables=(), dynamic=["program"]),
    Layout("sstrip", after=SSTRIP, tables=()),
    Layout("localized", after="objcopy --keep-global-symbol=main program"),
    Layout("weakened", after="objcopy --weaken program"),
    Layout("renamed-section", after="objcopy --rename-section .text=.code program"),
    # Places of segments and sections.
    Layout("static-pie", flags="-gdwarf-5", link="-static-pie"),
    Layout("static", flags="-gdwarf-5 -fno-pie", link="-static -no-pie"),
    Layout("huge-pages", link="-Wl,-z,common-page-size=0x200000 -Wl,-z,max-page-size=0x200000"),
    Layout("huge-text", flags="-gdwarf-5 -falign-functions=64",
           link="-fuse-ld=lld -Wl,-z,max-page-size=0x200000 -Wl,-z,separate-loadable-segments",
           needs=["ld.lld"]),
    Layout("separate-code", flags="-gdwarf-5", link="-Wl,-z,separate-code"),
    Layout("noseparate-code", flags="-gdwarf-5", link="-Wl,-z,noseparate-code"),
    Layout("no-rosegment", cc="clang", link="-fuse-ld=lld -Wl,--no-rosegment", needs=["ld.lld"]),
    Layout("low-text", flags="-gdwarf-5 -fno-pie", link="-no-pie -Wl,-Ttext=0x20000"),
    Layout("omagic", flags="-gdwarf-5 -fno-pie", link="-no-pie -static -Wl,-N -Wl,--defsym=__ehdr_start=0"),
    Layout("prelinked", flags="-gdwarf-5", link="-Wl,-Ttext-segment=0x31a0000000"),
    Layout("library", flags="-gdwarf-5 -fPIC", link="-shared -Wl,-Bsymbolic"),
    Layout("library-plt", flags="-gdwarf-5 -fPIC", link="-shared"),
    Layout("packed-relocations", link="-Wl,-z,pack-relative-relocs"),
    Layout("emit-relocations", link="-Wl,--emit-relocs"),
    Layout("no-build-id", link="-Wl,--build-id=none"),
    Layout("patchelf", after="patchelf --set-rpath /nowhere/%s --add-needed libm.so.6 program" % ("x" * 300),
           needs=["patchelf"]),
    Layout("bolt", flags="-gdwarf-4 -fno-pie", link="-no-pie -Wl,--emit-relocs", after=BOLT),
    Layout("upx", after="upx -q program", tables=(), needs=["upx"]),
    # Code of other shapes.
    Layout("packed", flags="-gdwarf-5 -falign-functions=1 -falign-loops=1 -falign-jumps=1"),
    Layout("large-model", flags="-gdwarf-5 -mcmodel=large -fno-pie", link="-no-pie"),
    Layout("patchable", flags="-gdwarf-5 -fpatchable-function-entry=16,12"),
    Layout("patchable-none", flags="-g0 -fpatchable-function-entry=16,12"),
    Layout("cet", flags="-gdwarf-5 -fcf-protection=full", link="-Wl,-z,ibtplt", sample=True),
    Layout("lazy-plt", flags="-gdwarf-5", link="-Wl,-z,lazy"),
    Layout("eager-plt", flags="-gdwarf-5 -fno-plt", link="-Wl,-z,now"),
    Layout("thunks", flags="-gdwarf-5 -mindirect-branch=thunk -mfunction-return=thunk -fcf-protection=none"),
    Layout("thunks-clang", cc="clang", flags="-gdwarf-5 -mretpoline"),
    Layout("block-sections", cc="clang", flags="-gdwarf-5 -fbasic-block-sections=all",
           link="-fuse-ld=lld", needs=["ld.lld"]),
    Layout("profiled", flags="-gdwarf-5 -pg -mfentry"),
    Layout("unoptimized", flags="-gdwarf-5 -O0"),
    Layout("cfi-clang", cc="clang", flags="-gdwarf-5 -flto -fsanitize=cfi-icall -fvisibility=hidden",
           link="-fuse-ld=lld", needs=["ld.lld"]),
]

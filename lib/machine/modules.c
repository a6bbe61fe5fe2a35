/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Names of modules are perf's, so that both tools show equal rows: the base name of a file, "[name]"
 * for a kernel module, "[JIT] tid PID" for executable memory without a file.
 */
#include "machine/modules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "base/bytes.h"
#include "base/format.h"
#include "base/hash.h"

/* Variables, because the option --runtime-names is not for running programs, nor for each root. */
#define NODE_SYMBOLS                                                                               \
	"set NODE_OPTIONS='--perf-basic-prof --interpreted-frames-native-stack' in the "           \
	"program's environment"

#define NODE_STACKS "start node with --interpreted-frames-native-stack"
#define NODE_CALLEES "start node with --no-turbo-inlining"
#define JAVA_SYMBOLS                                                                               \
	"set JAVA_TOOL_OPTIONS='-XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit' in the "    \
	"program's environment, or run jcmd PID Compiler.perfmap before it ends (JDK 17 or later)"

#define JAVA_STACKS "start Java with -XX:+PreserveFramePointer"
#define JAVA_CALLEES "start Java with -XX:-Inline"
#define PYTHON_SYMBOLS "set PYTHONPERFSUPPORT=1 in the program's environment"

#define PHP_SYMBOLS "start php with -d opcache.jit_debug=0x10"

/* This option writes a perf map, and keeps frame pointers. */
#define RUBY_BOTH "start ruby with --yjit --yjit-perf (Ruby 3.3 or later)"
#define PHP_STACKS "start php with -d opcache.jit=disable: its JIT keeps no frame pointers"
#define LUA_STACKS "profile it with luajit -jp: its code keeps no frame pointers"
#define PYTHON_STACKS "start python3 with -X perf_jit, and record with --unwind later"
#define LUA_SYMBOLS                                                                                \
	"profile it with luajit -jp, or build LuaJIT with XCFLAGS=-DLUAJIT_USE_PERFTOOLS"

/* The first row that fits decides. */
static const struct runtime runtimes[] = {
	{"libjvm.so", "Java", JAVA_SYMBOLS, JAVA_STACKS, JAVA_CALLEES},
	{"node", "Node.js", NODE_SYMBOLS, NODE_STACKS, NODE_CALLEES},
	{"libnode.so", "Node.js", NODE_SYMBOLS, NODE_STACKS, NODE_CALLEES},
	{"libcoreclr.so", ".NET", "set DOTNET_PerfMapEnabled=1 in the program's environment", NULL},
	{"luajit", "Lua", LUA_SYMBOLS, LUA_STACKS},
	{"luajit-", "Lua", LUA_SYMBOLS, LUA_STACKS},
	{"libluajit-", "Lua", LUA_SYMBOLS, LUA_STACKS},
	{"php", "PHP", PHP_SYMBOLS, PHP_STACKS},
	{"php-fpm", "PHP", PHP_SYMBOLS, PHP_STACKS},
	{"libphp", "PHP", PHP_SYMBOLS, PHP_STACKS},
	{"ruby", "Ruby", RUBY_BOTH, RUBY_BOTH},
	{"libruby-", "Ruby", RUBY_BOTH, RUBY_BOTH},
	{"libruby.so", "Ruby", RUBY_BOTH, RUBY_BOTH},
	{"beam.smp", "Erlang", "start erl with +JPperf true", NULL},
	{"libpython3.", "Python", PYTHON_SYMBOLS, PYTHON_STACKS, NULL, 13},
	{"python3.", "Python", PYTHON_SYMBOLS, PYTHON_STACKS, NULL, 13},
	{"libpython3.", "Python", PYTHON_SYMBOLS, NULL, NULL, 12},
	{"python3.", "Python", PYTHON_SYMBOLS, NULL, NULL, 12},
	{"libpython3.", "Python", NULL, NULL, NULL, 1},
	{"python3.", "Python", NULL, NULL, NULL, 1},
	{"python3", "Python", PYTHON_SYMBOLS " (Python 3.12 or later)",
	 PYTHON_STACKS " (Python 3.13 or later)"},
};

/*
 * Returns the number of the runtime that a file belongs to, by its base name; 0: it is no runtime.
 */
static uint8_t runtime_number(const char *name)
{
	for (size_t i = 0; i < count_of(runtimes); i++) {
		size_t size = strlen(runtimes[i].dso);
		/* A version may follow, but no longer name. */
		if (!strncmp(name, runtimes[i].dso, size) &&
		    (!runtimes[i].minor || strtoul(name + size, NULL, 10) >= runtimes[i].minor) &&
		    (!name[size] || !strchr("abcdefghijklmnopqrstuvwxyz_-", name[size])))
			return i + 1;
	}
	return 0;
}

const struct runtime *runtime_get(uint32_t number)
{
	return number ? &runtimes[number - 1] : NULL;
}

#define KERNEL_NAME "[kernel.kallsyms]"
#define GUEST_KERNEL_NAME "[guest.kernel.kallsyms]"
#define JIT "[JIT] tid "

/* Limit on embedded files: a recording has one vdso of each kind. */
#define KEPT_MAX 8

/* End of the address space of 32-bit programs. */
#define END_OF_32BIT (UINT64_C(1) << 32)

/* Flag of simpleperf in `prot` for JIT code; its recorded symbols have addresses in memory. */
#define PROT_JIT_SYMFILE_MAP 0x4000

#ifndef MAP_HUGETLB
#define MAP_HUGETLB 0x40000
#endif

void modules_deinit(struct modules *modules)
{
	arena_deinit(&modules->arena);
	strtab_deinit(&modules->strings);
	vec_deinit(&modules->list);
	vec_deinit(&modules->build_ids);
	vec_deinit(&modules->kept);
	vec_deinit(&modules->contents);
	vec_deinit(&modules->functions);
	u64map_deinit(&modules->build_id_of);
	u64map_deinit(&modules->content_of);
	index_set_deinit(&modules->index_of);
	*modules = (struct modules){0};
}

static bool starts_with(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

/* Returns whether the module belongs to one process, as memory without a file does. */
static bool is_of_process(const struct module *module)
{
	return module->kind == MODULE_ANONYMOUS || module->kind == MODULE_JIT;
}

/* Hash of the properties that identify a module. */
static uint64_t identity(const struct module *module)
{
	uint64_t hash = hash_bytes(module->build_id, module->build_id_size);
	hash = hash_pair(hash, (uintptr_t)module->path);
	hash = hash_pair(hash, (uint64_t)module->maj << 32 | module->min);
	hash = hash_pair(hash, module->ino);
	hash = hash_pair(hash, module->kind);
	if (is_of_process(module))
		hash = hash_pair(hash, module->pid);
	return hash_pair(hash, module->start);
}

static bool same_module(const struct module *a, const struct module *b)
{
	return a->kind == b->kind && a->path == b->path && a->name == b->name &&
	       a->build_id_size == b->build_id_size &&
	       memcmp(a->build_id, b->build_id, a->build_id_size) == 0 && a->maj == b->maj &&
	       a->min == b->min && a->ino == b->ino && a->start == b->start && a->end == b->end &&
	       a->is_guest == b->is_guest &&
	       (!is_of_process(a) || a->pid == b->pid);
}

static bool is_generated(const struct module *module)
{
	switch (module->kind) {
	case MODULE_JIT:
		return true;
	case MODULE_ANONYMOUS:
		return starts_with(module->name, JIT);
	case MODULE_FILE:
		return starts_with(module->path, "/memfd:doublemapper") ||
		       starts_with(module->path, "/memfd:tcg-jit");
	default:
		return false;
	}
}

/* Returns the module equal to `wanted`, created if it is new; NULL when out of memory. */
static struct module *intern(struct modules *modules, const struct module *wanted)
{
	if (!wanted->path || !wanted->name)
		return NULL;
	if (!index_set_reserve(&modules->index_of))
		return NULL;
	struct index_probe probe = index_set_probe(&modules->index_of, identity(wanted));
	for (uint32_t i; index_set_next(&modules->index_of, &probe, &i);)
		if (same_module(modules->list.items[i], wanted))
			return modules->list.items[i];
	struct module *module = arena_alloc(&modules->arena, sizeof(*module));
	if (!module || !vec_reserve(&modules->list, modules->list.count + 1))
		return NULL;
	*module = *wanted;
	module->index = modules->list.count;
	if (module->kind == MODULE_FILE)
		module->runtime = runtime_number(module->name);
	module->is_generated = is_generated(module);
	*vec_push(&modules->list) = module;
	index_set_add(&modules->index_of, &probe, module->index);
	return module;
}

static struct module from_mmap(struct modules *modules, const struct sp_mmap *mmap)
{
	struct module module = {
		.path = strtab_add(&modules->strings, mmap->filename),
		.build_id_size = mmap->build_id_size <= sizeof(module.build_id) ?
					 mmap->build_id_size : (uint8_t)sizeof(module.build_id),
		.maj = mmap->maj,
		.min = mmap->min,
		.ino = mmap->ino,
		.pid = mmap->pid,
	};
	memcpy(module.build_id, mmap->build_id, module.build_id_size);
	return module;
}

bool modules_is_perf_map(const char *name)
{
	const char *prefix = "/tmp/perf-";
	if (!starts_with(name, prefix))
		return false;
	name += strlen(prefix);
	size_t digits = strspn(name, "0123456789");
	return digits && strcmp(name + digits, ".map") == 0;
}

/* Returns whether the name is of memory that JIT compilers use for code. */
static bool is_anonymous(const char *name)
{
	return modules_is_perf_map(name) || strcmp(name, "//anon") == 0 ||
	       starts_with(name, "/anon_hugepage");
}

static bool is_memory(const char *name)
{
	return is_anonymous(name) || starts_with(name, "/dev/zero") ||
	       starts_with(name, "[stack") || starts_with(name, "/SYSV") ||
	       strcmp(name, "[heap]") == 0 ||
	       starts_with(name, "[anon:"); /* named by PR_SET_VMA_ANON_NAME */
}

bool modules_is_memory(const struct module *module)
{
	return module->kind == MODULE_ANONYMOUS &&
	       (is_memory(module->path) || starts_with(module->name, JIT));
}

bool modules_is_jitdump(const char *path)
{
	const char *name = path_base(path);
	if (path[0] != '/' || !starts_with(name, "jit-"))
		return false;
	name += strlen("jit-");
	size_t digits = strspn(name, "0123456789");
	return digits && strcmp(name + digits, ".dump") == 0;
}

bool modules_may_be_jit(const struct module *module)
{
	return module->kind == MODULE_ANONYMOUS ||
	       (module->kind == MODULE_FILE && starts_with(module->path, "/memfd:"));
}

/* Returns whether perf shows this mapping without a file by its name. */
static bool is_nameless_file(const char *name)
{
	return name[0] == '[' || starts_with(name, "anon_inode:");
}

static bool is_vdso(const char *name)
{
	return strcmp(name, "[vdso]") == 0 || strcmp(name, "[vdso32]") == 0 ||
	       strcmp(name, "[vdsox32]") == 0;
}

/* Adds the vdso's module. A 32-bit program on a 64-bit kernel has a different vdso of the same name. */
static struct module *add_vdso(struct modules *modules, const struct sp_mmap *mmap)
{
	struct module module = from_mmap(modules, mmap);
	bool is_low = mmap->start < END_OF_32BIT && mmap->size <= END_OF_32BIT - mmap->start;
	if (modules->is_64bit && is_low && strcmp(mmap->filename, "[vdso]") == 0)
		module.path = strtab_add(&modules->strings, "[vdso32]");
	module.kind = MODULE_VDSO;
	module.name = module.path;
	return intern(modules, &module);
}

struct module *modules_add_user(struct modules *modules, const struct sp_mmap *mmap,
				bool executable)
{
	char jit[32];
	const char *name = path_base(mmap->filename);
	if (is_vdso(mmap->filename))
		return add_vdso(modules, mmap);
	struct module module = from_mmap(modules, mmap);
	module.kind = MODULE_FILE;
	if (is_memory(mmap->filename) || mmap->flags & MAP_HUGETLB) {
		module.kind = MODULE_ANONYMOUS;
		bool named = is_memory(mmap->filename) && !is_anonymous(mmap->filename);
		if (named) {
			name = mmap->filename;
		} else if (executable) {
			snprintf(jit, sizeof(jit), JIT "%d", (int)mmap->pid);
			name = jit;
		}
	} else if (is_nameless_file(mmap->filename)) {
		module.kind = MODULE_ANONYMOUS;
	}
	module.name = strtab_add(&modules->strings, name);
	struct module *known = intern(modules, &module);
	if (known)
		known->is_code |= executable;
	return known;
}

bool modules_add_jit(struct modules *modules, const struct sp_mmap *mmap, struct module **ret)
{
	char name[32];
	*ret = NULL;
	if (!modules_is_jitdump(mmap->filename))
		return true;
	struct module module = from_mmap(modules, mmap);
	module.kind = MODULE_JIT;
	snprintf(name, sizeof(name), JIT "%d", (int)mmap->pid);
	module.name = strtab_add(&modules->strings, name);
	*ret = intern(modules, &module);
	return *ret != NULL;
}

const struct module *modules_add_perf_map(struct modules *modules, uint32_t pid)
{
	char path[48], name[32];
	snprintf(path, sizeof(path), "/tmp/perf-%u.map", pid);
	snprintf(name, sizeof(name), JIT "%d", pid);
	const struct module module = {
		.kind = MODULE_JIT,
		.path = strtab_add(&modules->strings, path),
		.name = strtab_add(&modules->strings, name),
		.pid = pid,
		.is_code = true,
	};
	return intern(modules, &module);
}

/*
 * Returns a kernel module's name: "/lib/modules/…/nf-tables.ko.xz" and "[nf_tables]" are both
 * "[nf_tables]".
 */
static const char *kernel_module_name(struct modules *modules, const char *path)
{
	const char *base = path_base(path);
	const char *suffix = strstr(base, ".ko");
	char name[256];
	if (base[0] == '[' || !suffix)
		return strtab_add(&modules->strings, base);
	snprintf(name, sizeof(name), "[%.*s]", (int)(suffix - base), base);
	for (char *c = name; *c; c++)
		if (*c == '-')
			*c = '_';
	return strtab_add(&modules->strings, name);
}

static uint64_t mmap_end(const struct sp_mmap *mmap)
{
	uint64_t end;
	return __builtin_add_overflow(mmap->start, mmap->size, &end) ? UINT64_MAX : end;
}

bool modules_is_code(const struct sp_record *record)
{
	return record->type == PERF_RECORD_MMAP2 ?
		       record->mmap.prot & PROT_EXEC :
		       !(record->misc & PERF_RECORD_MISC_MMAP_DATA);
}

struct mapping modules_mapping(const struct module *module, const struct sp_mmap *mmap)
{
	bool is_kernel = module->kind == MODULE_KERNEL ||
			 module->kind == MODULE_KERNEL_MODULE || module->kind == MODULE_KERNEL_CODE;
	return (struct mapping){
		.start = mmap->start,
		.end = mmap_end(mmap),
		/* The vdso is no file, whatever offset the record states. */
		.file_offset = module->kind == MODULE_VDSO ? 0 : mmap->file_offset,
		.module = module->index,
		.pid = mmap->pid,
		.fixed = is_kernel || modules_is_memory(module) ||
			 mmap->prot & PROT_JIT_SYMFILE_MAP,
	};
}

/*
 * Returns the kernel's module. "[kernel.kallsyms]_text" contains the name of the symbol at file_offset.
 */
static struct module kernel_image(struct modules *modules, const struct sp_mmap *mmap,
				  bool guest)
{
	const char *symbol = strchr(mmap->filename, ']');
	struct module module = from_mmap(modules, mmap);
	module.kind = MODULE_KERNEL;
	module.path = strtab_add(&modules->strings, guest ? GUEST_KERNEL_NAME : KERNEL_NAME);
	module.name = module.path;
	if (symbol && symbol[1]) {
		module.reference_symbol = strtab_add(&modules->strings, symbol + 1);
		module.reference = mmap->file_offset;
	}
	return module;
}

struct module *modules_add_kernel(struct modules *modules, const struct sp_mmap *mmap, bool guest)
{
	struct module module;
	if (starts_with(mmap->filename, "[kernel.kallsyms") ||
	    starts_with(mmap->filename, "[guest.kernel.kallsyms")) {
		module = kernel_image(modules, mmap, guest);
	} else {
		module = from_mmap(modules, mmap);
		module.kind = MODULE_KERNEL_MODULE;
		module.name = kernel_module_name(modules, mmap->filename);
	}
	module.start = mmap->start;
	module.end = mmap_end(mmap);
	module.is_guest = guest;
	return intern(modules, &module);
}

struct module *modules_add_code(struct modules *modules, const struct sp_ksymbol *ksymbol)
{
	struct module module = {
		.kind = MODULE_KERNEL_CODE,
		.path = strtab_add(&modules->strings, ksymbol->name),
		.start = ksymbol->start,
	};
	if (__builtin_add_overflow(ksymbol->start, ksymbol->size, &module.end))
		module.end = UINT64_MAX;
	module.name = module.path;
	return intern(modules, &module);
}

struct module *modules_copy(struct modules *modules, const struct module *module)
{
	struct module copy = *module;
	copy.path = strtab_add(&modules->strings, module->path);
	copy.name = strtab_add(&modules->strings, module->name);
	return intern(modules, &copy);
}

void modules_set_generated(struct module *module)
{
	if (module->kind == MODULE_ANONYMOUS && module->is_code)
		module->is_generated |= starts_with(module->path, "/dev/zero") ||
					starts_with(module->path, "[anon:");
}

size_t modules_bytes(const struct modules *modules)
{
	return modules->arena.total +
	       modules->list.capacity * sizeof(*modules->list.items) +
	       modules->index_of.capacity * sizeof(*modules->index_of.slots) +
	       strtab_bytes(&modules->strings);
}

/*
 * Returns the name of a build-id's module. A kernel that was found as a file is listed by that file's
 * path.
 */
static const char *build_id_key(struct modules *modules, const struct sp_build_id *build_id,
				uint16_t cpumode)
{
	const char *name = build_id->filename;
	bool guest = cpumode == PERF_RECORD_MISC_GUEST_KERNEL;
	if (cpumode != PERF_RECORD_MISC_KERNEL && !guest)
		return strtab_add(&modules->strings, name);
	if (strstr(path_base(name), ".ko") ||
	    (name[0] == '[' && !starts_with(name, "[kernel.") && !starts_with(name, "[guest.")))
		return kernel_module_name(modules, name);
	return strtab_add(&modules->strings, guest ? GUEST_KERNEL_NAME : KERNEL_NAME);
}

/* Returns the size without the zeros by which perf before Linux 5.12 fills 20 bytes. */
static uint8_t unpadded_size(const struct sp_build_id *build_id)
{
	static const uint8_t zeros[12];
	const uint8_t *bytes = build_id->build_id;
	if (build_id->build_id_size < 20 || memcmp(bytes + 16, zeros, 4) != 0)
		return build_id->build_id_size;
	return memcmp(bytes + 8, zeros, 12) ? 16 : 8;
}

bool modules_add_build_id(struct modules *modules, const struct sp_build_id *build_id,
			  uint16_t misc)
{
	bool added;
	if (build_id->build_id_size == 0 || build_id->build_id_size > sizeof(build_id->build_id))
		return true;
	struct sp_build_id known = *build_id;
	known.build_id_size = unpadded_size(build_id);
	const char *key = build_id_key(modules, build_id, misc & PERF_RECORD_MISC_CPUMODE_MASK);
	uint32_t *index = key ? u64map_put(&modules->build_id_of, (uintptr_t)key,
					   modules->build_ids.count, &added)
			      : NULL;
	if (!index)
		return false;
	if (added)
		return vec_append(&modules->build_ids, known);
	/* The file was replaced during the recording, so its build-id is ambiguous. */
	struct sp_build_id *other = &modules->build_ids.items[*index];
	if (!bytes_equal(other->build_id, other->build_id_size, known.build_id,
			 known.build_id_size))
		other->build_id_size = 0;
	return true;
}

bool modules_add_kept(struct modules *modules, const char *name, struct sp_bytes bytes)
{
	const char *key = strtab_add(&modules->strings, name);
	if (!key)
		return false;
	vec_each (item, &modules->kept)
		if (item->name == key)
			return true; /* the same build-id was recorded twice */
	if (modules->kept.count == KEPT_MAX || !bytes.size)
		return true;
	uint8_t *copy = arena_alloc(&modules->arena, bytes.size);
	struct kept_file *file = copy ? vec_push(&modules->kept) : NULL;
	if (!file)
		return false;
	memcpy(copy, bytes.bytes, bytes.size);
	*file = (struct kept_file){key, copy, bytes.size};
	return true;
}

static uint64_t content_key(const char *path, uint32_t maj, uint32_t min, uint64_t ino)
{
	return hash_pair(hash_pair((uintptr_t)path, (uint64_t)maj << 32 | min), ino);
}

bool modules_add_content(struct modules *modules, const struct file_content *content)
{
	const char *path = strtab_add(&modules->strings, content->path);
	uint64_t key = content_key(path, content->maj, content->min, content->ino);
	struct known_content *known =
		path ? u64map_item(&modules->content_of, key, &modules->contents) : NULL;
	if (known && !known->path)
		*known = (struct known_content){path,	      content->size, content->hash,
						content->ino, content->maj,  content->min};
	return known;
}

bool modules_add_python(struct modules *modules, const struct python_function *function)
{
	struct module module = {.kind = MODULE_PYTHON, .is_code = true};
	module.path = module.name = strtab_add(&modules->strings, PYTHON_DSO);
	if (!modules->python)
		modules->python = intern(modules, &module);
	struct python_function copy = *function;
	copy.name = strtab_add(&modules->strings, function->name);
	copy.file = strtab_add(&modules->strings, function->file);
	struct python_function *slot =
		modules->python && copy.name && copy.file ? vec_push(&modules->functions) : NULL;
	if (slot)
		*slot = copy;
	return slot;
}

const struct python_function *module_python_function(const struct module *module, uint64_t ip)
{
	uint64_t start = python_function_of(ip);
	size_t at = sorted_below(module->functions, module->function_count, .start, start);
	bool found = at < module->function_count && module->functions[at].start == start;
	return found ? &module->functions[at] : NULL;
}

const char *module_python_file(const struct module *module, uint64_t ip)
{
	const struct python_function *function = module_python_function(module, ip);
	return function ? function->file : "";
}

DEFINE_ORDER(compare_functions, struct python_function, start)

/* Sorts the Python functions. Of several at one address, which only damage makes, one is kept. */
static void seal_python(struct modules *modules)
{
	struct python_function *items = modules->functions.items;
	size_t count = 0;
	if (!modules->python)
		return;
	qsort(items, modules->functions.count, sizeof(*items), compare_functions);
	for (size_t i = 0; i < modules->functions.count; i++)
		if (!count || items[count - 1].start != items[i].start)
			items[count++] = items[i];
	modules->functions.count = count;
	modules->python->functions = items;
	modules->python->function_count = count;
}

/*
 * Sets the size and hash of a module's file. Returns false if its path had another file when the
 * recording ended: the build-id of that path is not the module's.
 */
static bool give_content(const struct modules *modules, struct module *module)
{
	const uint32_t *index =
		u64map_find(&modules->content_of,
			    content_key(module->path, module->maj, module->min, module->ino));
	if (!index)
		return true;
	const struct known_content *content = &modules->contents.items[*index];
	if (content->path != module->path || content->ino != module->ino ||
	    content->maj != module->maj || content->min != module->min)
		return true;
	module->content_size = content->size;
	module->content_hash = content->hash;
	return content->size;
}

void modules_seal(struct modules *modules)
{
	seal_python(modules);
	vec_each (item, &modules->list) {
		struct module *module = *item;
		module->is_64bit = modules->is_64bit;
		if (module->kind == MODULE_VDSO) {
			vec_each (kept, &modules->kept)
				if (kept->name == module->path) {
					module->kept = kept->bytes;
					module->kept_size = kept->size;
				}
		}
		if (module->kind == MODULE_FILE && !give_content(modules, module))
			continue;
		if (module->build_id_size || is_of_process(module) ||
		    module->kind == MODULE_KERNEL_CODE || module->kind == MODULE_PYTHON)
			continue;
		const char *key = module->kind == MODULE_KERNEL_MODULE ? module->name :
									module->path;
		const uint32_t *index = u64map_find(&modules->build_id_of, (uintptr_t)key);
		if (index) {
			const struct sp_build_id *build_id = &modules->build_ids.items[*index];
			memcpy(module->build_id, build_id->build_id, sizeof(module->build_id));
			module->build_id_size = build_id->build_id_size;
		}
	}
	vec_deinit(&modules->build_ids);
	vec_deinit(&modules->kept);
	vec_deinit(&modules->contents);
	u64map_deinit(&modules->build_id_of);
	u64map_deinit(&modules->content_of);
}

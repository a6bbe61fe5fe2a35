/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kernel names: of the right kernel, moved to where it lay, or none. */
#include "test.h"

#include <sys/utsname.h>
#include <unistd.h>
#include "proc/kernel_cache.h"
#include "resolving.h"
#include "root.h"

#define NOTE "\4\0\0\0\24\0\0\0\3\0\0\0GNU\0"
#define KERNEL_ID "kkkkkkkkkkkkkkkkkkkk"
#define MODULE_ID "mmmmmmmmmmmmmmmmmmmm"
#define TEXT 0xffffffff81000000
#define MODULE 0xffffffffc0001000
#define GUARD 0x1000000

static const char kallsyms[] = "ffffffff81000000 T _text\n"
			       "ffffffff81000000 T _stext\n"
			       "ffffffff81000100 T do_work\n"
			       "ffffffff81000200 t helper\n"
			       "ffffffff82000000 D some_data\n"
			       "ffffffffc0001000 t mod_init\t[my_mod]\n"
			       "ffffffffc0001040 t mod_work\t[my_mod]\n";

struct kernel {
	struct root root;
	struct resolving r;
};

static void kernel_init(struct kernel *k, const char *symbols)
{
	char cache[128];
	root_init(&k->root);
	snprintf(cache, sizeof(cache), "%s/cache", k->root.path);
	ok_or_fail(sp_ctx_set_cache_path(k->root.ctx, cache));
	ok_or_fail(sp_ctx_set_debug_path(k->root.ctx, ""));
	root_put(&k->root, "/proc/kallsyms", symbols);
	root_put(&k->root, "/proc/modules", "my_mod 8192 0 - Live 0xffffffffc0001000\n");
	root_put(&k->root, "/proc/sys/kernel/osrelease", "6.1.0-test\n");
	root_put_sized(&k->root, "/sys/kernel/notes", NOTE KERNEL_ID, 36);
	root_put_sized(&k->root, "/sys/module/my_mod/notes/.note.gnu.build-id", NOTE MODULE_ID, 36);
	k->r = (struct resolving){
		.ctx = k->root.ctx,
		.options =
			{
				.osrelease = "6.1.0-test",
				.kernel_build_id = (const uint8_t *)KERNEL_ID,
				.kernel_build_id_size = 20,
			},
		.module =
			{
				.kind = MODULE_KERNEL,
				.path = "[kernel.kallsyms]",
				.name = "[kernel.kallsyms]",
				.start = TEXT,
				.end = TEXT + GUARD,
				.reference = TEXT,
				.reference_symbol = "_text",
			},
	};
	resolving_start(&k->r);
}

static void kernel_deinit(struct kernel *k)
{
	resolving_stop(&k->r);
	root_deinit(&k->root);
}

#define KERNEL CLEANUP(kernel_deinit) struct kernel

static void again(struct kernel *k)
{
	resolving_stop(&k->r);
	resolving_start(&k->r);
}

static void use_module(struct kernel *k)
{
	k->r.module = (struct module){
		.kind = MODULE_KERNEL_MODULE,
		.name = "[my_mod]",
		.start = MODULE,
		.path = "/lib/modules/6.1.0-test/kernel/my-mod.ko.xz",
		.end = MODULE + 0x2000,
	};
}

TEST(kernel_of_the_same_boot)
{
	KERNEL k;
	kernel_init(&k, kallsyms);
	resolving_expect(&k.r, TEXT + 0x104, "do_work");
	resolving_expect(&k.r, TEXT + 0x2ff, "helper");
	ck_assert_uint_eq(resolving_find(&k.r, TEXT + 0x104)->start, TEXT + 0x100);
	resolving_expect(&k.r, TEXT - 1, NULL);
	/* A module's code is not the kernel's. */
	resolving_expect(&k.r, MODULE + 0x44, NULL);
	resolving_problem(&k.r, RESOLVER_OK, NULL);
}

/* Code is that of the running kernel, if it is the recorded one at the recorded address. */
TEST(kernel_code_of_the_same_boot)
{
	KERNEL k;
	uint8_t code[4];
	uint16_t machine;
	struct {
		Elf64_Ehdr header;
		Elf64_Phdr segments[2];
		char bytes[8];
	} core = {
		.header = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64},
			   .e_machine = EM_X86_64,
			   .e_phoff = sizeof(Elf64_Ehdr),
			   .e_phentsize = sizeof(Elf64_Phdr),
			   .e_phnum = 2},
		.segments = {{.p_type = PT_NOTE, .p_vaddr = TEXT, .p_filesz = 1 << 20},
			     {.p_type = PT_LOAD, .p_vaddr = TEXT + 0x100, .p_filesz = 8}},
		.bytes = "kernels",
	};
	core.segments[1].p_offset = offsetof(typeof(core), bytes);
	kernel_init(&k, kallsyms);
	const struct location location = {.module = &k.r.module, .offset = TEXT + 0x102};
	resolving_expect(&k.r, location.offset, "do_work");
	ck_assert(!resolver_read_code(k.r.resolver, &location, 0, 4, code, &machine));
	root_put_sized(&k.root, "/proc/kcore", (const char *)&core, sizeof(core));
	ck_assert(resolver_read_code(k.r.resolver, &location, 0, 4, code, &machine));
	ck_assert_mem_eq(code, "rnel", 4);
	ck_assert_uint_eq(machine, EM_X86_64);
	ck_assert(!resolver_read_code(k.r.resolver, &location, 4, 4, code, &machine));
	/* A header that is cut, or has another size. */
	root_put_sized(&k.root, "/proc/kcore", (const char *)&core, sizeof(core.header));
	ck_assert(!resolver_read_code(k.r.resolver, &location, 0, 4, code, &machine));
	core.header.e_phentsize = 8;
	root_put_sized(&k.root, "/proc/kcore", (const char *)&core, sizeof(core));
	ck_assert(!resolver_read_code(k.r.resolver, &location, 0, 4, code, &machine));
	/* The kernel was recorded at another address: it has started again. */
	core.header.e_phentsize = sizeof(Elf64_Phdr);
	root_put_sized(&k.root, "/proc/kcore", (const char *)&core, sizeof(core));
	k.r.module.reference = TEXT + 0x200000;
	k.r.module.start += 0x200000;
	k.r.module.end += 0x200000;
	again(&k);
	const struct location moved = {.module = &k.r.module, .offset = TEXT + 0x200102};
	resolving_expect(&k.r, moved.offset, "do_work");
	ck_assert(!resolver_read_code(k.r.resolver, &moved, -0x200000, 4, code, &machine));
}

static const char *call_before(struct kernel *k, uint64_t ip)
{
	const struct location location = {.module = &k->r.module, .offset = ip - 1, .ip = ip - 1};
	return resolver_find_caller(k->r.resolver, &location)->name;
}

TEST(a_call_from_padding_is_of_the_function_behind_it)
{
	KERNEL k;
	kernel_init(&k, "ffffffff81000000 T _text\n"
			"ffffffff81000000 T _stext\n"
			"ffffffff810000f0 t __pfx_do_work\n"
			"ffffffff81000100 T do_work\n"
			"ffffffff81000200 t helper\n");
	ck_assert_str_eq(call_before(&k, TEXT + 0x100), "do_work");
	ck_assert_str_eq(call_before(&k, TEXT + 0xf8), "__pfx_do_work");
	ck_assert_str_eq(call_before(&k, TEXT + 0x101), "do_work");
	ck_assert_str_eq(call_before(&k, TEXT + 0x200), "do_work");
}

TEST(kernel_recorded_elsewhere_in_memory)
{
	KERNEL k;
	kernel_init(&k, kallsyms);
	k.r.module.reference = TEXT + 0x2a000000;
	resolving_expect(&k.r, TEXT + 0x2a000104, "do_work");
	ck_assert_uint_eq(resolving_find(&k.r, TEXT + 0x2a000104)->start, TEXT + 0x2a000100);
	resolving_expect(&k.r, TEXT + 0x104, NULL);
}

TEST(kernel_with_another_build_id_is_not_used)
{
	KERNEL k;
	kernel_init(&k, kallsyms);
	k.r.options.kernel_build_id = (const uint8_t *)MODULE_ID;
	again(&k);
	resolving_expect(&k.r, TEXT + 0x104, NULL);
	resolving_problem(&k.r, RESOLVER_KERNEL_OTHER, "6.1.0-test");
}

/* The kernel may have restarted since: without its address there are no names. */
TEST(kernel_without_a_recorded_address)
{
	KERNEL k;
	kernel_init(&k, kallsyms);
	k.r.module.reference = 0;
	again(&k);
	resolving_expect(&k.r, TEXT + 0x104, NULL);
	resolving_problem(&k.r, RESOLVER_KERNEL_OTHER, "KASLR");
}

/* perf kvm records the guest's mappings as the kernel's, with its _text. */
TEST(kernel_of_a_virtual_machine_is_not_this_one)
{
	KERNEL k;
	kernel_init(&k, kallsyms);
	k.r.module.path = "[guest.kernel.kallsyms]";
	k.r.module.is_guest = true;
	again(&k);
	resolving_expect(&k.r, TEXT + 0x104, NULL);
	resolving_problem(&k.r, RESOLVER_KERNEL_OTHER, "virtual machine");
}

/* The same release is another build on another host. */
TEST(kernel_of_another_host_needs_a_build_id)
{
	KERNEL k;
	kernel_init(&k, kallsyms);
	root_put(&k.root, "/proc/sys/kernel/hostname", "here\n");
	k.r.options.hostname = "elsewhere";
	again(&k);
	resolving_expect(&k.r, TEXT + 0x104, "do_work");
	k.r.options.kernel_build_id_size = 0;
	again(&k);
	resolving_expect(&k.r, TEXT + 0x104, NULL);
	resolving_problem(&k.r, RESOLVER_KERNEL_OTHER, NULL);
}

TEST(kernel_without_build_id_must_be_of_the_same_boot)
{
	KERNEL k;
	kernel_init(&k, kallsyms);
	k.r.options.kernel_build_id_size = 0;
	again(&k);
	resolving_expect(&k.r, TEXT + 0x104, "do_work");
	k.r.module.reference += 0x200000;
	again(&k);
	resolving_expect(&k.r, TEXT + 0x200104, NULL);
	resolving_problem(&k.r, RESOLVER_KERNEL_OTHER, "restarted");
	k.r.module.reference = 0;
	again(&k);
	resolving_expect(&k.r, TEXT + 0x104, NULL);
	k.r.module.reference = TEXT;
	k.r.options.osrelease = "6.1.1-test";
	again(&k);
	resolving_expect(&k.r, TEXT + 0x104, NULL);
	resolving_problem(&k.r, RESOLVER_KERNEL_OTHER, "6.1.1-test");
	k.r.options.osrelease = NULL;
	again(&k);
	resolving_expect(&k.r, TEXT + 0x104, NULL);
	resolving_problem(&k.r, RESOLVER_KERNEL_OTHER, NULL);
}

TEST(kernel_that_hides_its_symbols)
{
	KERNEL k;
	kernel_init(&k, "0000000000000000 T _text\n0000000000000000 T do_work\n");
	resolving_expect(&k.r, TEXT + 0x104, NULL);
	static const struct { const char *kptr, *paranoid, *remedy; } cases[] = {
		{"1\n", "1\n", "sudo sysctl kernel.kptr_restrict=0"},
		{"0\n", "2\n", "sudo sysctl kernel.perf_event_paranoid=1, or report as root"},
		{"2\n", "4\n", "sudo sysctl kernel.kptr_restrict=0 kernel.perf_event_paranoid=1"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const char *text, *remedy;
		root_put(&k.root, "/proc/sys/kernel/kptr_restrict", cases[i].kptr);
		root_put(&k.root, "/proc/sys/kernel/perf_event_paranoid", cases[i].paranoid);
		again(&k);
		resolving_expect(&k.r, TEXT + 0x104, NULL);
		ck_assert_int_eq(resolver_problem(k.r.resolver, &k.r.module, &text, &remedy),
				 RESOLVER_KERNEL_HIDDEN);
		ck_assert_str_eq(remedy, cases[i].remedy);
	}
}

TEST(kernel_names_survive_a_reboot_and_an_update)
{
	KERNEL k;
	kernel_init(&k, kallsyms);
	ok_or_fail(kernel_cache_save(k.root.ctx));
	/* Another kernel now, elsewhere, without that module. */
	root_put(&k.root, "/proc/kallsyms", "ffffffff90000000 T _text\nffffffff90000100 T other\n");
	root_put(&k.root, "/proc/modules", "");
	root_put_sized(&k.root, "/sys/kernel/notes", NOTE MODULE_ID, 36);
	again(&k);
	resolving_expect(&k.r, TEXT + 0x104, "do_work");
	k.r.module.reference = TEXT + 0x2a000000;
	again(&k);
	resolving_expect(&k.r, TEXT + 0x2a000104, "do_work");
	use_module(&k);
	memcpy(k.r.module.build_id, MODULE_ID, 20);
	k.r.module.build_id_size = 20;
	k.r.module.start += 0x5000000;
	again(&k);
	resolving_expect(&k.r, MODULE + 0x5000044, "mod_work");
	ck_assert_uint_eq(resolving_find(&k.r, MODULE + 0x5000044)->start, MODULE + 0x5000040);
}

TEST(kernel_module_that_is_loaded)
{
	KERNEL k;
	kernel_init(&k, kallsyms);
	use_module(&k);
	resolving_expect(&k.r, MODULE + 0x44, "mod_work");
	resolving_expect(&k.r, TEXT + 0x104, NULL);
	/* Loaded elsewhere than it was recorded. */
	k.r.module.start += 0x10000;
	again(&k);
	resolving_expect(&k.r, MODULE + 0x10044, "mod_work");
	memcpy(k.r.module.build_id, MODULE_ID, 20);
	k.r.module.build_id_size = 20;
	again(&k);
	resolving_expect(&k.r, MODULE + 0x10044, "mod_work");
	/* Built anew since. */
	k.r.module.build_id[0]++;
	again(&k);
	resolving_expect(&k.r, MODULE + 0x10044, NULL);
	resolving_problem(&k.r, RESOLVER_KERNEL_OTHER, "my_mod");
}

TEST(kernel_module_that_is_not_loaded)
{
	KERNEL k;
	kernel_init(&k, kallsyms);
	use_module(&k);
	k.r.module.path = "[gone]";
	resolving_expect(&k.r, MODULE + 0x44, NULL);
	resolving_problem(&k.r, RESOLVER_KERNEL_OTHER, "gone");
}

TEST(kernel_by_a_given_kallsyms)
{
	KERNEL k;
	kernel_init(&k, "ffffffff90000000 T _text\nffffffff90000100 T other\n");
	files_write(files_path("symbols"), kallsyms, strlen(kallsyms));
	k.r.options.kallsyms = files_path("symbols");
	k.r.module.reference = TEXT + 0x1000000;
	again(&k);
	resolving_expect(&k.r, TEXT + 0x1000104, "do_work");
	use_module(&k);
	again(&k);
	resolving_expect(&k.r, MODULE + 0x44, "mod_work");
	/* The kernel was elsewhere, and so was the module. */
	struct module kernel = {.reference = TEXT + 0x1000000, .reference_symbol = "_text"};
	k.r.options.kernel = &kernel;
	again(&k);
	resolving_expect(&k.r, MODULE + 0x44, NULL);
	resolving_problem(&k.r, RESOLVER_KERNEL_OTHER, "another boot");
	kernel.reference = TEXT;
	again(&k);
	resolving_expect(&k.r, MODULE + 0x44, "mod_work");
	k.r.options.kallsyms = files_path("missing");
	again(&k);
	resolving_expect(&k.r, MODULE + 0x44, NULL);
	resolving_problem(&k.r, RESOLVER_MISSING_FILE, "missing");
}

#define CACHED "f=.debug/.build-id/6b/$(printf '6b%%.0s' $(seq 2 20))/kallsyms && "

/* Symbols of the recorded kernel in perf's cache, while another one runs. */
static void cache_init(struct kernel *k)
{
	kernel_init(k, "ffffffff90000000 T _text\nffffffff90000100 T other\n");
	root_put_sized(&k->root, "/sys/kernel/notes", NOTE MODULE_ID, 36);
	files_run(CACHED "mkdir -p ${f%%/*} && cat >$f <<'END'\n%sEND", kallsyms);
}

TEST(kernel_by_perfs_cache)
{
	KERNEL k;
	cache_init(&k);
	again(&k);
	resolving_expect(&k.r, TEXT + 0x104, "do_work");
}

/* HOME may be another user's (sudo -E). */
TEST(perfs_cache_of_another_user)
{
	KERNEL k;
	cache_init(&k);
	if (geteuid() == 0) {
		files_run(CACHED "chown 65534 $f");
		again(&k);
		resolving_expect(&k.r, TEXT + 0x104, NULL);
	}
	files_run(CACHED "rm $f && mkfifo $f");
	again(&k);
	resolving_expect(&k.r, TEXT + 0x104, NULL);
}

/* The module's file, in a symfs: its sections as the kernel would lay them out. */
static void check_module_file(const char *suffix, const char *pack)
{
	KERNEL k;
	char path[200];
	kernel_init(&k, kallsyms);
	files_run("cat >m.c <<'END'\n"
		  "__attribute__((section(\".init.text\"))) int m_init(void) { return 3; }\n"
		  "int m_first(void) { return 1; }\n"
		  "__attribute__((section(\".text.hot\"), aligned(64))) int m_hot(int x)\n"
		  "{ return x * 5; }\n"
		  "END\n"
		  "cat >note.s <<'END'\n"
		  "	.section .note.gnu.build-id,\"a\",%%note\n"
		  "	.long 4, 20, 3\n"
		  "	.asciz \"GNU\"\n"
		  "	.ascii \"" MODULE_ID "\"\n"
		  "END\n"
		  "mkdir -p symfs/lib/modules && $CC -O1 -fno-pic -c -o m.o m.c &&"
		  "$CC -c -o note.o note.s && ld -r -o symfs/lib/modules/m.ko m.o note.o && %s",
		  pack);
	snprintf(path, sizeof(path), "/lib/modules/m.ko%s", suffix);
	k.r.module = (struct module){
		.kind = MODULE_KERNEL_MODULE, .name = "[m]", .path = path, .start = MODULE,
		.end = MODULE + 0x2000, .build_id_size = 20,
	};
	memcpy(k.r.module.build_id, MODULE_ID, 20);
	k.r.options.symfs = files_path("symfs");
	again(&k);
	resolving_expect(&k.r, MODULE, "m_first");
	/* .text, and then .text.hot, which is aligned to 64 bytes. */
	resolving_expect(&k.r, MODULE + 64, "m_hot");
	ck_assert_uint_eq(resolving_find(&k.r, MODULE + 64)->start, MODULE + 64);
	resolving_problem(&k.r, RESOLVER_OK, NULL);
	k.r.module.build_id[0]++;
	again(&k);
	resolving_expect(&k.r, MODULE, NULL);
	resolving_problem(&k.r, RESOLVER_KERNEL_OTHER, "m");
}

TEST(kernel_module_by_its_file)
{
	check_module_file("", ":");
}

#ifdef HAVE_LZMA
TEST(kernel_module_by_its_xz_file)
{
	if (files_have("xz"))
		check_module_file(".xz", "xz symfs/lib/modules/m.ko");
}
#endif

#ifdef HAVE_ZSTD
TEST(kernel_module_by_its_zstd_file)
{
	if (files_have("zstd"))
		check_module_file(".zst", "zstd -q --rm symfs/lib/modules/m.ko");
}
#endif

#ifdef __x86_64__
/* A small ELF file where a kernel would be. */
static void link_vmlinux(const char *flags)
{
	files_run("cat >k.c <<'END'\n"
		  "#ifdef HIDDEN\n"
		  "__asm__(\".globl _text\\n\\t.hidden _text\\n_text:\");\n"
		  "#else\n"
		  "__asm__(\".globl _text\\n\\t.set _text, first\");\n"
		  "#endif\n"
		  "int first(void) { return 1; }\n"
		  "int vm_work(int x) { return x * first(); }\n"
		  "END\n"
		  "$CC -O1 -fno-pic -mcmodel=large -nostdlib -static -no-pie -Wl,--build-id "
		  "-Wl,-Ttext=0x7f000000 -Wl,-e,first %s -o vmlinux k.c 2>&1",
		  flags);
}

static void use_vmlinux(struct kernel *k, uint8_t build_id[20])
{
	struct image *image;
	ok_or_fail(image_open(files_path("vmlinux"), &image));
	ck_assert_uint_eq(image->build_id_size, 20);
	memcpy(build_id, image->build_id, 20);
	image_free(image);
	k->r.options.kernel_build_id = build_id;
	k->r.options.kernel_build_id_size = 20;
}

/* Returns an offset in the vmlinux, from _text. */
static uint64_t offset_within(const char *function)
{
	char *text = files_output(
		"nm vmlinux | awk '$3 == \"_text\" || $3 == \"%s\" { print $1 }' | sort", function);
	return strtoull(strchr(text, '\n'), NULL, 16) - strtoull(text, NULL, 16);
}

TEST(kernel_by_a_given_vmlinux)
{
	KERNEL k;
	uint8_t build_id[20];
	kernel_init(&k, kallsyms);
	link_vmlinux("");
	use_vmlinux(&k, build_id);
	k.r.options.vmlinux = files_path("vmlinux");
	again(&k);
	uint64_t at = TEXT + offset_within("vm_work");
	resolving_expect(&k.r, at + 1, "vm_work");
	ck_assert_uint_eq(resolving_find(&k.r, at + 1)->start, at);
	resolving_problem(&k.r, RESOLVER_OK, NULL);
#ifdef __x86_64__
	/* Its code is that of the file: 3 bytes, which end the segment. */
	uint8_t code[4], wanted[3];
	uint16_t machine;
	const struct location location = {.module = &k.r.module, .offset = at};
	ck_assert(!resolver_read_code(k.r.resolver, &location, 0, sizeof(code), code, &machine));
	ck_assert(resolver_read_code(k.r.resolver, &location, 0, sizeof(wanted), code, &machine));
	ck_assert_uint_eq(machine, EM_X86_64);
	const char *text = files_output(
		"objdump -d vmlinux |"
		" awk -F '\t' '/<vm_work>:/ { on = 1 } on && NF > 1 { print $2 }' | tr -d ' \n'");
	for (size_t i = 0; i < sizeof(wanted); i++)
		ck_assert_int_eq(sscanf(text + 2 * i, "%2hhx", &wanted[i]), 1);
	ck_assert_mem_eq(code, wanted, sizeof(wanted));
#endif
	/* A vmlinux of another build: rejected with a message; matching files are used. */
	k.r.options.kernel_build_id = (const uint8_t *)KERNEL_ID;
	again(&k);
	resolving_expect(&k.r, TEXT + 0x104, "do_work");
	resolving_problem(&k.r, RESOLVER_WRONG_FILE, files_path("vmlinux"));
	files_run("strip vmlinux");
	k.r.options.kernel_build_id = build_id;
	again(&k);
	resolving_expect(&k.r, at + 1, NULL);
	k.r.options.vmlinux = files_path("no such file");
	again(&k);
	resolving_expect(&k.r, at + 1, NULL);
}

/* A kernel may declare _text hidden, as it does with symbols of its early code. */
TEST(kernel_with_a_hidden_reference_symbol)
{
	KERNEL k;
	uint8_t build_id[20];
	kernel_init(&k, kallsyms);
	link_vmlinux("-DHIDDEN");
	use_vmlinux(&k, build_id);
	k.r.options.vmlinux = files_path("vmlinux");
	again(&k);
	resolving_expect(&k.r, TEXT + offset_within("vm_work"), "vm_work");
	resolving_problem(&k.r, RESOLVER_OK, NULL);
}

/* Lines come from the given vmlinux, whatever the kernel's offset was. */
TEST(kernel_lines_by_a_given_vmlinux)
{
	KERNEL k;
	uint8_t build_id[20];
	kernel_init(&k, kallsyms);
	link_vmlinux("-g");
	use_vmlinux(&k, build_id);
	again(&k);
	ck_assert(!resolver_has_sources(k.r.resolver, &k.r.module, 0));
	k.r.options.vmlinux = files_path("vmlinux");
	again(&k);
	uint64_t at = TEXT + offset_within("vm_work");
	const uint64_t offsets[] = {TEXT, at};
	const struct source_frame *found[2];
	struct source_frames frames = {.items = found, .lines = true};
	resolving_find(&k.r, at);
	ck_assert(resolver_has_sources(k.r.resolver, &k.r.module, 0));
	ok_or_fail(resolver_sources(k.r.resolver, &(struct source_query){&k.r.module, 0, offsets, 2, 1},
				    &frames));
	ck_assert(found[0] && !found[0]->caller);
	ck_assert_str_eq(found[0]->name, "first");
	ck_assert_uint_eq(found[0]->line, 6);
	ck_assert(found[1] && !found[1]->caller);
	ck_assert_str_eq(found[1]->name, "vm_work");
	ck_assert_uint_eq(found[1]->line, 7);
	ck_assert_uint_eq(found[1]->start, at);
	link_vmlinux("");
	use_vmlinux(&k, build_id);
	again(&k);
	ck_assert(!resolver_has_sources(k.r.resolver, &k.r.module, 0));
}

TEST(kernel_by_a_vmlinux_that_was_found)
{
	KERNEL k;
	uint8_t build_id[20];
	kernel_init(&k, kallsyms);
	link_vmlinux("");
	use_vmlinux(&k, build_id);
	uint64_t at = TEXT + offset_within("vm_work");
	files_run("mkdir -p symfs/boot && cp vmlinux symfs/boot/vmlinux-6.1.0-test");
	k.r.options.symfs = files_path("symfs");
	again(&k);
	resolving_expect(&k.r, at + 1, "vm_work");
	resolving_problem(&k.r, RESOLVER_OK, NULL);
	/* Without the recorded address, its own addresses are not the recorded ones. */
	char *text = files_output("nm vmlinux | awk '$3 == \"vm_work\" { print $1 }'");
	uint64_t linked = strtoull(text, NULL, 16);
	k.r.module.reference = 0;
	again(&k);
	resolving_expect(&k.r, linked, NULL);
	resolving_problem(&k.r, RESOLVER_KERNEL_OTHER, NULL);
	k.r.options.vmlinux = files_path("vmlinux");
	again(&k);
	resolving_expect(&k.r, linked, "vm_work");
	resolving_problem(&k.r, RESOLVER_UNPROVEN, "KASLR");
	k.r.options.vmlinux = NULL;
	k.r.module.reference = TEXT;
	/* One of another build is not. */
	link_vmlinux("-O2 -DOTHER -Wl,-z,noseparate-code");
	files_run("cp vmlinux symfs/boot/vmlinux-6.1.0-test");
	again(&k);
	resolving_expect(&k.r, at + 1, NULL);
	resolving_problem(&k.r, RESOLVER_KERNEL_OTHER, NULL);
}
#endif

TEST(kernel_bpf_program_has_its_recorded_name)
{
	RESOLVING r = {0};
	r.module = (struct module){
		.kind = MODULE_KERNEL_CODE,
		.path = "bpf_prog_0123_count",
		.start = MODULE,
		.name = "bpf_prog_0123_count",
		.end = MODULE + 100,
	};
	resolving_start(&r);
	resolving_expect(&r, MODULE, "bpf_prog_0123_count");
	resolving_expect(&r, MODULE + 99, "bpf_prog_0123_count");
	resolving_expect(&r, MODULE + 100, NULL);
	ck_assert_uint_eq(resolving_find(&r, MODULE)->size, 100);
}

TEST(kernel_that_runs_here)
{
	struct utsname name;
	ck_assert_int_eq(uname(&name), 0);
	char *lines = files_output("awk '/ [Tt] _text$/ { print $1 } / T vfs_read$/ { print $1 }' "
				   "/proc/kallsyms");
	char *second = strchr(lines, '\n');
	uint64_t text = strtoull(lines, NULL, 16);
	if (!text || !second)
		skip_test("kernel addresses are hidden");
	uint64_t ip = strtoull(second, NULL, 16);
	RESOLVING r = {.options.osrelease = name.release};
	r.module = (struct module){
		.kind = MODULE_KERNEL,
		.path = "[kernel.kallsyms]",
		.name = "[kernel.kallsyms]",
		.start = text,
		.end = text + (1 << 24),
		.reference = text,
		.reference_symbol = "_text",
	};
	ok_or_fail(sp_ctx_new(&r.ctx));
	ok_or_fail(sp_ctx_set_cache_path(r.ctx, NULL));
	resolving_start(&r);
	resolving_expect(&r, ip + 4, "vfs_read");
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/metadata/synth.h"

#include <inttypes.h>
#include <linux/bpf.h>
#include <pthread.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include "binary/vdso.h"
#include "capture/metadata/bpf.h"
#include "proc/maps.h"
#include "files.h"
#include "record/decode.h"
#include "record/kept.h"
#include "root.h"

#define ID 4711

/* Synthesises into a buffer and reads it back. */
struct bench {
	struct root root;
	struct sp_ctx *ctx; /* context of the root, or of the live machine */
	struct record_buffer buffer;
	struct perf_event_attr attr;
	struct sp_event event;
	struct synth *synth;
	struct decoder *decoder;
	size_t at;
	uint64_t time_ns; /* time of all records */
};

static const uint64_t ids[] = {ID};

static void bench_init(struct bench *bench, bool live)
{
	*bench = (struct bench){0};
	root_init(&bench->root);
	bench->attr = (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			       PERF_SAMPLE_CPU,
		.sample_id_all = 1,
	};
	bench->event = (struct sp_event){
		.name = "dummy:u", .attr = bench->attr, .ids = ids, .id_count = 1};
	struct record_layout layout = {.events = &bench->event, .event_count = 1};
	ok_or_fail(decoder_new(&layout, &bench->decoder));
	bench->ctx = bench->root.ctx;
	if (live)
		ok_or_fail(sp_ctx_new(&bench->ctx));
	ok_or_fail(synth_new(bench->ctx, &bench->attr, ID, &bench->buffer, &bench->synth));
}

static void bench_deinit(struct bench *bench)
{
	synth_free(bench->synth);
	decoder_free(bench->decoder);
	vec_deinit(&bench->buffer);
	if (bench->ctx != bench->root.ctx)
		sp_ctx_free(bench->ctx);
	root_deinit(&bench->root);
}

#define BENCH CLEANUP(bench_deinit) struct bench

/* The next record, or NULL. All have the bench's time and, of the kernel's, our id. */
static const struct sp_record *next(struct bench *bench)
{
	static struct sp_record record;
	struct perf_event_header header;
	if (bench->at >= bench->buffer.count)
		return NULL;
	memcpy(&header, bench->buffer.items + bench->at, sizeof(header));
	ck_assert_uint_eq(header.size % 8, 0);
	struct raw_record raw = {.type = header.type,
				 .misc = header.misc,
				 .size = header.size,
				 .bytes = bench->buffer.items + bench->at};
	bench->at += header.size;
	ok_or_fail(decoder_decode(bench->decoder, &raw, &record));
	if (record.type < SP_RECORD_HEADER_ATTR) {
		ck_assert_uint_eq(record.id.id, ID);
		ck_assert_uint_eq(record.id.time_ns, bench->time_ns);
	}
	return &record;
}

static const struct sp_record *next_of(struct bench *bench, uint32_t type)
{
	const struct sp_record *record = next(bench);
	ck_assert_ptr_nonnull(record);
	ck_assert_msg(record->type == type, "%s", sp_record_type_name(record->type));
	return record;
}

static void map_is(const struct sp_record *record, uint64_t start, uint64_t end,
		   uint64_t file_offset, const char *name)
{
	ck_assert_uint_eq(record->mmap.pid, UINT32_MAX);
	ck_assert_uint_eq(record->misc & PERF_RECORD_MISC_CPUMODE_MASK, PERF_RECORD_MISC_KERNEL);
	ck_assert_uint_eq(record->mmap.start, start);
	ck_assert_uint_eq(record->mmap.start + record->mmap.size, end);
	ck_assert_uint_eq(record->mmap.file_offset, file_offset);
	ck_assert_str_eq(record->mmap.filename, name);
}

static const uint8_t notes[] = {
	4, 0, 0, 0, 5, 0, 0, 0, 3, 0, 0, 0, 'G', 'N', 'U', 0, 9, 8, 7, 6, 5, 0, 0, 0,
};

#define X86_SYMBOLS                                                                                \
	"0000000000000000 A fixed_percpu_data\nffffffff9a000000 T _stext\n"                        \
	"ffffffff9a000000 T _text\nffffffff9a000100 t x\nffffffff9b2090c8 T _etext\n"

TEST(synth_kernel_and_modules)
{
	BENCH bench;
	bench_init(&bench, false);
	root_put(&bench.root, "/proc/kallsyms", X86_SYMBOLS);
	root_put(&bench.root, "/proc/iomem",
		 "00001000-0009fbff : System RAM\n"
		 "  01000000-022090c7 : Kernel code\n");
	root_put(&bench.root, "/proc/modules",
		 "snd 4096 0 - Live 0xffffffffc0a00000\n"
		 "fat 8192 0 - Live 0xffffffffc09ff000\n");
	root_put_sized(&bench.root, "/sys/kernel/notes", notes, sizeof(notes));
	root_put_sized(&bench.root, "/sys/module/snd/notes/.note.gnu.build-id", notes,
		       sizeof(notes));
	bool hidden;
	ok_or_fail(synth_kernel(bench.synth, &hidden));
	ck_assert(!hidden);
	const struct sp_record *record = next_of(&bench, SP_RECORD_HEADER_BUILD_ID);
	ck_assert_str_eq(record->build_id.filename, "[kernel.kallsyms]");
	ck_assert_uint_eq(record->build_id.build_id_size, 5);
	ck_assert_uint_eq(record->misc & PERF_RECORD_MISC_CPUMODE_MASK, PERF_RECORD_MISC_KERNEL);
	map_is(next_of(&bench, PERF_RECORD_MMAP), 0xffffffff9a000000, 0xffffffff9b2090c8,
	       0xffffffff9a000000, "[kernel.kallsyms]_text");
	map_is(next_of(&bench, PERF_RECORD_MMAP), 0xffffffffc09ff000, 0xffffffffc0a00000, 0,
	       "[fat]");
	ck_assert_str_eq(next_of(&bench, SP_RECORD_HEADER_BUILD_ID)->build_id.filename, "[snd]");
	map_is(next_of(&bench, PERF_RECORD_MMAP), 0xffffffffc0a00000, 0xffffffffc0a01000, 0,
	       "[snd]");
	ck_assert_ptr_null(next(&bench));
}

/* Not root: /proc/iomem has zeros. The image's place in the address space must do. */
TEST(synth_kernel_without_iomem)
{
	static const struct {
		const char *symbols, *modules;
		uint64_t start, end;
		const char *name;
	} cases[] = {
		{X86_SYMBOLS, "", 0xffffffff9a000000, 0xffffffffc0000000, "[kernel.kallsyms]_text"},
		{"ffffffff81000000 T _text\n", "", 0xffffffff81000000, 0xffffffffa0000000,
		 "[kernel.kallsyms]_text"},
		{"ffffffff81000000 T _text\n", "a 4096 0 - Live 0xffffffff9f000000\n",
		 0xffffffff81000000, 0xffffffff9f000000, "[kernel.kallsyms]_text"},
		/* arm64: only the symbols tell. */
		{"ffff800008010000 T _stext\nffff800008010100 t x\nffff800009000000 T _etext\n"
		 "ffff800009800000 D d\n",
		 "a 4096 0 - Live 0xffff800001000000\n", 0xffff800008010000, 0xffff800009000000,
		 "[kernel.kallsyms]_stext"},
		{"ffff800008010000 T _stext\nffff800008010100 t x\n", "", 0xffff800008010000,
		 0xffff800008012000, "[kernel.kallsyms]_stext"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		BENCH bench;
		bench_init(&bench, false);
		root_put(&bench.root, "/proc/kallsyms", cases[i].symbols);
		root_put(&bench.root, "/proc/modules", cases[i].modules);
		root_put(&bench.root, "/proc/iomem",
			 "00000000-00000000 : System RAM\n"
			 "  00000000-00000000 : Kernel code\n");
		bool hidden;
		ok_or_fail(synth_kernel(bench.synth, &hidden));
		map_is(next_of(&bench, PERF_RECORD_MMAP), cases[i].start, cases[i].end,
		       cases[i].start, cases[i].name);
	}
}

TEST(synth_kernel_hidden)
{
	BENCH bench;
	bench_init(&bench, false);
	root_put(&bench.root, "/proc/kallsyms",
		 "0000000000000000 T _stext\n0000000000000000 T _text\n");
	root_put(&bench.root, "/proc/modules", "snd 4096 0 - Live 0x0000000000000000\n");
	root_put_sized(&bench.root, "/sys/kernel/notes", notes, sizeof(notes));
	bool hidden;
	ok_or_fail(synth_kernel(bench.synth, &hidden));
	ck_assert(hidden);
	next_of(&bench, SP_RECORD_HEADER_BUILD_ID);
	ck_assert_ptr_null(next(&bench));
}

TEST(synth_bpf_from_kallsyms)
{
	BENCH bench;
	bench_init(&bench, false);
	root_put(&bench.root, "/proc/kallsyms",
		 X86_SYMBOLS "ffffffffc0100000 t bpf_prog_6deef7357e7b4530_x\t[bpf]\n"
			     "ffffffffc0100100 t bpf_trampoline_7\t[bpf]\n"
			     "ffffffffc0200000 t y\t[snd]\n");
	ok_or_fail(synth_bpf(bench.synth));
	const struct sp_record *record = next_of(&bench, PERF_RECORD_KSYMBOL);
	ck_assert_uint_eq(record->ksymbol.start, 0xffffffffc0100000);
	ck_assert_uint_eq(record->ksymbol.size, 0x100);
	ck_assert_uint_eq(record->ksymbol.type, PERF_RECORD_KSYMBOL_TYPE_BPF);
	ck_assert_str_eq(record->ksymbol.name, "bpf_prog_6deef7357e7b4530_x");
	record = next_of(&bench, PERF_RECORD_KSYMBOL);
	ck_assert_uint_eq(record->ksymbol.size, 8192 - 0x100);
	ck_assert_ptr_null(next(&bench));
}

#define STAT " S 3 1 1 0 -1 0 1 2 3 4 50 60 7 8 20 0 1 0 777 0 0 0 1 2 3 4 5 0 0 0 0 1 0 0 17 9\n"

static void put_process(struct bench *bench)
{
	root_put(&bench->root, "/proc/70/task/70/stat", "70 (main)" STAT);
	root_put(&bench->root, "/proc/70/task/72/stat", "72 (worker)" STAT);
	root_put(&bench->root, "/proc/70/maps",
		 "1000-2000 r--p 00000000 08:01 7 /bin/a\n"
		 "2000-4000 r-xp 00001000 08:01 7 /bin/a\n"
		 "5000-6000 r-xp 00000000 08:01 8 /tmp/gone (deleted)\n"
		 "6000-7000 rwxp 00000000 00:00 0 \n"
		 "7000-8000 rwxp 00000000 00:00 0 [anon:jit]\n"
		 "8000-9000 r-xp 00000000 00:00 0 [vdso]\n"
		 "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0 [vsyscall]\n");
}

static void fork_and_comm(struct bench *bench, uint32_t pid, uint32_t tid, uint32_t parent,
			  const char *comm)
{
	const struct sp_record *record = next_of(bench, PERF_RECORD_FORK);
	ck_assert(record->task.pid == pid && record->task.tid == tid);
	ck_assert(record->task.ppid == parent && record->task.ptid == parent);
	ck_assert(record->id.pid == pid && record->id.tid == tid);
	record = next_of(bench, PERF_RECORD_COMM);
	ck_assert(record->comm.pid == pid && record->comm.tid == tid);
	ck_assert_str_eq(record->comm.comm, comm);
	ck_assert_uint_eq(record->misc & PERF_RECORD_MISC_COMM_EXEC, 0);
}

TEST(synth_process_once)
{
	static const char *const names[] = {"/bin/a", "/tmp/gone (deleted)", "//anon", "//anon",
					    "[vdso]"};
	BENCH bench;
	bench_init(&bench, false);
	put_process(&bench);
	uint32_t tids[] = {70, 72, 73};
	struct task_list threads = {.items = tids, .count = 3};
	bool complete = false;
	ok_or_fail(synth_process(bench.synth, 70, &threads, &complete));
	ck_assert(complete);
	fork_and_comm(&bench, 70, 70, 3, "main");
	fork_and_comm(&bench, 70, 72, 70, "worker");
	for (size_t i = 0; i < 5; i++) {
		const struct sp_record *record = next_of(&bench, PERF_RECORD_MMAP2);
		ck_assert(record->mmap.pid == 70 && record->mmap.tid == 70);
		ck_assert_str_eq(record->mmap.filename, names[i]);
		ck_assert_uint_eq(record->misc, PERF_RECORD_MISC_USER);
		if (i)
			continue;
		ck_assert_uint_eq(record->mmap.start, 0x2000);
		ck_assert_uint_eq(record->mmap.size, 0x2000);
		ck_assert_uint_eq(record->mmap.file_offset, 0x1000);
		ck_assert(record->mmap.maj == 8 && record->mmap.min == 1 && record->mmap.ino == 7);
		ck_assert_uint_eq(record->mmap.prot, PROT_READ | PROT_EXEC);
		ck_assert_uint_eq(record->mmap.flags, MAP_PRIVATE);
	}
	ck_assert_ptr_null(next(&bench));
}

/* FORK records of new processes may be older than what /proc shows. */
TEST(synth_gives_new_processes_a_time)
{
	static const struct { uint64_t set_ns, start_ticks, want_ns; } cases[] = {
		{0, 500, 0}, {0, 499, 0}, {0, 501, 77}, {0, 502, 77}, {90, 501, 90}, {60, 501, 77},
		{60, 500, 60},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct task_stat stat = {.tid = 70, .ppid = 3, .start_ticks = cases[i].start_ticks};
		bool complete;
		BENCH bench;
		bench_init(&bench, false);
		put_process(&bench);
		strcpy(stat.comm, "main");
		bench.time_ns = cases[i].want_ns;
		synth_set_new_time(bench.synth, 501, 77);
		synth_set_time(bench.synth, cases[i].set_ns);
		ok_or_fail(synth_process_known(bench.synth, 70, &stat, 1, &complete));
		fork_and_comm(&bench, 70, 70, 3, "main");
		for (size_t k = 0; k < 5; k++)
			next_of(&bench, PERF_RECORD_MMAP2);
		ck_assert_ptr_null(next(&bench));
		/* A new task's end has a record of its own. */
		bool has_exit = cases[i].set_ns == cases[i].want_ns;
		stat.state = 'Z';
		ok_or_fail(synth_process_known(bench.synth, 70, &stat, 1, &complete));
		fork_and_comm(&bench, 70, 70, 3, "main");
		next_of(&bench, has_exit ? PERF_RECORD_EXIT : PERF_RECORD_MMAP2);
	}
}

TEST(synth_vdso_is_this_processs_own)
{
	BENCH bench;
	CLEANUP(cleanup_image_free) struct image *image = NULL;
	char name[KEPT_NAME_SIZE];
	struct sp_bytes bytes;
	bench_init(&bench, false);
	ok_or_fail(vdso_own(&image));
	ok_or_fail(synth_vdso(bench.synth));
	if (!image) {
		ck_assert_ptr_null(next(&bench));
		skip_test("no vdso to read");
	}
	const struct sp_record *record = next_of(&bench, SP_RECORD_HEADER_BUILD_ID);
	ck_assert_str_eq(record->build_id.filename, "[vdso]");
	ck_assert_uint_eq(record->misc & PERF_RECORD_MISC_CPUMODE_MASK, PERF_RECORD_MISC_USER);
	ck_assert_mem_eq(record->build_id.build_id, image->build_id, image->build_id_size);
	ck_assert(record_kept(next_of(&bench, SP_RECORD_EVENT_UPDATE), name, &bytes));
	ck_assert_str_eq(name, "[vdso]");
	ck_assert_uint_eq(bytes.size, image->size);
	ck_assert_mem_eq(bytes.bytes, (const void *)getauxval(AT_SYSINFO_EHDR), bytes.size);
	ck_assert_ptr_null(next(&bench));
}

TEST(synth_leaves_out_who_is_gone)
{
	BENCH bench;
	bench_init(&bench, false);
	put_process(&bench);
	uint32_t tids[] = {71};
	struct task_list threads = {.items = tids, .count = 1};
	bool complete;
	ok_or_fail(synth_process(bench.synth, 70, &threads, &complete));
	ok_or_fail(synth_process(bench.synth, 71, &threads, &complete));
	ok_or_fail(synth_threads(bench.synth, 71, &threads));
	ok_or_fail(synth_process_again(bench.synth, 71, &threads));
	ck_assert(complete);
	ck_assert_ptr_null(next(&bench));
}

/* Looks like /proc of another user's process; root may read all. */
TEST(synth_says_that_mappings_are_not_readable)
{
	BENCH bench;
	char maps[96];
	bench_init(&bench, false);
	put_process(&bench);
	bool complete, is_root = !geteuid();
	snprintf(maps, sizeof(maps), "%s/proc/70/maps", bench.root.path);
	ck_assert_int_eq(chmod(maps, 0), 0);
	if (is_root)
		ck_assert_int_eq(seteuid(1), 0);
	const struct task_stat stat = {.tid = 70, .ppid = 3, .comm = "main", .state = 'S'};
	ok_or_fail(synth_process_known(bench.synth, 70, &stat, 1, &complete));
	if (is_root)
		ck_assert_int_eq(seteuid(0), 0);
	ck_assert(!complete);
	fork_and_comm(&bench, 70, 70, 3, "main");
	ck_assert_ptr_null(next(&bench));
}

TEST(synth_process_again_keeps_known_mappings)
{
	BENCH bench;
	bench_init(&bench, false);
	put_process(&bench);
	uint32_t tids[] = {70, 72};
	struct task_list threads = {.items = tids, .count = 2};
	ok_or_fail(synth_process_again(bench.synth, 70, &threads));
	fork_and_comm(&bench, 70, 70, 3, "main");
	fork_and_comm(&bench, 70, 72, 70, "worker");
	for (size_t i = 0; i < 5; i++)
		next_of(&bench, PERF_RECORD_MMAP2);
	ck_assert_ptr_null(next(&bench));
	/* The process ends before its mappings are read. */
	root_put(&bench.root, "/proc/70/maps", "");
	ok_or_fail(synth_process_again(bench.synth, 70, &threads));
	ck_assert_str_eq(next_of(&bench, PERF_RECORD_COMM)->comm.comm, "main");
	fork_and_comm(&bench, 70, 72, 70, "worker");
	ck_assert_ptr_null(next(&bench));
}

static void put_mappings(struct bench *bench, uint32_t pid, size_t count)
{
	char path[64], *text = calloc(count + 1, 80);
	size_t at = 0;
	for (size_t i = 0; i < count; i++)
		at += (size_t)sprintf(text + at, "%zx-%zx r-xp 00000000 08:01 7 /bin/a\n",
				      0x10000 + 0x2000 * i, 0x11000 + 0x2000 * i);
	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/maps", pid);
	root_put(&bench->root, path, text);
	free(text);
}

/* They are read when they have a sample. */
TEST(synth_defers_processes_with_too_many_mappings)
{
	BENCH bench;
	bench_init(&bench, false);
	put_process(&bench);
	put_mappings(&bench, 70, 1000);
	uint32_t tids[] = {70, 72};
	struct task_list threads = {.items = tids, .count = 2};
	struct task_list *deferred = synth_deferred(bench.synth);
	bool complete;
	/* A process may have 1/25 of them: 1,000. */
	synth_set_limit(bench.synth, 25000);
	ok_or_fail(synth_process(bench.synth, 70, &threads, &complete));
	ck_assert_uint_eq(deferred->count, 0);
	fork_and_comm(&bench, 70, 70, 3, "main");
	fork_and_comm(&bench, 70, 72, 70, "worker");
	for (size_t i = 0; i < 1000; i++)
		next_of(&bench, PERF_RECORD_MMAP2);
	/* 24,000 are left. */
	ok_or_fail(synth_process(bench.synth, 70, &threads, &complete));
	ck_assert_uint_eq(deferred->count, 1);
	ck_assert_uint_eq(deferred->items[0], 70);
	fork_and_comm(&bench, 70, 70, 3, "main");
	fork_and_comm(&bench, 70, 72, 70, "worker");
	ck_assert_ptr_null(next(&bench));
	/* After a loss, its known mappings stay, and it is not counted again. */
	root_put(&bench.root, "/proc/70/maps", "damaged");
	ok_or_fail(synth_process_again(bench.synth, 70, &threads));
	ck_assert_uint_eq(deferred->count, 2);
	ck_assert_str_eq(next_of(&bench, PERF_RECORD_COMM)->comm.comm, "main");
	fork_and_comm(&bench, 70, 72, 70, "worker");
	put_mappings(&bench, 70, 1000);
	synth_set_limit(bench.synth, SIZE_MAX);
	ok_or_fail(synth_process_again(bench.synth, 70, &threads));
	fork_and_comm(&bench, 70, 70, 3, "main");
	fork_and_comm(&bench, 70, 72, 70, "worker");
	for (size_t i = 0; i < 1000; i++)
		next_of(&bench, PERF_RECORD_MMAP2);
	ck_assert_ptr_null(next(&bench));
	ck_assert_uint_eq(deferred->count, 2);
}

TEST(synth_leader_that_has_ended)
{
	BENCH bench;
	bench_init(&bench, false);
	put_process(&bench);
	root_put(&bench.root, "/proc/70/task/70/stat",
		 "70 (main) Z 3 1 1 0 -1 0 1 2 3 4 50 60 7 8 20 0 1 0 777 0 0\n");
	root_put(&bench.root, "/proc/70/maps", "");
	root_put(&bench.root, "/proc/70/task/72/maps", "2000-4000 r-xp 00001000 08:01 7 /bin/b\n");
	size_t unreadable = 0;
	ok_or_fail(synth_processes(bench.synth, &(struct task_list){.items = (uint32_t[]){70}, .count = 1},
				   &unreadable));
	fork_and_comm(&bench, 70, 70, 3, "main");
	const struct sp_record *end = next_of(&bench, PERF_RECORD_EXIT);
	ck_assert(end->task.pid == 70 && end->task.tid == 70 && end->task.ppid == 3);
	fork_and_comm(&bench, 70, 72, 70, "worker");
	ck_assert_str_eq(next_of(&bench, PERF_RECORD_MMAP2)->mmap.filename, "/bin/b");
	ck_assert_ptr_null(next(&bench));
}

TEST(synth_kernel_threads_have_no_memory)
{
	BENCH bench;
	bench_init(&bench, false);
	root_put(&bench.root, "/proc/9/task/9/stat",
		 "9 (kworker/0:1-events) I 2 0 0 0 -1 69238880 0 0 0 0 0 0 0 0 20 0 1 0 6 0 0\n");
	size_t unreadable = 0;
	ok_or_fail(synth_processes(bench.synth, &(struct task_list){.items = (uint32_t[]){9}, .count = 1},
				   &unreadable));
	ck_assert_uint_eq(unreadable, 0);
	fork_and_comm(&bench, 9, 9, 2, "kworker/0:1-events");
	ck_assert_ptr_null(next(&bench));
}

static void *wait_forever(void *ready)
{
	__atomic_fetch_add((int *)ready, 1, __ATOMIC_RELEASE);
	for (;;)
		pause();
	return NULL;
}

/* A process with 5 threads that waits until it is killed. */
static pid_t waiting_child(void)
{
	int *ready = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert(ready != MAP_FAILED);
	pid_t child = fork();
	ck_assert_int_ge(child, 0);
	if (!child) {
		pthread_t thread;
		for (int i = 0; i < 4; i++)
			pthread_create(&thread, NULL, wait_forever, ready);
		wait_forever(ready);
	}
	while (__atomic_load_n(ready, __ATOMIC_ACQUIRE) < 5)
		usleep(1000);
	return child;
}

/* The records of a live process equal its maps. */
TEST(synth_of_a_live_process)
{
	BENCH bench;
	bench_init(&bench, true);
	pid_t child = waiting_child();
	struct task_list threads = {0};
	bool complete = false;
	ok_or_fail(tasks_list(bench.ctx, (uint32_t)child, &threads));
	ck_assert_uint_eq(threads.count, 5);
	ok_or_fail(synth_process(bench.synth, (uint32_t)child, &threads, &complete));
	ck_assert(complete);
	CLEANUP(cleanup_maps_free) struct maps *maps = NULL;
	ok_or_fail(maps_open(bench.ctx, (uint32_t)child, 0, MAPS_ALL, &maps));
	for (size_t i = 0; i < 5; i++) {
		ck_assert_uint_eq(next_of(&bench, PERF_RECORD_FORK)->task.tid, threads.items[i]);
		ck_assert_uint_eq(next_of(&bench, PERF_RECORD_COMM)->comm.tid, threads.items[i]);
	}
	size_t compared = 0;
	for (const struct maps_entry *entry;;) {
		ok_or_fail(maps_next(maps, &entry));
		if (!entry)
			break;
		if (!(entry->prot & PROT_EXEC) || strcmp(entry->path, "[vsyscall]") == 0)
			continue;
		const struct sp_record *record = next_of(&bench, PERF_RECORD_MMAP2);
		ck_assert_uint_eq(record->mmap.start, entry->start);
		ck_assert_uint_eq(record->mmap.size, entry->end - entry->start);
		ck_assert_uint_eq(record->mmap.file_offset, entry->file_offset);
		ck_assert_str_eq(record->mmap.filename, entry->path);
		ck_assert(record->mmap.build_id_size || record->mmap.ino == entry->ino);
		compared++;
	}
	ck_assert_uint_ge(compared, 4);
	ck_assert_ptr_null(next(&bench));
	vec_deinit(&threads);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

TEST(synth_processes_of_the_live_machine)
{
	CLEANUP(task_list_deinit) struct task_list processes = {0};
	BENCH bench;
	bench_init(&bench, true);
	pid_t child = waiting_child();
	size_t unreadable = 0, forks = 0, comms = 0, maps = 0;
	ok_or_fail(tasks_list_processes(bench.ctx, &processes));
	ok_or_fail(synth_processes(bench.synth, &processes, &unreadable));
	for (const struct sp_record *record; (record = next(&bench)) != NULL;) {
		uint32_t pid =
			record->type == PERF_RECORD_FORK ? record->task.pid : record->comm.pid;
		forks += record->type == PERF_RECORD_FORK && pid == (uint32_t)child;
		comms += record->type == PERF_RECORD_COMM && pid == (uint32_t)child;
		maps += record->type == PERF_RECORD_MMAP2 && record->mmap.pid == (uint32_t)child;
	}
	ck_assert_uint_eq(forks, 5);
	ck_assert_uint_eq(comms, 5);
	ck_assert_uint_ge(maps, 4);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

/* One mapping in text, to be compared. */
static void put_line(FILE *file, const struct sp_mmap *mmap)
{
	fprintf(file, "%d %#" PRIx64 " %#" PRIx64 " %#" PRIx64 " %s\n", (int32_t)mmap->pid,
		mmap->start, mmap->size, mmap->file_offset, mmap->filename);
}

/* perf's "PERF_RECORD_MMAP2 7/7: [0x1000(0x2000) @ 0x3000 fe:00 5 0]: r-xp /bin/a". */
static void put_perf_line(FILE *file, const char *line)
{
	int32_t pid;
	int name = 0;
	struct sp_mmap mmap = {0};
	char offset[32];
	const char *record = strstr(line, "PERF_RECORD_MMAP");
	if (!record || strstr(line, "[vsyscall]") ||
	    sscanf(record, "%*s %d/%*d: [%" SCNx64 "(%" SCNx64 ") @ %31[0-9a-fx]%*[^]]]: %*s %n",
		   &pid, &mmap.start, &mmap.size, offset, &name) < 4)
		return;
	if (!name) /* MMAP has nothing behind the offset */
		sscanf(record, "%*[^]]]: %*s %n", &name);
	mmap.pid = (uint32_t)pid;
	mmap.file_offset = strtoull(offset, NULL, 0);
	mmap.filename = record + name;
	put_line(file, &mmap);
}

TEST(synth_says_what_perf_says)
{
	if (!files_have("perf"))
		skip_test("needs perf");
	files_sample_alone();
	BENCH bench;
	bench_init(&bench, true);
	pid_t child = waiting_child();
	char *script =
		files_output("perf record -q -F 99 -e cpu-clock -o perf.data -p %d sleep 0.1 "
			     ">/dev/null 2>&1 && perf script -i perf.data --show-mmap-events "
			     "2>/dev/null || true",
			     (int)child);
	struct task_list threads = {0};
	bool hidden, complete;
	ok_or_fail(tasks_list(bench.ctx, (uint32_t)child, &threads));
	ok_or_fail(synth_kernel(bench.synth, &hidden));
	ok_or_fail(synth_process(bench.synth, (uint32_t)child, &threads, &complete));
	vec_deinit(&threads);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	CLEANUP(cleanup_fclose) FILE *ours = fopen(files_path("ours"), "w");
	CLEANUP(cleanup_fclose) FILE *theirs = fopen(files_path("theirs"), "w");
	size_t count = 0;
	for (char *line = strtok(script, "\n"); line; line = strtok(NULL, "\n")) {
		put_perf_line(theirs, line);
		count++;
	}
	for (const struct sp_record *record; (record = next(&bench)) != NULL;)
		if (record->type == PERF_RECORD_MMAP2 || record->type == PERF_RECORD_MMAP)
			put_line(ours, &record->mmap);
	fflush(ours);
	fflush(theirs);
	if (!count)
		skip_test("perf recorded nothing");
	/*
	 * Without rights perf says nothing of the kernel. Where it finds modules' files, it
	 * names these; sizes are of all parts of a module, which since Linux 6.4 are apart: then
	 * they reach into the next one, in perf's records. Where modules lie below the kernel
	 * (arm64), it lets the kernel reach to the end of all addresses.
	 */
	files_run("grep -q '^-1 ' theirs || { grep -v '^-1 ' ours >x; mv x ours; }\n"
		  "awk '$1 == -1 && /[.]ko[.a-z]*$/ { sub(/.*\\//, \"\", $5); "
		  "sub(/[.]ko.*/, \"\", $5); gsub(/-/, \"_\", $5); $5 = \"[\" $5 \"]\" } 1' "
		  "theirs >x && mv x theirs\n"
		  "endless=$(awk '$1 == -1 && $5 ~ /kernel/ && length($3) > 12' theirs)\n"
		  "for who in ours theirs; do\n"
		  "awk -v endless=\"$endless\" '$1 == -1 && (endless || $5 !~ /kernel/) { $3 = \"-\" } 1' "
		  "$who >x && mv x $who\n"
		  "done\n"
		  "sort ours >a; sort theirs >b; diff a b");
}

/*
 * BTF: "int", a prototype that returns it, and a function of that type, behind
 * one type of each kind that adds something.
 */
static const struct {
	uint16_t magic;
	uint8_t version, flags;
	uint32_t header, type_offset, type_size, string_offset, string_size;
	uint32_t types[10];
	char strings[48];
} btf = {
	.magic = 0xeb9f,
	.version = 1,
	.header = 24,
	.type_size = 40,
	.string_offset = 40,
	.string_size = sizeof("\0int\0a_function_with_a_rather_long_name"),
	.types =
		{
			1, 1u << 24, 4, 0x01000020, /* INT, 4 bytes: signed, 32 bits */
			0, 13u << 24, 1,	    /* FUNC_PROTO -> 1 */
			5, 12u << 24, 2,	    /* FUNC -> 2 */
		},
	.strings = "\0int\0a_function_with_a_rather_long_name",
};
#define BTF_SIZE (24 + 40 + sizeof("\0int\0a_function_with_a_rather_long_name"))

TEST(btf_names)
{
	ck_assert_str_eq(btf_type_name(&btf, BTF_SIZE, 1), "int");
	ck_assert_str_eq(btf_type_name(&btf, BTF_SIZE, 3), "a_function_with_a_rather_long_name");
	ck_assert_ptr_null(btf_type_name(&btf, BTF_SIZE, 0));
	ck_assert_ptr_null(btf_type_name(&btf, BTF_SIZE, 2));
	ck_assert_ptr_null(btf_type_name(&btf, BTF_SIZE, 4));
	ck_assert_ptr_null(btf_type_name(&btf, BTF_SIZE, UINT32_MAX));
	for (size_t size = 0; size < BTF_SIZE; size++)
		ck_assert_ptr_null(btf_type_name(&btf, size, 3));
}

static int bpf(enum bpf_cmd command, union bpf_attr *attr)
{
	return (int)syscall(SYS_bpf, command, attr, sizeof(*attr));
}

/* "r0 = 0; exit" as a socket filter, with a long name if there is BTF; -1 if not allowed. */
static int load_program(int btf_fd)
{
	static const struct bpf_insn code[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	static const struct bpf_func_info function = {.insn_off = 0, .type_id = 3};
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_SOCKET_FILTER,
		.insns = (uint64_t)(uintptr_t)code,
		.insn_cnt = 2,
		.license = (uint64_t)(uintptr_t) "GPL",
		.prog_name = "sprof_test",
	};
	if (btf_fd >= 0) {
		attr.prog_btf_fd = (uint32_t)btf_fd;
		attr.func_info = (uint64_t)(uintptr_t)&function;
		attr.func_info_rec_size = sizeof(function);
		attr.func_info_cnt = 1;
	}
	return bpf(BPF_PROG_LOAD, &attr);
}

/* Each "[bpf]" program of kallsyms is in the records, and the other way round. */
static void compare_with_kallsyms(struct bench *bench, const char *wanted)
{
	CLEANUP(cleanup_fclose) FILE *file = fopen("/proc/kallsyms", "r");
	char line[1024], name[512];
	uint64_t address;
	size_t programs = 0, records = 0, seen = 0;
	bench->at = 0;
	while (next(bench))
		records++;
	while (fgets(line, sizeof(line), file)) {
		if (!strstr(line, "\t[bpf]") || !strstr(line, " bpf_prog_"))
			continue;
		ck_assert_int_eq(sscanf(line, "%" SCNx64 " %*c %511s", &address, name), 2);
		bool found = false;
		bench->at = 0;
		for (const struct sp_record *record; (record = next(bench)) != NULL;)
			found |= record->ksymbol.start == address && record->ksymbol.size > 0 &&
				 strcmp(record->ksymbol.name, name) == 0;
		ck_assert_msg(found, "%s", line);
		seen += strstr(name, wanted) != NULL;
		programs++;
	}
	ck_assert_uint_eq(programs, records);
	ck_assert_uint_eq(seen, 1);
}

TEST(synth_bpf_agrees_with_kallsyms)
{
	BENCH bench;
	bench_init(&bench, true);
	union bpf_attr attr = {.btf = (uint64_t)(uintptr_t)&btf, .btf_size = BTF_SIZE};
	CLEANUP_CLOSE int plain = load_program(-1);
	CLEANUP_CLOSE int btf_fd = bpf(BPF_BTF_LOAD, &attr);
	CLEANUP_CLOSE int named = btf_fd < 0 ? -1 : load_program(btf_fd);
	if (plain < 0 || named < 0)
		skip_test("BPF programs may not be loaded");
	ok_or_fail(synth_bpf(bench.synth));
	if (!bench.buffer.count)
		skip_test("no JIT compiler for BPF, or kernel addresses are hidden");
	compare_with_kallsyms(&bench, "_sprof_test");
	compare_with_kallsyms(&bench, "_a_function_with_a_rather_long_name");
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names between analyses: served without the file, and only for the recorded content. */
#include <pthread.h>
#include <sprof/analysis.h>
#include "base/cleanup.h"
#include "resolving.h"

DEFINE_CLEANUP(struct sp_names *, sp_names_free)
#define KEPT CLEANUP(cleanup_sp_names_free) struct sp_names *kept = NULL; \
	ok_or_fail(sp_names_new(&kept))

#define OFFSETS_MAX 4096

/* Compiles a program and begins a resolver for it. */
static void start(struct resolving *r, struct sp_names *kept, const char *flags)
{
	resolving_compile("p", flags);
	resolving_use(r, "p");
	r->options.names = kept;
	resolving_start(r);
}

static void restart(struct resolving *r)
{
	resolving_stop(r);
	resolving_start(r);
}

TEST(names_outlive_their_file)
{
	KEPT;
	RESOLVING r = {0};
	start(&r, kept, "");
	uint64_t work = resolving_function("p", "work");
	uint64_t hidden = resolving_function("p", "hidden");
	resolving_expect(&r, work, "work");
	files_run("rm p");
	restart(&r);
	resolving_expect(&r, work, "work");
	resolving_expect(&r, hidden, "hidden");
	r.options.names = NULL;
	restart(&r);
	resolving_expect(&r, work, NULL);
	resolving_problem(&r, RESOLVER_MISSING_FILE, NULL);
}

TEST(another_build_has_its_own_names)
{
	KEPT;
	RESOLVING r = {0};
	start(&r, kept, "");
	uint64_t work = resolving_function("p", "work");
	struct module before = r.module;
	resolving_expect(&r, work, "work");
	resolving_stop(&r);
	files_run("rm p");
	start(&r, kept, "-DOTHER -Dwork=another");
	resolving_expect(&r, resolving_function("p", "another"), "another");
	restart(&r);
	r.module = before;
	resolving_expect(&r, work, "work");
}

TEST(content_must_be_proven)
{
	KEPT;
	RESOLVING r = {0};
	start(&r, kept, "");
	uint64_t work = resolving_function("p", "work");
	r.module.build_id_size = 0;
	resolving_expect(&r, work, "work");
	restart(&r);
	files_run("rm p");
	resolving_expect(&r, work, NULL);
}

TEST(names_of_other_directories_are_not_used)
{
	KEPT;
	RESOLVING r = {0};
	start(&r, kept, "");
	uint64_t work = resolving_function("p", "work");
	resolving_expect(&r, work, "work");
	files_run("mkdir -p empty; rm p");
	r.options.symfs = files_path("empty");
	restart(&r);
	resolving_expect(&r, work, NULL);
	r.options.symfs = NULL;
	restart(&r);
	resolving_expect(&r, work, "work");
}

TEST(unused_names_are_freed)
{
	KEPT;
	RESOLVING r = {0};
	start(&r, kept, "");
	uint64_t work = resolving_function("p", "work");
	resolving_expect(&r, work, "work");
	files_run("rm p");
	for (int i = 0; i < 16; i++)
		restart(&r);
	resolving_expect(&r, work, "work");
	for (int i = 0; i < 18; i++)
		restart(&r);
	resolving_expect(&r, work, NULL);
}

/* Finds a function of `count` files of one content. Returns how many have a name. */
static int find_in_files(struct resolving *r, int first, int count, uint64_t offset)
{
	struct module modules[64] = {0};
	char paths[64][32];
	int found = 0;
	ck_assert_int_le(count, 64);
	for (int i = 0; i < count; i++) {
		snprintf(paths[i], sizeof(paths[i]), "p%d", first + i);
		modules[i] = r->module;
		modules[i].index = (uint32_t)i;
		modules[i].path = modules[i].name = files_path(paths[i]);
		const struct location location = {.module = &modules[i], .offset = offset};
		found += resolver_find(r->resolver, &location) != NULL;
	}
	restart(r);
	return found;
}

TEST(names_of_many_unused_files_are_freed)
{
	KEPT;
	RESOLVING r = {0};
	start(&r, kept, "");
	uint64_t work = resolving_function("p", "work");
	files_run("for i in $(seq 0 383); do ln p p$i; done");
	for (int i = 0; i < 6; i++)
		ck_assert_int_eq(find_in_files(&r, 64 * i, 64, work), 64);
	files_run("rm p p[0-9]*");
	/* The last analysis used 64, and four before it are within the limit. */
	int left = 0;
	for (int i = 5; i >= 0; i--)
		left += find_in_files(&r, 64 * i, 64, work);
	ck_assert_int_eq(left, 5 * 64);
	ck_assert_int_eq(find_in_files(&r, 0, 64, work), 0);
}

/* Compiles a function `outer` with an inlined loop. */
static void compile_lines(void)
{
	files_run("cat >lines.c <<'END'\n"
		  "static inline __attribute__((always_inline)) int inner(int x)\n"
		  "{\n"
		  "	int sum = 0;\n"
		  "	for (int i = 0; i < x; i++)\n"
		  "		sum += i ^ x;\n"
		  "	return sum;\n"
		  "}\n"
		  "__attribute__((noinline)) int outer(int x)\n"
		  "{\n"
		  "	return inner(x) + 1;\n"
		  "}\n"
		  "int main(int argc, char **argv)\n"
		  "{\n"
		  "	return outer(argc) * !argv;\n"
		  "}\n"
		  "END\n"
		  "$CC -O2 -g -fno-tree-vectorize -Wl,--build-id -o lines lines.c");
}

struct answer {
	uint64_t offsets[OFFSETS_MAX];
	const struct source_frame *frames[OFFSETS_MAX];
	size_t count, distinct;
};

/* Asks for each `step`th byte of outer(). */
static void ask(struct resolving *r, struct answer *answer, uint64_t first, size_t size, size_t step,
		bool lines)
{
	struct source_frames found = {.items = answer->frames, .lines = lines};
	answer->count = 0;
	for (uint64_t i = 0; i < size; i += step)
		answer->offsets[answer->count++] = first + i;
	ok_or_fail(resolver_sources(r->resolver, &(struct source_query){
		&r->module, 0, answer->offsets, answer->count, 2}, &found));
	answer->distinct = found.distinct;
}

/* Appends "function:line<" of a frame and its callers. */
static void describe(const struct source_frame *frame, bool lines, char *text, size_t size)
{
	size_t used = 0;
	*text = '\0';
	for (; frame; frame = frame->caller)
		used += (size_t)snprintf(text + used, size - used, "%s:%u<", frame->name ?: "?",
					 lines ? frame->line : 0);
}

static void same_frames(const struct answer *a, const struct answer *b, bool lines)
{
	char one[256], other[256];
	ck_assert_uint_eq(a->count, b->count);
	for (size_t i = 0; i < a->count; i++) {
		describe(a->frames[i], lines, one, sizeof(one));
		describe(b->frames[i], lines, other, sizeof(other));
		ck_assert_str_eq(one, other);
		if (b->frames[i])
			ck_assert_uint_lt(b->frames[i]->number, b->distinct);
	}
	/* A number means one frame. */
	for (size_t i = 0; i < b->count; i++)
		for (size_t j = 0; j < i; j++)
			if (b->frames[i] && b->frames[j])
				ck_assert((b->frames[i] == b->frames[j]) ==
					  (b->frames[i]->number == b->frames[j]->number));
}

TEST(lines_are_resolved_once)
{
	static struct answer fresh, some, all;
	KEPT;
	RESOLVING r = {0};
	compile_lines();
	resolving_use(&r, "lines");
	uint64_t first = resolving_function("lines", "outer");
	size_t size = strtoull(files_output("nm -S lines | awk '$4 == \"outer\" { print $2 }'"), NULL, 16);
	ck_assert(size > 8 && size < OFFSETS_MAX);
	/* Without kept names. */
	resolving_start(&r);
	ask(&r, &fresh, first, size, 1, true);
	struct resolver *before = r.resolver;
	/* Every third offset, then all; some are cached then. */
	r.options.names = kept;
	resolving_start(&r);
	ask(&r, &some, first, size, 3, true);
	restart(&r);
	ask(&r, &all, first, size, 1, true);
	same_frames(&fresh, &all, true);
	/* All are known. */
	restart(&r);
	files_run("rm lines");
	ask(&r, &all, first, size, 1, true);
	same_frames(&fresh, &all, true);
	/* Frames without lines are others: these were not kept. */
	restart(&r);
	ask(&r, &all, first, size, 1, false);
	ck_assert(!all.frames[0]);
	resolver_free(before);
}

struct shared {
	struct sp_names *kept;
	struct sp_ctx *ctx;
	const struct location *location;
};

/* Resolves one function again and again, each time with another resolver. */
static void *resolve(void *arg)
{
	const struct shared *shared = arg;
	const struct resolver_options options = {.names = shared->kept};
	for (int i = 0; i < 50; i++) {
		struct resolver *resolver;
		ok_or_fail(resolver_new(shared->ctx, &options, &resolver));
		const struct symbol *symbol = resolver_find(resolver, shared->location);
		ck_assert(symbol && !strcmp(symbol->name, "work"));
		resolver_free(resolver);
	}
	return NULL;
}

TEST(threads_share_kept_names)
{
	KEPT;
	RESOLVING r = {0};
	pthread_t threads[4];
	start(&r, kept, "");
	const struct location location = {.module = &r.module, .offset = resolving_function("p", "work")};
	struct shared shared = {kept, r.ctx, &location};
	for (size_t i = 0; i < 4; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, resolve, &shared), 0);
	for (size_t i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
}

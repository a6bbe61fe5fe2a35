/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stored chunks, names and files: what is read back, and that damage is noticed. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "files.h"
#include "stored/chunks.h"
#include "stored/stored.h"
#include "stored/stored_files.h"
#include "stored/stored_names.h"
#include "test.h"

#define CASES 3

/* Three chunks of data: random bytes, text, and zeros, which would become too small. */
struct made {
	uint8_t *data[CASES];
	size_t size[CASES];
	struct record_buffer records;
};

static void made_deinit(struct made *made)
{
	for (size_t i = 0; i < CASES; i++)
		free(made->data[i]);
	vec_deinit(&made->records);
}

#define MADE CLEANUP(made_deinit) struct made

static struct made make_chunks(void)
{
	static const size_t sizes[CASES] = {200000, 300001, 1 << 20};
	struct made made = {0};
	srand(4711);
	for (size_t i = 0; i < CASES; i++) {
		made.size[i] = sizes[i];
		made.data[i] = calloc(1, sizes[i]);
		for (size_t j = 0; j < sizes[i] && i < 2; j++)
			made.data[i][j] = (uint8_t)(i ? "stored names"[rand() % 12] : rand());
		ok_or_fail(chunk_encode(&made.records, i + 1, made.data[i], sizes[i]));
	}
	ok_or_fail(chunks_encode_end(&made.records));
	return made;
}

/* Writes a file of `before` zeros and the bytes; returns its descriptor. */
static int write_file(size_t before, const struct record_buffer *bytes)
{
	int fd = open(files_path("f"), O_RDWR | O_CREAT | O_TRUNC, 0600);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(ftruncate(fd, (off_t)before), 0);
	ck_assert_int_eq(pwrite(fd, bytes->items, bytes->count, (off_t)before),
			 (ssize_t)bytes->count);
	return fd;
}

/* Lists the chunks of the file; the caller releases them. */
static struct stored_chunks list(int fd)
{
	struct stored_chunks chunks;
	ok_or_fail(chunks_list(fd, (uint64_t)lseek(fd, 0, SEEK_END), "f", &chunks));
	return chunks;
}

TEST(chunks_are_read_back)
{
	MADE made = make_chunks();
	CLEANUP_CLOSE int fd = write_file(1000, &made.records);
	CLEANUP(chunks_deinit) struct stored_chunks chunks = list(fd);
	ck_assert_uint_eq(chunks.count, CASES);
	ck_assert_uint_eq(chunks.begin, 1000);
	for (size_t i = 0; i < CASES; i++) {
		CLEANUP_FREE uint8_t *data = NULL;
		const struct stored_chunk *chunk = &chunks.items[i];
		ck_assert_uint_eq(chunk->type, i + 1);
		ck_assert_uint_eq(chunk->size, made.size[i]);
		ck_assert_uint_le(chunk->size / CHUNK_RATIO_MAX, chunk->packed_size);
		ok_or_fail(chunk_read(fd, "f", chunk, &data));
		ck_assert_mem_eq(data, made.data[i], made.size[i]);
	}
	/* Text is compressed. */
	ck_assert_uint_lt(chunks.items[1].packed_size, chunks.items[1].size);
}

TEST(each_record_is_one_that_perf_skips)
{
	MADE made = make_chunks();
	size_t at = 0;
	while (at < made.records.count) {
		struct perf_event_header header;
		uint64_t words[2];
		memcpy(&header, made.records.items + at, sizeof(header));
		memcpy(words, made.records.items + at + sizeof(header), sizeof(words));
		ck_assert_uint_eq(header.type, SP_RECORD_EVENT_UPDATE);
		ck_assert_uint_eq(header.size % 8, 0);
		ck_assert(words[0] == CHUNK_KIND || words[0] == CHUNK_END_KIND);
		ck_assert_uint_eq(words[1], 0);
		at += header.size;
	}
	ck_assert_uint_eq(at, made.records.count);
}

TEST(a_file_without_its_last_bytes_has_no_chunks)
{
	MADE made = make_chunks();
	CLEANUP_CLOSE int fd = write_file(8, &made.records);
	for (size_t less = 1; less < 70000; less += less < 100 ? 1 : 9999) {
		ck_assert_int_eq(ftruncate(fd, (off_t)(8 + made.records.count - less)), 0);
		CLEANUP(chunks_deinit) struct stored_chunks chunks = list(fd);
		ck_assert_uint_eq(chunks.count, 0);
		ck_assert_uint_eq(chunks.begin, 8 + made.records.count - less);
	}
}

TEST(a_damaged_chunk_is_noticed)
{
	MADE made = make_chunks();
	CLEANUP_CLOSE int fd = write_file(0, &made.records);
	CLEANUP(chunks_deinit) struct stored_chunks chunks = list(fd);
	const struct stored_chunk *text = &chunks.items[1];
	uint8_t *data = NULL, byte = 0xff;
	/* zlib's checksum ends the stored data. */
	ck_assert_int_eq(pwrite(fd, &byte, 1, (off_t)(text->offset + 100)), 1);
	struct sp_error *error = chunk_read(fd, "f", text, &data);
	ck_assert_ptr_nonnull(error);
	ck_assert_int_eq(sp_error_code(error), SP_ERROR_FORMAT);
	sp_error_free(error);
}

TEST(a_chunk_that_claims_too_much_is_refused)
{
	MADE made = make_chunks();
	uint64_t size = UINT64_C(1) << 40;
	memcpy(made.records.items + 32, &size, sizeof(size));
	CLEANUP_CLOSE int fd = write_file(0, &made.records);
	CLEANUP(chunks_deinit) struct stored_chunks chunks = list(fd);
	ck_assert_uint_eq(chunks.count, 0);
}

/* -- Names ----------------------------------------------------------------- */

static const struct stored_key key = {
	.kind = 3, .path = "/usr/lib/libx.so", .build_id = {1, 2, 3, 4}, .build_id_size = 4,
	.maj = 8, .min = 1, .ino = 99, .pid = 7,
};

/* A module with two symbols, an inlined function and three points, one without a name. */
static void make_names(struct stored_names *names)
{
	struct stored_module *module = stored_names_add(names, &key);
	ck_assert_ptr_nonnull(module);
	module->symbols_problem = (struct stored_problem){2, strtab_add(&names->texts, "why"), NULL};
	module->has_lines = true;
	module->machine = 62;
	*vec_push(&module->symbols) = (struct stored_symbol){
		0x2000, 0x100, strtab_add(&names->texts, "_ZN1a1bEv"),
		strtab_add(&names->texts, "a.cc"), true, false};
	*vec_push(&module->symbols) = (struct stored_symbol){
		0x1000, 0x10, strtab_add(&names->texts, "fn@0x1000"), NULL, false, true};
	*vec_push(&module->frames) = (struct stored_frame){
		.name = strtab_add(&names->texts, "outer"),
		.file = strtab_add(&names->texts, "/a.c"), .start = 0x2000, .line = 10,
		.declared = 7};
	*vec_push(&module->frames) = (struct stored_frame){
		.name = strtab_add(&names->texts, "inner"), .start = UINT64_MAX, .caller = 1};
	*vec_push(&module->points) = (struct stored_point){0x2010, 0x402010, 1, 2, true};
	*vec_push(&module->points) = (struct stored_point){0, 0, 0, 0, false};
	*vec_push(&module->points) = (struct stored_point){0x1004, 0x404, 2, 0, true};
	*vec_push(&module->codes) = (struct stored_code){0x2000, (const uint8_t *)"\x90\xc3", 2};
	/* Other code contains these. */
	*vec_push(&module->codes) = (struct stored_code){0x2000, (const uint8_t *)"\x90", 1};
	*vec_push(&module->codes) = (struct stored_code){0x2001, (const uint8_t *)"\xc3", 1};
}

/* Encodes and decodes the names above. */
static void pass_names(struct stored_names *ret)
{
	CLEANUP(stored_names_deinit) struct stored_names names = {0};
	struct record_buffer data = {0};
	make_names(&names);
	ok_or_fail(stored_names_encode(&names, &data));
	ok_or_fail(stored_names_decode(data.items, data.count, "f", ret));
}

TEST(names_are_read_back)
{
	CLEANUP(stored_names_deinit) struct stored_names names = {0};
	pass_names(&names);
	ck_assert_uint_eq(names.count, 1);
	const struct stored_module *module = stored_names_find(&names, &key);
	ck_assert_ptr_nonnull(module);
	ck_assert_uint_eq(module->symbols_problem.problem, 2);
	ck_assert_str_eq(module->symbols_problem.text, "why");
	ck_assert_ptr_null(module->symbols_problem.remedy);
	ck_assert(module->has_lines);
	ck_assert_uint_eq(module->machine, 62);
	const struct stored_point *point = stored_module_point(module, 0x2010);
	ck_assert_ptr_nonnull(point);
	ck_assert_uint_eq(point->vaddr, 0x402010);
	const struct stored_symbol *symbol = &module->symbols.items[point->symbol - 1];
	ck_assert_str_eq(symbol->name, "_ZN1a1bEv");
	ck_assert_uint_eq(symbol->start, 0x2000);
	ck_assert_str_eq(symbol->object, "a.cc");
	ck_assert(symbol->mangled && !symbol->from_cfi);
	const struct stored_frame *inner = &module->frames.items[point->frame - 1];
	ck_assert_str_eq(inner->name, "inner");
	ck_assert_ptr_null(inner->file);
	ck_assert_uint_eq(inner->start, UINT64_MAX);
	const struct stored_frame *outer = &module->frames.items[inner->caller - 1];
	ck_assert_str_eq(outer->name, "outer");
	ck_assert_uint_eq(outer->line, 10);
	ck_assert_uint_eq(outer->declared, 7);
	ck_assert_uint_eq(outer->caller, 0);
	ck_assert_ptr_nonnull(stored_module_point(module, 0));
	ck_assert_ptr_null(stored_module_point(module, 0x2011));
	ck_assert_uint_eq(stored_module_point(module, 0x1004)->vaddr, 0x404);
	ck_assert(module->symbols.items[1].from_cfi);
	ck_assert_ptr_null(module->symbols.items[1].object);
	ck_assert_uint_eq(module->codes.count, 1);
	ck_assert_mem_eq(module->codes.items[0].bytes, "\x90\xc3", 2);
}

TEST(another_module_has_no_names)
{
	CLEANUP(stored_names_deinit) struct stored_names names = {0};
	pass_names(&names);
	struct stored_key other = key;
	other.build_id[3]++;
	ck_assert_ptr_null(stored_names_find(&names, &other));
	other = key;
	other.path = "/usr/lib/liby.so";
	ck_assert_ptr_null(stored_names_find(&names, &other));
	other = key;
	other.pid++;
	ck_assert_ptr_null(stored_names_find(&names, &other));
}

TEST(cut_names_are_damaged)
{
	CLEANUP(stored_names_deinit) struct stored_names names = {0};
	struct record_buffer data = {0};
	make_names(&names);
	ok_or_fail(stored_names_encode(&names, &data));
	for (size_t size = 0; size < data.count; size++) {
		CLEANUP(stored_names_deinit) struct stored_names cut = {0};
		uint8_t *copy = malloc(size + 1);
		memcpy(copy, data.items, size);
		struct sp_error *error = stored_names_decode(copy, size, "f", &cut);
		ck_assert_msg(error, "%zu of %zu bytes are decoded", size, data.count);
		sp_error_free(error);
	}
	vec_deinit(&data);
}

TEST(chains_of_inlined_calls_are_limited)
{
	CLEANUP(stored_names_deinit) struct stored_names names = {0}, read = {0};
	struct record_buffer data = {0};
	struct stored_module *module = stored_names_add(&names, &key);
	const char *name = strtab_add(&names.texts, "f");
	for (uint32_t i = 0; i < 5000; i++) {
		struct stored_frame *frame = vec_push(&module->frames);
		*frame = (struct stored_frame){.name = name, .caller = i};
	}
	ok_or_fail(stored_names_encode(&names, &data));
	ok_or_fail(stored_names_decode(data.items, data.count, "f", &read));
	ck_assert_uint_eq(read.items[0].frames.count, 5000);
	for (size_t i = 0; i < 5000; i++) {
		const struct stored_frame *frame = &read.items[0].frames.items[i];
		size_t callers = 0;
		for (; frame->caller; frame = &read.items[0].frames.items[frame->caller - 1])
			callers++;
		ck_assert_uint_le(callers, 512);
	}
}

/* -- Files ----------------------------------------------------------------- */

/* Stores a program, and opens what the recording then has in its place. */
static struct stored *store_program(const char *flags, const struct stored_key *module_key)
{
	CLEANUP(stored_names_deinit) struct stored_names names = {0};
	CLEANUP(cleanup_image_free) struct image *image = NULL;
	struct record_buffer data = {0}, records = {0};
	struct stored *stored;
	files_run("echo 'int main(void) { return 0; }' >p.c && gcc %s -o p p.c", flags);
	ok_or_fail(image_open(files_path("p"), &image));
	struct stored_module *module = stored_names_add(&names, module_key);
	ok_or_fail(stored_file_add(&names, module, image));
	ck_assert_uint_eq(module->file, 1);
	ok_or_fail(stored_names_encode(&names, &data));
	ok_or_fail(chunk_encode(&records, CHUNK_NAMES, data.items, data.count));
	ck_assert(vec_reserve(&records, records.count + names.files.count));
	memcpy(records.items + records.count, names.files.items, names.files.count);
	records.count += names.files.count;
	ok_or_fail(chunks_encode_end(&records));
	CLEANUP_CLOSE int fd = write_file(64, &records);
	ok_or_fail(stored_open(fd, 64 + records.count, "f", &stored));
	ck_assert_ptr_nonnull(stored);
	vec_deinit(&data);
	vec_deinit(&records);
	return stored;
}

DEFINE_CLEANUP(struct stored *, stored_free)

TEST(a_stored_file_has_all_but_debug_information)
{
	struct stored_key program = {.kind = 0, .path = "/p"};
	CLEANUP(cleanup_stored_free) struct stored *stored = store_program("-g", &program);
	CLEANUP(cleanup_image_free) struct image *image = NULL;
	ok_or_fail(stored_open_file(stored, &program, &image));
	ck_assert_ptr_nonnull(image);
	/* Another process cannot use /proc/self. */
	files_run("cp /proc/%d/fd/%s copy && test $(stat -c %%s p) = $(stat -c %%s copy)", (int)getpid(),
		  strrchr(image->path, '/') + 1);
	files_run("! cmp -s p copy");
	files_run("objcopy --strip-debug p a && objcopy --strip-debug copy b && cmp a b");
}

TEST(a_stored_file_must_have_the_build_id)
{
	struct stored_key program = {.kind = 0, .path = "/p", .build_id = {1}, .build_id_size = 20};
	CLEANUP(cleanup_stored_free) struct stored *stored =
		store_program("-Wl,--build-id=sha1", &program);
	CLEANUP(cleanup_image_free) struct image *image = NULL;
	ok_or_fail(stored_open_file(stored, &program, &image));
	ck_assert_ptr_null(image);
}

TEST(files_beyond_the_limit_are_left_out_with_their_size)
{
	CLEANUP(stored_names_deinit) struct stored_names names = {0}, read = {0};
	CLEANUP(cleanup_image_free) struct image *image = NULL;
	struct record_buffer data = {0};
	const char *const paths[] = {"/a", "/b", "/c"};
	files_run("echo 'int main(void) { return 0; }' >p.c && gcc -o p p.c");
	files_run("head -c 100 p >small");
	ok_or_fail(image_open(files_path("p"), &image));
	CLEANUP_CLOSE int small = open(files_path("small"), O_RDONLY | O_CLOEXEC);
	names.file_limit = image->size + 100;
	for (uint32_t i = 0; i < 3; i++) {
		const struct stored_key wanted = {.path = paths[i], .ino = i};
		struct stored_module *module = stored_names_add(&names, &wanted);
		ck_assert_ptr_nonnull(module);
		ok_or_fail(i < 2 ? stored_file_add(&names, module, image) :
				   stored_file_add_whole(&names, module, small, 100));
	}
	ok_or_fail(stored_names_encode(&names, &data));
	ok_or_fail(stored_names_decode(data.items, data.count, "f", &read));
	ck_assert_uint_eq(read.items[0].file, 1);
	ck_assert_uint_eq(read.items[0].left_out, 0);
	ck_assert_uint_eq(read.items[1].file, 0);
	ck_assert_uint_eq(read.items[1].left_out, image->size);
	/* A smaller one still fits. */
	ck_assert_uint_eq(read.items[2].file, 2);
}

TEST(a_file_that_claims_runs_beyond_its_end_is_damaged)
{
	static const uint8_t data[] = {4, 1, 2, 3, 'a', 'b', 'c'};
	int fd = -1;
	struct sp_error *error = stored_file_decode(data, sizeof(data), "f", &fd);
	ck_assert_ptr_nonnull(error);
	sp_error_free(error);
	static const uint8_t good[] = {5, 1, 2, 3, 'a', 'b', 'c'};
	char bytes[5];
	ok_or_fail(stored_file_decode(good, sizeof(good), "f", &fd));
	ck_assert_int_eq(pread(fd, bytes, 5, 0), 5);
	ck_assert_mem_eq(bytes, "\0\0abc", 5);
	close(fd);
}

TEST(tiny_runs_do_not_take_a_page_each)
{
	struct record_buffer data = {0};
	int fd = -1;
	/* 2,000 runs of a byte, 4096 bytes apart: 8 MB of memory for 8 KB. */
	static const uint8_t head[] = {0x80, 0x80, 0x80, 0x08, 0xd0, 0x0f}, run[] = {0xff, 0x1f, 1};
	ck_assert(vec_reserve(&data, sizeof(head) + 2000 * (sizeof(run) + 1)));
	memcpy(data.items, head, sizeof(head));
	data.count = sizeof(head);
	for (size_t i = 0; i < 2000; i++, data.count += sizeof(run))
		memcpy(data.items + data.count, run, sizeof(run));
	memset(data.items + data.count, 'x', 2000);
	data.count += 2000;
	struct sp_error *error = stored_file_decode(data.items, data.count, "f", &fd);
	ck_assert_ptr_nonnull(error);
	sp_error_free(error);
	vec_deinit(&data);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The container of tracepoints' formats, in both byte orders, whole and damaged. */
#include "file/tracing_data.h"

#include <stdio.h>
#include <string.h>
#include "test.h"
#include "tests/sched_waking.h"
#include "trace/event_format.h"

struct seen {
	char text[1024];
	struct trace_header header;
};

static bool see_header(void *arg, const struct trace_header *header)
{
	((struct seen *)arg)->header = *header;
	return true;
}

static bool see_file(void *arg, enum trace_file kind, const char *system, const char *text,
		     size_t size)
{
	struct seen *seen = arg;
	size_t used = strlen(seen->text);
	snprintf(seen->text + used, sizeof(seen->text) - used, "%d %s [%.*s]\n", kind,
		 system ? system : "-", (int)size, text);
	return true;
}

struct blob {
	uint8_t bytes[1024];
	size_t size;
	bool big;
};

static void put(struct blob *blob, const void *bytes, size_t size)
{
	memcpy(blob->bytes + blob->size, bytes, size);
	blob->size += size;
}

static void put_number(struct blob *blob, uint64_t number, size_t size)
{
	for (size_t i = 0; i < size; i++)
		blob->bytes[blob->size++] =
			(uint8_t)(number >> 8 * (blob->big ? size - 1 - i : i));
}

static void put_text(struct blob *blob, const char *text, size_t number_size)
{
	put_number(blob, strlen(text), number_size);
	put(blob, text, strlen(text));
}

static struct blob make_blob(bool big, const char *version)
{
	struct blob blob = {.big = big};
	put(&blob, "\x17\x08\x44tracing", 10);
	put(&blob, version, strlen(version) + 1);
	put_number(&blob, big, 1);
	put_number(&blob, 8, 1);
	put_number(&blob, 4096, 4);
	put(&blob, "header_page", 12);
	put_text(&blob, "page", 8);
	put(&blob, "header_event", 13);
	put_text(&blob, "event", 8);
	put_number(&blob, 1, 4);
	put_text(&blob, "function", 8);
	put_number(&blob, 1, 4);
	put(&blob, "sched", 6);
	put_number(&blob, 2, 4);
	put_text(&blob, "switch", 8);
	put_text(&blob, "wakeup", 8);
	put_text(&blob, "symbols", 4);
	put_text(&blob, "", 4);
	if (!strcmp(version, "0.6"))
		put_text(&blob, "tasks", 8);
	return blob;
}

static struct sp_error *read_blob(const struct blob *blob, struct seen *seen)
{
	const struct trace_visitor visitor = {see_header, see_file, seen};
	*seen = (struct seen){0};
	return trace_container_read(&(struct sp_bytes){blob->bytes, blob->size}, "x", &visitor);
}

#define WANTED                                                                              \
	"0 - [page]\n1 - [event]\n2 - [function]\n3 sched [switch]\n3 sched [wakeup]\n"     \
	"4 - [symbols]\n5 - []\n"

TEST(both_byte_orders)
{
	for (int big = 0; big < 2; big++) {
		struct blob blob = make_blob(big, "0.5");
		struct seen seen;
		ck_assert_ptr_null(read_blob(&blob, &seen));
		ck_assert_str_eq(seen.text, WANTED);
		ck_assert_int_eq(seen.header.big_endian, big);
		ck_assert_uint_eq(seen.header.page_size, 4096);
		blob = make_blob(big, "0.6");
		ck_assert_ptr_null(read_blob(&blob, &seen));
		ck_assert_str_eq(seen.text, WANTED "6 - [tasks]\n");
	}
}

TEST(each_cut_is_damage)
{
	struct blob whole = make_blob(false, "0.5");
	for (size_t size = 0; size < whole.size; size++) {
		struct blob cut = whole;
		struct seen seen;
		cut.size = size;
		struct sp_error *error = read_blob(&cut, &seen);
		ck_assert_ptr_nonnull(error);
		ck_assert_int_eq(sp_error_code(error), SP_ERROR_FORMAT);
		ck_assert(!strncmp(seen.text, WANTED, strlen(seen.text)));
		sp_error_free(error);
	}
}

TEST(nonsense_is_damage)
{
	struct blob blob = make_blob(false, "0.5");
	struct seen seen;
	blob.bytes[0] = 0;
	struct sp_error *error = read_blob(&blob, &seen);
	ck_assert_ptr_nonnull(error);
	sp_error_free(error);
	blob = make_blob(false, "0.5");
	blob.bytes[15] = 3; /* the size of a long */
	error = read_blob(&blob, &seen);
	ck_assert_ptr_nonnull(error);
	ck_assert_ptr_nonnull(strstr(sp_error_message(error), "longs of 3 bytes"));
	sp_error_free(error);
}

TEST(fields_are_found_by_name)
{
	const char *format = SCHED_WAKING_FORMAT("315");
	struct trace_field pid = trace_field_find(format, "pid");
	ck_assert_uint_eq(pid.offset, SCHED_WAKING_PID);
	ck_assert_uint_eq(pid.size, 4);
	ck_assert_uint_eq(trace_field_find(format, "common_pid").offset, 4);
	ck_assert_uint_eq(trace_field_find(format, "common_flags").size, 1);
	ck_assert_uint_eq(trace_field_find(format, "comm[16]").offset, SCHED_WAKING_COMM);
	ck_assert_uint_eq(trace_field_find(format, "comm[16]").size, 16);
	ck_assert_uint_eq(trace_field_find(format, "comm").size, 0);
	ck_assert_uint_eq(trace_field_find(format, "prev_pid").size, 0);
	ck_assert_uint_eq(trace_field_find("field:int pid;\toffset:", "pid").size, 0);
}

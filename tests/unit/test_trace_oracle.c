/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Texts of samples by the kernel's formats are those of libtraceevent, which perf script uses. */
#include "trace/trace_text.h"

#include <event-parse.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <trace-seq.h>
#include "test.h"
#include "trace/kernel_names.h"

/* libtraceevent leaks; LeakSanitizer would count that as ours. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#include <sanitizer/lsan_interface.h>
#define LIBRARY_LEAKS() __lsan_disable()
#endif
#endif
#ifndef LIBRARY_LEAKS
#define LIBRARY_LEAKS() (void)0
#endif

#define TRACEFS "/sys/kernel/tracing/events/*/*/format"
#define ROUNDS 8
#define MOST 16384

struct oracle {
	struct arena arena;
	struct format format;
	struct tep_handle *tep;
	char text[MOST * 4];
	uint8_t bytes[MOST]; /* the sample, then zeros */
	size_t compared;
};

/*
 * Finds formats that libtraceevent prints otherwise: arrays and "%c" by its version, ftrace's
 * binary text, and operators from right to left or without regard to parentheses.
 */
static bool is_known_to_differ(const char *text)
{
	static const char *const names[] = {"name: bprint\n", "name: raid56_read\n",
					    "name: raid56_write\n", "name: mm_page_alloc_extfrag\n",
					    "name: kvm_nested_vmenter\n",
					    "name: timer_start\n"};
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strstr(text, names[i]))
			return true;
	return strstr(text, "%c") || strstr(text, "__print_array");
}

static uint64_t draw(uint64_t *state)
{
	*state = *state * 6364136223846793005 + 1442695040888963407;
	return *state >> 33;
}

static void put_number(uint8_t *at, uint64_t number, size_t size)
{
	for (size_t i = 0; i < size && i < 8; i++)
		at[__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? i : size - 1 - i] =
			(uint8_t)(number >> 8 * i);
}

/* Makes a sample of small numbers and letters, and returns its size. */
static size_t make_sample(struct oracle *oracle, uint64_t state)
{
	const struct format *format = &oracle->format;
	size_t end = 0;
	memset(oracle->bytes, 0, sizeof(oracle->bytes));
	for (size_t i = 0; i < format->field_count; i++) {
		const struct format_field *field = &format->fields[i];
		ck_assert_uint_lt(field->offset + field->size, MOST / 2);
		end = end > field->offset + field->size ? end : field->offset + field->size;
	}
	for (size_t i = 0; i < format->field_count; i++) {
		const struct format_field *field = &format->fields[i];
		size_t size =
			field->flags & FIELD_DYNAMIC ? 8 * (1 + draw(&state) % 4) : field->size;
		size_t at = field->flags & FIELD_DYNAMIC ? end : field->offset;
		size_t base = field->flags & FIELD_RELATIVE ? field->offset + 4 : 0;
		for (size_t k = 0; field->flags & FIELD_ARRAY && k + 1 < size; k++)
			oracle->bytes[at + k] = (uint8_t)('a' + draw(&state) % 26);
		if (field->flags & FIELD_DYNAMIC) {
			put_number(oracle->bytes + field->offset, (at - base) | size << 16, 4);
			end += size;
		} else if (!(field->flags & FIELD_ARRAY)) {
			put_number(oracle->bytes + at, draw(&state) % 3 ? draw(&state) % 32 : 0,
				   size);
		}
	}
	put_number(oracle->bytes, (uint64_t)300, 2);
	return end;
}

static void compare_sample(struct oracle *oracle, const char *name, size_t size)
{
	const struct kernel_names *none = &(const struct kernel_names){0};
	struct trace_sample sample = {oracle->bytes, size, false, sizeof(long), none};
	struct tep_record record = {.size = (int)size, .data = oracle->bytes};
	struct trace_text ours = {0};
	struct trace_seq theirs;
	text_begin(&ours, size);
	text_add_sample(&ours, &sample, &oracle->format);
	if (strncmp(ours.chars.items, "[FAILED", 7) != 0) {
		trace_seq_init(&theirs);
		tep_print_event(oracle->tep, &theirs, &record, "%s", TEP_PRINT_INFO);
		trace_seq_terminate(&theirs);
		ck_assert_msg(!strcmp(ours.chars.items, theirs.buffer), "%s: %s, but %s", name,
			      ours.chars.items, theirs.buffer);
		trace_seq_destroy(&theirs);
		oracle->compared++;
	}
	vec_deinit(&ours.chars);
}

/* Compares a format, as event 300. */
static void compare_format(struct oracle *oracle, const char *name)
{
	bool no_memory;
	const char *rest = strstr(oracle->text, "\nformat:");
	char *copy = rest ? malloc(strlen(rest) + 64) : NULL;
	ck_assert_ptr_nonnull(copy);
	sprintf(copy, "name: event\nID: 300%s", rest);
	oracle->tep = tep_alloc();
	tep_set_loglevel(TEP_LOG_NONE);
	tep_set_long_size(oracle->tep, sizeof(long));
	ck_assert_msg(format_read(copy, strlen(copy), sizeof(long), &oracle->arena, &oracle->format,
				  &no_memory),
		      "%s", name);
	tep_parse_event(oracle->tep, copy, strlen(copy), "test");
	const struct tep_event *event = tep_find_event(oracle->tep, 300);
	bool printable = event && !(event->flags & TEP_EVENT_FL_FAILED);
	ck_assert_msg(printable == oracle->format.printable, "%s", name);
	if (printable)
		for (uint64_t round = 0; round < ROUNDS; round++)
			compare_sample(oracle, name, make_sample(oracle, round));
	tep_free(oracle->tep);
	arena_deinit(&oracle->arena);
	oracle->arena = (struct arena){0};
	free(copy);
}

TEST(formats_of_this_kernel_print_as_by_libtraceevent)
{
	static struct oracle oracle;
	glob_t found;
	LIBRARY_LEAKS();
	if (glob(TRACEFS, 0, NULL, &found))
		return; /* tracefs is root's, and not mounted everywhere */
	for (size_t i = 0; i < found.gl_pathc; i++) {
		FILE *file = fopen(found.gl_pathv[i], "r");
		size_t size = file ? fread(oracle.text, 1, sizeof(oracle.text) - 1, file) : 0;
		oracle.text[size] = '\0';
		if (file)
			fclose(file);
		if (size && !is_known_to_differ(oracle.text))
			compare_format(&oracle, found.gl_pathv[i]);
	}
	ck_assert_uint_ge(oracle.compared, found.gl_pathc);
	globfree(&found);
}

TEST(examples_print_as_by_libtraceevent)
{
	static const char fields[] =
		"name: x\nID: 1\nformat:\n"
		"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
		"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
		"\tfield:char comm[8];\toffset:8;\tsize:8;\tsigned:0;\n"
		"\tfield:short num;\toffset:16;\tsize:2;\tsigned:1;\n"
		"\tfield:u32 args[4];\toffset:20;\tsize:16;\tsigned:0;\n"
		"\tfield:__data_loc char[] name;\toffset:36;\tsize:4;\tsigned:0;\n"
		"\tfield:__data_loc cpumask_t cpus;\toffset:40;\tsize:4;\tsigned:0;\n"
		"\tfield:u8 id[16];\toffset:44;\tsize:16;\tsigned:0;\n"
		"\tfield:u64 flags;\toffset:64;\tsize:8;\tsigned:0;\n\nprint fmt: ";
	static const char *const prints[] = {
		"\"%-12s|%5d|%#x|%08lx|%hhu|%%|\\n\", REC->comm, REC->num, REC->num, "
		"(unsigned long)REC->flags, REC->num",
		"\"%s %.*s %s\", __get_str(name), REC->num, __get_str(name), __get_bitmask(cpus)",
		"\"%s\", __print_flags(REC->flags, \"|\", {1, \"a\"}, {1 << 2, \"b\"}, {-1, "
		"\"c\"})",
		"\"%6s,\", __print_symbolic(REC->num, {0, \"none\"}, {0x1, \"one\"}, {(2), "
		"\"two\"})",
		"\"%s %s\", __print_hex(REC->comm, 3), __print_hex_str(REC->id, 16)",
		"\"%pU %pUl %pI6c %pI6 %p\", REC->id, REC->id, REC->id, REC->id, REC->flags",
		"\"%d %d\", REC->args[1], REC->num > 3 && !(REC->flags & 8) ? REC->num * 2 : "
		"~REC->num",
		"\"%ps %pS\", (void *)REC->flags, (void *)REC->flags",
	};
	static struct oracle oracle;
	LIBRARY_LEAKS();
	for (size_t i = 0; i < sizeof(prints) / sizeof(*prints); i++) {
		snprintf(oracle.text, sizeof(oracle.text), "%s%s\n", fields, prints[i]);
		compare_format(&oracle, prints[i]);
	}
	ck_assert_uint_ge(oracle.compared, 4 * sizeof(prints) / sizeof(*prints));
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Text of samples by their formats, including invalid formats. A recording may be untrusted:
 * neither its formats nor its samples may lead to a read out of bounds.
 */
#include "trace/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "test.h"

#define ID 300
#define OTHER_ID 301

#define FIELDS                                                                                 \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"                 \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"                 \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"         \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"                             \
	"\n"                                                                                   \
	"\tfield:char comm[8];\toffset:8;\tsize:8;\tsigned:0;\n"                               \
	"\tfield:int num;\toffset:16;\tsize:4;\tsigned:1;\n"                                   \
	"\tfield:__data_loc char[] name;\toffset:20;\tsize:4;\tsigned:0;\n"                    \
	"\tfield:__rel_loc u8[] rel;\toffset:24;\tsize:4;\tsigned:0;\n"                        \
	"\tfield:u32 args[4];\toffset:28;\tsize:16;\tsigned:0;\n"                              \
	"\tfield:__data_loc cpumask_t cpus;\toffset:44;\tsize:4;\tsigned:0;\n"                 \
	"\tfield:void * text;\toffset:48;\tsize:8;\tsigned:0;\n"                               \
	"\tfield:u8 none[];\toffset:56;\tsize:0;\tsigned:0;\n"

/* Fields as FIELDS has them, and what they point to. */
struct sample {
	uint16_t type;
	uint8_t flags, preempt;
	int32_t pid;
	char comm[8];
	int32_t num;
	uint32_t name, rel;
	uint32_t args[4];
	uint32_t cpus;
	uint64_t text;
	char behind[16]; /* name: the first 8, cpus: the last */
} __attribute__((packed));

struct blob {
	uint8_t *bytes;
	size_t size;
};

struct seen {
	struct blob blob;
	struct sp_trace *trace;
	struct sample sample;
};

static void put(struct blob *blob, const void *bytes, size_t size)
{
	blob->bytes = realloc(blob->bytes, blob->size + size + 1);
	ck_assert_ptr_nonnull(blob->bytes);
	memcpy(blob->bytes + blob->size, bytes, size);
	blob->size += size;
}

static void put_text(struct blob *blob, const char *text, size_t number_size)
{
	uint64_t size = strlen(text);
	put(blob, &size, number_size); /* these hosts are little-endian, or it says so */
	put(blob, text, size);
}

static void put_u32(struct blob *blob, uint32_t number)
{
	put(blob, &number, sizeof(number));
}

static struct blob make_blob(const char *format, const char *other, const char *kallsyms,
			     const char *printk)
{
	struct blob blob = {0};
	uint8_t big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__, long_size = 8;
	put(&blob, "\x17\x08\x44tracing0.5", 14);
	put(&blob, &big, 1);
	put(&blob, &long_size, 1);
	put_u32(&blob, 4096);
	put(&blob, "header_page", 12);
	put_text(&blob, "", 8);
	put(&blob, "header_event", 13);
	put_text(&blob, "", 8);
	put_u32(&blob, 0);
	put_u32(&blob, 1);
	put(&blob, "test", 5);
	put_u32(&blob, other ? 2 : 1);
	put_text(&blob, format, 8);
	if (other)
		put_text(&blob, other, 8);
	put_text(&blob, kallsyms, 4);
	put_text(&blob, printk, 4);
	return blob;
}

static struct sample make_sample(void)
{
	return (struct sample){
		.type = ID,
		.comm = "commcom",
		.num = 5,
		.name = 56 | 8 << 16,
		.rel = 28 | 4 << 16,
		.args = {10, 11, 12, 13},
		.cpus = 64 | 8 << 16,
		.text = 0x1234,
		.behind = "abcdefg\0\5",
	};
}

static struct sp_trace *make_trace(const struct blob *blob)
{
	static const uint64_t ids[] = {OTHER_ID, ID, ID};
	struct sp_trace *trace = NULL;
	const struct trace_source source = {.blob = {blob->bytes, blob->size}, .path = "x",
					    .ids = ids, .id_count = 3};
	ok_or_fail(trace_new(&source, &trace));
	return trace;
}

static const char *text_of(struct sp_trace *trace, const struct sample *sample, size_t size)
{
	const struct sp_event event = {.attr = {.type = PERF_TYPE_TRACEPOINT, .config = ID}};
	/* Exactly as much as there is, so that what reads more is found out. */
	uint8_t *copy = malloc(size);
	memcpy(copy, sample, size);
	const struct sp_sample given = {.raw = {copy, size}};
	const char *text = sp_trace_text(trace, &event, &given);
	free(copy);
	return text;
}

static void begin(struct seen *seen, const char *print)
{
	size_t size = strlen(FIELDS) + strlen(print) + 100;
	char *format = malloc(size);
	snprintf(format, size, "name: event\nID: %d\nformat:\n%s\nprint fmt: %s\n", ID, FIELDS, print);
	seen->blob = make_blob(format, NULL, "ffffffff81000000 T _stext\n",
			       "0x1234 : \"a\"\n0x1235 : \"longer\\n\"\n0x1236 : \"\"\n");
	seen->trace = make_trace(&seen->blob);
	seen->sample = make_sample();
	free(format);
}

static void end(struct seen *seen)
{
	sp_trace_free(seen->trace);
	free(seen->blob.bytes);
}

static const char *text_seen(struct seen *seen)
{
	return text_of(seen->trace, &seen->sample, sizeof(seen->sample));
}

static void prints(const char *print, const char *wanted)
{
	struct seen seen;
	begin(&seen, print);
	const char *text = text_seen(&seen);
	ck_assert_msg(text && !strcmp(text, wanted), "%s: %s", print, text ? text : "none");
	end(&seen);
}

/* The fields are printed in its place. */
static void fails(struct seen *seen, const char *print)
{
	const char *text = text_seen(seen);
	ck_assert_msg(text && !strncmp(text, "[FAILED TO PARSE] comm=commcom num=", 35), "%.300s: %s",
		      print, text ? text : "none");
}

static void refused(const char *print)
{
	struct seen seen;
	begin(&seen, print);
	fails(&seen, print);
	end(&seen);
}

static void refused_of(const char *print, int32_t num)
{
	struct seen seen;
	begin(&seen, print);
	seen.sample.num = num;
	fails(&seen, print);
	/* The next is not the worse for it. */
	seen.sample = make_sample();
	const char *text = text_seen(&seen);
	ck_assert_msg(text && strncmp(text, "[FAILED", 7) != 0, "%s: %s", print, text ? text : "none");
	end(&seen);
}

TEST(formats_of_kernels_are_printed)
{
	prints("\"num=%d %s\", REC->num, __get_str(name)", "num=5 abcdefg");
	prints("\"%-8s|%5d|%#x|%08lx|%llu|%hhu|%%\", REC->comm, REC->num, REC->num, "
	       "(unsigned long)REC->num, (unsigned long long)(REC)->num, REC->common_flags",
	       "commcom |    5|0x5|00000005|5|0|%");
	prints("\"%.*s\", REC->num, __get_str(name)", "abcde");
	prints("\"%s\", __print_hex(REC->comm, REC->num)", "63 6f 6d 6d 63");
	prints("\"%s\", __print_hex_str(__get_dynamic_array(name), __get_dynamic_array_len(name))",
	       "6162636465666700");
	prints("\"%d %d %d %d\", sizeof(int), __get_dynamic_array_len(name) / sizeof(u16), "
	       "sizeof(unsigned long), sizeof(REC->num)", "4 4 8 4");
	prints("\"%d %d\", REC->args[0], REC->args[3]", "10 13");
	prints("\"%d\", ((char *)__get_dynamic_array(name))[1]", "98");
	prints("\"%s\", (REC->num & (1 << 0)) ? \"odd\" : \"even\"", "odd");
	prints("\"%s\", __print_flags(REC->num, \"|\", {1, \"a\"}, {1 << 1, \"b\"}, {0x4UL, \"c\"})",
	       "a|c");
	prints("\"%s\", __print_symbolic(REC->num, { 4, \"four\" }, { (2 + 3), \"five\" })", "five");
	prints("\"%d\", __builtin_expect(!!(REC->num), 0) ? 1 : 2", "1");
	prints("\"%u %u\", REC->num / 2 + 1, (REC->num - 1) / 2L", "3 2");
	prints("\"a\" \"b %s\\n\", __get_cpumask(cpus)", "ab 0,2\n");
	prints("\"%s\", REC->text", "a");
	prints("\"nothing\"", "nothing");
}

TEST(operators_bind_as_in_c)
{
	prints("\"%d %d %d\", REC->num - 3 - 1, REC->num - 3 + 1, 16 / 4 / 2", "1 3 2");
	prints("\"%d %d\", 1 + 2 * 3, 4 / 2 * 0", "7 0");
	prints("\"%d %d\", REC->num < (9 < 10 ? 9 : 10), REC->num & 1 << 2 | 2", "1 6");
	prints("\"%s\", !REC->num ? \"none\" : REC->num == 1 ? \"one\" : \"more\"", "more");
}

TEST(arrays_and_characters_are_as_in_the_kernel)
{
	prints("\"%s\", __print_array(__get_dynamic_array(name), "
	       "__get_dynamic_array_len(name) / sizeof(u32), sizeof(u32))",
	       "{0x64636261,0x676665}");
	prints("\"%s\", __print_array(REC->args, 0, 4)", "{}");
	prints("\"%c%*d\", REC->num + 60, 3, REC->num", "A  5");
	prints("\"back\\\\\"", "back\\");
	prints("\"%pI\", REC->name", "0x80038");
	prints("\"%d\", __get_rel_dynamic_array_len(rel)", "4");
}

TEST(texts_of_the_kernel)
{
	struct seen seen;
	begin(&seen, "\"%s.\", REC->text");
	seen.sample.text = 0x1235;
	ck_assert_str_eq(text_seen(&seen), "longer.");
	seen.sample.text = 0x1236;
	ck_assert_str_eq(text_seen(&seen), ".");
	end(&seen);
}

TEST(divisions)
{
	refused("\"%d\", 1 / 0");
	refused("\"%d\", 1 % (1 - 1)");
	refused("\"%d\", 4 / 08");
	refused("\"%d\", 4 / sizeof(REC->none)");
	refused("\"%d\", REC->num / REC->common_flags");
	refused("\"%d\", REC->num % (REC->num - 5)");
	refused("\"%s\", __print_flags(1 / 0, \"\", {1, \"\"})");
}

TEST(indices)
{
	refused("\"%d\", REC->args[4]");
	refused("\"%d\", REC->args[0x40000000]");
	refused("\"%d\", REC->args[REC->num]");
	refused("\"%d\", REC->num[1]");
	refused("\"%d\", ((char *)__get_dynamic_array(name))[60000]");
	refused("\"%d\", (REC->num + 1)[0]");
}

TEST(lengths)
{
	refused_of("\"%s\", __print_hex(REC->comm, REC->num)", INT32_MAX);
	refused_of("\"%s\", __print_hex(REC->comm, REC->num)", sizeof(struct sample) - 8 + 1);
	refused_of("\"%s\", __print_hex_str(__get_dynamic_array(name), REC->num)", -1);
	refused_of("\"%s\", __print_array(REC->args, REC->num, 8)", 1 << 29);
	refused_of("\"%s\", __print_array(REC->args, REC->num, 4)", 15);
	refused("\"%s\", __print_array(REC->args, 0x2000000000000001, 8)");
	refused("\"%s\", __print_hex(REC->comm, REC->num << REC->num)");
	refused_of("\"%*d\", REC->num, 1", 1000000);
	refused_of("\"%.*d\", REC->num, 1", 1000000);
	refused_of("\"%*d\", REC->num, 1", -1);
	refused_of("\"%.*s\", REC->num, REC->comm", -1);
}

TEST(arguments_that_are_of_other_kinds)
{
	refused("\"%s\", __print_hex((void *)REC->comm, 8)");
	refused("\"%s\", __print_hex(1, 8)");
	refused("\"%s\", __print_array(\"text\", 1, 1)");
	refused("\"%s\", __get_str(num)");
	refused("\"%s\", __get_bitmask(comm)");
	refused("\"%ph\", __get_dynamic_array(num)");
	refused("\"%d\", __get_dynamic_array_len(args)");
	refused("\"%s\", __get_str(missing)");
	refused("\"%d\", REC->missing");
	refused("\"%s\", __print_flags(REC->missing, \"|\", {1, \"a\"})");
	refused("\"%s\", __print_symbolic(REC->missing, {1, \"a\"})");
	refused("\"%s\", unknown(REC->num)");
	refused("\"%d %d\", REC->num");
}

TEST(directives_of_printf)
{
	refused("\"%ls\", REC->comm");
	refused("\"%hs\", REC->comm");
	refused("\"%lc\", REC->num");
	refused("\"%999999999d\", REC->num");
	refused("\"%.999999999d\", REC->num");
	refused("\"%s%lllld\", REC->comm, REC->num");
	refused("\"%hld\", REC->num");
	refused("\"%*.*s\", 1, 1, REC->comm");
	refused("\"%5*d\", 1, 1");
}

TEST(no_end)
{
	char text[32768];
	static const char *const repeated[] = {"(", "!", "-", "1+", "1?1:", "(int)", "sizeof(",
					       "__print_hex(", "x "};
	for (size_t i = 0; i < sizeof(repeated) / sizeof(*repeated); i++) {
		size_t used = (size_t)snprintf(text, sizeof(text), "\"%%d\", ");
		while (used < sizeof(text) - 32)
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%s", repeated[i]);
		snprintf(text + used, sizeof(text) - used, "1");
		refused(text);
	}
	refused("\"%d\", sizeof(");
	refused("\"%d\", (");
	refused("\"%d\", REC->");
	refused("\"%d\", REC->num ? 1");
	refused("\"%d\", REC->num ? 1 : ");
	refused("\"%d\", __print_flags(");
	refused("\"%d");
	refused("");
	refused("\"%d\", \001");
}

TEST(no_fields)
{
	static const char *const formats[] = {
		"",
		"name: event\nID: 300\nformat:\n",
		"name: event\nID: 300\nformat:\n\tfield:u8 x[",
		"name: event\nID: 300\nformat:\n\tfield:u8 x[\001",
		"name: event\nID: 300\nformat:\n\tfield:__attribute__((user)) x;\toffset:0;\tsize:2;\n\n\n",
		/* The event's number would be looked for where there is none. */
		"name: event\nID: 300\nformat:\n\tfield:unsigned short common_type;\toffset:60000;"
		"\tsize:2;\tsigned:0;\n\n\nprint fmt: \"x\"\n",
		"name: event\nID: 300\nformat:\n\n\tfield:unsigned short common_type;\toffset:0;"
		"\tsize:2;\tsigned:0;\n\nprint fmt: \"x\"\n",
		"name: event\nID: 4294967596\nformat:\n\tfield:unsigned short common_type;\toffset:0;"
		"\tsize:2;\tsigned:0;\n\n\nprint fmt: \"x\"\n",
	};
	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
		struct blob blob = make_blob(formats[i], NULL, "", "");
		struct sp_trace *trace = make_trace(&blob);
		struct sample sample = make_sample();
		ck_assert_ptr_null(text_of(trace, &sample, sizeof(sample)));
		sp_trace_free(trace);
		free(blob.bytes);
	}
}

TEST(samples_that_are_not_what_they_should_be)
{
	struct seen seen;
	begin(&seen, "\"%s %s\", __get_str(name), __get_cpumask(cpus)");
	for (size_t size = 0; size < sizeof(seen.sample); size++)
		ck_assert_ptr_null(text_of(seen.trace, &seen.sample, size));
	seen.sample.name = 0xffff;
	ck_assert_ptr_null(text_seen(&seen));
	seen.sample.name = 0xffff0000 | 56;
	ck_assert_ptr_null(text_seen(&seen));
	seen.sample = make_sample();
	seen.sample.rel = 0xfff0;
	ck_assert_ptr_null(text_seen(&seen));
	/* A list of no CPUs. */
	seen.sample = make_sample();
	seen.sample.cpus = 64;
	ck_assert_str_eq(text_seen(&seen), "abcdefg ");
	/* Not ended: what is behind it is 0. */
	seen.sample = make_sample();
	memset(seen.sample.behind, 'x', sizeof(seen.sample.behind));
	ck_assert_ptr_nonnull(strstr(text_seen(&seen), "xxxxxxxxxxxxxxxx "));
	end(&seen);
}

/* By its first bytes it is of a larger event than what it was recorded for. */
TEST(a_sample_of_another_event)
{
	struct blob blob = make_blob(
		"name: event\nID: 300\nformat:\n\tfield:unsigned short common_type;\toffset:0;"
		"\tsize:2;\tsigned:0;\n\n\nprint fmt: \"x\"\n",
		"name: other\nID: 301\nformat:\n\tfield:unsigned short common_type;\toffset:0;"
		"\tsize:2;\tsigned:0;\n\n\tfield:u8 far[64];\toffset:60000;\tsize:64;\tsigned:0;\n\n"
		"print fmt: \"%s\", REC->far\n", "", "");
	struct sp_trace *trace = make_trace(&blob);
	struct sample sample = make_sample();
	ck_assert_str_eq(text_of(trace, &sample, 16), "x");
	sample.type = OTHER_ID;
	ck_assert_ptr_null(text_of(trace, &sample, 16));
	sp_trace_free(trace);
	free(blob.bytes);
}

TEST(lines_that_are_none)
{
	static const char *const printks[] = {"0x1234", "0x1234\n0x1235 :", ":", "0x1234 :\n", "0x1 : \n",
					      "0x1 : \"\n", "0x12345678123456789 : \"a\"\n", "\n\n"};
	static const char *const symbols[] = {"1", "1 T", "1 T ", "x T y", "1 T a [b", "1 T a\t[]",
					      "1 T a\t[", "12345678123456789 T a", "\n1 T b"};
	for (size_t i = 0; i < 8; i++) {
		struct blob blob = make_blob("", NULL, symbols[i], printks[i]);
		sp_trace_free(make_trace(&blob));
		free(blob.bytes);
	}
}

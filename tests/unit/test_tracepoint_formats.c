/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Feature TRACING_DATA: of a made-up tracefs byte by byte, of the real one as perf has it. */
#include "capture/metadata/tracepoint_formats.h"

#include <sprof/reader.h>
#include <unistd.h>
#include "file/file_format.h"
#include "files.h"
#include "reader/feature_payloads.h"
#include "record/put.h"
#include "root.h"

/* 128 names with their tasks. */
#define SAVED_MAX 4096

#define TRACEFS "/sys/kernel/tracing"

static struct record_buffer blob, wanted;

static struct sp_event tracepoint(const char *name, uint64_t id)
{
	return (struct sp_event){
		.name = name,
		.attr = {.type = PERF_TYPE_TRACEPOINT, .config = id},
	};
}

static void put_event(struct root *root, const char *event, const char *id, const char *format)
{
	char path[256];
	snprintf(path, sizeof(path), TRACEFS "/events/%s/id", event);
	root_put(root, path, id);
	snprintf(path, sizeof(path), TRACEFS "/events/%s/format", event);
	root_put(root, path, format);
}

static void want_text(struct put *put, const char *text)
{
	put_u64(put, strlen(text));
	put_bytes(put, text, strlen(text));
}

static void same_blob(void)
{
	ck_assert_uint_eq(blob.count, wanted.count);
	for (size_t i = 0; i < blob.count; i++)
		if (blob.items[i] != wanted.items[i])
			ck_abort_msg("byte %zu is another", i);
}

TEST(each_system_once_and_each_event_once)
{
	ROOT root;
	root_init(&root);
	root_put(&root, TRACEFS "/events/header_page", "page\n");
	root_put(&root, TRACEFS "/events/header_event", "event\n");
	root_put(&root, TRACEFS "/printk_formats", "0x1 : \"x\"\n");
	root_put(&root, TRACEFS "/saved_cmdlines", "1 init\n");
	put_event(&root, "ftrace/print", "5\n", "print\n");
	put_event(&root, "sched/switch", "300\n", "switch\n");
	put_event(&root, "sched/wakeup", "301\n", "wakeup\n");
	put_event(&root, "irq/entry", "302\n", "entry\n");
	const struct sp_event events[] = {
		tracepoint("sched:switch:u", 300), {.name = "cycles"}, tracepoint("named", 302),
		tracepoint("ftrace:print", 5), tracepoint("sched:wakeup", 301),
		tracepoint("again", 300), tracepoint("sched:gone", 999),
	};
	size_t missing;
	ok_or_fail(tracepoint_formats_describe(root.ctx, events, sizeof(events) / sizeof(*events), &blob,
					       &missing));
	ck_assert_uint_eq(missing, 1);
	struct put put = {.buffer = &wanted};
	put_bytes(&put, "\x17\x08\x44tracing0.6", 14);
	put_u8(&put, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	put_u8(&put, sizeof(long));
	put_u32(&put, (uint32_t)sysconf(_SC_PAGESIZE));
	put_bytes(&put, "header_page", 12);
	want_text(&put, "page\n");
	put_bytes(&put, "header_event", 13);
	want_text(&put, "event\n");
	put_u32(&put, 1);
	want_text(&put, "print\n");
	put_u32(&put, 2);
	put_bytes(&put, "sched", 6);
	put_u32(&put, 2);
	want_text(&put, "switch\n");
	want_text(&put, "wakeup\n");
	put_bytes(&put, "irq", 4);
	put_u32(&put, 1);
	want_text(&put, "entry\n");
	put_u32(&put, 0);
	put_u32(&put, 10);
	put_bytes(&put, "0x1 : \"x\"\n", 10);
	want_text(&put, "1 init\n");
	same_blob();
}

TEST(no_tracepoint_no_description)
{
	ROOT root;
	root_init(&root);
	const struct sp_event events[] = {{.name = "cycles"}, {.name = "cpu-clock"}};
	size_t missing;
	ok_or_fail(tracepoint_formats_describe(root.ctx, events, 2, &blob, &missing));
	ck_assert_uint_eq(blob.count, 0);
	ck_assert_uint_eq(missing, 0);
	const struct sp_event unknown[] = {tracepoint("sched:switch", 300)};
	ok_or_fail(tracepoint_formats_describe(root.ctx, unknown, 1, &blob, &missing));
	ck_assert_uint_eq(blob.count, 0);
	ck_assert_uint_eq(missing, 1);
}

/* All but the last part, the names of tasks, which are others at any time. */
TEST(formats_of_this_machine_equal_perfs)
{
	struct sp_ctx *ctx;
	struct sp_reader *reader;
	const char *path = files_path("perf.data");
	if (!files_have("perf") || access(TRACEFS "/events/sched/sched_switch/id", R_OK) != 0)
		skip_test("needs perf and tracefs");
	files_sample_alone();
	files_run("perf record -q -B -e sched:sched_process_exec -o perf.data "
		  "true 2>/dev/null || rm -f perf.data");
	if (access(path, R_OK) != 0)
		skip_test("perf recorded nothing");
	ok_or_fail(sp_ctx_new(&ctx));
	ok_or_fail(sp_reader_open(ctx, path, &reader));
	struct sp_event events[16];
	size_t count = sp_reader_event_count(reader), missing;
	ck_assert_uint_le(count, 16);
	for (size_t i = 0; i < count; i++)
		events[i] = *sp_reader_event(reader, i);
	ok_or_fail(tracepoint_formats_describe(ctx, events, count, &blob, &missing));
	ck_assert_uint_eq(missing, 0);
	struct sp_bytes feature = reader_feature(reader, FEATURE_TRACING_DATA);
	ck_assert_uint_gt(feature.size, 1000);
	ck_assert_uint_gt(blob.count, 1000);
	size_t same = 0;
	while (same < feature.size && same < blob.count && feature.bytes[same] == blob.items[same])
		same++;
	ck_assert_msg(same > 1000 && same + 8 + SAVED_MAX >= feature.size,
		      "only the first %zu of %zu bytes are perf's", same, feature.size);
	sp_reader_free(reader);
	sp_ctx_free(ctx);
}

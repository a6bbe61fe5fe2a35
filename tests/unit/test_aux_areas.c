/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Choice of the tracing event, on a made-up machine with two PMUs. */
#include "capture/output/aux_areas.h"

#include "root.h"

#define PAGE 4096

struct made {
	struct root root;
	struct aux_areas areas;
	struct capture_options options;
	struct event_spec items[3];
	struct event_specs specs;
};

static void make(struct made *made, uint32_t first, uint32_t second, uint32_t third)
{
	*made = (struct made){.items = {{.attr.type = first}, {.attr.type = second}, {.attr.type = third}}};
	made->specs.items = made->items;
	made->specs.count = 3;
	root_init(&made->root);
	root_put(&made->root, "/sys/bus/event_source/devices/intel_pt/type", "8\n");
	root_put(&made->root, "/sys/bus/event_source/devices/cs_etm/type", "9\n");
}

static void make_free(struct made *made)
{
	aux_areas_deinit(&made->areas);
	root_deinit(&made->root);
}

static struct sp_error *find(struct made *made)
{
	return aux_areas_find(&made->areas, made->root.ctx, &made->options, PAGE, &made->specs);
}

static void find_fails(struct made *made, enum sp_error_code code, const char *text)
{
	struct sp_error *error = find(made);
	ck_assert_ptr_nonnull(error);
	ck_assert_int_eq(sp_error_code(error), code);
	ck_assert_msg(strstr(sp_error_message(error), text) != NULL, "%s", sp_error_message(error));
	sp_error_free(error);
}

TEST(a_tracing_event_has_a_period_and_an_area_of_whole_pages)
{
	struct made made;
	make(&made, 1, 8, 1);
	made.options.buffers.aux_bytes = 5 * PAGE;
	ok_or_fail(find(&made));
	ck_assert_str_eq(made.areas.pmu.name, "intel_pt");
	ck_assert_uint_eq(made.areas.event, 1);
	ck_assert_uint_eq(made.areas.area_bytes, 8 * PAGE);
	ck_assert_uint_eq(made.items[1].attr.aux_watermark, 2 * PAGE);
	ck_assert_uint_eq(made.items[1].terms.period, 1);
	ck_assert_uint_eq(made.items[0].terms.given | made.items[2].terms.given, 0);
	make_free(&made);
}

/* The kernel overwrites the area: no watermark wakes the recorder. */
TEST(a_snapshot_has_no_watermark)
{
	struct made made;
	make(&made, 8, 1, 1);
	made.options.buffers.snapshot = true;
	ok_or_fail(find(&made));
	ck_assert(made.areas.snapshot);
	ck_assert_uint_eq(made.items[0].attr.aux_watermark, 0);
	ck_assert_uint_ge(made.areas.area_bytes, 128 << 10);
	make_free(&made);
}

TEST(samples_of_an_area_are_in_the_group_of_its_event)
{
	struct made made;
	make(&made, 8, 1, 1);
	made.options.buffers.aux_sample_bytes = 4096;
	made.items[2].terms.given = EVENT_TERM_AUX_SAMPLE_SIZE;
	made.items[2].terms.aux_sample_bytes = 16;
	ok_or_fail(find(&made));
	ck_assert(made.areas.sampled);
	ck_assert_uint_eq(made.items[1].leader, 0);
	ck_assert_uint_eq(made.items[1].terms.aux_sample_bytes, 4096);
	ck_assert_uint_eq(made.items[2].terms.aux_sample_bytes, 16);
	make_free(&made);
}

TEST(areas_that_cannot_be_are_refused)
{
	struct made made;
	make(&made, 8, 1, 8);
	find_fails(&made, SP_ERROR_INVALID, "only one event can use the AUX area");
	make_free(&made);
	make(&made, 1, 8, 1);
	made.options.buffers.aux_sample_bytes = 4096;
	find_fails(&made, SP_ERROR_INVALID, "must be the first");
	make_free(&made);
	make(&made, 8, 1, 1);
	made.options.buffers.aux_sample_bytes = 4096;
	made.specs.count = 1;
	find_fails(&made, SP_ERROR_INVALID, "nothing is sampled");
	make_free(&made);
	make(&made, 8, 1, 1);
	made.options.buffers.aux_sample_bytes = 4096;
	made.options.buffers.snapshot = true;
	find_fails(&made, SP_ERROR_INVALID, "cannot be combined");
	make_free(&made);
	make(&made, 9, 1, 1);
	find_fails(&made, SP_ERROR_UNSUPPORTED, "cs_etm");
	make_free(&made);
}

TEST(an_area_without_a_tracing_event_is_refused)
{
	struct made made;
	make(&made, 1, 1, 1);
	ok_or_fail(find(&made));
	made.options.buffers.snapshot = true;
	find_fails(&made, SP_ERROR_INVALID, "no event has a PMU with an AUX area");
	make_free(&made);
	struct sp_ctx *none;
	ok_or_fail(sp_ctx_new(&none));
	ok_or_fail(sp_ctx_set_root(none, "/nonexistent"));
	struct sp_error *error = aux_areas_find(&made.areas, none, &made.options, PAGE, &made.specs);
	ck_assert_int_eq(sp_error_code(error), SP_ERROR_UNSUPPORTED);
	sp_error_free(error);
	sp_ctx_free(none);
}

TEST(a_tracing_event_changes_the_request)
{
	struct made made;
	struct event_request request = {.clock_id = CLOCK_MONOTONIC};
	make(&made, 8, 1, 1);
	aux_areas_request(&made.areas, &request);
	ck_assert_int_eq(request.clock_id, CLOCK_MONOTONIC);
	ok_or_fail(find(&made));
	aux_areas_request(&made.areas, &request);
	ck_assert_int_eq(request.clock_id, EVENT_CLOCK_KERNEL);
	ck_assert(request.asked.context_switch);
	make_free(&made);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sources of findings on made-up profiles, and the numbers in their sentences. */
#include <string.h>
#include "findings/findings.h"
#include "findings/finding_text.h"
#include "test.h"

static const struct finding_source *source_of(const char *name)
{
	for (size_t i = 0; i < finding_source_count; i++)
		if (!strcmp(finding_sources[i].name, name))
			return &finding_sources[i];
	return NULL;
}

TEST(sources_have_distinct_names_and_those_in_order_are_last)
{
	for (size_t i = 0; i < finding_source_count; i++) {
		ck_assert_ptr_eq(source_of(finding_sources[i].name), &finding_sources[i]);
		ck_assert(!i || finding_sources[i].in_order >= finding_sources[i - 1].in_order);
	}
}

TEST(a_source_adds_the_findings_of_its_subject_alone)
{
	struct sp_profile profiles[] = {
		{.event = "quiet", .samples = 10},
		{.event = "cycles", .samples = 10, .throttled_count = 2, .throttled_ns = 1500000},
	};
	struct sp_event events[] = {{.attr = {.freq = 1, .sample_freq = 4000}},
				    {.attr = {.freq = 1, .sample_freq = 4000}}};
	const struct record_layout layout = {.events = events, .event_count = 2};
	struct sp_analysis analysis = {0};
	const struct merged_recording recording = {.event_count = 2, .totals = profiles};
	const struct analysis_view view = {.analysis = &analysis, .layout = &layout,
					   .recording = &recording};
	source_of("throttling")->find(&view);
	ck_assert_uint_eq(analysis.findings.count, 1);
	const struct sp_finding *finding = &analysis.findings.items[0];
	ck_assert_str_eq(finding->cause, "throttled");
	ck_assert_str_eq(finding->event, "cycles");
	ck_assert_ptr_nonnull(strstr(finding->what, "throttled 2 times, for 1.5 ms in total"));
	ck_assert_str_eq(finding->remedy, "record at a lower rate: -F 1249");
	vec_deinit(&analysis.findings);
	arena_deinit(&analysis.arena);
}

TEST(advice_on_rates_has_no_circle)
{
	for (uint64_t hz = 0; hz < 100000; hz++) {
		uint64_t lower = sp_lower_rate_hz(hz), higher = sp_higher_rate_hz(hz, hz % 2);
		ck_assert(lower && (lower < hz || hz < 2));
		ck_assert_uint_eq(sp_higher_rate_hz(lower, false), 0);
		ck_assert(!higher || (higher > hz && !sp_higher_rate_hz(higher, false)));
	}
	ck_assert_uint_eq(sp_higher_rate_hz(997, false), SP_FAST_HZ);
	ck_assert_uint_eq(sp_higher_rate_hz(997, true), 2500);
	ck_assert_uint_eq(sp_lower_rate_hz(2500), 1249);
}

TEST(shares_have_two_digits_and_never_round_to_nothing)
{
	char text[FINDING_TEXT];
	ck_assert_str_eq(share_text(0.00001, text), "less than 0.01%");
	ck_assert_str_eq(share_text(0.999, text), "99.9%");
	ck_assert_str_eq(share_text(0.9996, text), "more than 99.9%");
	ck_assert_str_eq(share_text(0.9999, text), "more than 99.9%");
	ck_assert_str_eq(share_text(1, text), "100%");
	ck_assert_str_eq(share_text(0.123, text), "12%");
	ck_assert_str_eq(share_text(0.0123, text), "1.2%");
}

TEST(counts_have_commas_and_times_have_units)
{
	char text[FINDING_TEXT];
	ck_assert_str_eq(count_text(999, text), "999");
	ck_assert_str_eq(count_text(1234567, text), "1,234,567");
	ck_assert_str_eq(time_text(250000, text), "250 us");
	ck_assert_str_eq(time_text(999700000, text), "1.00 s");
	ck_assert_str_eq(time_text(1250000000, text), "1.25 s");
	ck_assert_str_eq(plural(1), "");
	ck_assert_str_eq(plural(0), "s");
}

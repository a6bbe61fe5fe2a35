/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "findings/finding.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "base/cleanup.h"
#include "base/format.h"
#include "frames/generated.h"
#include "info/losses.h"

/*
 * Replaces a text by a copy that the analysis owns; NULL stays NULL. Returns false when out of memory.
 */
static bool copy(struct sp_analysis *analysis, const char **text)
{
	const char *from = *text;
	*text = arena_strdup(&analysis->arena, from);
	return *text || !from;
}

void finding_add(const struct analysis_view *view, const struct sp_finding *finding,
		 const char *format, ...)
{
	struct sp_analysis *analysis = view->analysis;
	struct sp_finding added = *finding;
	va_list args;
	va_start(args, format);
	CLEANUP_FREE char *what = format_text_va(format, args);
	va_end(args);
	if (what && view->recording->label) {
		CLEANUP_FREE char *sentence = take_ptr(what);
		what = format_text("%s: %s", view->recording->label, sentence);
	}
	added.what = what;
	bool copied = what && copy(analysis, &added.what) && copy(analysis, &added.remedy) &&
		      copy(analysis, &added.object) && copy(analysis, &added.event);
	struct sp_finding *slot = copied ? vec_push(&analysis->findings) : NULL;
	if (finding_need(view, slot))
		*slot = added;
}

const char *finding_module_name(const struct analysis_view *view, const struct module *module)
{
	if (!module->is_generated)
		return module->name;
	CLEANUP_FREE char *name = generated_unnamed(view->read->machine, module);
	const char *copied = arena_strdup(&view->analysis->arena, name);
	return finding_need(view, copied) ? copied : NULL;
}

const char *lower_rate_options(const struct perf_event_attr *attr, char *text)
{
	uint64_t period = attr->sample_period;
	snprintf(text, FINDING_TEXT, attr->freq ? "-F %llu" : "-c %llu",
		 (unsigned long long)(attr->freq	       ? sp_lower_rate_hz(attr->sample_freq)
				      : period < UINT64_MAX / 4 ? period * 4
								: period));
	return text;
}

const char *event_name_if_needed(const struct analysis_view *view, const struct sp_profile *profile)
{
	if (view->recording->label && view->analysis->events.count > 1)
		return profile->event;
	for (size_t i = 0; i < view->recording->event_count; i++)
		if (&view->recording->totals[i] != profile && view->recording->totals[i].samples)
			return profile->event;
	return NULL;
}

/* Returns whether a remedy names an option or variable. */
static bool names_option(const char *remedy, const char *option)
{
	const char *at = strstr(remedy, option);
	return at && strchr(" ',", at[strlen(option)]);
}

/* Returns whether --runtime-names sets what a remedy names. */
static bool is_of_runtime_names(const char *remedy)
{
	static const char *const set[] = {
		"--perf-basic-prof", "--interpreted-frames-native-stack", "PYTHONPERFSUPPORT=1",
		"-XX:+DumpPerfMapAtExit", "-XX:+PreserveFramePointer", "DOTNET_PerfMapEnabled=1",
	};
	for (size_t i = 0; i < count_of(set); i++)
		if (names_option(remedy, set[i]))
			return true;
	return false;
}

const char *finding_runtime_remedy(const struct analysis_view *view, const char *remedy)
{
	const char *const *word = sp_reader_info(view->read->reader)->cmdline;
	bool command = false, done = false;
	for (; remedy && word && *word && !done; word++) {
		/* The recorder's own options are before "--". */
		command |= !strcmp(*word, "--");
		done = command ? **word == '-' && (*word)[1] && (*word)[2] &&
					 names_option(remedy, *word)
			       : !strcmp(*word, "--runtime-names") && is_of_runtime_names(remedy);
	}
	const char *other = done ? strstr(remedy, ", or ") : NULL;
	return other ? other + strlen(", or ") : done ? NULL : remedy;
}

bool larger_rings_option(const struct analysis_view *view, char *text)
{
	bool copies = false;
	for (uint16_t event = 0; event < view->recording->event_count; event++)
		copies |= was_unwound(view, event) ||
			  view_attr(view, event)->sample_type & PERF_SAMPLE_STACK_USER;
	return sp_larger_rings_option(view->read->sideband.ring_bytes, copies, text, FINDING_TEXT);
}

bool was_unwound(const struct analysis_view *view, uint16_t event)
{
	uint64_t known = 0;
	vec_each (worker, view->workers)
		known += worker->counted.events[event].stated_ends;
	return known * 2 > view->recording->totals[event].samples;
}

bool has_function(const struct analysis_view *view, const char *name)
{
	vec_each (frame, &view->names->frames) {
		const struct symbol *symbol = frame->symbol;
		if (symbol && !strncmp(symbol->raw_name ?: symbol->name, name, strlen(name)))
			return true;
	}
	return false;
}

bool runtime_is_go(const struct analysis_view *view)
{
	return has_function(view, "runtime.goexit");
}

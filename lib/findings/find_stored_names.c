/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Note about names that come from the recording, which are its maker's claims. */
#include "findings/sources.h"

/* Counts the samples in code with stored names. */
static uint64_t count_samples(const struct analysis_view *view)
{
	uint64_t samples = 0;
	for (struct worker_leaf at = {0}; workers_next_leaf(view->workers, &at);) {
		const struct frame *frame =
			&view->names->frames.items[answer_frame(at.leaf->answer)];
		if (frame->module && resolver_is_stored(view->read->resolver, frame->module))
			samples += at.leaf->samples;
	}
	return samples;
}

void find_stored_names(const struct analysis_view *view)
{
	size_t modules = 0, left_out = 0;
	for (size_t i = 0; i < machine_module_count(view->read->machine); i++) {
		modules += resolver_is_stored(view->read->resolver,
					      machine_module(view->read->machine, i));
		left_out += resolver_left_out(view->read->resolver,
					      machine_module(view->read->machine, i));
	}
	if (!modules)
		return;
	const struct sp_finding finding = {
		.kind = SP_FINDING_NOTE,
		.cause = "stored_names",
		.samples = count_samples(view),
	};
	finding_add(view, &finding,
		    "names of %zu file%s come from the recording, not from the files", modules,
		    plural(modules));
	const struct sp_finding unstored = {
		.kind = SP_FINDING_MISSING_FILE, .cause = "file_left_out",
		.remedy = "store them while they exist, after a recording: sprof archive FILE",
	};
	if (left_out)
		finding_add(view, &unstored,
			    "%zu file%s not found here, and too large to be stored in the "
			    "recording: stacks may lack callers",
			    left_out, plural(left_out));
}

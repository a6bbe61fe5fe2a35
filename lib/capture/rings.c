/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Maps the rings, smaller ones if others of the same user have locked memory. */
#include "base/cleanup.h"
#include "capture/recorder.h"

static struct sp_error *note_shrunk(struct sp_capture *capture, struct ring_pages pages)
{
	uint64_t page_size = capture->config.rights.page_size;
	return notes_add(&capture->out.notes, NOTE_RINGS_SHRUNK, NULL, pages.samples * page_size,
			    pages.sideband * page_size);
}

/* Maps smaller rings until they fit. */
static struct sp_error *map_what_fits(struct sp_capture *capture)
{
	const struct ring_pages *pages = &capture->config.ring_pages;
	size_t page_size = capture->config.rights.page_size;
	bool shrunk = false;
	for (;;) {
		TRY(config_check_rings(&capture->config));
		struct sp_error *error = ring_bank_map(&capture->bank, pages->sideband * page_size,
						       pages->samples * page_size);
		if (!error)
			return shrunk ? note_shrunk(capture, *pages) : NULL;
		if (sp_error_code(error) != SP_ERROR_LIMIT)
			return error;
		sp_error_free(error);
		TRY(config_shrink_rings(&capture->config));
		shrunk = true;
	}
}

struct sp_error *capture_map_rings(struct sp_capture *capture)
{
	size_t cpus = capture->config.cpus.count;
	TRY(event_control_open_set(&capture->control, &capture->config));
	CLEANUP_FREE struct ring_place *places = calloc(cpus, sizeof(*places));
	NEED(places);
	for (size_t i = 0; i < cpus; i++)
		places[i] = (struct ring_place){
			.cpu = capture->config.cpus.items[i],
			.metadata_fd = event_set_ring_fd(capture->control.set, i, EVENT_ROLE_SIDEBAND),
			.samples_fd = event_set_ring_fd(capture->control.set, i, EVENT_ROLE_SAMPLES),
		};
	capture->bank.overwrites = capture->overwrite.on;
	TRY(ring_bank_init(&capture->bank, places, cpus));
	return map_what_fits(capture);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Maps the rings, smaller ones if others of the same user have locked memory. */
#include "capture/recorder.h"

static void unmap_rings(struct sp_capture *capture)
{
	for (size_t i = 0; i < capture->config.cpus.count * EVENT_ROLE_COUNT; i++)
		ring_deinit(&capture->bank.rings[i]);
}

static struct sp_error *map_role(struct sp_capture *capture, enum event_role role,
				 struct ring *rings, uint32_t pages)
{
	struct sp_error *error = NULL;
	bool backward = capture->flight.on && role == EVENT_ROLE_SAMPLES;
	struct sp_error *(*map)(struct ring *, int, size_t) = backward ? backward_map : ring_map;
	for (size_t i = 0; i < capture->config.cpus.count && !error; i++)
		error = map(&rings[i], event_set_ring_fd(capture->control.set, i, role),
			    (size_t)pages * capture->config.rights.page_size);
	return error;
}

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
	bool shrunk = false;
	for (;;) {
		struct sp_error *error = config_check_rings(&capture->config);
		if (error)
			return error;
		error = map_role(capture, EVENT_ROLE_SIDEBAND, sideband_rings(capture), pages->sideband);
		if (!error)
			error = map_role(capture, EVENT_ROLE_SAMPLES, sample_rings(capture),
					 pages->samples);
		if (!error)
			return shrunk ? note_shrunk(capture, *pages) : NULL;
		if (sp_error_code(error) != SP_ERROR_LIMIT)
			return error;
		sp_error_free(error);
		unmap_rings(capture);
		error = config_shrink_rings(&capture->config);
		if (error)
			return error;
		shrunk = true;
	}
}

struct sp_error *capture_map_rings(struct sp_capture *capture)
{
	size_t cpus = capture->config.cpus.count;
	struct sp_error *error = event_set_new(event_kernel_real(), capture->config.plan,
					       capture->config.cpus.items, cpus, &capture->control.set);
	if (error)
		return error;
	capture->bank.rings = calloc(cpus * EVENT_ROLE_COUNT, sizeof(*capture->bank.rings));
	capture->bank.heads = calloc(cpus, sizeof(*capture->bank.heads));
	if (!capture->bank.rings || !capture->bank.heads)
		return error_no_memory();
	return map_what_fits(capture);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How large rings are to be, and as large as they can be had. */
#include "base/cleanup.h"
#include "capture/recorder.h"
#include "capture/metadata/host.h"
#include "capture/config/ring_size.h"

#define SIDEBAND_BYTES (128 * 1024)
#define RING_BYTES_MAX (UINT64_C(1) << 31)

static uint32_t pages_of(uint64_t bytes, uint32_t page_size)
{
	return (uint32_t)((bytes + page_size - 1) / page_size);
}

static uint64_t asked_hz(const struct sp_capture *capture, uint64_t freq_hz)
{
	return freq_hz == SP_CAPTURE_FREQ_MAX ? capture->config.rights.max_sample_hz : freq_hz;
}

static uint64_t sample_bytes_of(const struct sp_capture *capture)
{
	return ring_size_sample(capture->config.graph.kind, capture->config.graph.stack_bytes);
}

static uint64_t ring_bytes_of(const struct sp_capture *capture,
			      const struct capture_options *options, uint64_t freq_hz)
{
	bool grows = capture->config.graph.kind == SP_CALL_GRAPH_DWARF && !capture->config.graph.fixed_size;
	const struct ring_demand demand = {
		.sample_bytes = sample_bytes_of(capture),
		.largest_bytes = grows ? ring_size_sample(SP_CALL_GRAPH_DWARF, SP_STACK_BYTES_MAX) : 0,
		.freq_hz = asked_hz(capture, freq_hz),
		.cpus = capture->config.cpus.count,
		.memory_bytes = host_memory_kb(capture->ctx) << 10,
	};
	uint64_t window = flight_ring_bytes(&capture->flight, demand.freq_hz, demand.sample_bytes,
					    demand.cpus);
	return options->buffers.ring_bytes ?: window ?: ring_size_default(&demand);
}

/* What a ring of samples has got room for, once it is known what may be locked. */
static uint64_t fitted_bytes(const struct sp_capture *capture)
{
	return (uint64_t)capture->config.ring_pages.samples * capture->config.rights.page_size;
}

static void take_frame_pointers(struct sp_capture *capture)
{
	capture->config.graph.kind = SP_CALL_GRAPH_FP;
	capture->config.graph.live = false;
}

/* How far rings of that size reach back; 0: as far as was asked for, or that is not known. */
static uint64_t short_reach_ns(const struct sp_capture *capture, uint64_t ring_bytes,
			       uint64_t freq_hz)
{
	uint64_t rate = asked_hz(capture, freq_hz), window_ns = capture->flight.window_ns;
	if (!window_ns || !rate)
		return 0;
	uint64_t reach_ns = flight_reach_ns(ring_bytes, rate, sample_bytes_of(capture));
	return reach_ns < window_ns ? reach_ns : 0;
}

/* A time that was asked for is worth more than copies that nobody asked for. */
static struct sp_error *prefer_time(struct sp_capture *capture,
				    const struct capture_options *options, uint64_t freq_hz)
{
	uint64_t bytes = ring_bytes_of(capture, options, freq_hz);
	uint64_t reach_ns = short_reach_ns(capture, bytes, freq_hz);
	if (!reach_ns || options->chains.call_graph != SP_CALL_GRAPH_AUTO ||
	    capture->config.graph.kind != SP_CALL_GRAPH_DWARF)
		return NULL;
	take_frame_pointers(capture);
	return notes_add(&capture->out.notes, NOTE_FP_FOR_WINDOW, NULL, bytes, reach_ns,
			    capture->flight.window_ns);
}

static struct sp_error *say_reach(struct sp_capture *capture, uint64_t freq_hz)
{
	uint64_t bytes = fitted_bytes(capture);
	uint64_t reach_ns = short_reach_ns(capture, bytes, freq_hz);
	if (!reach_ns)
		return NULL;
	return notes_add(&capture->out.notes, NOTE_SHORT_WINDOW, NULL, bytes, reach_ns,
			    capture->flight.window_ns, sample_bytes_of(capture));
}

/* Where not two samples have room, hardly any would be recorded. */
static bool rings_have_room(const struct sp_capture *capture)
{
	bool dumps = capture->config.graph.kind == SP_CALL_GRAPH_DWARF;
	return fitted_bytes(capture) >= ring_size_least(dumps ? capture->config.graph.stack_bytes : 0);
}

struct sp_error *capture_size_rings(struct sp_capture *capture,
				    const struct capture_options *options, uint64_t freq_hz)
{
	struct sp_error *error = prefer_time(capture, options, freq_hz);
	if (error)
		return error;
	uint64_t ring_bytes = ring_bytes_of(capture, options, freq_hz);
	if (ring_bytes > RING_BYTES_MAX)
		return error_new(SP_ERROR_INVALID, "rings of %llu bytes are larger than 2 GiB",
				 (unsigned long long)ring_bytes);
	CLEANUP(event_notes_deinit) struct event_notes notes = {0};
	uint32_t page_size = capture->config.rights.page_size;
	const struct ring_pages wanted = {
		.samples = pages_of(ring_bytes, page_size),
		.sideband = pages_of(SIDEBAND_BYTES, page_size),
	};
	error = rights_fit_rings(&capture->config.rights, (uint32_t)capture->config.cpus.count,
				 wanted, &notes,
				 &capture->config.ring_pages);
	if (!error && options->buffers.ring_bytes) /* smaller than the default is no news */
		error = notes_keep_planned(&capture->out.notes, &notes);
	if (error)
		return error;
	if (options->chains.call_graph != SP_CALL_GRAPH_AUTO || rings_have_room(capture))
		return say_reach(capture, freq_hz);
	take_frame_pointers(capture);
	error = notes_add(&capture->out.notes, NOTE_FP_FOR_SPACE, NULL,
			     (uint64_t)capture->config.ring_pages.samples * page_size);
	return error ? error : say_reach(capture, freq_hz);
}

static struct sp_error *note_shrunk(struct sp_capture *capture, struct ring_pages pages)
{
	uint64_t page_size = capture->config.rights.page_size;
	return notes_add(&capture->out.notes, NOTE_RINGS_SHRUNK, NULL, pages.samples * page_size,
			    pages.sideband * page_size);
}

static struct sp_error *check_room(const struct sp_capture *capture)
{
	if (rings_have_room(capture))
		return NULL;
	return error_set_remedy(error_new(SP_ERROR_LIMIT, "ring buffers of %u KiB are too small for "
					  "%u-byte stack copies",
					  capture->config.ring_pages.samples *
						  capture->config.rights.page_size / 1024,
					  capture->config.graph.stack_bytes),
				"use a larger -m (it may need sudo sysctl "
				"kernel.perf_event_mlock_kb=N), or --call-graph fp");
}

/* Smaller and smaller, until they fit. */
static struct sp_error *map_what_fits(struct sp_capture *capture)
{
	struct ring_pages *pages = &capture->config.ring_pages;
	size_t page_size = capture->config.rights.page_size;
	bool shrunk = false;
	for (;;) {
		struct sp_error *error = check_room(capture);
		if (error)
			return error;
		error = ring_bank_map(&capture->bank, pages->sideband * page_size,
				      pages->samples * page_size);
		if (!error)
			return shrunk ? note_shrunk(capture, *pages) : NULL;
		if (sp_error_code(error) != SP_ERROR_LIMIT)
			return error;
		sp_error_free(error);
		error = rights_shrink_rings(&capture->config.rights, pages);
		if (error)
			return error;
		shrunk = true;
	}
}

struct sp_error *capture_map_rings(struct sp_capture *capture)
{
	size_t cpus = capture->config.cpus.count;
	struct sp_error *error = event_control_open_set(&capture->control, &capture->config);
	if (error)
		return error;
	CLEANUP_FREE struct ring_place *places = calloc(cpus, sizeof(*places));
	if (!places)
		return error_no_memory();
	for (size_t i = 0; i < cpus; i++)
		places[i] = (struct ring_place){
			.cpu = capture->config.cpus.items[i],
			.metadata_fd = event_set_ring_fd(capture->control.set, i, EVENT_ROLE_SIDEBAND),
			.samples_fd = event_set_ring_fd(capture->control.set, i, EVENT_ROLE_SAMPLES),
		};
	capture->bank.goes_round = capture->flight.on;
	error = ring_bank_init(&capture->bank, places, cpus);
	if (error)
		return error;
	return map_what_fits(capture);
}

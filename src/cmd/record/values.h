/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parsers for the values of sprof record's options, except for the fields of samples (fields.h). */
#ifndef CMD_RECORD_VALUES_H
#define CMD_RECORD_VALUES_H

#include "options.h"

/* option->value is a uint64_t *. */
option_parse_fn record_parse_frequency, record_parse_count, record_parse_flush, record_parse_duration;

/* A uint32_t *. */
option_parse_fn record_parse_max_stack, record_parse_realtime, record_parse_compression,
	record_parse_aux_sample, record_parse_wakeup, record_parse_no_buffering;

/* The enum that the name says: sp_call_graph, sp_unwind, sp_capture_scope. */
option_parse_fn record_parse_graph, record_parse_unwind, record_parse_scope;

/* A struct record_options *. */
option_parse_fn record_parse_call_graph, record_parse_ring_size, record_parse_snapshot,
	record_parse_inherit, record_parse_cgroups, record_parse_unit, record_parse_user,
	record_parse_threads,
	record_parse_per_thread;

/* A struct sp_capture_fields *. */
option_parse_fn record_parse_all_cgroups;

/* A struct record_arguments *, whose `spans` it may fill. */
option_parse_fn record_parse_delay;

/* A bool *, which says that something was said; a number may be behind it. */
option_parse_fn record_parse_habit;

#endif

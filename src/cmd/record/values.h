/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parsers for the values of sprof record's options and the fields of samples. */
#ifndef CMD_RECORD_VALUES_H
#define CMD_RECORD_VALUES_H

#include "cmd/record/record_arguments.h"
#include "options.h"

/* option->value: uint64_t *. */
option_parse_fn record_parse_frequency, record_parse_count, record_parse_flush, record_parse_duration;

/* option->value: uint32_t *. */
option_parse_fn record_parse_aux_sample;

/* option->value: struct record_options *. */
option_parse_fn record_parse_call_graph, record_parse_ring_size, record_parse_snapshot,
	record_parse_inherit, record_parse_cgroups, record_parse_unit, record_parse_user,
	record_parse_threads,
	record_parse_per_thread;

/* option->value: struct sp_capture_sampling *. */
option_parse_fn record_parse_off_cpu, record_parse_off_cpu_threshold, record_parse_wakers;

/* option->value: struct sp_capture_fields *. */
option_parse_fn record_parse_all_cgroups;

/* option->value: struct record_arguments *. Also sets its `spans`. */
option_parse_fn record_parse_delay;

/* option->value: bool *, set to true. An attached number is checked and ignored. */
option_parse_fn record_parse_habit;

/* option->value: struct sp_capture_fields *. */
option_parse_fn record_parse_data;
option_parse_fn record_parse_branch_any, record_parse_branch_filter;
option_parse_fn record_parse_user_registers, record_parse_interrupt_registers;

/* option->value: struct record_options *. */
option_parse_fn record_parse_clock;

#endif

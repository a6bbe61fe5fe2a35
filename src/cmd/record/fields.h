/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parsers for options of `sprof record` that choose the data in samples. */
#ifndef CMD_RECORD_FIELDS_H
#define CMD_RECORD_FIELDS_H

#include "cmd/record/arguments.h"
#include "options.h"

/* Parser that sets the sample_type bit that the option stands for. option->value: uint64_t *. */
option_parse_fn record_parse_sample;

/* option->value: struct sp_capture_fields *. */
option_parse_fn record_parse_data;
option_parse_fn record_parse_branch_any, record_parse_branch_filter;
option_parse_fn record_parse_user_registers, record_parse_interrupt_registers;

/* option->value: struct record_options *. */
option_parse_fn record_parse_clock;

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options of sprof record that say what samples hold. */
#ifndef CMD_RECORD_FIELDS_H
#define CMD_RECORD_FIELDS_H

#include "cmd/record/arguments.h"
#include "options.h"

/* option->value is a uint64_t *: the bit of sample_type that the option's name stands for. */
option_parse_fn record_parse_sample;

/* A struct sp_capture_fields *. */
option_parse_fn record_parse_data;
option_parse_fn record_parse_branch_any, record_parse_branch_filter;
option_parse_fn record_parse_user_registers, record_parse_interrupt_registers;

/* A struct record_options *. */
option_parse_fn record_parse_clock;

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Numbers of events before and after sp_reader_add_up_pmus(). */
#pragma once

#include <sprof/reader.h>

/* Returns the number of events in the file. */
size_t reader_event_count(const struct sp_reader *reader);

/* Returns the index, for sp_reader_event(), of the sum that contains an event of the file. */
size_t reader_sum_of(const struct sp_reader *reader, size_t index);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Records that the kernel gives a wrong size. perf_event_ksymbol_output(),
 * perf_event_bpf_output() and perf_event_text_poke_output() add the size of the
 * sample_id to one header that all events of a CPU are sent from, and do not take
 * it back (seen in Linux 6.18): with two recorders on a machine, the second one's
 * KSYMBOL and BPF_EVENT records say that they are one sample_id longer than what
 * was written of them, and end in whatever was in the ring before. perf looks for
 * the sample_id at the end, takes those bytes for time and id, and gives up. How long they are
 * their fields say (record/length.h).
 */
#ifndef RECORD_MEND_H
#define RECORD_MEND_H

#include <stdbool.h>
#include <stdint.h>

bool record_size_is_doubtful(uint32_t type);

#endif

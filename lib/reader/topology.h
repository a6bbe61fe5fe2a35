/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads features CPU_TOPOLOGY and NUMA_TOPOLOGY. */
#ifndef READER_TOPOLOGY_H
#define READER_TOPOLOGY_H

struct sp_reader;

/* Sets info.topology and info.numa_nodes. The number of CPUs (NRCPUS) must have been read before. */
void topology_interpret(struct sp_reader *reader);

#endif

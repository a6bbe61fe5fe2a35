/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Features CPU_TOPOLOGY and NUMA_TOPOLOGY. */
#ifndef READER_TOPOLOGY_H
#define READER_TOPOLOGY_H

struct sp_reader;

/* Fills info.topology and info.numa_nodes. NRCPUS must have been read. */
void topology_interpret(struct sp_reader *reader);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Descriptions of features about the machine. Each function returns false if the payload is damaged. */
#pragma once

#include <sprof/reader.h>
#include "info/description.h"

bool describe_cpus(struct cursor *cursor, struct sp_description *to);
bool describe_memory(struct cursor *cursor, struct sp_description *to);
bool describe_topology(const struct sp_reader *reader, struct sp_description *to);
bool describe_numa_nodes(const struct sp_reader *reader, struct sp_description *to);
bool describe_pmus(struct cursor *cursor, struct sp_description *to);
bool describe_caches(struct cursor *cursor, struct sp_description *to);
bool describe_memory_topology(struct cursor *cursor, struct sp_description *to);
bool describe_caps(struct cursor *cursor, struct sp_description *to);
bool describe_pmu_caps(struct cursor *cursor, struct sp_description *to);
bool describe_hybrid(struct cursor *cursor, struct sp_description *to);
bool describe_domains(struct cursor *cursor, struct sp_description *to);

/* Describes the recorded program's ELF machine. */
bool describe_machine(struct cursor *cursor, struct sp_description *to);
bool describe_cache_line(struct cursor *cursor, struct sp_description *to);

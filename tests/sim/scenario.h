/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A session: machine, workload, options of the recording, and allowed results. */
#ifndef SIM_SCENARIO_H
#define SIM_SCENARIO_H

#include <sprof/capture.h>
#include "sim.h"

enum sim_target { SIM_COMMAND, SIM_ATTACH, SIM_SYSTEM };

struct sim_scenario {
	const char *name;
	unsigned int cpus;
	struct sim_workload workload;
	struct sim_disk disk;
	enum sim_target target;
	unsigned int limit_s;      /* longest simulated time; 0: a minute. Longer ones run by name only */
	unsigned int stop_ms;      /* stopped at a random moment before; 0: it ends by itself */
	unsigned int demand_ms;    /* a snapshot or another file is demanded that often; 0: never */
	unsigned int hesitation_ms; /* the caller steps that much later at most */
	unsigned int stall_ms;     /* threads of the recorder wait for a CPU that long at most */
	unsigned int pauses;       /* percent of reads of a stack before which the recorder is preempted */
	struct sim_user user;      /* uid 0: root, and paranoid is -1 */
	bool toggles;              /* sampling is switched off and on */
	bool in_one_call;          /* by sp_capture_run() */
	struct sp_capture_sampling sampling;
	struct sp_capture_chains chains;
	struct sp_capture_buffers buffers;
	struct sp_capture_output output;
	struct sp_capture_schedule schedule;
	enum sp_capture_scope scope;
	bool may_fail;             /* the disk is too small, for example */
	bool may_drop;             /* not all samples can be kept */
	bool thins;                /* most wake-ups by recorded threads have no user stack */
	bool holds_metadata;       /* holds back metadata; few mappings are read again */
};

extern const struct sim_scenario sim_scenarios[];
extern const size_t sim_scenario_count;

/* Random machine, workload and options, after sim_seed(). */
struct sim_scenario sim_scenario_random(void);

/* How a session went. */
struct sim_result {
	struct sp_capture_stats stats;
	bool created, failed, published;
	char message[256];         /* text of the first error */
	uint64_t open_ns;          /* the first event is opened after that */
	uint64_t begin_ns, stop_ns; /* samples between these are expected */
	uint64_t commit_ns;        /* end of the last step */
};

extern struct sim_result sim_result;

/* Runs a session, and checks that nothing is left of it. */
void sim_session(const struct sim_scenario *scenario);
/* Checks the files on the disk. `killed`: the recorder was, a moment ago. */
void sim_check_files(const struct sim_scenario *scenario, bool killed);
/* Hash of all files on the disk, and their size. */
uint64_t sim_hash_files(uint64_t *bytes_ret);
void sim_save_files(const char *folder);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* PMUs, tracepoints and limits of machines that are not there: made-up trees below a root. */
#include "event/pmu.h"

#include <sprof/catalog.h>
#include <string.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "event/open.h"
#include "root.h"
#include "test.h"

#define SPECS CLEANUP(event_specs_deinit) struct event_specs
#define PMUS "/sys/bus/event_source/devices/"

/* Intel's layout: one kind of processor, and memory controllers outside of it. */
static void put_intel(struct root *root)
{
	root_put(root, PMUS "cpu/type", "4\n");
	root_put(root, PMUS "cpu/format/event", "config:0-7\n");
	root_put(root, PMUS "cpu/format/umask", "config:8-15\n");
	root_put(root, PMUS "cpu/format/inv", "config:23\n");
	root_put(root, PMUS "cpu/format/cmask", "config:24-31\n");
	root_put(root, PMUS "cpu/format/offcore_rsp", "config1:0-63\n");
	root_put(root, PMUS "cpu/format/ldlat", "config1:0-15\n");
	root_put(root, PMUS "cpu/format/odd", "config2:0-3,8,60-63\n");
	root_put(root, PMUS "cpu/events/cpu-cycles", "event=0x3c\n");
	root_put(root, PMUS "cpu/events/mem-loads", "event=0xcd,umask=0x1,ldlat=3\n");
	root_put(root, PMUS "cpu/events/topdown-slots", "event=0x00,umask=0x4\n");
	root_put(root, PMUS "cpu/events/topdown-slots.scale", "2\n");
	for (int i = 0; i < 2; i++) {
		char path[128], type[8];
		snprintf(path, sizeof(path), PMUS "uncore_imc_%d/type", i);
		snprintf(type, sizeof(type), "%d\n", 20 + i);
		root_put(root, path, type);
		snprintf(path, sizeof(path), PMUS "uncore_imc_%d/cpumask", i);
		root_put(root, path, "0,18\n");
		snprintf(path, sizeof(path), PMUS "uncore_imc_%d/format/event", i);
		root_put(root, path, "config:0-7\n");
		snprintf(path, sizeof(path), PMUS "uncore_imc_%d/format/umask", i);
		root_put(root, path, "config:8-15\n");
		snprintf(path, sizeof(path), PMUS "uncore_imc_%d/events/cas_count_read", i);
		root_put(root, path, "event=0x04,umask=0x03\n");
		snprintf(path, sizeof(path), PMUS "uncore_imc_%d/events/cas_count_read.scale", i);
		root_put(root, path, "6.103515625e-5\n");
		snprintf(path, sizeof(path), PMUS "uncore_imc_%d/events/cas_count_read.unit", i);
		root_put(root, path, "MiB\n");
	}
	root_put(root, PMUS "power/type", "30\n");
	root_put(root, PMUS "power/cpumask", "0\n");
	root_put(root, PMUS "power/format/event", "config:0-7\n");
	root_put(root, PMUS "power/events/energy-pkg", "event=0x02\n");
	root_put(root, PMUS "power/events/energy-pkg.unit", "Joules\n");
	root_put(root, PMUS "power/events/energy-pkg.snapshot", "1\n");
	root_put(root, PMUS "power/events/energy-pkg.per-pkg", "1\n");
}

/* Arm's big.LITTLE layout, with a field in config3 and an event that needs a value. */
static void put_arm64(struct root *root)
{
	static const char *const kinds[] = {"armv8_cortex_a53", "armv8_cortex_a72"};
	for (size_t i = 0; i < 2; i++) {
		char path[128];
		snprintf(path, sizeof(path), PMUS "%s/type", kinds[i]);
		root_put(root, path, i ? "9\n" : "8\n");
		snprintf(path, sizeof(path), PMUS "%s/cpus", kinds[i]);
		root_put(root, path, i ? "4-5\n" : "0-3\n");
		snprintf(path, sizeof(path), PMUS "%s/format/event", kinds[i]);
		root_put(root, path, "config:0-15\n");
		snprintf(path, sizeof(path), PMUS "%s/format/rdpmc", kinds[i]);
		root_put(root, path, "config1:1\n");
		snprintf(path, sizeof(path), PMUS "%s/events/l1d_cache", kinds[i]);
		root_put(root, path, "event=0x0004\n");
	}
	root_put(root, PMUS "arm_spe_0/type", "10\n");
	root_put(root, PMUS "arm_spe_0/cpumask", "4-5\n");
	root_put(root, PMUS "arm_spe_0/format/inv_event_filter", "config3:0-63\n");
	root_put(root, PMUS "hv_24x7/type", "11\n");
	root_put(root, PMUS "hv_24x7/format/core", "config:0-15\n");
	root_put(root, PMUS "hv_24x7/format/domain", "config:32-35\n");
	root_put(root, PMUS "hv_24x7/events/PM_CYC", "domain=1,core=?\n");
}

static void parse(struct event_specs *specs, const struct root *root, const char *text)
{
	ok_or_fail(event_specs_parse(specs, root->ctx, text));
}

TEST(pmu_fields_have_bits_in_several_places)
{
	const struct pmu_format odd = {.bits = 0xf00000000000010fULL};
	ck_assert_uint_eq(pmu_format_max(&odd), 0x1ff);
	ck_assert_uint_eq(pmu_format_encode(&odd, 0x1ff), odd.bits);
	ck_assert_uint_eq(pmu_format_encode(&odd, 0x10), 0x100);
	ck_assert_uint_eq(pmu_format_encode(&odd, 0x21), 0x1000000000000001ULL);
}

TEST(pmu_terms_fill_configs)
{
	ROOT root;
	root_init(&root);
	put_intel(&root);
	SPECS specs = {0};
	parse(&specs, &root, "cpu/event=0x3c,umask=1,inv,cmask=0x10/u,"
			     "cpu/mem-loads,ldlat=16,period=7/P,cpu/odd=0x1ff,config=0x500/,"
			     "cpu/event=mem-loads,name=loads/,cpu/CPU-CYCLES/,cpu-cycles");
	ck_assert_uint_eq(specs.count, 6);
	const struct event_spec *spec = specs.items;
	ck_assert_uint_eq(spec->attr.type, 4);
	ck_assert_uint_eq(spec->attr.config, 0x1080013c);
	ck_assert_str_eq(spec->name, "cpu/event=0x3c,umask=1,inv,cmask=0x10/u");
	ck_assert(spec->modes_given && spec->attr.exclude_kernel);
	ck_assert_str_eq(spec->pmu, "cpu");
	spec++;
	/* Like perf, adds fields to the terms of the event's name. */
	ck_assert_uint_eq(spec->attr.config, 0x1cd);
	ck_assert_uint_eq(spec->attr.config1, 0x13);
	ck_assert_uint_eq(spec->terms.period, 7);
	ck_assert(spec->precise_max);
	spec++;
	ck_assert_uint_eq(spec->attr.config, 0x500);
	ck_assert_uint_eq(spec->attr.config2, 0xf00000000000010fULL);
	ck_assert_str_eq((++spec)->name, "loads");
	ck_assert_uint_eq(spec->attr.config, 0x1cd);
	ck_assert_uint_eq((++spec)->attr.config, 0x3c);
	/* The generic event of that name comes first. */
	ck_assert_uint_eq((++spec)->attr.type, PERF_TYPE_HARDWARE);
}

TEST(pmu_uncore_events_are_of_all_controllers)
{
	ROOT root;
	root_init(&root);
	put_intel(&root);
	SPECS specs = {0};
	parse(&specs, &root, "uncore_imc/cas_count_read/,imc_1/event=4/,energy-pkg");
	ck_assert_uint_eq(specs.count, 4);
	for (size_t i = 0; i < 2; i++) {
		const struct event_spec *spec = &specs.items[i];
		ck_assert_uint_eq(spec->attr.type, 20 + i);
		ck_assert_uint_eq(spec->attr.config, 0x304);
		ck_assert_str_eq(spec->unit, "MiB");
		ck_assert(spec->scale > 6.1e-5 && spec->scale < 6.2e-5);
		ck_assert(spec->cpus_only && spec->cpu_count == 2 && spec->cpus[1] == 18);
		ck_assert_str_eq(spec->name, i ? "uncore_imc_1/cas_count_read/" :
				 "uncore_imc_0/cas_count_read/");
	}
	ck_assert_uint_eq(specs.items[2].attr.type, 21);
	ck_assert_str_eq(specs.items[3].name, "energy-pkg");
	ck_assert_uint_eq(specs.items[3].attr.type, 30);
	ck_assert(specs.items[3].snapshot && specs.items[3].per_package);
	ck_assert_str_eq(specs.items[3].unit, "Joules");
}

TEST(pmu_kinds_of_processors_have_an_event_each)
{
	ROOT root;
	root_init(&root);
	put_arm64(&root);
	SPECS specs = {0};
	parse(&specs, &root, "cycles:u,armv8_cortex_a72/instructions/,l1d_cache,"
			     "arm_spe_0/inv_event_filter=5/,hv_24x7/PM_CYC,core=3/,cs");
	ck_assert_uint_eq(specs.count, 8);
	const struct event_spec *little = &specs.items[0], *big = &specs.items[1];
	ck_assert_str_eq(little->name, "armv8_cortex_a53/cycles/u");
	ck_assert_str_eq(big->name, "armv8_cortex_a72/cycles/u");
	ck_assert_uint_eq(little->attr.type, PERF_TYPE_HARDWARE);
	ck_assert_uint_eq(little->attr.config, UINT64_C(8) << 32);
	ck_assert_uint_eq(big->attr.config, UINT64_C(9) << 32);
	ck_assert(big->cpu_count == 2 && big->cpus[0] == 4 && !big->cpus_only);
	ck_assert_uint_eq(specs.items[2].attr.type, PERF_TYPE_HARDWARE);
	ck_assert_uint_eq(specs.items[2].attr.config, UINT64_C(9) << 32 | 1);
	ck_assert_uint_eq(specs.items[3].attr.type, 8);
	ck_assert_uint_eq(specs.items[4].attr.type, 9);
	ck_assert_uint_eq(specs.items[4].attr.config, 4);
	ck_assert_uint_eq(specs.items[5].tail.config3, 5);
	ck_assert(specs.items[5].cpu_count == 2 && !specs.items[5].cpus_only);
	ck_assert_uint_eq(specs.items[6].attr.config, UINT64_C(1) << 32 | 3);
	ck_assert_uint_eq(specs.items[7].attr.type, PERF_TYPE_SOFTWARE);
	SPECS own = {0};
	ok_or_fail(event_specs_add_default(&own, root.ctx));
	ck_assert_uint_eq(own.count, 2);
	ck_assert(own.items[1].precise_max);
	ck_assert_str_eq(own.items[1].name, "armv8_cortex_a72/cycles/P");
}

/* Intel's hybrid layout: the kernel gives cpu_core the type of raw events. */
TEST(pmu_generic_events_have_the_type_of_their_pmu)
{
	ROOT root;
	root_init(&root);
	root_put(&root, PMUS "cpu_core/type", "4\n");
	root_put(&root, PMUS "cpu_core/cpus", "0-3\n");
	root_put(&root, PMUS "cpu_atom/type", "10\n");
	root_put(&root, PMUS "cpu_atom/cpus", "4-7\n");
	SPECS specs = {0};
	parse(&specs, &root, "cpu_core/instructions/,cpu_atom/instructions/,instructions");
	ck_assert_uint_eq(specs.count, 4);
	for (size_t i = 0; i < 4; i++) {
		bool atom = !strcmp(specs.items[i].pmu, "cpu_atom");
		ck_assert_uint_eq(specs.items[i].attr.type, PERF_TYPE_HARDWARE);
		ck_assert_uint_eq(specs.items[i].attr.config,
				  (atom ? UINT64_C(10) : UINT64_C(4)) << 32 | 1);
	}
	SPECS only = {0};
	root_put(&root, PMUS "cpu/type", "4\n");
	parse(&only, &root, "cpu/instructions/");
	ck_assert_uint_eq(only.items->attr.config, 1);
}

static void refused(const struct root *root, const char *text, const char *says, const char *advice)
{
	SPECS specs = {0};
	CLEANUP(cleanup_sp_error_free) struct sp_error *error =
		event_specs_parse(&specs, root->ctx, text);
	ck_assert_msg(error != NULL, "\"%s\" was taken", text);
	ck_assert_msg(strstr(sp_error_message(error), says) != NULL, "\"%s\": %s", text,
		      sp_error_message(error));
	ck_assert_msg(sp_error_remedy(error) && strstr(sp_error_remedy(error), advice) != NULL,
		      "\"%s\": %s", text, sp_error_remedy(error));
	ck_assert_uint_eq(specs.count, 0);
}

TEST(pmu_errors_say_what_would_be_valid)
{
	ROOT root;
	root_init(&root);
	put_intel(&root);
	put_arm64(&root);
	refused(&root, "cpu/umask=256/", "0x100 is too large for umask of PMU cpu at character 11",
		"0xff");
	refused(&root, "cpu/bogus=1/", "unknown term 'bogus' of PMU cpu at character 5", "cmask, ");
	refused(&root, "cpu/umask=x/", "'x' is no value of umask at character 11", "number");
	refused(&root, "gpu/event=1/", "unknown event or PMU 'gpu' at character 1", "uncore_imc_0");
	refused(&root, "hv_24x7/PM_CYC/", "needs a value for core", "core=NUMBER");
	root_put(&root, PMUS "cpu/format/broken", "config9:0-70\n");
	refused(&root, "cpu/event=1/", "cpu/format/broken: unknown syntax \"config9:0-70\"", "");
}

/* The sink's hash selects the sink of CoreSight's trace. */
TEST(pmu_sinks_are_found_by_name)
{
	ROOT root;
	root_init(&root);
	put_intel(&root);
	root_put(&root, PMUS "cs_etm/type", "12\n");
	root_put(&root, PMUS "cs_etm/format/cycacc", "config:12\n");
	root_put(&root, PMUS "cs_etm/format/sinkid", "config2:0-31\n");
	root_put(&root, PMUS "cs_etm/sinks/tmc_etr0", "0x9a1b2c3d\n");
	SPECS specs = {0};
	parse(&specs, &root, "cs_etm/@tmc_etr0,cycacc/u");
	ck_assert_uint_eq(specs.count, 1);
	ck_assert_str_eq(specs.items[0].name, "cs_etm/@tmc_etr0,cycacc/u");
	ck_assert_uint_eq(specs.items[0].attr.config, 1 << 12);
	ck_assert_uint_eq(specs.items[0].attr.config2, 0x9a1b2c3d);
	refused(&root, "cs_etm/@tmc_etb9/", "cs_etm has no sink 'tmc_etb9' at character 8",
		"cs_etm/sinks");
	refused(&root, "cs_etm/@../", "cs_etm has no sink '..' at character 8", "");
	refused(&root, "cpu/@tmc_etr0/", "'@tmc_etr0' is a setting of a driver", "CoreSight");
	refused(&root, "cycles/@tmc_etr0/", "'@tmc_etr0' is a setting of a driver", "CoreSight");
}

static void put_tracefs(struct root *root, const char *place)
{
	static const char *const names[] = {"sched/sched_switch", "sched/sched_wakeup",
					    "sched/sched_waking", "syscalls/sys_enter_openat",
					    "sys2/sys_exec"};
	for (size_t i = 0; i < 5; i++) {
		char path[128], id[8];
		snprintf(path, sizeof(path), "%s/events/%s/id", place, names[i]);
		snprintf(id, sizeof(id), "%zu\n", 300 + i);
		root_put(root, path, id);
	}
	char path[128];
	snprintf(path, sizeof(path), "%s/events/sched/enable", place);
	root_put(root, path, "0\n");
}

TEST(tracepoints_are_found_by_name_and_glob)
{
	static const char *const places[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};
	for (size_t i = 0; i < 2; i++) {
		ROOT root;
		root_init(&root);
		put_tracefs(&root, places[i]);
		SPECS specs = {0};
		parse(&specs, &root, "sched:sched_switch:u,sched:sched_wak*,{sys*:*e*}:k,"
				     "sched:sched_switch/call-graph=fp,name=x/");
		ck_assert_uint_eq(specs.count, 6);
		ck_assert_str_eq(specs.items[0].name, "sched:sched_switch");
		ck_assert_uint_eq(specs.items[0].attr.type, PERF_TYPE_TRACEPOINT);
		ck_assert_uint_eq(specs.items[0].attr.config, 300);
		ck_assert(specs.items[0].attr.exclude_kernel && !specs.items[0].attr.exclude_user);
		ck_assert_str_eq(specs.items[1].name, "sched:sched_wakeup");
		ck_assert_str_eq(specs.items[2].name, "sched:sched_waking");
		ck_assert_str_eq(specs.items[3].name, "sys2:sys_exec");
		ck_assert_str_eq(specs.items[4].name, "syscalls:sys_enter_openat");
		ck_assert_uint_eq(specs.items[4].leader, 3);
		ck_assert(specs.items[4].attr.exclude_user);
		ck_assert_str_eq(specs.items[5].name, "x");
		refused(&root, "sched:sched_swich",
			"unknown tracepoint 'sched:sched_swich' at character 7", "sched:sched_switch?");
		refused(&root, "shed:sched_switch", "and no tracepoint at character 1",
			"sched:sched_switch?");
		refused(&root, "sched:x*", "no tracepoint is like 'sched:x*'", "");
	}
}

TEST(tracefs_that_is_not_there_has_a_remedy)
{
	ROOT root;
	root_init(&root);
	refused(&root, "sched:sched_switch", "this kernel has no tracepoints", "CONFIG_EVENT_TRACING");
	root_put(&root, "/proc/filesystems", "nodev\tsysfs\nnodev\ttracefs\n");
	refused(&root, "sched:sched_switch", "tracefs is not mounted",
		"mount -t tracefs -o mode=750,gid=$(id -g) tracefs /sys/kernel/tracing");
	if (geteuid() != 0) {
		char path[128];
		put_tracefs(&root, "/sys/kernel/tracing");
		snprintf(path, sizeof(path), "%s/sys/kernel/tracing", root.path);
		ck_assert_int_eq(chmod(path, 0), 0);
		refused(&root, "sched:sched_switch", "may not be read", "mode=750,gid=");
		ck_assert_int_eq(chmod(path, 0700), 0);
	}
}

TEST(probes_take_the_kernels_pmu)
{
	ROOT root;
	root_init(&root);
	refused(&root, "kprobe:do_sys_open", "no PMU for kprobes", "CONFIG_KPROBE_EVENTS");
	root_put(&root, PMUS "kprobe/type", "6\n");
	root_put(&root, PMUS "kprobe/format/retprobe", "config:0\n");
	root_put(&root, PMUS "uprobe/type", "7\n");
	root_put(&root, PMUS "uprobe/format/retprobe", "config:0\n");
	SPECS specs = {0};
	parse(&specs, &root, "kprobe:do_sys_open+0x10:k,kretprobe:do_sys_open,kprobe:0xffff0000");
	ck_assert_uint_eq(specs.count, 3);
	ck_assert_uint_eq(specs.items[0].attr.type, 6);
	ck_assert_str_eq((const char *)(uintptr_t)specs.items[0].attr.kprobe_func, "do_sys_open");
	ck_assert_uint_eq(specs.items[0].attr.probe_offset, 16);
	ck_assert_str_eq(specs.items[0].name, "kprobe:do_sys_open+0x10:k");
	ck_assert_uint_eq(specs.items[1].attr.config, 1);
	ck_assert_uint_eq(specs.items[2].attr.kprobe_func, 0);
	ck_assert_uint_eq(specs.items[2].attr.kprobe_addr, 0xffff0000);
	refused(&root, "kretprobe:f+1", "cannot have an offset", "omit");
	refused(&root, "kprobe:f+x", "'x' is not an offset at character 10", "+16");
	refused(&root, "uprobe:/nonexistent:main", "/nonexistent", "");
	refused(&root, "uprobe:/bin/sh", "no symbol", "uprobe:PATH:SYMBOL");
	refused(&root, "uprobe:/proc/self/exe:no_such_function", "has no symbol 'no_such_function'", "");
	SPECS own = {0};
	parse(&own, &root, "uprobe:/proc/self/exe:main,uretprobe:/proc/self/exe:main");
	ck_assert_uint_eq(own.items[0].attr.type, 7);
	ck_assert_uint_ne(own.items[0].attr.probe_offset, 0);
	ck_assert_uint_eq(own.items[1].attr.config, 1);
	ck_assert_uint_eq(own.items[1].attr.probe_offset, own.items[0].attr.probe_offset);
}

static const char *entry_of(const struct sp_catalog *catalog, const char *name)
{
	for (size_t i = 0; i < sp_catalog_entry_count(catalog); i++)
		if (!strcmp(sp_catalog_entry(catalog, i)->name, name))
			return sp_catalog_entry(catalog, i)->type;
	return "none";
}

TEST(catalog_lists_what_sysfs_and_tracefs_name)
{
	ROOT root;
	root_init(&root);
	put_intel(&root);
	put_tracefs(&root, "/sys/kernel/tracing");
	const char *const patterns[] = {"pmu", "sched:*", "raw"};
	const struct sp_catalog_options options = {.patterns = {patterns, 3}};
	struct sp_catalog *catalog;
	ok_or_fail(sp_catalog_new(root.ctx, &options, &catalog));
	ck_assert_str_eq(entry_of(catalog, "uncore_imc_1/cas_count_read/"), "Kernel PMU event");
	ck_assert_str_eq(entry_of(catalog, "sched:sched_waking"), "Tracepoint event");
	ck_assert_str_eq(entry_of(catalog, "syscalls:sys_enter_openat"), "none");
	ck_assert_str_eq(entry_of(catalog, "power/event=0..0xff/modifier"), "Raw event descriptor");
	ck_assert_str_eq(entry_of(catalog, "power/energy-pkg.unit/"), "none");
	sp_catalog_free(catalog);
}

static const struct sp_limit *limit_of(const struct sp_limits *limits, const char *name)
{
	for (size_t i = 0; i < sp_limits_entry_count(limits); i++)
		if (!strcmp(sp_limits_entry(limits, i)->name, name))
			return sp_limits_entry(limits, i);
	ck_abort_msg("no limit %s", name);
}

TEST(limits_are_read_and_explained)
{
	ROOT root;
	root_init(&root);
	root_put(&root, "/proc/sys/kernel/perf_event_paranoid", "3\n");
	root_put(&root, "/proc/sys/kernel/perf_event_max_sample_rate", "5000\n");
	root_put(&root, "/proc/sys/kernel/perf_cpu_time_max_percent", "25\n");
	root_put(&root, "/proc/sys/kernel/perf_event_mlock_kb", "516\n");
	root_put(&root, "/proc/sys/kernel/kptr_restrict", "2\n");
	root_put(&root, PMUS "cpu/type", "4\n");
	root_put(&root, PMUS "cpu/rdpmc", "0\n");
	root_put(&root, "/proc/self/status", "CapEff:\t0000000000000000\n");
	root_put(&root, "/proc/self/uid_map", "         0          0 4294967295\n");
	struct sp_limits *limits;
	ok_or_fail(sp_limits_new(root.ctx, &limits));
	const struct sp_limit *paranoid = limit_of(limits, "kernel.perf_event_paranoid");
	ck_assert_str_eq(paranoid->value, "3");
	ck_assert_ptr_nonnull(strstr(paranoid->meaning, "kernels allow nothing from 3 on"));
	ck_assert_ptr_nonnull(strstr(paranoid->remedy, "perf_event_paranoid=0"));
	const struct sp_limit *rate = limit_of(limits, "kernel.perf_event_max_sample_rate");
	ck_assert_ptr_nonnull(strstr(rate->meaning, "at most 5000 samples"));
	ck_assert_ptr_nonnull(rate->remedy);
	const struct sp_limit *percent = limit_of(limits, "kernel.perf_cpu_time_max_percent");
	ck_assert_ptr_nonnull(strstr(percent->meaning, "more than 25 % of a CPU"));
	ck_assert_ptr_null(limit_of(limits, "kernel.perf_event_max_stack")->value);
	ck_assert_ptr_nonnull(
		strstr(limit_of(limits, "kernel.kptr_restrict")->meaning, "hide kernel"));
	ck_assert_ptr_nonnull(strstr(limit_of(limits, "cpu/rdpmc")->meaning, "without a system call"));
	ck_assert_str_eq(limit_of(limits, "CAP_PERFMON")->value, "no");
	ck_assert_str_eq(limit_of(limits, "tracefs")->value, "absent");
	sp_limits_free(limits);
}

/* Limits of a container without a filter, in which another setting hides kernel addresses. */
TEST(limits_agree_with_their_values)
{
	ROOT root;
	root_init(&root);
	root_put(&root, "/.dockerenv", "");
	root_put(&root, "/proc/sys/kernel/perf_event_paranoid", "2\n");
	root_put(&root, "/proc/sys/kernel/kptr_restrict", "0\n");
	root_put(&root, "/proc/self/status", "CapEff:\t0000000000000000\nSeccomp:\t0\n");
	root_put(&root, "/proc/self/uid_map", "         0          0 4294967295\n");
	struct sp_limits *limits;
	ok_or_fail(sp_limits_new(root.ctx, &limits));
	const struct sp_limit *kptr = limit_of(limits, "kernel.kptr_restrict");
	ck_assert_str_eq(kptr->meaning, "kernel.perf_event_paranoid hides kernel addresses: kernel "
					"functions have no names");
	ck_assert_ptr_null(strstr(kptr->remedy, "kptr_restrict"));
	const struct sp_limit *seccomp = limit_of(limits, "seccomp");
	ck_assert_str_eq(seccomp->value, "off");
	ck_assert_ptr_null(strstr(seccomp->meaning, "may"));
	ck_assert_ptr_null(seccomp->remedy);
	sp_limits_free(limits);
	root_put(&root, "/proc/self/status", "CapEff:\t0000000000000000\nSeccomp:\t2\n");
	ok_or_fail(sp_limits_new(root.ctx, &limits));
	seccomp = limit_of(limits, "seccomp");
	ck_assert_ptr_nonnull(strstr(seccomp->meaning, "may refuse"));
	ck_assert_ptr_nonnull(strstr(seccomp->remedy, "--cap-add PERFMON"));
	sp_limits_free(limits);
}

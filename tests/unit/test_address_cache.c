/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A cache of addresses: each is made once, and views and modes are kept apart. */
#include <linux/perf_event.h>
#include "symbol/address_cache.h"
#include "test.h"

struct counted {
	uint32_t made;
	bool fails;
	struct code_address last;
};

static uint32_t count(void *arg, const struct code_address *address)
{
	struct counted *counted = arg;
	if (counted->fails)
		return ADDRESS_CACHE_FAILED;
	counted->last = *address;
	return counted->made++;
}

static struct machine *new_machine(void)
{
	struct machine *machine;
	ok_or_fail(machine_new(&machine));
	for (uint32_t pid = 1; pid <= 2; pid++) {
		struct sp_record record = {
			.type = PERF_RECORD_MMAP2, .misc = PERF_RECORD_MISC_USER,
			.mmap = {.pid = pid, .tid = pid, .start = 0x10000, .size = 0x10000,
				 .filename = pid == 1 ? "/bin/a" : "/bin/b"},
		};
		ok_or_fail(machine_add(machine, &record));
	}
	ok_or_fail(machine_seal(machine));
	return machine;
}

TEST(an_address_is_made_once)
{
	struct machine *machine = new_machine();
	struct counted counted = {0};
	struct address_cache cache = {.machine = machine, .make = count, .arg = &counted};
	uint32_t view = machine_view(machine, 1, 0);
	struct code_address address = {.view = view, .cpumode = PERF_RECORD_MISC_USER};
	/* Enough to make the map grow. */
	for (int pass = 0; pass < 2; pass++)
		for (uint32_t i = 0; i < 5000; i++) {
			address.ip = 0x10000 + i;
			ck_assert_uint_eq(address_cache_find(&cache, address), i);
		}
	ck_assert_uint_eq(counted.made, 5000);
	address_cache_deinit(&cache);
	machine_free(machine);
}

TEST(views_modes_and_callers_are_kept_apart)
{
	struct machine *machine = new_machine();
	struct counted counted = {0};
	struct address_cache cache = {.machine = machine, .make = count, .arg = &counted};
	const struct code_address addresses[] = {
		{0x10010, machine_view(machine, 1, 0), PERF_RECORD_MISC_USER, false},
		{0x10010, machine_view(machine, 1, 0), PERF_RECORD_MISC_USER, true},
		{0x10010, machine_view(machine, 2, 0), PERF_RECORD_MISC_USER, false},
		{0x10010, machine_view(machine, 1, 0), PERF_RECORD_MISC_KERNEL, false},
	};
	for (int pass = 0; pass < 2; pass++)
		for (uint32_t i = 0; i < 4; i++) {
			ck_assert_uint_eq(address_cache_find(&cache, addresses[i]), i);
			if (!pass)
				ck_assert_int_eq(counted.last.caller, addresses[i].caller);
		}
	ck_assert_uint_eq(counted.made, 4);
	address_cache_deinit(&cache);
	machine_free(machine);
}

TEST(a_failure_is_not_kept)
{
	struct machine *machine = new_machine();
	struct counted counted = {.fails = true};
	struct address_cache cache = {.machine = machine, .make = count, .arg = &counted};
	struct code_address address = {0x10010, machine_view(machine, 1, 0), PERF_RECORD_MISC_USER, false};
	ck_assert_uint_eq(address_cache_find(&cache, address), ADDRESS_CACHE_FAILED);
	counted.fails = false;
	ck_assert_uint_eq(address_cache_find(&cache, address), 0);
	address_cache_deinit(&cache);
	machine_free(machine);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "machine/pools.h"
#include <stdio.h>
#include <string.h>
#include "test.h"

static struct strtab comms;

static void add(struct pools *pools, uint32_t pid, uint32_t tid, const char *comm)
{
	const char *text = strtab_add(&comms, comm);
	ck_assert(text && pools_add(pools, pid, tid, text));
}

TEST(two_threads_are_a_pool)
{
	struct pools pools = {0};
	add(&pools, 1, 1, "w-1"); /* the main thread has the program's name */
	add(&pools, 1, 2, "w-2");
	add(&pools, 2, 4, "w-4"); /* another process */
	ck_assert_ptr_null(pools_find(&pools, "w-2"));
	add(&pools, 1, 3, "w-3");
	ck_assert_str_eq(pools_find(&pools, "w-2"), "w-* (2 threads)");
	add(&pools, 1, 5, "w-15");
	ck_assert_str_eq(pools_find(&pools, "w-2"), "w-* (3 threads)");
	add(&pools, 1, 5, "w-16"); /* a new name, no new thread */
	add(&pools, 1, 6, "w-3");
	ck_assert_str_eq(pools_find(&pools, "w-99"), "w-* (4 threads)");
	ck_assert_ptr_null(pools_find(&pools, "w-x"));
	pools_deinit(&pools);
	strtab_deinit(&comms);
	comms = (struct strtab){0};
}

TEST(one_name_or_one_thread_is_none)
{
	struct pools pools = {0};
	char comm[16];
	for (uint32_t i = 0; i < 10; i++) {
		snprintf(comm, sizeof(comm), "request %u", i);
		add(&pools, 1, 2, comm);      /* a thread that renames itself */
		add(&pools, 1, 3 + i, "abc2"); /* threads of one name */
	}
	ck_assert_ptr_null(pools_find(&pools, "request 1"));
	ck_assert_ptr_null(pools_find(&pools, "abc2"));
	pools_deinit(&pools);
	strtab_deinit(&comms);
	comms = (struct strtab){0};
}

TEST(a_pool_matches_its_names)
{
	ck_assert(pool_is("w-*", "w-3") && pool_is("w-* (16 threads)", "w-12"));
	ck_assert(pool_is("[ET_NET *];x *", "[ET_NET 0];x 71"));
	ck_assert(!pool_is("w-*", "w-") && !pool_is("w-3", "w-3") && !pool_is("w-*x", "w-3"));
	ck_assert(!pool_is("*", "w-3"));
}

TEST(threads_of_one_process_are_counted_with_equal_names)
{
	struct pools pools = {0};
	ck_assert(pools_count(&pools, 1, "conn-1") && pools_count(&pools, 1, "conn-22"));
	ck_assert(pools_count(&pools, 1, "server") && pools_count(&pools, 1, "server"));
	ck_assert(pools_count(&pools, 2, "conn-3") && pools_count(&pools, 2, "server"));
	ck_assert_str_eq(pools_find_counted(&pools, 1, "conn-7"), "conn-* (2 threads)");
	ck_assert_str_eq(pools_find_counted(&pools, 1, "server"), "server (2 threads)");
	ck_assert_ptr_null(pools_find_counted(&pools, 2, "conn-3"));
	ck_assert_ptr_null(pools_find_counted(&pools, 2, "server"));
	ck_assert_ptr_null(pools_find_counted(&pools, 1, "other"));
	pools_deinit(&pools);
	/* The text is a filter. */
	ck_assert(pool_is("server (2 threads)", "server"));
	ck_assert(!pool_is("server", "server") && !pool_is("server (main)", "server"));
}

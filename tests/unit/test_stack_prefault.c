/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/samples/stack_prefault.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include "capture/samples/stack_size.h"
#include "proc/maps.h"
#include "test.h"

#define PAGES 32

/* Returns whether a page of this process is present. */
static bool is_present(uint64_t page, size_t page_size)
{
	uint64_t entry = 0;
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(pread(fd, &entry, 8, (off_t)(page / page_size * 8)), 8);
	close(fd);
	return entry >> 63;
}

/* PAGES of it, the caller's to unmap. */
static uint8_t *untouched_memory(size_t page_size)
{
	uint8_t *memory = mmap(NULL, PAGES * page_size, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	ck_assert_ptr_ne(memory, MAP_FAILED);
	madvise(memory, PAGES * page_size, MADV_NOHUGEPAGE);
	return memory;
}

TEST(unused_pages_are_present_afterwards)
{
	struct stack_prefault stack_prefault;
	stack_prefault_init(&stack_prefault, NULL);
	size_t size = stack_prefault.page_size;
	uint8_t *memory = untouched_memory(size);
	uint64_t base = (uint64_t)(uintptr_t)memory;
	/* A stack with its pointer in page 20. Pages 20 and 22 are present; 21 is not. */
	memory[20 * size] = memory[22 * size] = 1;
	struct prefault_stack stack = {.pid = (uint32_t)getpid(), .sp = base + 20 * size + 64,
				       .good = (uint32_t)size - 64, .asked = 8192,
				       .time_ns = 1000000000};
	ck_assert(!is_present(base + 21 * size, size));
	ck_assert(stack_prefault_page(&stack_prefault, &stack));
	if (stack_prefault.refused) {
		munmap(memory, PAGES * size);
		skip_test("memory of processes may not be read");
	}
	ck_assert(is_present(base + 21 * size, size));
	/* Nor shall deeper calls lack any, nor larger copies. */
	ck_assert(is_present(base + 19 * size, size) && is_present(base + size, size));
	ck_assert(is_present(base + 31 * size, size));
	/* Not again at once, but later. */
	ck_assert(!stack_prefault_page(&stack_prefault, &stack));
	stack.time_ns += 100000000;
	ck_assert(stack_prefault_page(&stack_prefault, &stack));
	/* A whole copy lacks nothing. */
	stack.good = stack.asked;
	stack.time_ns += 100000000;
	ck_assert(!stack_prefault_page(&stack_prefault, &stack));
	ck_assert_uint_eq(stack_prefault.prefaulted, 2);
	munmap(memory, PAGES * size);
}

/* Memory below the stack belongs to another mapping: reading there makes the kernel warn. */
TEST(nothing_below_the_stack_is_touched)
{
	struct stack_prefault stack_prefault;
	stack_prefault_init(&stack_prefault, NULL);
	size_t size = stack_prefault.page_size;
	uint8_t *memory = untouched_memory(size);
	ck_assert_int_eq(mprotect(memory, 10 * size, PROT_READ), 0);
	uint64_t base = (uint64_t)(uintptr_t)memory, start = 0;
	memory[20 * size] = 1;
	int errnum = maps_start_of((uint32_t)getpid(), base + 20 * size + 64, &start);
	struct prefault_stack stack = {.pid = (uint32_t)getpid(), .sp = base + 20 * size + 64,
				       .good = (uint32_t)size - 64, .asked = 8192,
				       .time_ns = 1000000000};
	ck_assert(stack_prefault_page(&stack_prefault, &stack));
	if (!errnum && !stack_prefault.refused) {
		ck_assert_uint_eq(start, base + 10 * size);
		ck_assert(is_present(base + 10 * size, size));
		ck_assert(!is_present(base + 9 * size, size));
	} else if (!stack_prefault.refused) {
		ck_assert_int_eq(errnum, ENOTTY); /* Linux before 6.11 */
	}
	ck_assert_int_ne(maps_start_of((uint32_t)getpid(), 0, &start), 0);
	munmap(memory, PAGES * size);
}

TEST(not_too_many_are_touched)
{
	struct stack_prefault stack_prefault;
	stack_prefault_init(&stack_prefault, NULL);
	size_t tried = 0;
	struct prefault_stack stack = {.pid = UINT32_MAX >> 1, .good = 0, .asked = 8192, .time_ns = 5};
	for (stack.sp = 1 << 20; stack.sp < 512 << 20; stack.sp += 1 << 20)
		tried += stack_prefault_page(&stack_prefault, &stack);
	ck_assert_uint_eq(tried, 50);
	stack.time_ns += 1000000000;
	ck_assert(stack_prefault_page(&stack_prefault, &stack));
}

TEST(the_size_that_would_do_is_known_of_stacks)
{
	struct sp_ctx *ctx;
	ok_or_fail(sp_ctx_new(&ctx));
	size_t size = 1 << 20;
	uint8_t *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t top = 0, middle = (uint64_t)(uintptr_t)memory + size / 2;
	struct stack_sizes sizes = {.ctx = ctx}, sum = {0};
	uint32_t pid = (uint32_t)getpid();
	stack_sizes_on_cut(&sizes, pid, 7, middle, 1000000000);
	top = sizes.places[0].high;
	for (size_t i = 0; i < STACK_SIZE_PLACES; i++)
		if (sizes.places[i].tid == 7)
			top = sizes.places[i].high;
	ck_assert_uint_ge(top, (uint64_t)(uintptr_t)memory + size);
	ck_assert_uint_eq(stack_sizes_enough(&sizes), UINT32_MAX);
	for (int i = 0; i < 1000; i++)
		stack_sizes_on_cut(&sizes, pid, 7, top - 20000, 1000000001);
	stack_sizes_add(&sum, &sizes);
	ck_assert_uint_eq(sum.cut, 1001);
	ck_assert_uint_eq(stack_sizes_enough(&sum), 20 * 1024);
	ck_assert_uint_eq(stack_sizes_enough(&(struct stack_sizes){0}), 0);
	munmap(memory, size);
	sp_ctx_free(ctx);
}

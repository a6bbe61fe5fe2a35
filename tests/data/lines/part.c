/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Code for tests/cli/test_sources.sh: C, with a nested function where the compiler has those. */
#include <stdio.h>

int assembled(int x);
int part(int n), hot(int n), nesting(int n, const int *numbers);
void rare(const char *text);

static inline __attribute__((always_inline)) int square(int x)
{
	return x * x + 1;
}

static inline __attribute__((always_inline)) int squares(int x)
{
	int sum = 0;
	for (int i = 0; i < x; i++)
		sum += square(i) ^ x;
	return sum;
}

__attribute__((noinline, cold)) void rare(const char *text)
{
	puts(text);
	puts("again");
}

__attribute__((noinline)) int nesting(int n, const int *numbers)
{
#ifndef __clang__
	__attribute__((noinline)) int nested(int k)
	{
		return k + n * squares(k);
	}
#else
#define nested(k) ((k) + n * squares(k))
#endif
	int sum = 0;
	for (int i = 0; i < n; i++)
		sum += nested(numbers[i]);
	return sum;
}

__attribute__((noinline)) int hot(int n)
{
	int sum = 0;
	for (int i = 0; i < n; i++) {
		if (__builtin_expect(sum < 0, 0)) {
			rare("negative");
			sum = squares(n);
		}
		sum += squares(i);
	}
	return sum;
}

int part(int n)
{
	int numbers[] = {n, 2, 3, 4};
	return nesting(n > 4 ? 4 : n, numbers) + hot(n) + assembled(n);
}

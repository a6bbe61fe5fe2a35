/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of functions in generated code. */
#include "frames/generated.h"

#include <stdlib.h>
#include "test.h"

static void is_named(const char *symbol, const char *wanted)
{
	char *name = generated_function(symbol);
	ck_assert_ptr_nonnull(name);
	ck_assert_str_eq(name, wanted);
	free(name);
}

TEST(v8_levels_are_removed)
{
	is_named("JS:*fib /app/fib.js:1:13", "fib /app/fib.js:1:13");
	is_named("JS:~fib /app/fib.js:1:13", "fib /app/fib.js:1:13");
	is_named("JS:^fib /app/fib.js:1:13", "fib /app/fib.js:1:13");
	is_named("JS:+fib /app/fib.js:1:13", "fib /app/fib.js:1:13");
	is_named("JS:fib /app/fib.js:1:13", "fib /app/fib.js:1:13");
	is_named("LazyCompile:*fib fib.js:1", "fib fib.js:1");
	is_named("Function:~fib fib.js:1", "fib fib.js:1");
	is_named("InterpretedFunction:fib fib.js:1", "fib fib.js:1");
	is_named("JS:* /app/fib.js:3:2", "(anonymous) /app/fib.js:3:2");
}

TEST(v8_kinds_that_are_no_function_stay)
{
	is_named("Script:~ /app/fib.js:1:1", "Script:(anonymous) /app/fib.js:1:1");
	is_named("Eval:*e", "Eval:e");
	is_named("RegExp:^a*b", "RegExp:^a*b");
	is_named("Builtin:ArrayMap", "Builtin:ArrayMap");
}

TEST(optimized_code_may_inline)
{
	static const char *const inlines[] = {
		"JS:*fib /app/fib.js:1:13", "LazyCompile:*fib fib.js:1", "Eval:*e",
		"void Spin.run(int)", "java.util.ArrayList.sort(java.util.Comparator)",
	};
	static const char *const plain[] = {
		"JS:~fib /app/fib.js:1:13", "JS:^fib /app/fib.js:1:13", "JS:fib /app/fib.js:1:13",
		"Builtin:ArrayMap", "RegExp:^(a)*b", "Interpreter", "StubRoutines (1)",
		"(a)", "",
	};
	for (size_t i = 0; i < count_of(inlines); i++)
		ck_assert_msg(generated_may_inline(inlines[i]), "%s", inlines[i]);
	for (size_t i = 0; i < count_of(plain); i++)
		ck_assert_msg(!generated_may_inline(plain[i]), "%s", plain[i]);
}

TEST(net_levels_are_removed)
{
	is_named("void [app] A::Main()[Tier0]", "void [app] A::Main()");
	is_named("void [app] A::Main()[OptimizedTier1]", "void [app] A::Main()");
	is_named("void [app] A::Main()[OptimizedTier1OSR]", "void [app] A::Main()");
	is_named("void [app] A::Main()[PreJIT]", "void [app] A::Main()");
	is_named("int[] A::Main(string[])", "int[] A::Main(string[])");
	is_named("A[Tier0]::Main()", "A[Tier0]::Main()");
}

TEST(other_names_stay)
{
	is_named("", "");
	is_named("JS:", "JS:");
	is_named("JS:*", "JS:*");
	is_named("JS::Call()", "JS::Call()");
	is_named("Function:fib", "Function:fib");
	is_named("[Tier0]", "[Tier0]");
	is_named("java.util.ArrayList.sort(java.util.Comparator)",
		 "java.util.ArrayList.sort(java.util.Comparator)");
}

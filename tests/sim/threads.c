/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <time.h>
#include "calls.h"

#define THREADS_MAX 1100

/* Calls without any progress of virtual time, beyond which a thread spins. */
#define SPIN_MAX 200000

struct thread {
	pthread_t handle;
	sem_t go;                    /* it has the baton */
	bool used, ended, joined, blocked;
	bool (*ready)(void *arg);
	void *arg;
	uint64_t until_ns;
	void *(*run)(void *arg);
	void *run_arg, *result;
};

static struct {
	struct thread items[THREADS_MAX];
	unsigned int count, current;
	uint64_t spin_ns, spins;
} threads;

void sim_threads_begin(void)
{
	threads.count = 1;
	threads.current = 0;
	threads.items[0] = (struct thread){.used = true, .handle = pthread_self()};
	sem_init(&threads.items[0].go, 0, 0);
}

unsigned int sim_thread_index(void)
{
	return threads.current;
}

size_t sim_threads_alive(void)
{
	size_t alive = 0;
	for (unsigned int i = 0; i < threads.count; i++)
		alive += threads.items[i].used && !threads.items[i].joined;
	return alive;
}

static bool can_run(const struct thread *thread)
{
	if (!thread->used || thread->ended)
		return false;
	if (!thread->blocked || thread->until_ns <= sim.now_ns)
		return true;
	return thread->ready && thread->ready(thread->arg);
}

/* The next thread; advances the clock until one can run. */
static unsigned int choose(void)
{
	unsigned int candidates[THREADS_MAX];
	for (;;) {
		unsigned int count = 0;
		uint64_t next_ns = sim_next_ns();
		for (unsigned int i = 0; i < threads.count; i++) {
			const struct thread *thread = &threads.items[i];
			if (can_run(thread))
				candidates[count++] = i;
			else if (thread->used && !thread->ended && thread->until_ns < next_ns)
				next_ns = thread->until_ns;
		}
		if (count)
			return candidates[count > 1 ? sim_random(SIM_SCHEDULE, count) : 0];
		if (next_ns == UINT64_MAX)
			sim_fatal("deadlock: all threads wait, and nothing will happen");
		sim_advance(next_ns > sim.now_ns ? next_ns : sim.now_ns);
	}
}

static void pass(unsigned int next, unsigned int self)
{
	threads.current = next;
	if (next == self)
		return;
	sem_post(&threads.items[next].go);
	if (threads.items[self].ended)
		return;
	while (sem_wait(&threads.items[self].go) < 0 && errno == EINTR)
		;
}

void sim_yield(void)
{
	unsigned int self = threads.current;
	if (threads.count > 1 && sim_chance(SIM_SCHEDULE, 30))
		pass(choose(), self);
}

bool sim_wait(bool (*ready)(void *arg), void *arg, uint64_t until_ns)
{
	struct thread *self = &threads.items[threads.current];
	self->ready = ready;
	self->arg = arg;
	self->until_ns = until_ns;
	self->blocked = true;
	pass(choose(), (unsigned int)(self - threads.items));
	self->blocked = false;
	self->until_ns = UINT64_MAX;
	return ready && ready(arg);
}

void sim_sleep(uint64_t ns)
{
	sim_wait(NULL, NULL, sim.now_ns + ns);
}

void sim_note_progress(void)
{
	if (sim.now_ns >= threads.spin_ns + SIM_MS) {
		threads.spin_ns = sim.now_ns;
		threads.spins = 0;
	}
	if (++threads.spins > SPIN_MAX)
		sim_fatal("spin: %d calls within 1 ms of virtual time", SPIN_MAX);
}

static void *trampoline(void *arg)
{
	struct thread *self = arg;
	while (sem_wait(&self->go) < 0 && errno == EINTR)
		;
	self->result = self->run(self->run_arg);
	self->ended = true;
	pass(choose(), (unsigned int)(self - threads.items));
	return self->result;
}

int __wrap_pthread_create(pthread_t *handle, const pthread_attr_t *attr, void *(*run)(void *),
			  void *arg)
{
	static const int errnos[] = {EAGAIN, 0};
	if (!sim_inside())
		return __real_pthread_create(handle, attr, run, arg);
	int errnum = sim_enter("pthread_create", errnos);
	if (errnum)
		return errnum;
	unsigned int index = 0;
	while (index < threads.count && threads.items[index].used)
		index++;
	if (index == THREADS_MAX)
		sim_fatal("too many threads");
	struct thread *thread = &threads.items[index];
	*thread = (struct thread){.used = true, .run = run, .run_arg = arg, .until_ns = UINT64_MAX};
	sem_init(&thread->go, 0, 0);
	if (index == threads.count)
		threads.count++;
	errnum = __real_pthread_create(&thread->handle, attr, trampoline, thread);
	if (errnum)
		sim_fatal("this machine cannot make a thread");
	*handle = thread->handle;
	return 0;
}

static bool has_ended(void *arg)
{
	return ((struct thread *)arg)->ended;
}

int __wrap_pthread_join(pthread_t handle, void **result_ret)
{
	if (!sim_inside())
		return __real_pthread_join(handle, result_ret);
	sim_enter("pthread_join", NULL);
	for (unsigned int i = 0; i < threads.count; i++) {
		struct thread *thread = &threads.items[i];
		if (!thread->used || !pthread_equal(thread->handle, handle))
			continue;
		if (!thread->ended)
			sim_wait(has_ended, thread, UINT64_MAX);
		thread->joined = true;
		thread->used = false;
		sem_destroy(&thread->go);
		return __real_pthread_join(handle, result_ret);
	}
	sim_violation("pthread_join of an unknown thread");
	return ESRCH;
}

/* Counts unlocks: each lets the threads that wait for a lock try again. */
static uint64_t unlocks;

static bool was_unlocked(void *arg)
{
	return *(uint64_t *)arg != unlocks;
}

static int acquire(void *lock, int (*attempt)(void *lock), const char *name)
{
	sim_enter(name, NULL);
	for (;;) {
		uint64_t seen = unlocks;
		if (!attempt(lock))
			return 0;
		sim_wait(was_unlocked, &seen, UINT64_MAX);
	}
}

static int try_mutex(void *lock)
{
	return pthread_mutex_trylock(lock);
}

static int try_read(void *lock)
{
	return pthread_rwlock_tryrdlock(lock);
}

static int try_write(void *lock)
{
	return pthread_rwlock_trywrlock(lock);
}

int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex)
{
	return sim_inside() ? acquire(mutex, try_mutex, "pthread_mutex_lock")
			    : __real_pthread_mutex_lock(mutex);
}

int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex)
{
	int errnum = __real_pthread_mutex_unlock(mutex);
	unlocks++;
	if (sim_inside())
		sim_enter("pthread_mutex_unlock", NULL);
	return errnum;
}

int __wrap_pthread_rwlock_unlock(pthread_rwlock_t *lock)
{
	int errnum = __real_pthread_rwlock_unlock(lock);
	unlocks++;
	if (sim_inside())
		sim_enter("pthread_rwlock_unlock", NULL);
	return errnum;
}

int __wrap_pthread_rwlock_rdlock(pthread_rwlock_t *lock)
{
	return sim_inside() ? acquire(lock, try_read, "pthread_rwlock_rdlock")
			    : __real_pthread_rwlock_rdlock(lock);
}

int __wrap_pthread_rwlock_wrlock(pthread_rwlock_t *lock)
{
	return sim_inside() ? acquire(lock, try_write, "pthread_rwlock_wrlock")
			    : __real_pthread_rwlock_wrlock(lock);
}

/* Waiters of a condition; a signal wakes one of them, chosen by the generator. */
struct condition_wait {
	const pthread_cond_t *condition;
	bool signalled;
	struct condition_wait *next;
};

static struct condition_wait *waiters;

static bool was_signalled(void *arg)
{
	return ((struct condition_wait *)arg)->signalled;
}

static void remove_waiter(struct condition_wait *wait)
{
	struct condition_wait **at = &waiters;
	while (*at != wait)
		at = &(*at)->next;
	*at = wait->next;
}

static int wait_for(pthread_cond_t *condition, pthread_mutex_t *mutex, uint64_t until_ns)
{
	sim_enter("pthread_cond_wait", NULL);
	struct condition_wait wait = {condition, false, waiters};
	waiters = &wait;
	__real_pthread_mutex_unlock(mutex);
	unlocks++;
	/* A wake-up without a signal is allowed: now and then there is one. */
	if (sim_chance(SIM_SCHEDULE, 2))
		until_ns = sim.now_ns + 1;
	bool signalled = sim_wait(was_signalled, &wait, until_ns);
	remove_waiter(&wait);
	acquire(mutex, try_mutex, "pthread_cond_wait");
	return signalled || until_ns == UINT64_MAX ? 0 : ETIMEDOUT;
}

int __wrap_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
	if (!sim_inside())
		return __real_pthread_cond_wait(condition, mutex);
	wait_for(condition, mutex, UINT64_MAX);
	return 0;
}

static int wake(pthread_cond_t *condition, bool all)
{
	unsigned int count = 0;
	for (const struct condition_wait *wait = waiters; wait; wait = wait->next)
		count += wait->condition == condition && !wait->signalled;
	uint64_t chosen = count ? sim_random(SIM_SCHEDULE, count) : 0;
	for (struct condition_wait *wait = waiters; wait; wait = wait->next)
		if (wait->condition == condition && !wait->signalled && (chosen-- == 0 || all))
			wait->signalled = true;
	return sim_enter("pthread_cond_signal", NULL);
}

int __wrap_pthread_cond_signal(pthread_cond_t *condition)
{
	return sim_inside() ? wake(condition, false) : __real_pthread_cond_signal(condition);
}

int __wrap_pthread_cond_broadcast(pthread_cond_t *condition)
{
	return sim_inside() ? wake(condition, true) : __real_pthread_cond_broadcast(condition);
}

int __wrap_pthread_getcpuclockid(pthread_t thread, clockid_t *ret)
{
	if (!sim_inside())
		return __real_pthread_getcpuclockid(thread, ret);
	*ret = CLOCK_THREAD_CPUTIME_ID;
	return sim_enter("pthread_getcpuclockid", NULL);
}

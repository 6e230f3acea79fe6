// SPDX-License-Identifier: GPL-2.0
/*
 * Drivers of a socket: threads that receive packets and run the engine. A thread
 * that waits in sendmsg() or recvmsg() drives, so a packet passes no other thread
 * on its way to it. If no thread waits, a worker drives. The lock serialises
 * drivers.
 *
 * Packets and the timer kick: they set TRIB_SOCK_PENDING, then wake the waiting
 * threads or queue the work. A thread that stops waiting checks the bit afterwards,
 * so no kick is lost. Cells kick only if they were armed, which each driver does before it
 * rests.
 */
#include <linux/memcontrol.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>

#include "compat/compat.h"
#include "io.h"

/* Trains that one turn receives before it releases the lock. */
#define BUDGET 64

static struct workqueue_struct *queue;

/* Make a driver see the bit that is set. */
static void pass_on(struct trib_sock *ts)
{
	if (atomic_read(&ts->drivers))
		wake_up_interruptible(&ts->wait);
	else
		queue_work(queue, &ts->work);
}

/*
 * If the bit was set, a turn is due already; it clears the bit before it receives
 * packets. test_and_set_bit() is also the barrier against trib_work_wait(), which
 * stops waiting before it checks the bit.
 */
void trib_work_kick(struct trib_sock *ts)
{
	if (!test_and_set_bit(TRIB_SOCK_PENDING, &ts->flags))
		pass_on(ts);
}

/* Schedule another turn. */
static void go_on(struct trib_sock *ts)
{
	set_bit(TRIB_SOCK_PENDING, &ts->flags);
	smp_mb__after_atomic();
	pass_on(ts);
}

static enum hrtimer_restart timer_fired(struct hrtimer *timer)
{
	trib_work_kick(container_of(timer, struct trib_sock, timer));
	return HRTIMER_NORESTART;
}

/* Arm the timer. It may fire early, which costs a turn, but never late. */
static void arm(struct trib_sock *ts)
{
	u64 due = trib_state_deadline(ts);

	if (!due || (ts->due > ts->eng.now && ts->due <= due))
		return;
	ts->due = due;
	hrtimer_start(&ts->timer, ns_to_ktime(due), HRTIMER_MODE_ABS);
}

void trib_work_tell(struct trib_sock *ts)
{
	struct sock *sk = trib_sock_sk(ts);
	u32 wake = ts->wake;

	if (!wake)
		return;
	ts->wake = 0;
	WRITE_ONCE(ts->told, ts->told + 1);
	if (wake & TRIB_WAKE_STATE)
		sk->sk_state_change(sk);
	if (wake & TRIB_WAKE_READ)
		sk->sk_data_ready(sk);
	if (wake & (TRIB_WAKE_WRITE | TRIB_WAKE_STATE))
		sk->sk_write_space(sk);
	/* Wake other waiting threads: this turn may have changed the state. */
	if (atomic_read(&ts->drivers))
		wake_up_interruptible(&ts->wait);
}

/* Return: true if more packets may be queued. */
static bool turn(struct trib_sock *ts)
{
	bool more;

	if (!trib_sock_is_bound(ts))
		return false;
	clear_bit(TRIB_SOCK_PENDING, &ts->flags);
	smp_mb__after_atomic();
	ts->eng.now = ktime_get_ns();
	more = trib_io_recv(ts, BUDGET);
	trib_cells_recv(ts);
	trib_state_turn(ts);
	arm(ts);
	trib_work_tell(ts);
	return more;
}

void trib_work_turn(struct trib_sock *ts)
{
	if (turn(ts) || !trib_cells_may_sleep(ts))
		go_on(ts);
}

static void work(struct work_struct *w)
{
	struct trib_sock *ts = container_of(w, struct trib_sock, work);
	struct mem_cgroup *old = set_active_memcg(ts->memcg);

	mutex_lock(&ts->lock);
	trib_work_turn(ts);
	mutex_unlock(&ts->lock);
	set_active_memcg(old);
}

/* Sleep until a kick, a change of ts->told from @told, or a signal. */
static long sleep(struct trib_sock *ts, u32 told, long timeo)
{
	DEFINE_WAIT(wait);

	prepare_to_wait(&ts->wait, &wait, TASK_INTERRUPTIBLE);
	if (!test_bit(TRIB_SOCK_PENDING, &ts->flags) && READ_ONCE(ts->told) == told &&
	    !signal_pending(current))
		timeo = schedule_timeout(timeo);
	finish_wait(&ts->wait, &wait);
	return timeo;
}

int trib_work_wait(struct trib_sock *ts, trib_ready_fn *ready, const void *arg, long timeo)
{
	bool more;
	u32 told;
	int rc = 0;

	atomic_inc(&ts->drivers);
	for (;;) {
		more = turn(ts);
		if (ready(ts, arg))
			break;
		if (!timeo) {
			rc = -EAGAIN;
			break;
		}
		if (signal_pending(current)) {
			rc = sock_intr_errno(timeo);
			break;
		}
		told = ts->told;
		/* While results come, arming costs more than another turn. */
		more = more || trib_cells_busy(ts) || !trib_cells_may_sleep(ts);
		mutex_unlock(&ts->lock);
		if (more)
			cond_resched();
		else
			timeo = sleep(ts, told, timeo);
		mutex_lock(&ts->lock);
	}
	atomic_dec(&ts->drivers);
	/* Pairs with the barrier in trib_work_kick(). */
	smp_mb__after_atomic();
	if (more || !trib_cells_may_sleep(ts) || test_bit(TRIB_SOCK_PENDING, &ts->flags))
		go_on(ts);
	return rc;
}

void trib_work_setup(struct trib_sock *ts)
{
	INIT_WORK(&ts->work, work);
	init_waitqueue_head(&ts->wait);
	trib_hrtimer_setup(&ts->timer, timer_fired, CLOCK_MONOTONIC, HRTIMER_MODE_ABS);
}

void trib_work_stop(struct trib_sock *ts)
{
	hrtimer_cancel(&ts->timer);
	cancel_work_sync(&ts->work);
}

int trib_work_init(void)
{
	/*
	 * Any user may have many sockets. So workers have no higher priority than others'
	 * threads, and are no more than CPUs.
	 */
	queue = alloc_workqueue("trib", WQ_UNBOUND, num_online_cpus());
	return queue ? 0 : -ENOMEM;
}

void trib_work_exit(void)
{
	destroy_workqueue(queue);
}

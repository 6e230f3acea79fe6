// SPDX-License-Identifier: BSD-2-Clause
/*
 * Linear programs and the child process that solves them: answers, warm starts,
 * and death of the child.
 */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <sys/wait.h>

#include "tests/lib/tap.h"
#include "plan/lp/lp.h"

#define near(a, b) (fabs((a) - (b)) < 1e-6)

static struct lp_solver solver;

/* Minimise -x - 2y; x + y <= 4, y <= 3: 7 at (1, 3). */
static struct lp *example(void)
{
	struct lp *lp = lp_new(&solver);
	int both = lp_add_row(lp, -INFINITY, 4), second = lp_add_row(lp, -INFINITY, 3);

	lp_add_col(lp, -1, 0, INFINITY, 1, &both, (double[]){1});
	lp_add_col(lp, -2, 0, INFINITY, 2, (int[]){both, second}, (double[]){1, 1});
	return lp;
}

static void lp__finds_optimum_and_duals(void)
{
	struct lp *lp = example();

	expect_eq(lp_solve(lp), 0);
	expect(near(lp->obj, -7));
	expect(near(lp->x[0], 1) && near(lp->x[1], 3));
	expect(near(lp->y[0], -1) && near(lp->y[1], -1));
	lp_free(lp);
}

static void lp__goes_on_from_its_basis(void)
{
	struct lp *lp = example();
	int row = 0;

	expect_eq(lp_solve(lp), 0);
	lp_add_col(lp, -3, 0, INFINITY, 1, &row, (double[]){1});
	expect_eq(lp_solve(lp), 0);
	expect(near(lp->obj, -12));
	row = lp_add_row(lp, -INFINITY, 2);
	lp_add_col(lp, -5, 0, INFINITY, 1, &row, (double[]){1});
	expect_eq(lp_solve(lp), 0);
	expect(near(lp->obj, -22));
	lp_free(lp);
}

static void lp__changes_are_seen(void)
{
	struct lp *lp = example();

	expect_eq(lp_solve(lp), 0);
	lp_set_row(lp, 0, -INFINITY, 10);
	expect_eq(lp_solve(lp), 0);
	expect(near(lp->obj, -13));
	lp_set_cost(lp, 0, 1);
	expect_eq(lp_solve(lp), 0);
	expect(near(lp->obj, -6));
	lp_set_value(lp, 1, 1, 3);
	expect_eq(lp_solve(lp), 0);
	expect(near(lp->obj, -2));
	lp_free(lp);
}

static void lp__without_solution_is_told(void)
{
	struct lp *lp = example();

	lp_set_row(lp, 0, 9, 4);
	expect_eq(lp_solve(lp), -EDOM);
	lp_free(lp);
}

/* The child is killed between two solves: the next one gets everything. */
static void solver__death_is_survived(void)
{
	struct lp *lp = example(), *other = example();
	unsigned long deaths = solver.deaths;
	int row = 0;

	expect_eq(lp_solve(lp), 0);
	expect_eq(lp_solve(other), 0);
	kill(solver.pid, SIGKILL);
	waitid(P_PID, (id_t)solver.pid, &(siginfo_t){0}, WEXITED | WNOWAIT);
	lp_add_col(lp, -3, 0, INFINITY, 1, &row, (double[]){1});
	expect_eq(lp_solve(lp), 0);
	expect(near(lp->obj, -12));
	expect(solver.deaths > deaths);
	expect_eq(lp_solve(other), 0);
	expect(near(other->obj, -7));
	lp_free(lp);
	lp_free(other);
}

/* If all children die, the result is an error, not an endless loop. */
static void solver__that_always_dies_is_an_error(void)
{
	struct lp *lp = example();
	int bad = 99;

	/* A row that does not exist makes CLP abort. */
	lp_add_col(lp, -1, 0, INFINITY, 1, &bad, (double[]){1});
	expect(lp_solve(lp) < 0);
	lp_free(lp);
	lp = example();
	expect_eq(lp_solve(lp), 0);
	lp_free(lp);
}

static void solver__leaves_no_process(void)
{
	struct lp *lp = example();
	pid_t pid;

	expect_eq(lp_solve(lp), 0);
	lp_free(lp);
	pid = solver.pid;
	lp_solver_close(&solver);
	expect_eq(kill(pid, 0), -1);
	expect_eq(errno, ESRCH);
}

int main(void)
{
	run(lp__finds_optimum_and_duals);
	run(lp__goes_on_from_its_basis);
	run(lp__changes_are_seen);
	run(lp__without_solution_is_told);
	run(solver__death_is_survived);
	run(solver__that_always_dies_is_an_error);
	run(solver__leaves_no_process);
	return tap_done();
}

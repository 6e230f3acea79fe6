/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Linear programs: minimise, with bounds on rows and columns. They live here;
 * a child process (lp_child.c) solves copies of them, keeps its basis between
 * calls, and may die: then a new one gets the whole program and tries another
 * method.
 */
#ifndef TRIB_PLAN_LP_H
#define TRIB_PLAN_LP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/**
 * struct lp_solver - the child process
 * @pid: 0: there is none; it starts with the first solve.
 * @life: counts children, so that programs know what theirs still has.
 * @solves, @deaths: for reports and tests.
 */
struct lp_solver {
	pid_t pid;
	int fd;
	unsigned int life;
	uint32_t next_id;
	unsigned long solves, deaths;
};

/**
 * struct lp - a program; columns are kept by column
 * @x, @y: values of columns and duals of rows after lp_solve(): minimising,
 *         so <= rows have duals <= 0. @obj: the objective.
 * @life, @sent_rows, @sent_cols: what the child of that life has of it.
 */
struct lp {
	struct lp_solver *solver;
	uint32_t id;
	int nrow, ncol, nnz;
	int row_room, col_room, nnz_room;
	double *row_lo, *row_up;
	double *cost, *col_lo, *col_up;
	int *start; /* ncol + 1 of them */
	int *row;
	double *val;
	double *x, *y;
	double obj;
	unsigned int life;
	int sent_rows, sent_cols;
};

void lp_solver_close(struct lp_solver *s);

struct lp *lp_new(struct lp_solver *s);
void lp_free(struct lp *lp);
/* Number of the new row or column, or -ENOMEM. */
int lp_add_row(struct lp *lp, double lo, double up);
int lp_add_col(struct lp *lp, double cost, double lo, double up, int n,
	       const int *row, const double *val);
/* Change what is there; the next solve starts from scratch. */
void lp_set_row(struct lp *lp, int row, double lo, double up);
void lp_set_cost(struct lp *lp, int col, double cost);
void lp_set_value(struct lp *lp, int col, int row, double val);

/* 0, -ENOMEM, -EDOM (no optimum), or -EIO (the solver died each time). */
int lp_solve(struct lp *lp);

/* How to solve; later ones are tried when earlier ones fail. */
enum lp_method {
	LP_WARM, /* primal, from the basis of the last time */
	LP_COLD, /* whatever CLP's presolve and heuristics choose */
	LP_DUAL,
	LP_BARRIER,
	LP__METHODS,
};

/* What goes to the child ahead of the arrays, and what comes back. */
struct lp_ask {
	uint32_t id;
	uint32_t method;
	uint32_t fresh;		 /* forget what you had by this id */
	uint32_t drop;		 /* and that is all */
	int32_t nrow, ncol, nnz; /* new ones */
};

struct lp_answer {
	int32_t status; /* of CLP: 0 is optimal */
	int32_t nrow, ncol;
	int32_t rsvd;
	double obj;
};

/* Whole buffers; 0 or -EIO. */
int lp_send(int fd, const void *buf, size_t len);
int lp_recv(int fd, void *buf, size_t len);

/* lp_child.c: serves until the socket closes. Does not return. */
void lp_child(int fd) __attribute__((noreturn));

#endif /* TRIB_PLAN_LP_H */

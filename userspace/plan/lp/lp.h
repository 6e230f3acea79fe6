/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Linear programs: minimise, with bounds on rows and columns. A child process
 * (lp_child.c) solves a copy and keeps its basis between calls. If the child
 * dies, a new child gets the whole program and tries another method.
 */
#ifndef TRIB_PLAN_LP_H
#define TRIB_PLAN_LP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/**
 * struct lp_solver - the child process
 * @pid:  0: not running; the first solve starts it.
 * @life: number of the child, so that programs know what it has.
 * @solves, @deaths: counters for reports and tests.
 */
struct lp_solver {
	pid_t pid;
	int fd;
	unsigned int life;
	uint32_t next_id;
	unsigned long solves, deaths;
};

/**
 * struct lp - a program, stored by column
 * @start, @row, @val: entries of column c are start[c] to start[c + 1] - 1.
 * @x, @y: values of columns and duals of rows after lp_solve(). Duals of <=
 *         rows are <= 0, because the program minimises.
 * @obj:   the objective.
 * @life, @sent_rows, @sent_cols: the part that child number @life has.
 */
struct lp {
	struct lp_solver *solver;
	uint32_t id;
	int nrow, ncol, nnz;
	int row_room, col_room, nnz_room;
	double *row_lo, *row_up;
	double *cost, *col_lo, *col_up;
	int *start;
	int *row;
	double *val;
	double *x, *y;
	double obj;
	unsigned int life;
	int sent_rows, sent_cols;
};

/* End the child process. A later solve starts another. */
void lp_solver_close(struct lp_solver *s);

/* NULL: no memory. @s must outlive the program. */
struct lp *lp_new(struct lp_solver *s);
void lp_free(struct lp *lp);
/* Add a row or column; its number, or -ENOMEM. */
int lp_add_row(struct lp *lp, double lo, double up);
int lp_add_col(struct lp *lp, double cost, double lo, double up, int n, const int *row,
	       const double *val);
/* Change a row or column. The next solve starts without a basis. */
void lp_set_row(struct lp *lp, int row, double lo, double up);
void lp_set_cost(struct lp *lp, int col, double cost);
void lp_set_value(struct lp *lp, int col, int row, double val);

/* 0, -ENOMEM, -EDOM (no optimum), or -EIO (all children died). */
int lp_solve(struct lp *lp);

/* Methods, in the order in which they are tried. */
enum lp_method {
	LP_WARM, /* primal, from the last basis */
	LP_COLD, /* CLP's presolve and heuristics choose */
	LP_DUAL,
	LP_BARRIER,
	LP__METHODS,
};

/* Header of a request; the arrays of new rows and columns follow. */
struct lp_ask {
	uint32_t id;
	uint32_t method;
	uint32_t fresh;		 /* forget the program with this id first */
	uint32_t drop;		 /* forget it and do not solve */
	int32_t nrow, ncol, nnz; /* of the news */
};

/* Header of an answer; x and y follow. */
struct lp_answer {
	int32_t status; /* CLP's: 0 is optimal */
	int32_t nrow, ncol;
	int32_t rsvd;
	double obj;
};

/* Send or receive a whole buffer; 0 or -EIO. */
int lp_send(int fd, const void *buf, size_t len);
int lp_recv(int fd, void *buf, size_t len);

/* lp_child.c: Serve requests until the socket closes. Does not return. */
void lp_child(int fd) __attribute__((noreturn));

#endif /* TRIB_PLAN_LP_H */

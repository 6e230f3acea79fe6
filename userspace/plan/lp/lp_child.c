// SPDX-License-Identifier: BSD-2-Clause
/*
 * The child process that runs CLP. CLP 1.17.6 aborts on some programs if dual
 * or primal start without a basis. Clp_initialSolve and primal from a basis do
 * not abort, so they are tried first.
 */
#include <stdlib.h>
#include <unistd.h>
#include <coin/Clp_C_Interface.h>

#include "lp.h"

#define MODELS 64

struct model {
	uint32_t id;
	Clp_Simplex *clp;
};

static struct model models[MODELS];

static void forget(uint32_t id)
{
	int i;

	for (i = 0; i < MODELS; i++)
		if (models[i].clp && models[i].id == id) {
			Clp_deleteModel(models[i].clp);
			models[i].clp = NULL;
		}
}

static Clp_Simplex *find(uint32_t id)
{
	int i, unused = -1;

	for (i = 0; i < MODELS; i++) {
		if (models[i].clp && models[i].id == id)
			return models[i].clp;
		if (!models[i].clp)
			unused = i;
	}
	if (unused < 0)
		_exit(1);
	models[unused].id = id;
	models[unused].clp = Clp_newModel();
	Clp_setLogLevel(models[unused].clp, 0);
	/* Our programs are scaled already; scaling is half of a small solve. */
	Clp_scaling(models[unused].clp, 0);
	return models[unused].clp;
}

/* Receive an array; the caller frees it. */
static void *receive(int fd, int n, size_t size)
{
	void *p = malloc((size_t)n * size + 1);

	if (!p || lp_recv(fd, p, (size_t)n * size))
		_exit(1);
	return p;
}

static void add(int fd, Clp_Simplex *clp, const struct lp_ask *ask)
{
	double *row_lo = receive(fd, ask->nrow, sizeof(double));
	double *row_up = receive(fd, ask->nrow, sizeof(double));
	double *cost = receive(fd, ask->ncol, sizeof(double));
	double *col_lo = receive(fd, ask->ncol, sizeof(double));
	double *col_up = receive(fd, ask->ncol, sizeof(double));
	int *start = receive(fd, ask->ncol + 1, sizeof(int));
	int *row = receive(fd, ask->nnz, sizeof(int));
	double *val = receive(fd, ask->nnz, sizeof(double));
	int *none = calloc((size_t)ask->nrow + 1, sizeof(int));

	if (!none)
		_exit(1);
	if (ask->nrow)
		Clp_addRows(clp, ask->nrow, row_lo, row_up, none, row, val);
	if (ask->ncol)
		Clp_addColumns(clp, ask->ncol, col_lo, col_up, cost, start, row, val);
	free(row_lo);
	free(row_up);
	free(cost);
	free(col_lo);
	free(col_up);
	free(start);
	free(row);
	free(val);
	free(none);
}

static int solve(Clp_Simplex *clp, uint32_t method)
{
	switch (method) {
	case LP_WARM:
		Clp_primal(clp, 0);
		break;
	case LP_DUAL:
		Clp_initialDualSolve(clp);
		break;
	case LP_BARRIER:
		Clp_initialBarrierSolve(clp);
		break;
	default:
		Clp_initialSolve(clp);
	}
	return Clp_status(clp);
}

static void answer(int fd, Clp_Simplex *clp, int status)
{
	struct lp_answer a = {
		.status = status,
		.nrow = Clp_getNumRows(clp),
		.ncol = Clp_getNumCols(clp),
		.obj = Clp_getObjValue(clp),
	};

	if (lp_send(fd, &a, sizeof(a)) ||
	    lp_send(fd, Clp_getColSolution(clp), (size_t)a.ncol * sizeof(double)) ||
	    lp_send(fd, Clp_getRowPrice(clp), (size_t)a.nrow * sizeof(double)))
		_exit(0);
}

void lp_child(int fd)
{
	struct lp_ask ask;
	Clp_Simplex *clp;

	while (!lp_recv(fd, &ask, sizeof(ask))) {
		if (ask.fresh || ask.drop)
			forget(ask.id);
		if (ask.drop)
			continue;
		clp = find(ask.id);
		add(fd, clp, &ask);
		answer(fd, clp, solve(clp, ask.method));
	}
	_exit(0);
}

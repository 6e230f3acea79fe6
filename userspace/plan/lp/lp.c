// SPDX-License-Identifier: BSD-2-Clause
/*
 * Builds linear programs and has a child process solve them: see lp.h.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <fcntl.h>
#include <unistd.h>

#include "lp.h"

/* A child that is silent for this long is replaced. */
#define SILENCE_MS 300000

int lp_send(int fd, const void *buf, size_t len)
{
	const char *p = buf;
	ssize_t n;

	while (len) {
		n = send(fd, p, len, MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -EIO;
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

int lp_recv(int fd, void *buf, size_t len)
{
	char *p = buf;
	ssize_t n;

	while (len) {
		n = recv(fd, p, len, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -EIO;
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

/*
 * The child gets no file but its socket, and dies with its parent. Its output
 * goes to /dev/null, because CLP prints when it aborts.
 */
static void child_main(int fd, pid_t parent)
{
	struct rlimit none = {0, 0};
	int null;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	setrlimit(RLIMIT_CORE, &none);
	signal(SIGINT, SIG_IGN);
	signal(SIGABRT, SIG_DFL);
	null = open("/dev/null", O_RDWR);
	if (null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0 || dup2(null, 2) < 0 ||
	    dup2(fd, 3) < 0)
		_exit(1);
	close_range(4, ~0u, 0);
	lp_child(3);
}

static int lp_solver_start(struct lp_solver *s)
{
	pid_t parent = getpid();
	int fd[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd))
		return -errno;
	s->pid = fork();
	if (s->pid < 0) {
		s->pid = 0;
		close(fd[0]);
		close(fd[1]);
		return -EAGAIN;
	}
	if (!s->pid)
		child_main(fd[1], parent);
	close(fd[1]);
	s->fd = fd[0];
	s->life++;
	return 0;
}

void lp_solver_close(struct lp_solver *s)
{
	if (!s->pid)
		return;
	close(s->fd);
	kill(s->pid, SIGKILL);
	while (waitpid(s->pid, NULL, 0) < 0 && errno == EINTR)
		;
	s->pid = 0;
}

struct lp *lp_new(struct lp_solver *s)
{
	struct lp *lp = calloc(1, sizeof(*lp));

	if (!lp)
		return NULL;
	lp->start = calloc(1, sizeof(int));
	if (!lp->start) {
		free(lp);
		return NULL;
	}
	lp->solver = s;
	lp->id = ++s->next_id;
	return lp;
}

void lp_free(struct lp *lp)
{
	struct lp_ask ask = {.drop = 1};

	if (!lp)
		return;
	ask.id = lp->id;
	/* A failure means that the child is dead and has no program left. */
	if (lp->solver->pid && lp->life == lp->solver->life)
		lp_send(lp->solver->fd, &ask, sizeof(ask));
	free(lp->row_lo);
	free(lp->row_up);
	free(lp->cost);
	free(lp->col_lo);
	free(lp->col_up);
	free(lp->start);
	free(lp->row);
	free(lp->val);
	free(lp->x);
	free(lp->y);
	free(lp);
}

static int resize(void *array, int n, size_t size)
{
	void **p = array, *q = realloc(*p, (size_t)n * size);

	if (!q)
		return -ENOMEM;
	*p = q;
	return 0;
}

int lp_add_row(struct lp *lp, double lo, double up)
{
	int room = lp->row_room ? lp->row_room * 2 : 64;

	if (lp->nrow == lp->row_room) {
		if (resize(&lp->row_lo, room, sizeof(double)) ||
		    resize(&lp->row_up, room, sizeof(double)) ||
		    resize(&lp->y, room, sizeof(double)))
			return -ENOMEM;
		lp->row_room = room;
	}
	lp->row_lo[lp->nrow] = lo;
	lp->row_up[lp->nrow] = up;
	lp->y[lp->nrow] = 0;
	return lp->nrow++;
}

int lp_add_col(struct lp *lp, double cost, double lo, double up, int n, const int *row,
	       const double *val)
{
	int room = lp->col_room ? lp->col_room * 2 : 64;

	if (lp->ncol == lp->col_room) {
		if (resize(&lp->cost, room, sizeof(double)) ||
		    resize(&lp->col_lo, room, sizeof(double)) ||
		    resize(&lp->col_up, room, sizeof(double)) ||
		    resize(&lp->x, room, sizeof(double)) ||
		    resize(&lp->start, room + 1, sizeof(int)))
			return -ENOMEM;
		lp->col_room = room;
	}
	if (lp->nnz + n > lp->nnz_room) {
		room = (lp->nnz + n) * 2 + 256;
		if (resize(&lp->row, room, sizeof(int)) || resize(&lp->val, room, sizeof(double)))
			return -ENOMEM;
		lp->nnz_room = room;
	}
	if (n) {
		memcpy(lp->row + lp->nnz, row, (size_t)n * sizeof(int));
		memcpy(lp->val + lp->nnz, val, (size_t)n * sizeof(double));
	}
	lp->nnz += n;
	lp->cost[lp->ncol] = cost;
	lp->col_lo[lp->ncol] = lo;
	lp->col_up[lp->ncol] = up;
	lp->x[lp->ncol] = 0;
	lp->start[lp->ncol + 1] = lp->nnz;
	return lp->ncol++;
}

/* No child has number 0, so the next solve sends everything. */
void lp_set_row(struct lp *lp, int row, double lo, double up)
{
	lp->row_lo[row] = lo;
	lp->row_up[row] = up;
	lp->life = 0;
}

void lp_set_cost(struct lp *lp, int col, double cost)
{
	lp->cost[col] = cost;
	lp->life = 0;
}

void lp_set_value(struct lp *lp, int col, int row, double val)
{
	int i;

	for (i = lp->start[col]; i < lp->start[col + 1]; i++)
		if (lp->row[i] == row)
			lp->val[i] = val;
	lp->life = 0;
}

/* Send the rows and columns that the child does not have. */
static int send_news(struct lp *lp, int method)
{
	int r = lp->sent_rows, c = lp->sent_cols, z, fd = lp->solver->fd, i;
	struct lp_ask ask = {.id = lp->id, .method = (uint32_t)method};
	int *start, err;

	if (lp->life != lp->solver->life) {
		ask.fresh = 1;
		r = c = 0;
	}
	z = lp->start[c];
	ask.nrow = lp->nrow - r;
	ask.ncol = lp->ncol - c;
	ask.nnz = lp->nnz - z;
	start = calloc((size_t)ask.ncol + 1, sizeof(int));
	if (!start)
		return -ENOMEM;
	for (i = 0; i <= ask.ncol; i++)
		start[i] = lp->start[c + i] - z;
	err = lp_send(fd, &ask, sizeof(ask));
#define PUT(p, from, n) (err = err ? err : lp_send(fd, (p) + (from), (size_t)(n) * sizeof(*(p))))
	PUT(lp->row_lo, r, ask.nrow);
	PUT(lp->row_up, r, ask.nrow);
	PUT(lp->cost, c, ask.ncol);
	PUT(lp->col_lo, c, ask.ncol);
	PUT(lp->col_up, c, ask.ncol);
	PUT(start, 0, ask.ncol + 1);
	PUT(lp->row, z, ask.nnz);
	PUT(lp->val, z, ask.nnz);
#undef PUT
	free(start);
	return err;
}

static int receive_answer(struct lp *lp)
{
	struct pollfd p = {.fd = lp->solver->fd, .events = POLLIN};
	struct lp_answer a;
	int n;

	do
		n = poll(&p, 1, SILENCE_MS);
	while (n < 0 && errno == EINTR);
	if (n <= 0 || lp_recv(p.fd, &a, sizeof(a)))
		return -EIO;
	if (a.nrow != lp->nrow || a.ncol != lp->ncol)
		return -EIO;
	if (lp_recv(p.fd, lp->x, (size_t)a.ncol * sizeof(double)) ||
	    lp_recv(p.fd, lp->y, (size_t)a.nrow * sizeof(double)))
		return -EIO;
	lp->obj = a.obj;
	return a.status ? -EDOM : 0;
}

/* Try one method. After -EIO the child is gone. */
static int attempt(struct lp *lp, int method)
{
	struct lp_solver *s = lp->solver;
	int err = s->pid ? 0 : lp_solver_start(s);

	if (err)
		return err;
	s->solves++;
	err = send_news(lp, method);
	if (!err)
		err = receive_answer(lp);
	if (err == -EIO || err == -ENOMEM) {
		lp_solver_close(s);
		s->deaths++;
		return err;
	}
	lp->life = s->life;
	lp->sent_rows = lp->nrow;
	lp->sent_cols = lp->ncol;
	return err;
}

int lp_solve(struct lp *lp)
{
	int method, err = -EIO, last = 0;

	method = lp->life && lp->life == lp->solver->life ? LP_WARM : LP_COLD;
	for (; method < LP__METHODS; method++) {
		err = attempt(lp, method);
		if (!err || err == -ENOMEM)
			return err;
		/* The next method gets no bad basis. */
		lp->life = 0;
		if (err == -EDOM)
			last = err;
	}
	return last ? last : err;
}

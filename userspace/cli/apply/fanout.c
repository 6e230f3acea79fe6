// SPDX-License-Identifier: BSD-2-Clause
/*
 * Owns the processes of trib apply: starts a bounded number of them, feeds
 * them, collects their answers, and ends those that take too long.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "fanout.h"

#define RUNNING_MAX 16
#define WORDS_MAX 64
#define ANSWER_MAX (32u << 20)

/* Copy @word with every {} replaced; the caller frees it. */
static char *put_host(const char *word, size_t len, const char *host)
{
	size_t room = len * (strlen(host) + 1) + 1, i, n = 0;
	char *out = malloc(room);

	for (i = 0; out && i < len; i++) {
		if (i + 1 < len && word[i] == '{' && word[i + 1] == '}') {
			n += (size_t)sprintf(out + n, "%s", host);
			i++;
		} else {
			out[n++] = word[i];
		}
	}
	if (out)
		out[n] = '\0';
	return out;
}

/* Run the command in the child; does not return. */
static void become(const char *via, const char *host)
{
	static char *const tail[] = {"trib", "-j", "apply", "--local", NULL};
	char *argv[WORDS_MAX + 5];
	size_t n = 0, len, i;

	for (via += strspn(via, " \t"); *via && n < WORDS_MAX; via += strspn(via, " \t")) {
		len = strcspn(via, " \t");
		argv[n] = put_host(via, len, host);
		if (!argv[n++])
			_exit(127);
		via += len;
	}
	for (i = 0; tail[i]; i++)
		argv[n++] = tail[i];
	argv[n] = NULL;
	execvp(argv[0], argv);
	fprintf(stderr, "cannot run %s: %s\n", argv[0], strerror(errno));
	_exit(127);
}

static void fail(struct fan *f, const char *text)
{
	snprintf(f->error, sizeof(f->error), "%s", text);
	f->done = true;
}

static void shut(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void start(const char *via, struct fan *f)
{
	int in[2] = {-1, -1}, out[2] = {-1, -1}, err[2] = {-1, -1};

	if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC) || pipe2(err, O_CLOEXEC)) {
		fail(f, strerror(errno));
		goto out;
	}
	f->pid = fork();
	if (!f->pid) {
		dup2(in[0], 0);
		dup2(out[1], 1);
		dup2(err[1], 2);
		signal(SIGPIPE, SIG_DFL);
		become(via, f->host);
	}
	if (f->pid < 0) {
		fail(f, strerror(errno));
		goto out;
	}
	f->to = in[1];
	f->from = out[0];
	f->err = err[0];
	in[1] = out[0] = err[0] = -1;
	fcntl(f->to, F_SETFL, O_NONBLOCK);
	f->begun_ms = (long long)clock_ms();
out:
	shut(&in[0]);
	shut(&in[1]);
	shut(&out[0]);
	shut(&out[1]);
	shut(&err[0]);
	shut(&err[1]);
}

static void feed(struct fan *f)
{
	size_t len = strlen(f->in);
	ssize_t n = write(f->to, f->in + f->sent, len - f->sent);

	if (n > 0)
		f->sent += (size_t)n;
	/* The process closed its input: its answer tells why. */
	if (f->sent == len || (n < 0 && errno != EAGAIN && errno != EINTR))
		shut(&f->to);
}

static void listen_to(struct fan *f)
{
	char buf[16384], *more;
	ssize_t n = read(f->from, buf, sizeof(buf));

	if (n < 0 && errno == EINTR)
		return;
	more = n > 0 && f->got + (size_t)n < ANSWER_MAX ? realloc(f->out, f->got + (size_t)n + 1)
							: NULL;
	if (!more) {
		shut(&f->from);
		return;
	}
	f->out = more;
	memcpy(f->out + f->got, buf, (size_t)n);
	f->got += (size_t)n;
	f->out[f->got] = '\0';
}

/* Keep the last line of standard error. */
static void listen_err(struct fan *f)
{
	char buf[4096];
	ssize_t n = read(f->err, buf, sizeof(buf)), i;

	if (n < 0 && errno == EINTR)
		return;
	if (n <= 0) {
		shut(&f->err);
		return;
	}
	for (i = 0; i < n; i++) {
		if (f->nsaid && f->said[f->nsaid - 1] == '\n')
			f->nsaid = 0;
		if (f->nsaid + 1 < sizeof(f->said))
			f->said[f->nsaid++] = buf[i];
	}
	f->said[f->nsaid] = '\0';
}

static void finish(struct fan *f, int status)
{
	f->said[strcspn(f->said, "\r\n")] = '\0';
	f->pid = 0;
	f->done = true;
	shut(&f->to);
	/*
	 * An answer counts even if the exit status is not 0: it has the error.
	 */
	if (f->got || *f->error)
		return;
	if (*f->said)
		snprintf(f->error, sizeof(f->error), "%s", f->said);
	else if (WIFSIGNALED(status))
		snprintf(f->error, sizeof(f->error), "no answer: ended by signal %d",
			 WTERMSIG(status));
	else
		snprintf(f->error, sizeof(f->error), "no answer: exit status %d",
			 WEXITSTATUS(status));
}

static void look_after(struct fan *f, int ms)
{
	int status = 0;

	if ((long long)clock_ms() - f->begun_ms > ms && !*f->error) {
		snprintf(f->error, sizeof(f->error), "no answer within %d seconds", ms / 1000);
		kill(f->pid, SIGKILL);
		/* Descendants of the process may hold the pipes open. */
		shut(&f->from);
		shut(&f->err);
	}
	if (f->from < 0 && f->err < 0 && waitpid(f->pid, &status, WNOHANG) == f->pid)
		finish(f, status);
}

static void serve(struct fan *f, size_t n)
{
	struct pollfd p[3 * RUNNING_MAX];
	struct fan *of[RUNNING_MAX];
	size_t i, k = 0;

	for (i = 0; i < n && k < RUNNING_MAX; i++) {
		if (!f[i].pid)
			continue;
		p[3 * k] = (struct pollfd){f[i].to, POLLOUT, 0};
		p[3 * k + 1] = (struct pollfd){f[i].from, POLLIN, 0};
		p[3 * k + 2] = (struct pollfd){f[i].err, POLLIN, 0};
		of[k++] = &f[i];
	}
	if (poll(p, 3 * k, 20) < 1)
		return;
	for (i = 0; i < k; i++) {
		if (p[3 * i].revents)
			feed(of[i]);
		if (p[3 * i + 1].revents)
			listen_to(of[i]);
		if (p[3 * i + 2].revents)
			listen_err(of[i]);
	}
}

void fan_run(const char *via, struct fan *f, size_t n, int ms, fan_progress progress, void *arg)
{
	void (*old)(int) = signal(SIGPIPE, SIG_IGN);
	size_t i, done = 0, running;

	for (i = 0; i < n; i++) {
		f[i].to = f[i].from = f[i].err = -1;
		f[i].pid = 0;
		f[i].done = !f[i].in;
	}
	while (done < n) {
		for (running = i = 0; i < n; i++)
			running += f[i].pid != 0;
		for (i = 0; i < n && running < RUNNING_MAX; i++)
			if (!f[i].done && !f[i].pid) {
				start(via, &f[i]);
				running += f[i].pid != 0;
			}
		serve(f, n);
		for (done = i = 0; i < n; i++) {
			if (f[i].pid)
				look_after(&f[i], ms);
			done += f[i].done;
		}
		if (progress)
			progress(arg, done, n);
	}
	signal(SIGPIPE, old);
}

void fan_free(struct fan *f, size_t n)
{
	const char *host;

	for (; n; n--, f++) {
		host = f->host;
		free(f->in);
		free(f->out);
		memset(f, 0, sizeof(*f));
		f->host = host;
	}
}

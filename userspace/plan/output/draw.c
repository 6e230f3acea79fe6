// SPDX-License-Identifier: BSD-2-Clause
/*
 * Draws a plan as SVG: nodes at the topology's positions, relays and PS marked,
 * full links thick and red.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan/plan.h"

#define WIDTH 1200.0
#define HEIGHT 600.0
#define EDGE 60.0
/* With more nodes than this, names would overlap. */
#define NAMED_MAX 80

enum mark { MARK_NONE, MARK_WORKER, MARK_RELAY, MARK_PS };

struct picture {
	FILE *f;
	size_t n;
	const json_t *nodes, *links;
	double *x, *y;
	unsigned char *mark;
};

static double real(const json_t *o, const char *key)
{
	return json_number_value(json_object_get(o, key));
}

/* Write text with XML escapes. */
static void escaped(FILE *f, const char *s)
{
	for (; s && *s; s++) {
		switch (*s) {
		case '<':
			fputs("&lt;", f);
			break;
		case '>':
			fputs("&gt;", f);
			break;
		case '&':
			fputs("&amp;", f);
			break;
		case '"':
			fputs("&quot;", f);
			break;
		default:
			if ((unsigned char)*s >= 0x20)
				fputc(*s, f);
		}
	}
}

/* Scale the positions. Without positions, nodes stand on a circle. */
static void arrange(struct picture *p)
{
	double x0 = INFINITY, x1 = -INFINITY, y0 = INFINITY, y1 = -INFINITY;
	const json_t *v;
	size_t i;

	json_array_foreach(p->nodes, i, v) {
		p->x[i] = real(v, "x");
		p->y[i] = real(v, "y");
		x0 = fmin(x0, p->x[i]);
		x1 = fmax(x1, p->x[i]);
		y0 = fmin(y0, p->y[i]);
		y1 = fmax(y1, p->y[i]);
	}
	for (i = 0; i < p->n; i++) {
		if (x0 == x1 && y0 == y1) {
			double a = 2 * M_PI * (double)i / (double)p->n;

			p->x[i] = WIDTH / 2 + (WIDTH / 2 - EDGE) * sin(a);
			p->y[i] = HEIGHT / 2 - (HEIGHT / 2 - EDGE) * cos(a);
			continue;
		}
		p->x[i] = x0 == x1 ? WIDTH / 2
				   : EDGE + (p->x[i] - x0) / (x1 - x0) * (WIDTH - 2 * EDGE);
		p->y[i] = y0 == y1 ? HEIGHT / 2
				   : EDGE + (p->y[i] - y0) / (y1 - y0) * (HEIGHT - 2 * EDGE);
	}
}

static void mark_name(struct picture *p, const json_t *index, const char *name, enum mark mark)
{
	const json_t *at = name ? json_object_get(index, name) : NULL;
	size_t i = at ? (size_t)json_integer_value(at) : p->n;

	if (i < p->n && p->mark[i] < mark)
		p->mark[i] = (unsigned char)mark;
}

static void mark_all(struct picture *p, const json_t *plan, const json_t *index)
{
	const json_t *job, *v;
	size_t i, k;

	json_array_foreach(json_object_get(plan, "jobs"), i, job) {
		json_array_foreach(json_object_get(job, "workers"), k, v)
			mark_name(p, index, json_string_value(v), MARK_WORKER);
		json_array_foreach(json_object_get(job, "relays"), k, v)
			mark_name(p, index, json_string_value(json_object_get(v, "node")),
				  MARK_RELAY);
		mark_name(p, index, json_string_value(json_object_get(job, "ps")), MARK_PS);
	}
}

static void draw_link(struct picture *p, const json_t *v)
{
	size_t a = (size_t)json_integer_value(json_object_get(v, "a"));
	size_t b = (size_t)json_integer_value(json_object_get(v, "b"));
	const json_t *load = json_object_get(v, "load");
	double cap = real(v, "capacity"), up, down, full;

	up = json_number_value(json_array_get(load, 0)) / cap;
	down = json_number_value(json_array_get(load, 1)) / cap;
	full = fmin(1, fmax(0, fmax(up, down)));
	fprintf(p->f,
		"<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"rgb(%.0f,%.0f,%.0f)\" stroke-width=\"%.1f\"><title>",
		p->x[a], p->y[a], p->x[b], p->y[b], 200 + 10 * full, 200 - 170 * full,
		200 - 160 * full, 0.5 + 2.5 * full);
	escaped(p->f, json_string_value(json_object_get(json_array_get(p->nodes, a), "name")));
	fprintf(p->f, " to ");
	escaped(p->f, json_string_value(json_object_get(json_array_get(p->nodes, b), "name")));
	fprintf(p->f, ": %.0f %% there, %.0f %% back</title></line>\n", 100 * up, 100 * down);
}

static void draw_node(struct picture *p, size_t i)
{
	static const char *const fill[] = {"#fff", "#9cf", "#f90", "#093"};
	const json_t *v = json_array_get(p->nodes, i);
	const char *name = json_string_value(json_object_get(v, "name"));
	double r = p->n > 400 ? 2.5 : p->n > NAMED_MAX ? 5 : 9;

	if (p->mark[i] >= MARK_RELAY)
		r *= 1.5;
	if (json_is_true(json_object_get(v, "host")))
		fprintf(p->f,
			"<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" fill=\"%s\" stroke=\"#333\"><title>",
			p->x[i], p->y[i], r, fill[p->mark[i]]);
	else
		fprintf(p->f,
			"<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\" stroke=\"#333\"><title>",
			p->x[i] - r, p->y[i] - r, 2 * r, 2 * r, fill[p->mark[i]]);
	escaped(p->f, name);
	fprintf(p->f, "</title></%s>\n",
		json_is_true(json_object_get(v, "host")) ? "circle" : "rect");
	if (p->n > NAMED_MAX && p->mark[i] < MARK_RELAY)
		return;
	fprintf(p->f, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">", p->x[i],
		p->y[i] + r + 12);
	escaped(p->f, name);
	fprintf(p->f, "</text>\n");
}

static void draw(struct picture *p, const json_t *plan)
{
	const json_t *v;
	size_t i;

	fprintf(p->f,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" font-family=\"sans-serif\" font-size=\"11\">\n",
		WIDTH, HEIGHT);
	fprintf(p->f, "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n");
	json_array_foreach(p->links, i, v)
		draw_link(p, v);
	for (i = 0; i < p->n; i++)
		draw_node(p, i);
	fprintf(p->f, "<text x=\"10\" y=\"18\">");
	escaped(p->f,
		json_string_value(json_object_get(json_object_get(plan, "topology"), "name")));
	fprintf(p->f,
		": green PS, orange relays, blue workers; links are as red as they are full</text>\n</svg>\n");
}

char *plan_draw(const json_t *plan)
{
	const json_t *topo = json_object_get(plan, "topology"), *v;
	struct picture p = {.nodes = json_object_get(topo, "nodes"),
			    .links = json_object_get(topo, "links")};
	json_t *index = json_object();
	char *out = NULL;
	size_t size, i;
	int err = 1;

	p.n = json_array_size(p.nodes);
	p.x = calloc(p.n + 1, sizeof(double));
	p.y = calloc(p.n + 1, sizeof(double));
	p.mark = calloc(p.n + 1, 1);
	p.f = open_memstream(&out, &size);
	if (index && p.x && p.y && p.mark && p.f) {
		json_array_foreach(p.nodes, i, v)
			json_object_set_new(index, json_string_value(json_object_get(v, "name")),
					    json_integer((json_int_t)i));
		arrange(&p);
		mark_all(&p, plan, index);
		draw(&p, plan);
		err = 0;
	}
	if (p.f && fclose(p.f))
		err = 1;
	free(p.x);
	free(p.y);
	free(p.mark);
	json_decref(index);
	if (!err)
		return out;
	free(out);
	return NULL;
}

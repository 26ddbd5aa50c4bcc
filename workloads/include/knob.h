/* The knobs of a workload: one table in each program, read here.
 *
 * `--name value` or `--name=value`. Sizes take KiB, MiB, GiB. What is wrong with the command line is
 * kept as a sentence and not printed, because at this point nobody knows yet which rank we are:
 * crew_begin() lets rank 0 alone say it and ends every rank with 64. */
#ifndef KNOB_H
#define KNOB_H

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KNOB_USAGE = 64 };

enum knob_kind { KNOB_COUNT, KNOB_BYTES, KNOB_CHOICE };

struct knob {
    const char *name;
    enum knob_kind kind;
    long long *value;    /* a choice is kept as its place in `choices` */
    const char *says;
    long long least, most;
    const char *choices; /* "independent|collective", or NULL */
};

/* What the command line asked for, besides the knobs. */
static struct {
    const char *program;
    const struct knob *table;
    int expect;          /* --expect: print what would be done, do nothing */
    int help;
    long long ranks;     /* --ranks N, for --expect alone */
    char refusal[512];   /* empty: all is well */
} knob_line = {.ranks = 1};

__attribute__((format(printf, 1, 2))) static void knob_refuse(const char *form, ...)
{
    if (knob_line.refusal[0])
        return; /* the first complaint is the one to mend */
    va_list args;
    va_start(args, form);
    vsnprintf(knob_line.refusal, sizeof knob_line.refusal, form, args);
    va_end(args);
}

static long long knob_unit(const char *text)
{
    if (!*text) return 1;
    if (!strcmp(text, "KiB")) return 1LL << 10;
    if (!strcmp(text, "MiB")) return 1LL << 20;
    if (!strcmp(text, "GiB")) return 1LL << 30;
    return 0;
}

static void knob_set_number(const struct knob *knob, const char *text)
{
    char *end;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    long long unit = knob->kind == KNOB_BYTES ? knob_unit(end) : (*end ? 0 : 1);
    if (end == text || errno || unit == 0) {
        knob_refuse("--%s takes %s, not '%s'", knob->name,
                    knob->kind == KNOB_BYTES ? "a size such as 4096, 64KiB or 16MiB" : "a whole number", text);
        return;
    }
    if (__builtin_mul_overflow(number, unit, &number) || number < knob->least || number > knob->most) {
        knob_refuse("--%s must lie between %lld and %lld, and is '%s'", knob->name, knob->least, knob->most, text);
        return;
    }
    *knob->value = number;
}

/* Writes the `index`-th of "a|b|c" into `word`; 0 when there is none. */
static int knob_choice(const char *choices, long long index, char word[64])
{
    while (index-- > 0) {
        choices = strchr(choices, '|');
        if (!choices) return 0;
        choices++;
    }
    snprintf(word, 64, "%.*s", (int)strcspn(choices, "|"), choices);
    return 1;
}

static void knob_set_choice(const struct knob *knob, const char *text)
{
    char word[64];
    for (long long i = 0; knob_choice(knob->choices, i, word); i++) {
        if (!strcmp(word, text)) {
            *knob->value = i;
            return;
        }
    }
    knob_refuse("--%s is one of %s, not '%s'", knob->name, knob->choices, text);
}

static const struct knob *knob_find(const char *name, size_t length)
{
    for (const struct knob *knob = knob_line.table; knob->name; knob++)
        if (strlen(knob->name) == length && !strncmp(knob->name, name, length))
            return knob;
    return NULL;
}

/* Reads one `--name value` at argv[at]; returns how many words it took. */
static int knob_take(int argc, char **argv, int at)
{
    static const struct knob ranks = {
        "ranks", KNOB_COUNT, &knob_line.ranks, "ranks to expect for", 1, 1 << 16, NULL};
    const char *word = argv[at];
    if (strncmp(word, "--", 2)) {
        knob_refuse("'%s' is not a knob; knobs are written --name value (see --help)", word);
        return 1;
    }
    size_t length = strcspn(word + 2, "=");
    const struct knob *knob = length == 5 && !strncmp(word + 2, "ranks", 5) ? &ranks : knob_find(word + 2, length);
    if (!knob) {
        knob_refuse("there is no knob --%.*s (see --help)", (int)length, word + 2);
        return word[2 + length] == '=' || at + 1 >= argc || !strncmp(argv[at + 1], "--", 2) ? 1 : 2;
    }
    int inside = word[2 + length] == '=';
    if (!inside && at + 1 >= argc) {
        knob_refuse("--%s needs a value", knob->name);
        return 1;
    }
    const char *text = inside ? word + 3 + length : argv[at + 1];
    if (knob->kind == KNOB_CHOICE) knob_set_choice(knob, text);
    else knob_set_number(knob, text);
    return inside ? 1 : 2;
}

static void knob_read(const char *program, const struct knob *table, int argc, char **argv)
{
    knob_line.program = program;
    knob_line.table = table;
    for (int at = 1; at < argc;) {
        if (!strcmp(argv[at], "--expect")) knob_line.expect = 1, at++;
        else if (!strcmp(argv[at], "--help")) knob_line.help = 1, at++;
        else at += knob_take(argc, argv, at);
    }
}

static void knob_help(void)
{
    printf("%s: --expect [--ranks N] prints the calls and bytes to come; knobs, with their values now:\n",
           knob_line.program);
    for (const struct knob *knob = knob_line.table; knob->name; knob++) {
        char word[64];
        if (knob->kind == KNOB_CHOICE) knob_choice(knob->choices, *knob->value, word);
        else snprintf(word, sizeof word, "%lld", *knob->value);
        printf("  --%-14s %-12s %s%s%s\n", knob->name, word, knob->says,
               knob->choices ? ": " : "", knob->choices ? knob->choices : "");
    }
}

#endif

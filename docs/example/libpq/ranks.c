/* What the ranks of a job read and wrote, from netra's store through libpq. It is C, and C++ as well.
 *
 *   cc -o ranks ranks.c -I"$(pg_config --includedir)" -lpq
 *   ./ranks "host=127.0.0.1 port=5433 dbname=netra user=alice password=..." 4711
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libpq-fe.h>

static const char *const QUESTION =
    "SELECT rank, op, sum(calls), sum(bytes), sum(time) / 1e9 AS seconds FROM activity "
    "WHERE job = job(%s) AND op IN ('read', 'write') GROUP BY rank, op ORDER BY rank, op";

/* The rows come one at a time: a job of any size needs little memory. */
static int print_rows(PGconn *store) {
    PGresult *row;
    int wrong = 0;
    while ((row = PQgetResult(store)) != NULL) {
        switch (PQresultStatus(row)) {
        case PGRES_SINGLE_TUPLE:
            printf("rank %s: %s calls of %s, %s bytes, %.3f s\n", PQgetvalue(row, 0, 0), PQgetvalue(row, 0, 2),
                   PQgetvalue(row, 0, 1), PQgetvalue(row, 0, 3), strtod(PQgetvalue(row, 0, 4), NULL));
            break;
        case PGRES_TUPLES_OK:
            break;
        default:
            fputs(PQresultErrorMessage(row), stderr);
            wrong = 2;
        }
        PQclear(row);
    }
    return wrong;
}

int main(int argc, char **argv) {
    PGconn *store;
    char *job, *question;
    size_t length;
    int result = 2;
    if (argc != 3) {
        fprintf(stderr, "usage: %s CONNECTION JOB\n", argv[0]);
        return 64;
    }
    store = PQconnectdb(argv[1]);
    if (PQstatus(store) != CONNECTION_OK) {
        fputs(PQerrorMessage(store), stderr);
        PQfinish(store);
        return 2;
    }
    /* Quoted by the library: whatever it contains stays a text. */
    job = PQescapeLiteral(store, argv[2], strlen(argv[2]));
    if (job != NULL) {
        length = strlen(QUESTION) + strlen(job) + 1;
        question = (char *)malloc(length);
        if (question != NULL) {
            snprintf(question, length, QUESTION, job);
            if (PQsendQuery(store, question) && PQsetSingleRowMode(store)) {
                result = print_rows(store);
            } else {
                fputs(PQerrorMessage(store), stderr);
            }
            free(question);
        }
        PQfreemem(job);
    }
    PQfinish(store);
    return result;
}

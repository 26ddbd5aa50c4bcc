/* sw4: its knobs and what it will do. The program itself, all of its I/O, is sw4.f90 (see README.md). */
#include "content.h"
#include "crew.h"
#include "expect.h"

enum { ROWS, SLABS };

static long long steps = 100, image_every = 10, checkpoint_every = 40, across = 256, rows = 64, deep = 32, images = ROWS;

static const struct knob knobs[] = {
    {"steps", KNOB_COUNT, &steps, "time steps", 1, 1 << 24, NULL},
    {"image-every", KNOB_COUNT, &image_every, "steps between images", 1, 1 << 24, NULL},
    {"checkpoint-every", KNOB_COUNT, &checkpoint_every, "steps between checkpoints", 1, 1 << 24, NULL},
    {"across", KNOB_COUNT, &across, "grid points along a row", 1, 1 << 20, NULL},
    {"rows", KNOB_COUNT, &rows, "rows of each rank", 1, 1 << 20, NULL},
    {"deep", KNOB_COUNT, &deep, "layers of the grid, all of them in a checkpoint", 1, 1 << 16, NULL},
    {"images", KNOB_CHOICE, &images, "an image row by row, or a rank's rows together and collectively", 0, 0, "rows|slabs"},
    {0},
};

static void expect(long long ranks)
{
    long long shots = steps / image_every, kept = steps / checkpoint_every;
    long long layer = rows * across * 8, volume = layer * deep;
    for (long long rank = 0; rank < ranks; rank++) {
        expect_calls(rank, "mpiio", "MPI_File_open", shots + kept);
        expect_data(rank, "mpiio", "MPI_File_write_at", images == ROWS ? shots * rows : 0, shots * layer);
        expect_data(rank, "mpiio", "MPI_File_write_at_all", images == SLABS ? shots : 0, shots * layer);
        expect_data(rank, "mpiio", "MPI_File_write_at_all", kept, kept * volume);
        expect_calls(rank, "mpiio", "MPI_File_close", shots + kept);
    }
    for (long long step = 1; step <= steps; step++) {
        for (int checkpoint = 0; checkpoint < 2; checkpoint++) {
            if (step % (checkpoint ? checkpoint_every : image_every))
                continue;
            long long size = ranks * (checkpoint ? volume : layer);
            struct expect_file *file = expect_file("mpiio", size, "sw4.%s.%07lld", checkpoint ? "checkpoint" : "image", step);
            file->written = size;
            file->read = 0;
            expect_words((uint64_t)(2 * step + checkpoint), 0, size);
        }
    }
}

/* What the Fortran part may ask for. */
void sw4_run(long long steps, long long image_every, long long checkpoint_every, long long across, long long rows,
             long long deep, int slabs, int rank, int ranks);

void sw4_fill(void *into, long long stream, long long offset, long long length)
{
    content_fill(into, (uint64_t)stream, (uint64_t)offset, (size_t)length);
}

void sw4_fail(int step)
{
    crew_fail("MPI-IO failed in step %d", step);
}

int main(int argc, char **argv)
{
    knob_read("sw4", knobs, argc, argv);
    if (rows * across * deep > (1LL << 27))
        knob_refuse("--rows x --across x --deep are %lld points of a rank, and must be %lld or fewer", rows * across * deep, 1LL << 27);
    if (expect_asked()) {
        expect(knob_line.ranks);
        return expect_print();
    }
    crew_begin(argc, argv, 0);
    double start = crew_now();
    sw4_run(steps, image_every, checkpoint_every, across, rows, deep, images == SLABS, crew.rank, crew.ranks);
    long long points = rows * across * (steps / image_every + deep * (steps / checkpoint_every));
    crew_report("wrote", start, crew_now(), points * 8);
    return crew_end();
}

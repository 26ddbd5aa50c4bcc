// C++ iostreams: libstdc++ reaches files through fopen-like inner calls of libc and write/writev.
extern "C" {
#include "expect.h"
}
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>

static void throws(int fd) {
    write_times(fd, 1, 10);
    throw std::runtime_error("through a frame that did I/O");
}

int main() {
    {
        std::ofstream out("stream.txt");
        for (int i = 0; i < 10; i++)
            out << "line " << i << std::endl;
    }
    std::ifstream in("stream.txt");
    std::string line;
    int lines = 0;
    while (std::getline(in, line))
        lines++;
    int fd = open("raw.dat", O_RDWR | O_CREAT | O_TRUNC, 0644);
    must(fd >= 0);
    try {
        throws(fd);
    } catch (const std::exception &error) {
        std::cout << error.what() << '\n';
    }
    write_times(fd, 1, 10);
    expect_posix("raw.dat", 1, 2, 20, 0, 0);
    // The library opens with fopen, asks for the descriptor before each call, and uses that.
    expect("stream.txt", "STDIO_OPENS", 2);
    expect("stream.txt", "POSIX_OPENS", ANY);
    expect("stream.txt", "POSIX_FILENOS", ANY);
    expect("stream.txt", "POSIX_STATS", ANY);
    expect("stream.txt", "POSIX_SEEKS", ANY);
    expect("stream.txt", "POSIX_WRITES", 10);
    expect("stream.txt", "POSIX_BYTES_WRITTEN", 70);
    expect("stream.txt", "POSIX_READS", 2);
    expect("stream.txt", "POSIX_BYTES_READ", 70);
    std::cout << lines << " lines\n";
    return lines == 10 ? 6 : 1;
}

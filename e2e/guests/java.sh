# Files, threads, a mapped file and children in the JVM.
cat > App.java <<'END'
import java.io.*;
import java.nio.*;
import java.nio.channels.*;
import java.nio.file.*;
import java.util.*;

public class App {
    public static void main(String[] words) throws Exception {
        System.out.println(Files.readAllLines(Path.of("text")).size());
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            int own = i;
            Thread thread = new Thread(() -> {
                try (Writer out = new FileWriter("out" + own)) {
                    out.write("x".repeat(own));
                } catch (IOException error) {
                    throw new UncheckedIOException(error);
                }
            });
            thread.start();
            threads.add(thread);
        }
        for (Thread thread : threads) thread.join();
        try (FileChannel file = FileChannel.open(Path.of("mapped"), StandardOpenOption.READ, StandardOpenOption.WRITE, StandardOpenOption.CREATE)) {
            file.map(FileChannel.MapMode.READ_WRITE, 0, 4096).put((byte) 1);
        }
        Process child = new ProcessBuilder("wc", "-l", "text").inheritIO().start();
        System.out.println(child.waitFor());
        System.exit(6);
    }
}
END
javac -d . App.java && java -Xshare:auto -cp . App

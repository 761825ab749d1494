import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/**
 * Java's counters for the comparison lab, in the words of its workers (src/lab/worker.rs): a line
 * asks for adds or reads, a line answers with the CPU time and how far the threads ran at once.
 */
final class Adders {
    private interface Counter {
        void addMany(long times);
        long sumMany(long times);
    }

    private static final class Striped implements Counter {
        private final LongAdder adder = new LongAdder();

        public void addMany(long times) {
            for (long i = 0; i < times; i++) {
                adder.add(1);
            }
        }

        public long sumMany(long times) {
            long seen = 0;
            for (long i = 0; i < times; i++) {
                seen += adder.sum();
            }
            return seen;
        }
    }

    private static final class Shared implements Counter {
        private final AtomicLong number = new AtomicLong();

        public void addMany(long times) {
            for (long i = 0; i < times; i++) {
                number.getAndAdd(1);
            }
        }

        public long sumMany(long times) {
            long seen = 0;
            for (long i = 0; i < times; i++) {
                seen += number.get();
            }
            return seen;
        }
    }

    private static final ThreadMXBean CPU = ManagementFactory.getThreadMXBean();
    private static final int WARM_UP = 64;
    private static final Map<String, Counter> COUNTERS = new HashMap<>();
    /** Where reads go, so that none is left out. */
    static volatile long seen;

    public static void main(String[] arguments) throws Exception {
        COUNTERS.put("Java LongAdder", new Striped());
        COUNTERS.put("Java AtomicLong", new Shared());
        for (Counter counter : COUNTERS.values()) {
            for (int round = 0; round < 200; round++) { // until the compiler has seen enough
                counter.addMany(10_000);
                seen = counter.sumMany(10_000);
            }
            for (int round = 0; round < 20; round++) { // contended too
                together(2, () -> counter.addMany(WARM_UP), () -> counter.addMany(200_000));
            }
        }
        BufferedReader questions = new BufferedReader(new InputStreamReader(System.in));
        for (String line = questions.readLine(); line != null; line = questions.readLine()) {
            String[] words = line.split("\t");
            Counter counter = COUNTERS.get(words[2]);
            System.out.println(run(words[0], counter, Integer.parseInt(words[3]), Long.parseLong(words[4])));
        }
    }

    private static String run(String work, Counter counter, int threads, long times) throws Exception {
        if (counter == null) {
            return "error\tnobody is called so";
        }
        switch (work) {
            case "add":
                return together(threads, () -> counter.addMany(WARM_UP), () -> counter.addMany(times));
            case "read":
                return together(1, () -> seen = counter.sumMany(WARM_UP), () -> seen = counter.sumMany(times));
            default:
                return "error\tnot this work";
        }
    }

    private static String together(int threads, Runnable before, Runnable work) throws Exception {
        long[] cpu = new long[threads];
        long[] begin = new long[threads];
        long[] end = new long[threads];
        AtomicInteger waiting = new AtomicInteger(threads);
        CountDownLatch ended = new CountDownLatch(threads);
        for (int thread = 0; thread < threads; thread++) {
            int index = thread;
            new Thread(() -> {
                before.run();
                waiting.decrementAndGet();
                while (waiting.get() > 0) {
                    Thread.yield();
                }
                begin[index] = System.nanoTime();
                long cpuBefore = CPU.getCurrentThreadCpuTime();
                work.run();
                cpu[index] = CPU.getCurrentThreadCpuTime() - cpuBefore;
                end[index] = System.nanoTime();
                ended.countDown();
            }).start();
        }
        ended.await();
        long cpuSum = 0;
        long first = Long.MAX_VALUE;
        long last = Long.MIN_VALUE;
        for (int thread = 0; thread < threads; thread++) {
            cpuSum += cpu[thread];
            first = Math.min(first, begin[thread]);
            last = Math.max(last, end[thread]);
        }
        long wall = last - first;
        int cores = Math.min(threads, Runtime.getRuntime().availableProcessors());
        double running = Math.min(1.0, (double) cpuSum / ((double) wall * cores));
        return "done\t" + cpuSum / threads + "\t" + running;
    }
}

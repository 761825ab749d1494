import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;

/**
 * Counts the adds to a LongAdder that get lost while it is drained, by each of two ways: by
 * sumThenReset, and by a sum with a reset behind it. Two threads add; a third drains.
 *
 * <p>Run it by {@code java benches/java/Drains.java}.
 */
final class Drains {
    private static final int WRITERS = 2;
    private static final long ADDS = 10_000_000;

    public static void main(String[] arguments) throws InterruptedException {
        LongAdder drained = new LongAdder();
        report("sumThenReset", drained, drained::sumThenReset);
        LongAdder reset = new LongAdder();
        report("sum, then reset", reset, () -> {
            long sum = reset.sum();
            reset.reset();
            return sum;
        });
    }

    /** Prints what is missing in the sum of all drains once the writers have ended. */
    private static void report(String name, LongAdder adder, LongSupplier drain)
            throws InterruptedException {
        Thread[] writers = new Thread[WRITERS];
        for (int i = 0; i < WRITERS; i++) {
            writers[i] = new Thread(() -> {
                for (long add = 0; add < ADDS; add++) {
                    adder.increment();
                }
            });
            writers[i].start();
        }
        long found = 0;
        long drains = 0;
        while (writers[0].isAlive() || writers[1].isAlive()) {
            found += drain.getAsLong();
            drains++;
        }
        for (Thread writer : writers) {
            writer.join();
        }
        found += drain.getAsLong();
        long lost = WRITERS * ADDS - found;
        System.out.printf("Java %s, %s: %d of %d adds lost, %d drains%n",
                Runtime.version().feature(), name, lost, WRITERS * ADDS, drains);
    }

    private Drains() {}
}

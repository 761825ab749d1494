import com.google.common.util.concurrent.RateLimiter;

/**
 * Asks Guava's RateLimiter at given moments: the arguments are permits a second, then milliseconds
 * from the start. Prints a line for each: 1 if it was admitted.
 *
 * <p>Run it by {@code java -cp guava.jar benches/java/Permits.java 10 0 0 50 150}.
 */
final class Permits {
    public static void main(String[] arguments) throws InterruptedException {
        RateLimiter limiter = RateLimiter.create(Double.parseDouble(arguments[0]));
        long begun = System.nanoTime();
        for (int i = 1; i < arguments.length; i++) {
            long moment = begun + Long.parseLong(arguments[i]) * 1_000_000;
            long left = moment - System.nanoTime();
            if (left > 0) {
                Thread.sleep(left / 1_000_000, (int) (left % 1_000_000));
            }
            System.out.println(limiter.tryAcquire() ? 1 : 0);
        }
    }

    private Permits() {}
}

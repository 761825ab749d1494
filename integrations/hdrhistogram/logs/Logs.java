import java.io.File;
import java.io.PrintStream;
import org.HdrHistogram.EncodableHistogram;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramLogReader;
import org.HdrHistogram.HistogramLogWriter;

/** Writes and reads interval logs: {@code Logs write FILE}, {@code Logs read FILE}. */
final class Logs {
    private static final long[][] INTERVALS = {{1_000, 2_000_000, 5_000_000_000L}, {}, {7}};

    public static void main(String[] arguments) throws Exception {
        if (arguments[0].equals("write")) {
            HistogramLogWriter log = new HistogramLogWriter(new PrintStream(arguments[1]));
            log.outputLogFormatVersion();
            log.outputStartTime(1_700_000_000_000L);
            log.outputLegend();
            long start = 1_700_000_000_000L;
            for (long[] values : INTERVALS) {
                Histogram histogram = new Histogram(3);
                for (long value : values) {
                    histogram.recordValue(value);
                }
                histogram.setStartTimeStamp(start);
                histogram.setEndTimeStamp(start += 1_000);
                log.outputIntervalHistogram(histogram);
            }
            log.close();
            return;
        }
        HistogramLogReader log = new HistogramLogReader(new File(arguments[1]));
        while (log.hasNext()) {
            EncodableHistogram interval = log.nextIntervalHistogram();
            if (interval instanceof Histogram histogram) {
                System.out.println(histogram.getTotalCount() + " " + histogram.getMaxValue());
            }
        }
    }

    private Logs() {}
}

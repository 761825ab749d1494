// Writes and reads interval logs: logs.cjs write FILE, logs.cjs untimed FILE, logs.cjs read FILE.
const { readFileSync, writeFileSync } = require('node:fs');
const { build, HistogramLogReader, HistogramLogWriter } = require('hdr-histogram-js');

const intervals = [[1000, 2000000, 5000000000], [], [7]];
const [way, file] = process.argv.slice(2);
if (way !== 'read') {
  let text = '';
  const log = new HistogramLogWriter(some => { text += some; });
  log.outputLogFormatVersion();
  if (way === 'write') {
    log.outputStartTime(1700000000000); // and an empty line
  }
  log.outputLegend();
  intervals.forEach((values, number) => {
    const histogram = build({ highestTrackableValue: 3.6e12, numberOfSignificantValueDigits: 3 });
    values.forEach(value => histogram.recordValue(value));
    histogram.startTimeStampMsec = 1700000000000 + number * 1000;
    histogram.endTimeStampMsec = histogram.startTimeStampMsec + 1000;
    log.outputIntervalHistogram(histogram);
  });
  writeFileSync(file, text);
} else {
  const log = new HistogramLogReader(readFileSync(file, 'utf8'), 64);
  for (let interval; (interval = log.nextIntervalHistogram());) {
    console.log(interval.totalCount, interval.maxValue);
  }
}

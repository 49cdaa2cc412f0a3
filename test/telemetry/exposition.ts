/** One line of a scrape. */
interface ScrapedSample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** A metric as it was scraped, with all its lines. */
export interface ScrapedMetric {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly samples: readonly ScrapedSample[];
}

const SAMPLE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/;
/** Statistics of samples since the previous scrape: `Nan` if there are none yet. */
const MAY_BE_NO_NUMBER = /^nodejs_eventloop_lag_/;
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\\n]|\\[\\"n])*)"/g;

/**
 * Parses Prometheus' text format strictly.
 * @throws Error for an invalid line, labels that do not parse completely, an invalid number, a sample without
 * a metric above it, and a metric or a sample that comes twice.
 */
export function parseExposition(text: string): Map<string, ScrapedMetric> {
  const metrics = new Map<string, { samples: ScrapedSample[] } & ScrapedMetric>();
  const seen = new Set<string>();
  let help: readonly [string, string] | undefined;
  let current: ({ samples: ScrapedSample[] } & ScrapedMetric) | undefined;
  if (!text.endsWith('\n')) throw new Error('the last line does not end');
  for (const line of text.split('\n').filter(line => line !== '')) {
    const [, helpName, helpText] = /^# HELP (\S+) (.+)$/.exec(line) ?? [];
    const [, typeName, type] = /^# TYPE (\S+) (counter|gauge|histogram|summary)$/.exec(line) ?? [];
    if (helpName !== undefined && helpText !== undefined) {
      help = [helpName, helpText];
    } else if (typeName !== undefined && type !== undefined) {
      if (help?.[0] !== typeName) throw new Error(`${typeName} has no help`);
      if (metrics.has(typeName)) throw new Error(`${typeName} comes twice`);
      current = { name: typeName, help: help[1], type, samples: [] };
      metrics.set(typeName, current);
    } else {
      const sample = parseSample(line);
      const own = current?.type === 'histogram' ? /_(bucket|sum|count)$/ : /$/;
      if (current === undefined || sample.name.replace(own, '') !== current.name) {
        throw new Error(`a sample without its metric: ${line}`);
      }
      const identity = line.slice(0, line.lastIndexOf(' '));
      if (seen.has(identity)) throw new Error(`${identity} comes twice`);
      seen.add(identity);
      current.samples.push(sample);
    }
  }
  return metrics;
}

function parseSample(line: string): ScrapedSample {
  const [, name, inside = '', number] = SAMPLE.exec(line) ?? [];
  const labels = [...inside.matchAll(LABEL)];
  if (name === undefined || number === undefined) throw new Error(`no sample: ${line}`);
  const value = Number(number.replace('Inf', 'Infinity'));
  if (Number.isNaN(value) && !(number === 'Nan' && MAY_BE_NO_NUMBER.test(name))) {
    throw new Error(`no number: ${line}`);
  }
  if (labels.map(([whole]) => whole).join(',') !== inside) throw new Error(`labels: ${line}`);
  return {
    name,
    labels: Object.fromEntries(labels.map(([, key = '', text = '']) => [key, text])),
    value,
  };
}

/** The sum of all samples of a name whose labels include these. */
export function sumOf(
  metrics: ReadonlyMap<string, ScrapedMetric>,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number {
  const wanted = Object.entries(labels);
  return [...metrics.values()]
    .flatMap(({ samples }) => samples)
    .filter(sample => sample.name === name)
    .filter(sample => wanted.every(([key, value]) => sample.labels[key] === value))
    .reduce((sum, { value }) => sum + value, 0);
}

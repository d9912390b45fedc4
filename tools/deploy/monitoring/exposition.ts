/** Parses the text of /metrics into series with their names and labels. */

export interface Series {
  readonly metric: string;
  readonly labels: Readonly<Record<string, string>>;
}

export function seriesOf(exposition: string): Series[] {
  return exposition
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [, metric = '', labels = ''] = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? \S+$/.exec(line) ?? [];
      if (metric === '') throw new Error(`this is no series: ${line}`);
      const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, name = '', value = '']) => [
        name,
        value,
      ]);
      return { metric, labels: Object.fromEntries(pairs) as Series['labels'] };
    });
}

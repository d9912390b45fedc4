/** A chart of values over days or weeks, as bars or as one or two lines, in the colors of the current theme. */
import { useEffect, useRef } from 'react';
import uPlot from 'uplot';
import { formatShortDay } from '../messages/index.ts';

const chartHeightPx = 168;

interface ChartProps {
  readonly label: string;
  /** Times in seconds since 1970. */
  readonly times: readonly number[];
  /** The values of one or two series. The second one is dashed. */
  readonly series: readonly (readonly (number | null)[])[];
  readonly isBars?: boolean;
  /** The scale ends at this value or higher. */
  readonly minTop: number;
  readonly formatValue: (value: number) => string;
}

const drawBars = uPlot.paths.bars?.({ size: [0.7, 40] });

/** Returns the computed color of a CSS variable, because a canvas cannot resolve variables. */
function resolveColor(element: HTMLElement, variable: string): string {
  const probe = document.createElement('span');
  probe.style.color = `var(${variable})`;
  element.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

const lineStyles = [{}, { dash: [4, 3] }];

export default function Chart({ label, times, series, isBars = false, minTop, formatValue }: ChartProps) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = place.current;
    if (element === null) return undefined;
    let plot: uPlot | undefined;
    const draw = (): void => {
      plot?.destroy();
      const [muted, line, accent, amber] = ['--muted', '--line', '--accent', '--amber'].map((variable) =>
        resolveColor(element, variable),
      );
      const axis = {
        stroke: muted ?? '',
        grid: { stroke: line ?? '', width: 1 },
        ticks: { show: false },
        font: '11px system-ui, sans-serif',
      };
      const points = { show: !isBars, size: 5 };
      // Half of a step, so that the first and the last bar are drawn in full.
      const marginSeconds = isBars ? ((times[1] ?? 0) - (times[0] ?? 0)) / 2 : 0;
      const colors = [accent ?? '', amber ?? ''];
      plot = new uPlot(
        {
          width: element.clientWidth,
          height: chartHeightPx,
          legend: { show: false },
          cursor: { show: false },
          scales: {
            x: { time: true, range: (_, first, last) => [first - marginSeconds, last + marginSeconds] },
            y: { range: (_, __, highest) => [0, Math.max(minTop, highest * 1.1)] },
          },
          axes: [
            {
              ...axis,
              size: 30,
              values: (_, ticks) => ticks.map((seconds) => formatShortDay(seconds * 1_000)),
            },
            {
              ...axis,
              size: isBars ? 60 : 44,
              values: (_, ticks) => ticks.map(formatValue),
            },
          ],
          series: [
            {},
            ...series.map((_, nth) => ({
              ...{ stroke: colors[nth] ?? '', width: 2, points, spanGaps: true, ...lineStyles[nth] },
              ...(isBars && drawBars !== undefined && { width: 0, fill: colors[nth] ?? '', paths: drawBars }),
            })),
          ],
        },
        [[...times], ...series.map((values) => [...values])],
        element,
      );
    };
    const resized = new ResizeObserver(() =>
      plot?.setSize({ width: element.clientWidth, height: chartHeightPx }),
    );
    const dark = matchMedia('(prefers-color-scheme: dark)');
    const themed = new MutationObserver(draw);
    draw();
    resized.observe(element);
    dark.addEventListener('change', draw);
    themed.observe(document.documentElement, { attributeFilter: ['data-theme'] });
    return () => {
      resized.disconnect();
      themed.disconnect();
      dark.removeEventListener('change', draw);
      plot?.destroy();
    };
  }, [times, series, isBars, minTop, formatValue]);
  return <div ref={place} className="chart" role="img" aria-label={label} />;
}

/** A chart with two lines over weeks, in the colors of the current theme. */
import { useEffect, useRef } from 'react';
import uPlot from 'uplot';
import { formatShortDay, formatDuration } from '../messages/index.ts';

const chartHeightPx = 168;

interface ChartProps {
  readonly label: string;
  /** Times in seconds since 1970. */
  readonly times: readonly number[];
  readonly half: readonly (number | null)[];
  readonly most: readonly (number | null)[];
}

/** Returns the computed color of a CSS variable, because a canvas cannot resolve variables. */
function resolveColor(element: HTMLElement, variable: string): string {
  const probe = document.createElement('span');
  probe.style.color = `var(${variable})`;
  element.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

export default function Chart({ label, times, half, most }: ChartProps) {
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
      const points = { show: true, size: 5 };
      plot = new uPlot(
        {
          width: element.clientWidth,
          height: chartHeightPx,
          legend: { show: false },
          cursor: { show: false },
          scales: { x: { time: true }, y: { range: (_, __, highest) => [0, Math.max(60, highest * 1.1)] } },
          axes: [
            { ...axis, values: (_, ticks) => ticks.map((seconds) => formatShortDay(seconds * 1_000)) },
            {
              ...axis,
              size: 44,
              values: (_, ticks) => ticks.map((seconds) => formatDuration(seconds * 1_000)),
            },
          ],
          series: [
            {},
            { stroke: accent ?? '', width: 2, points, spanGaps: true },
            { stroke: amber ?? '', width: 2, dash: [4, 3], points, spanGaps: true },
          ],
        },
        [[...times], [...half], [...most]],
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
  }, [times, half, most]);
  return <div ref={place} className="chart" role="img" aria-label={label} />;
}

/** The lines between stories of waves. They repeat what the stories say in words, so screen readers skip them. */
import { memo } from 'react';
import { type WaveLayout } from './wave-layout.ts';

/** The sizes of styles/plans.css in px at a font size of 16 px. */
const size = { column: 208, columnGap: 56, head: 32, story: 48, storyGap: 8 };

export const WaveLines = memo(function WaveLines({
  layout: { columns, positions, edges },
  related,
}: {
  readonly layout: WaveLayout;
  /** The ids of the stories whose lines are emphasized. */
  readonly related: ReadonlySet<string> | undefined;
}) {
  const width = columns.length * (size.column + size.columnGap) - size.columnGap;
  const rows = Math.max(0, ...columns.map((ids) => ids.length));
  const height = size.head + rows * (size.story + size.storyGap) - size.storyGap;
  const leftOf = (column: number): number => column * (size.column + size.columnGap);
  const middleOf = (row: number): number => size.head + row * (size.story + size.storyGap) + size.story / 2;
  return (
    <svg
      className="wave-lines"
      viewBox={`0 0 ${width} ${height}`}
      style={{ inlineSize: `${width / 16}rem`, blockSize: `${height / 16}rem` }}
      aria-hidden="true"
    >
      {edges.map(({ from, to, isCritical }) => {
        const [start, end] = [positions.get(from), positions.get(to)];
        if (start === undefined || end === undefined) return null;
        const [x, y] = [leftOf(start.column) + size.column, middleOf(start.row)];
        const [endX, endY] = [leftOf(end.column), middleOf(end.row)];
        const bend = size.columnGap / 2 + (endX - x) / 8;
        return (
          <path
            key={`${from} ${to}`}
            d={`M${x} ${y}C${x + bend} ${y} ${endX - bend} ${endY} ${endX} ${endY}`}
            data-critical={isCritical || undefined}
            data-related={(related?.has(from) === true && related.has(to)) || undefined}
          />
        );
      })}
    </svg>
  );
});

import { describe, expect, it } from '@jest/globals';
import { type Dependencies, findConnected, layoutWaves, storyInDirection } from './wave-layout.ts';

const waitsFor: Dependencies = new Map([
  ['c', ['b']],
  ['d', ['a']],
  ['e', ['a', 'd']],
]);
const waves = [['a', 'b'], ['c', 'd'], ['e']];

describe('layoutWaves', () => {
  it('draws the critical path along the top, and others beside those that they wait for', () => {
    expect(layoutWaves(waves, waitsFor, []).columns).toEqual([['a', 'b'], ['d', 'c'], ['e']]);
    const { columns, positions } = layoutWaves(waves, waitsFor, ['b', 'c']);
    expect(columns).toEqual([['b', 'a'], ['c', 'd'], ['e']]);
    expect(positions.get('d')).toEqual({ column: 1, row: 1 });
  });

  it('leaves out lines that follow from others, except on the critical path', () => {
    const edgesOf = (criticalPath: string[]) =>
      layoutWaves(waves, waitsFor, criticalPath).edges.map(
        ({ from, to, isCritical }) => `${from}${to}${isCritical ? '!' : ''}`,
      );
    expect(edgesOf(['a', 'd', 'e']).sort()).toEqual(['ad!', 'bc', 'de!']);
    expect(edgesOf(['a', 'e']).sort()).toEqual(['ad', 'ae!', 'bc', 'de']);
  });

  it('keeps every story once, whatever the dependencies', () => {
    const ids = Array.from({ length: 200 }, (_, at) => `s${at}`);
    const columns = Array.from({ length: 10 }, (_, column) => ids.slice(column * 20, column * 20 + 20));
    const dense = new Map(
      ids.slice(20).map((id, at) => [id, [ids[at] ?? '', ids[Math.max(0, at - 7)] ?? '']]),
    );
    const layout = layoutWaves(columns, dense, ['s0', 's20']);
    expect(layout.columns.map((column) => column.toSorted())).toEqual(
      columns.map((column) => column.toSorted()),
    );
    expect(layout.positions.size).toBe(200);
  });
});

it('finds what a story waits for and what waits for it', () => {
  expect([...findConnected('d', waitsFor)].sort()).toEqual(['a', 'd', 'e']);
  expect([...findConnected('b', waitsFor)].sort()).toEqual(['b', 'c']);
});

it('walks within a wave, along dependencies, and otherwise to the neighbor column', () => {
  const layout = layoutWaves(waves, waitsFor, []);
  const from = (id: string) =>
    ['ArrowUp', 'ArrowDown', 'ArrowLeft', 'ArrowRight', 'x'].map((key) =>
      storyInDirection(layout, waitsFor, id, key),
    );
  expect(from('a')).toEqual([undefined, 'b', undefined, 'd', undefined]);
  expect(from('c')).toEqual(['d', undefined, 'b', 'e', undefined]);
});

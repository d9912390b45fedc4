import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { findCycle, type OpenStory, orderStories, orderWork, type WorkNode } from './plan-graph.ts';

const node = (id: string, blockers: string[] = [], weight = 1): WorkNode => ({ id, blockers, weight });
const diamond = [node('d', ['b', 'c']), node('b', ['a'], 5), node('c', ['a'], 2), node('a')];

/** Graphs in which a node waits only for earlier ones, in random order. */
const acyclicGraphs = fc
  .array(fc.tuple(fc.array(fc.nat(), { maxLength: 4 }), fc.integer({ min: 0, max: 9 })), { maxLength: 30 })
  .map((rows) =>
    rows.map(([picks, weight], index) =>
      node(String(index), index === 0 ? [] : picks.map((pick) => String(pick % index)), weight),
    ),
  )
  .chain((nodes) => fc.shuffledSubarray(nodes, { minLength: nodes.length }));

/** Returns the weight of the heaviest chain by trying all of them. */
function heaviest(nodes: readonly WorkNode[]): number {
  const byId = new Map(nodes.map((one) => [one.id, one]));
  const cache = new Map<string, number>();
  const ending = (id: string): number => {
    const known = cache.get(id);
    if (known !== undefined) return known;
    const { blockers = [], weight = 0 } = byId.get(id) ?? {};
    const total = weight + Math.max(0, ...blockers.map(ending));
    cache.set(id, total);
    return total;
  };
  return Math.max(0, ...nodes.map(({ id }) => ending(id)));
}

describe('findCycle', () => {
  it('returns the nodes of a cycle in order, with the first one repeated', () => {
    expect(findCycle(diamond)).toBeUndefined();
    expect(findCycle([node('x', ['x'])])).toEqual(['x', 'x']);
    const cycle = findCycle([node('s', ['a']), node('a', ['b', 'z']), node('b', ['c']), node('c', ['a'])]);
    expect(cycle).toEqual(['a', 'b', 'c', 'a']);
  });

  it('finds a cycle exactly if there is one, and each step of it is a dependency', () => {
    fc.assert(
      fc.property(acyclicGraphs, fc.nat(), fc.nat(), (nodes, from, to) => {
        expect(findCycle(nodes)).toBeUndefined();
        if (nodes.length === 0) return;
        // One more dependency closes a cycle exactly if its end already waits for its start.
        const [blocked, blocker] = [nodes[from % nodes.length], nodes[to % nodes.length]];
        if (blocked === undefined || blocker === undefined) return;
        const byId = new Map(nodes.map((one) => [one.id, one]));
        const waits = new Set<string>();
        const visit = (id: string): void => {
          if (waits.has(id)) return;
          waits.add(id);
          for (const next of byId.get(id)?.blockers ?? []) visit(next);
        };
        visit(blocker.id);
        const changed = nodes.map((one) =>
          one === blocked ? { ...one, blockers: [...one.blockers, blocker.id] } : one,
        );
        const cycle = findCycle(changed);
        expect(cycle !== undefined).toBe(waits.has(blocked.id));
        const changedById = new Map(changed.map((one) => [one.id, one]));
        for (const [index, id] of (cycle ?? []).entries())
          if (index > 0) expect(changedById.get(cycle?.[index - 1] ?? '')?.blockers).toContain(id);
        expect(cycle?.at(0)).toBe(cycle?.at(-1));
      }),
    );
  });

  it('walks chains that are longer than the call stack', () => {
    const chain = Array.from({ length: 50_000 }, (_, index) => node(`${index}`, [`${index + 1}`]));
    expect(findCycle(chain)).toBeUndefined();
    expect(orderWork(chain).criticalPath).toHaveLength(50_000);
  });
});

describe('orderWork', () => {
  it('puts each node into the wave after the last of its blockers', () => {
    const { waveById, criticalPath } = orderWork(diamond);
    expect(Object.fromEntries(waveById)).toEqual({ a: 0, b: 1, c: 1, d: 2 });
    expect(criticalPath).toEqual(['a', 'b', 'd']);
  });

  it('prefers the longer one of two chains of the same weight', () => {
    const nodes = [node('x', [], 2), node('a'), node('b', ['a'], 1)];
    expect(orderWork(nodes).criticalPath).toEqual(['a', 'b']);
  });

  it('puts nodes in a cycle, and those behind it, into the last wave', () => {
    const nodes = [node('a'), node('b', ['a']), node('x', ['y']), node('y', ['x']), node('z', ['y'])];
    expect(Object.fromEntries(orderWork(nodes).waveById)).toEqual({ a: 0, b: 1, x: 2, y: 2, z: 2 });
    expect(orderWork([])).toEqual({ waveById: new Map(), criticalPath: [] });
  });

  it('has waves without gaps that respect all dependencies, and the heaviest path, for any graph', () => {
    fc.assert(
      fc.property(acyclicGraphs, (nodes) => {
        const { waveById, criticalPath } = orderWork(nodes);
        const waveOf = (id: string) => waveById.get(id) ?? Number.NaN;
        for (const { id, blockers } of nodes)
          expect(waveOf(id)).toBe(Math.max(0, ...blockers.map((blocker) => waveOf(blocker) + 1)));
        const byId = new Map(nodes.map((one) => [one.id, one]));
        const weight = criticalPath.reduce((sum, id) => sum + (byId.get(id)?.weight ?? 0), 0);
        expect(weight).toBe(heaviest(nodes));
        for (const [index, id] of criticalPath.entries())
          if (index > 0) expect(byId.get(id)?.blockers).toContain(criticalPath[index - 1]);
      }),
    );
  });
});

describe('orderStories', () => {
  const story = (id: string, blockerIds: string[] = [], more: Partial<OpenStory> = {}): OpenStory => ({
    ...{ id, blockerIds, estimate: null, parentId: null },
    ...more,
  });

  it('orders selected stories by dependencies that lead through others, and ignores finished blockers', () => {
    const stories = [story('c', ['b']), story('b', ['a']), story('a', ['finished']), story('z')];
    expect(orderStories(stories, (id) => id !== 'b')).toEqual({
      waves: [
        { index: 0, storyIds: ['a', 'z'] },
        { index: 2, storyIds: ['c'] },
      ],
      criticalPath: ['a', 'c'],
      blockedCount: 1,
    });
  });

  it('puts a parent after its children, which does not make it blocked', () => {
    const stories = [story('parent'), story('child', [], { parentId: 'parent', estimate: 8 })];
    expect(orderStories(stories, () => true)).toEqual({
      waves: [
        { index: 0, storyIds: ['child'] },
        { index: 1, storyIds: ['parent'] },
      ],
      criticalPath: ['child', 'parent'],
      blockedCount: 0,
    });
  });
});

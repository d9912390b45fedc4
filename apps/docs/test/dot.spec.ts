import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { instance } from '@viz-js/viz';
import { mermaidToDot } from '../src/vitepress/dot.ts';

const states = path.resolve(import.meta.dirname, '../../../docs/states.md');

describe('a diagram of states', () => {
  it('has each state and each arrow of the source, also those in a group', async () => {
    const viz = await instance();
    const diagrams = [...(await readFile(states, 'utf8')).matchAll(/```mermaid\n(.*?)```/gs)];
    expect(diagrams.length).toBeGreaterThan(5);
    for (const [, mermaid = ''] of diagrams) {
      const svg = viz.renderString(mermaidToDot(mermaid), { format: 'svg' });
      const titles = [...svg.matchAll(/<g id="node\d+" class="node">\s*<title>(.+?)<\/title>/g)];
      const named = new Set(
        [...mermaid.matchAll(/^\s*(\[\*\]|\w+)(?: --> (\[\*\]|\w+).*)?$/gm)]
          .flatMap(([, from, to]) => [from, to])
          .filter((name) => name !== undefined && name !== 'stateDiagram'),
      );
      const groups = new Set([...mermaid.matchAll(/as (\w+) \{/g)].map(([, name]) => name));
      const wanted = [...named].filter((name) => !groups.has(name));
      expect(titles.map(([, title]) => title).toSorted()).toEqual(wanted.toSorted());
      const arrows = [...mermaid.matchAll(/ --> /g)].length;
      expect([...svg.matchAll(/class="edge"/g)].length).toBe(arrows);
    }
  });

  it('refuses what it does not know', () => {
    expect(() => mermaidToDot('stateDiagram-v2\n  note right of a: b')).toThrow('cannot be drawn');
  });
});

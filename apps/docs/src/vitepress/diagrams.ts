import { instance } from '@viz-js/viz';
import { type MarkdownRenderer } from 'vitepress';
import { mermaidToDot } from './dot.ts';

const graphviz = await instance();

/** Converts Mermaid blocks to images during the build, so that browsers need no script for them. */
export function drawDiagrams(markdown: MarkdownRenderer): void {
  const { fence } = markdown.renderer.rules;
  markdown.renderer.rules.fence = (tokens, index, ...rest) => {
    const { info = '', content = '' } = tokens[index] ?? {};
    if (info.trim() !== 'mermaid') return fence?.(tokens, index, ...rest) ?? '';
    const svg = graphviz.renderString(mermaidToDot(content), { format: 'svg' });
    return `<div v-pre class="diagram" tabindex="0" role="group" aria-label="Diagram">${svg.slice(svg.indexOf('<svg'))}</div>\n`;
  };
}

import { existsSync } from 'node:fs';
import path from 'node:path';
import { referencePages } from '@muster/reference';
import { defineConfig } from 'vitepress';
import { decisionPages } from './decisions.ts';
import { drawDiagrams } from './diagrams.ts';
import { unlinkSources } from './sources.ts';

const pages = path.resolve(import.meta.dirname, '../../../../docs');

const guides: readonly (readonly [text: string, name: string])[] = [
  ['The first ten minutes', 'first-ten-minutes'],
  ['Concepts', 'concepts'],
  ['Signing in', 'signing-in'],
  ['Tokens and access', 'tokens-and-access'],
  ['Working as an agent', 'working-as-an-agent'],
  ['MCP clients', 'mcp-clients'],
  ['License your app', 'license-your-app'],
  ['Finding things', 'searching'],
  ['How delivery goes', 'delivery-health'],
  ['Events as they happen', 'events'],
  ['Work from another tracker', 'importing'],
  ['Connect your forge', 'forges'],
  ['What you saw on the forge', 'forge-webhooks'],
  ['Errors and retries', 'errors-and-retries'],
  ['Idempotency', 'idempotency'],
  ['Running it', 'running-it'],
  ['Watching it', 'monitoring'],
  ['Upgrading', 'upgrading'],
];

const inside = [
  { text: 'Configuration', link: '/configuration' },
  { text: 'The words we use', link: '/glossary' },
  { text: 'States', link: '/states' },
  { text: 'Architecture', link: '/architecture' },
  { text: 'Adding an operation', link: '/adding-an-operation' },
  { text: 'What is proven', link: '/proof' },
];

const sidebar = [
  {
    text: 'Guides',
    items: guides
      .filter(([, name]) => existsSync(path.join(pages, 'guides', `${name}.md`)))
      .map(([text, name]) => ({ text, link: `/guides/${name}` })),
  },
  {
    text: 'Reference',
    collapsed: false,
    items: referencePages().map(({ path: place, title }) => ({
      text: title === 'Reference' ? 'All operations' : title,
      link: place === 'reference' ? '/reference/' : `/${place}`,
    })),
  },
  { text: 'Inside', items: inside },
  { text: 'Decisions', collapsed: true, items: decisionPages(pages) },
];

export default defineConfig({
  title: 'Muster',
  description: 'Coordinates a team, people and coding agents alike, around a codebase',
  lang: 'en',
  srcDir: pages,
  cleanUrls: true,
  // Nothing is fetched from elsewhere: it works where there is no way out.
  themeConfig: {
    nav: [
      { text: 'Guides', link: '/guides/first-ten-minutes' },
      { text: 'Reference', link: '/reference/' },
    ],
    sidebar,
    outline: [2, 2],
    search: { provider: 'local' },
  },
  transformPageData: (pageData) => {
    const { title, description } = (pageData.params ?? {}) as { title?: string; description?: string };
    return { ...(title !== undefined && { title }), ...(description !== undefined && { description }) };
  },
  markdown: {
    config: (markdown) => {
      drawDiagrams(markdown);
      unlinkSources(markdown);
    },
  },
});

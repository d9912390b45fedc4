import path from 'node:path';
import { anchorOf, namespaceGroups, referencePages } from '@muster/reference';
import { logoSvg } from '@muster/contract';
import { defineConfig, type DefaultTheme } from 'vitepress';
import { listDecisionPages } from './decisions.ts';
import { drawDiagrams } from './diagrams.ts';
import { renderPlain, searchOptions } from './search.ts';
import { unlinkSources } from './sources.ts';
import { keepVerbatim } from './verbatim.ts';

/** The folder of the pages, set by `build.ts`. */
const pagesFolder = process.env['PAGES_FOLDER'];
if (pagesFolder === undefined) throw new Error('PAGES_FOLDER is not set: run src/build.ts');

type GuideLinks = readonly (readonly [text: string, name: string])[];

const guidesByTopic: Readonly<Record<string, GuideLinks>> = {
  'Get started': [
    ['The first ten minutes', 'first-ten-minutes'],
    ['Concepts', 'concepts'],
    ['Signing in', 'signing-in'],
    ['Provisioning by SCIM', 'scim'],
    ['Tokens and access', 'tokens-and-access'],
    ['Import from another tracker', 'importing'],
    ['Export your data', 'exporting'],
    ['Plans', 'plans'],
  ],
  Agents: [
    ['Working as an agent', 'working-as-an-agent'],
    ['Connect MCP clients', 'mcp-clients'],
    ['Tasks over A2A', 'a2a'],
    ['Set up coding agents', 'coding-agents'],
    ['Run agents on your machine', 'running-agents'],
    ['Finish work without a forge', 'finishing-work'],
  ],
  Integrate: [
    ['Errors and retries', 'errors-and-retries'],
    ['Idempotency', 'idempotency'],
    ['Events and live updates', 'events'],
    ['Webhooks', 'webhooks'],
    ['Notifications', 'notifications'],
    ['Slack, Teams and e-mail', 'chat'],
    ['Audit entries in a SIEM', 'siem'],
    ['Files and evidence', 'attachments'],
    ['GitHub, GitLab, Gitea, Forgejo', 'forges'],
    ['Report merges and checks', 'forge-webhooks'],
    ['Search', 'searching'],
    ['Views', 'views'],
    ['Delivery metrics', 'delivery-health'],
    ['License your app', 'license-your-app'],
    ['Sell licenses from your shop', 'selling-licenses'],
  ],
  Operate: [
    ['Deploy and operate', 'running-it'],
    ['Sizing', 'sizing'],
    ['Several database servers', 'several-servers'],
    ['Monitoring and alerts', 'monitoring'],
    ['Upgrades', 'upgrading'],
    ['Rotate secrets', 'rotating-secrets'],
    ['Policy as a file', 'policy-as-code'],
  ],
};

const internalPages = [
  { text: 'Configuration', link: '/configuration' },
  { text: 'Rights of tokens', link: '/rights' },
  { text: 'Security', link: '/security' },
  { text: 'Architecture', link: '/architecture' },
  { text: 'State diagrams', link: '/states' },
  { text: 'Glossary', link: '/glossary' },
  { text: 'Design of the console', link: '/console-design' },
  { text: 'Adding an operation', link: '/adding-an-operation' },
  { text: 'Proofs and tests', link: '/proof' },
];

const pageLink = (pagePath: string): string => (pagePath === 'reference' ? '/reference/' : `/${pagePath}`);
const allReferencePages = referencePages();
const [referenceIndex, ...otherReferencePages] = allReferencePages;
const namespaceSidebar = namespaceGroups.map(({ title, namespaces }) => ({
  text: title,
  collapsed: true,
  items: Object.keys(namespaces).map((namespace) => ({
    text: namespace,
    link: pageLink(`reference/${namespace}`),
  })),
}));
const namespaceNames = new Set(namespaceGroups.flatMap((group) => Object.keys(group.namespaces)));

const guidesSidebar: DefaultTheme.SidebarItem[] = [
  ...Object.entries(guidesByTopic).map(([text, items]) => ({
    text,
    items: items.map(([title, name]) => ({ text: title, link: `/guides/${name}` })),
  })),
  { text: 'Inside', collapsed: true, items: internalPages },
  { text: 'Decisions', collapsed: true, items: listDecisionPages(pagesFolder) },
];
const referenceSidebar: DefaultTheme.SidebarItem[] = [
  { text: 'All operations', link: pageLink(referenceIndex?.path ?? 'reference') },
  ...namespaceSidebar.map((group) => ({ ...group, collapsed: false })),
  {
    text: 'Records, errors and events',
    items: otherReferencePages
      .filter(({ title }) => !namespaceNames.has(title))
      .map(({ path: place, title }) => ({ text: title, link: pageLink(place) })),
  },
];

export default defineConfig({
  title: 'Muster',
  description: 'Coordinates people and coding agents around a codebase',
  lang: 'en',
  srcDir: path.resolve(pagesFolder),
  cleanUrls: true,
  // Diagrams and the search index are large and are loaded only on demand. The overridden esbuild cannot
  // compile for the older browsers of Vite's default target.
  vite: { build: { target: 'es2022', chunkSizeWarningLimit: 2_000 } },
  head: [['link', { rel: 'icon', href: `data:image/svg+xml,${encodeURIComponent(logoSvg)}` }]],
  // Nothing is fetched from other origins, so the site works without internet access.
  themeConfig: {
    logo: { src: `data:image/svg+xml,${encodeURIComponent(logoSvg)}`, alt: '' },
    nav: [
      { text: 'Guides', link: '/guides/first-ten-minutes', activeMatch: '^/(guides|decisions)/' },
      { text: 'Reference', link: '/reference/', activeMatch: '^/reference/' },
    ],
    sidebar: { '/reference/': referenceSidebar, '/': guidesSidebar },
    outline: [2, 2],
    search: { provider: 'local', options: { _render: renderPlain, miniSearch: { searchOptions } } },
    notFound: {
      code: '404',
      title: 'Page not found',
      quote:
        'It may have moved. Use the search in the header to find guides, operations, reasons and records.',
      linkText: 'Go to the home page',
      linkLabel: 'Go to the home page',
    },
  },
  // The outline of a guide includes subsections, so that readers find each alert and each client.
  transformPageData: ({ relativePath, frontmatter }) =>
    relativePath.startsWith('guides/') ? { frontmatter: { ...frontmatter, outline: [2, 3] } } : undefined,
  markdown: {
    // Built-in themes whose comments are also readable on the background of a code block.
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    anchor: { slugify: anchorOf },
    config: (markdown) => {
      drawDiagrams(markdown);
      unlinkSources(markdown);
      keepVerbatim(markdown);
    },
  },
});

/**
 * MCP Apps (`io.modelcontextprotocol/ui`): HTML views that render the results of some tools, for clients that
 * support them. A view is a single page that can communicate only with its host. Other clients get the same
 * results as text.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { type ClientCapabilities, type ReadResourceResult, type Tool } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { toolNameOf } from './tools/tools.ts';
import { registry } from '@muster/registry';

export const uiExtension = 'io.modelcontextprotocol/ui';
const mimeType = 'text/html;profile=mcp-app';

const ownFiles = path.join(import.meta.dirname, 'ui');
const source = (file: string): string => readFileSync(path.join(ownFiles, file), 'utf8');
const sha256 = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/**
 * Builds one page. Its Content-Security-Policy allows only its own script and style, whatever the host
 * allows.
 */
function pageOf(name: string, title: string): string {
  const style = source('look.css');
  const own = source(`${name}.js`).replace(/^import .*;$/m, '');
  // A module runs in strict mode, and after the page has been parsed.
  const script = `${source('frame.js').replaceAll(/^export /gm, '')}\n${own}`;
  const policy = `default-src 'none'; script-src ${sha256(script)}; style-src ${sha256(style)}; base-uri 'none'; form-action 'none'`;
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${policy}"><meta name="viewport" content="width=device-width"><title>${title}</title><style>${style}</style></head><body><main></main><script type="module">${script}</script></body></html>`;
}

const views = [
  { name: 'board', title: 'Board', of: [registry.stories.list] },
  { name: 'story', title: 'Story and reviews', of: [registry.storyCollaboration.context] },
  { name: 'holders', title: 'Active work and locks', of: [registry.agents.listActive, registry.locks.list] },
] as const;

const uriOf = (name: string): string => `ui://muster/${name}`;
const uriOfTool = new Map<string, string>(
  views.flatMap(({ name, of }) => of.map((operation) => [toolNameOf(operation.name), uriOf(name)] as const)),
);
const pages = new Map(views.map(({ name, title }) => [uriOf(name), pageOf(name, title)]));

const Supported = z.object({
  extensions: z.object({ [uiExtension]: z.object({ mimeTypes: z.array(z.string()) }) }),
});

/** Returns true if the client declares that it shows views. */
export const showsViews = (capabilities: ClientCapabilities | undefined): boolean =>
  Supported.safeParse(capabilities).data?.extensions[uiExtension].mimeTypes.includes(mimeType) === true;

/** Adds the view that renders the tool's results, if there is one. */
export function withView(tool: Tool): Tool {
  const resourceUri = uriOfTool.get(tool.name);
  return resourceUri === undefined ? tool : { ...tool, _meta: { ...tool._meta, ui: { resourceUri } } };
}

/** Returns the page of a view; undefined if no view has this URI. */
export function readView(uri: string): ReadResourceResult['contents'] | undefined {
  const text = pages.get(uri);
  // The page requests no domains, so the host allows none.
  return text === undefined ? undefined : [{ uri, mimeType, text, _meta: { ui: { prefersBorder: true } } }];
}

/**
 * MCP Apps (`io.modelcontextprotocol/ui`): HTML views that render the results of some tools, for clients that
 * support them. A view is a single page that can communicate only with its host. Other clients get the same
 * results as text.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { type ClientCapabilities, type ReadResourceResult, type Tool } from '@modelcontextprotocol/server';
import { readStyles } from '@muster/http';
import { z } from 'zod';
import { toolNameOf } from './tools/tools.ts';
import { registry } from '@muster/registry';

export const uiExtension = 'io.modelcontextprotocol/ui';
const viewMimeType = 'text/html;profile=mcp-app';

const viewFolder = path.join(import.meta.dirname, 'ui');
const readViewFile = (file: string): string => readFileSync(path.join(viewFolder, file), 'utf8');
const cspHash = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/**
 * Builds one page. Its Content-Security-Policy allows only its own script and style, whatever the host
 * allows.
 */
function buildViewPage(name: string, title: string): string {
  const style = readStyles('tokens') + readViewFile('look.css');
  const own = readViewFile(`${name}.js`).replace(/^import .*;$/m, '');
  // A module runs in strict mode, and after the page has been parsed.
  const script = `${readViewFile('frame.js').replaceAll(/^export /gm, '')}\n${own}`;
  const policy = `default-src 'none'; script-src ${cspHash(script)}; style-src ${cspHash(style)}; base-uri 'none'; form-action 'none'`;
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${policy}"><meta name="viewport" content="width=device-width"><title>${title}</title><style>${style}</style></head><body><main></main><script type="module">${script}</script></body></html>`;
}

const htmlViews = [
  { name: 'board', title: 'Board', of: [registry.stories.list] },
  { name: 'story', title: 'Story and reviews', of: [registry.storyCollaboration.context] },
  { name: 'holders', title: 'Active work and locks', of: [registry.agents.listActive, registry.locks.list] },
] as const;

const viewUriOf = (name: string): string => `ui://muster/${name}`;
const viewUriByTool = new Map<string, string>(
  htmlViews.flatMap(({ name, of }) =>
    of.map((operation) => [toolNameOf(operation.name), viewUriOf(name)] as const),
  ),
);
const pageByUri = new Map(htmlViews.map(({ name, title }) => [viewUriOf(name), buildViewPage(name, title)]));

const UiCapabilities = z.object({
  extensions: z.object({ [uiExtension]: z.object({ mimeTypes: z.array(z.string()) }) }),
});

/** Returns true if the client declares that it shows views. */
export const supportsHtmlViews = (capabilities: ClientCapabilities | undefined): boolean =>
  UiCapabilities.safeParse(capabilities).data?.extensions[uiExtension].mimeTypes.includes(viewMimeType) ===
  true;

/** Adds the view that renders the tool's results, if there is one. */
export function addViewToTool(tool: Tool): Tool {
  const resourceUri = viewUriByTool.get(tool.name);
  return resourceUri === undefined ? tool : { ...tool, _meta: { ...tool._meta, ui: { resourceUri } } };
}

/** Returns the page of a view; undefined if no view has this URI. */
export function readView(uri: string): ReadResourceResult['contents'] | undefined {
  const text = pageByUri.get(uri);
  // The page requests no domains, so the host allows none.
  return text === undefined
    ? undefined
    : [{ uri, mimeType: viewMimeType, text, _meta: { ui: { prefersBorder: true } } }];
}

/**
 * MCP Apps (`io.modelcontextprotocol/ui`): what a client that can show views is offered for three of the answers. A view is
 * one page that reaches nothing but its host; all other clients have the same answers as text.
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

/** One page whose policy lets in its own script and style and nothing else, whatever the host allows. */
function pageOf(name: string, title: string): string {
  const style = source('look.css');
  const own = source(`${name}.js`).replace(/^import .*;$/m, '');
  // As a module it is strict, and begins once the page is read.
  const script = `${source('frame.js').replaceAll(/^export /gm, '')}\n${own}`;
  const policy = `default-src 'none'; script-src ${sha256(script)}; style-src ${sha256(style)}; base-uri 'none'; form-action 'none'`;
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${policy}"><meta name="viewport" content="width=device-width"><title>${title}</title><style>${style}</style></head><body><main></main><script type="module">${script}</script></body></html>`;
}

const views = [
  { name: 'board', title: 'Board', of: [registry.stories.list] },
  { name: 'story', title: 'A story with its verdicts', of: [registry.storyCollaboration.context] },
  { name: 'holders', title: 'Who holds what', of: [registry.agents.listActive, registry.locks.list] },
] as const;

const uriOf = (name: string): string => `ui://muster/${name}`;
const uriOfTool = new Map<string, string>(
  views.flatMap(({ name, of }) => of.map((operation) => [toolNameOf(operation.name), uriOf(name)] as const)),
);
const pages = new Map(views.map(({ name, title }) => [uriOf(name), pageOf(name, title)]));

const Supported = z.object({
  extensions: z.object({ [uiExtension]: z.object({ mimeTypes: z.array(z.string()) }) }),
});

/** Whether the client says that it shows views. */
export const showsViews = (capabilities: ClientCapabilities | undefined): boolean =>
  Supported.safeParse(capabilities).data?.extensions[uiExtension].mimeTypes.includes(mimeType) === true;

/** The tool with the view that shows its answers, where there is one. */
export function withView(tool: Tool): Tool {
  const resourceUri = uriOfTool.get(tool.name);
  return resourceUri === undefined ? tool : { ...tool, _meta: { ...tool._meta, ui: { resourceUri } } };
}

/** Undefined where no view has this address. */
export function readView(uri: string): ReadResourceResult['contents'] | undefined {
  const text = pages.get(uri);
  // No domain is named, so a host lets none through.
  return text === undefined ? undefined : [{ uri, mimeType, text, _meta: { ui: { prefersBorder: true } } }];
}

/** The parts that `muster setup` adds for a client, and the file of each. */
import path from 'node:path';
import { instructionsSection, skillText } from '@muster/reference/skill';
import { type HookOptions } from '../hook/names.ts';
import { mcpClientOf, type McpServerSettings } from '../mcp/clients.ts';
import { editJson, readJsonValue, readTomlValue } from '../mcp/edit.ts';
import { editSettings } from '../mcp/install.ts';
import { settingsFileOf } from '../mcp/server.ts';
import { type ScopedFile, type SetupClientName, setupClientOf, type SetupScope } from './clients.ts';
import { hookStateOf, putHooks, removeHooks } from './hook-entries.ts';
import { markdownMarkers, putSection, readSection, removeSection } from './section.ts';

export type PartState = 'missing' | 'outdated' | 'current';

/** The options of a setup. They decide the content of the MCP entry and of the hooks. */
export interface SetupOptions {
  readonly server: McpServerSettings;
  readonly hooks: HookOptions;
}

export interface SetupPart {
  readonly title: string;
  readonly file: string;
  /** True if several clients may use the same part of the same file. */
  readonly isShared: boolean;
  /** True if a new file must be executable. */
  readonly isExecutable?: boolean;
  /** Compares the file with the options. Without options any MCP entry and any options of hooks are current. */
  readonly state: (text: string, options: SetupOptions | undefined) => PartState;
  readonly add: (text: string, options: SetupOptions) => string;
  /** Removes the part. An empty result means that the file has nothing else. */
  readonly remove: (text: string) => string;
}

const serverName = 'muster';
export const anyServer: McpServerSettings = { name: serverName, url: '', tokenVariable: 'MUSTER_TOKEN' };

/** Returns an empty text if a JSON file has nothing but a version, which some clients require. */
function withoutEmptyObject(text: string, file: string): string {
  const root = readJsonValue(text, file, []);
  const names = Object.keys(root ?? {});
  return names.every((name) => name === 'version') ? '' : text;
}

function removeServer(client: SetupClientName, text: string, file: string, serversKey: string): string {
  const place = { file, serversKey, format: file.endsWith('.toml') ? 'toml' : 'json' } as const;
  let edited = editSettings(text, place, mcpClientOf(client), anyServer, false);
  if (place.format === 'toml') return edited.trim() === '' ? '' : edited;
  for (const key of [serversKey, 'inputs']) {
    const value = readJsonValue(edited, file, [key]);
    if (value !== undefined && Object.keys(value as object).length === 0)
      edited = editJson(edited, file, [key], undefined);
  }
  return withoutEmptyObject(edited, file);
}

const isSame = (value: unknown, other: unknown): boolean => JSON.stringify(value) === JSON.stringify(other);

/**
 * Returns true if the entry has the server's address and headers. The client's own command may name the
 * fields otherwise than `buildEntry`: Gemini CLI writes `url` with a `type` instead of `httpUrl`.
 */
function isEntryOf(entry: unknown, server: McpServerSettings, client: SetupClientName): boolean {
  const wanted = mcpClientOf(client).buildEntry(server);
  if (isSame(entry, wanted)) return true;
  const fields = entry as Readonly<Record<string, unknown>>;
  const hasAddress = Object.values(fields).includes(server.url);
  return hasAddress && 'headers' in wanted && isSame(fields['headers'], wanted['headers']);
}

function mcpPart(client: SetupClientName, scope: SetupScope, root: string): SetupPart {
  const place = settingsFileOf(client, scope, root);
  const { file, serversKey, format } = place;
  const entryOf = (text: string): unknown => {
    const read = format === 'toml' ? readTomlValue : readJsonValue;
    return read(text, file, [serversKey, serverName]);
  };
  const add = (text: string, { server }: SetupOptions): string =>
    editSettings(text, place, mcpClientOf(client), server, true);
  return {
    ...{ title: 'MCP server', file, isShared: false, add },
    state: (text, options) => {
      const entry = entryOf(text);
      if (entry === undefined) return 'missing';
      return options === undefined || isEntryOf(entry, options.server, client) ? 'current' : 'outdated';
    },
    remove: (text) => removeServer(client, text, file, serversKey),
  };
}

/** A part that is a whole file. */
const filePart = (
  title: string,
  file: string,
  textOf: (options: SetupOptions | undefined) => string | undefined,
): SetupPart => ({
  ...{ title, file, isShared: true },
  state: (text, options) => {
    if (text === '') return 'missing';
    const wanted = textOf(options);
    return wanted === undefined || wanted === text ? 'current' : 'outdated';
  },
  add: (text, options) => textOf(options) ?? text,
  remove: () => '',
});

const sectionPart = (file: string): SetupPart => ({
  ...{ title: 'instructions', file, isShared: true },
  state: (text) => {
    const section = readSection(text, markdownMarkers);
    if (section === undefined) return 'missing';
    return section === instructionsSection.trim() ? 'current' : 'outdated';
  },
  add: (text) => putSection(text, instructionsSection, markdownMarkers),
  remove: (text) => removeSection(text, markdownMarkers),
});

const anyHooks: HookOptions = { baseUrl: '', isStrict: false };

function hooksPart(client: SetupClientName, file: string): SetupPart {
  const { hooks } = setupClientOf(client);
  if (hooks.kind === 'file')
    return filePart('hooks', file, (options) => options && hooks.text(options.hooks));
  return {
    ...{ title: 'hooks', file, isShared: false },
    state: (text, options) =>
      hookStateOf(text, file, hooks.entries(options?.hooks ?? anyHooks), options !== undefined),
    add: (text, options) => putHooks(text, file, hooks.entries(options.hooks), hooks.fields),
    remove: (text) => withoutEmptyObject(removeHooks(text, file), file),
  };
}

/** Lists the parts of a client. A client without a file for the scope does not have that part. */
export function partsOf(client: SetupClientName, scope: SetupScope, root: string): SetupPart[] {
  const { skill, instructions, hooks } = setupClientOf(client);
  const place = (scoped: ScopedFile): string[] => {
    const file = scope === 'project' ? path.join(root, scoped.project) : scoped.user?.();
    return file === undefined ? [] : [file];
  };
  return [
    mcpPart(client, scope, root),
    ...place(skill).map((file) => filePart('skill', file, () => skillText)),
    ...place(instructions).map(sectionPart),
    ...place(hooks).map((file) => hooksPart(client, file)),
  ];
}

/** Coding agents that `muster setup` configures: their files and the shapes of their hooks. */
import path from 'node:path';
import { type HookName, hookNames, type HookOptions } from '../hook/names.ts';
import { homePath, type McpClientName } from '../mcp/clients.ts';
import { posixHookCommand, powershellHookCommand } from './hook-commands.ts';
import { type HookEntry } from './hook-entries.ts';
import { opencodePlugin } from './opencode-plugin.ts';

export type SetupScope = 'project' | 'user';

/** A file by scope. The path of a project's file is relative to the root of the repository. */
export interface ScopedFile {
  readonly project: string;
  /** Undefined if the client has no such file. */
  readonly user: (() => string) | undefined;
}

/** Hooks in a file that has other hooks too. */
interface SharedHooks {
  readonly kind: 'entries';
  readonly entries: (options: HookOptions) => HookEntry[];
  /** Fields that the client requires next to `hooks`. */
  readonly fields: Readonly<Record<string, unknown>>;
}

/** Hooks in a file of their own. */
interface OwnHooks {
  readonly kind: 'file';
  readonly text: (options: HookOptions) => string;
}

export interface SetupClient {
  readonly skill: ScopedFile;
  /** The Markdown file with instructions that the client always reads. */
  readonly instructions: ScopedFile;
  readonly hooks: ScopedFile & (SharedHooks | OwnHooks);
  /** Instructions about what the user does before the client runs the hooks. */
  readonly hookInstructions?: string;
}

const skillFile = (folder: string): ScopedFile => {
  const file = `${folder}/skills/muster/SKILL.md`;
  return { project: file, user: () => homePath(...file.split('/')) };
};
/** The folder for skills that Codex, Cursor, Gemini CLI, Copilot, VS Code and OpenCode all read. */
const commonSkill = skillFile('.agents');

/** The client's names of events. A hook without a name is not configured. */
type EventNames = Readonly<Partial<Record<HookName, string>>>;

interface EntryShape {
  readonly events: EventNames;
  /** The client's tools that edit files, as a regular expression. */
  readonly editTools: string;
  readonly build: (command: string, matcher: { readonly matcher?: string }) => object;
}

/** Builds one entry for each hook of a client. */
const entriesOf =
  (client: McpClientName, { events, editTools, build }: EntryShape) =>
  (options: HookOptions): HookEntry[] =>
    hookNames.flatMap((hook) => {
      const event = events[hook];
      if (event === undefined) return [];
      const matcher = hook === 'before-edit' ? { matcher: editTools } : {};
      return [{ event, value: build(posixHookCommand(hook, client, options), matcher) }];
    });

/** The time after which a client gives up on a hook. The hook itself answers much earlier. */
const clientTimeoutSeconds = 10;

const claudeEvents = {
  ...{ 'session-start': 'SessionStart', 'pre-compact': 'PreCompact' },
  ...{ stop: 'Stop', 'before-edit': 'PreToolUse' },
} satisfies EventNames;
// Gemini CLI calls PreCompress before each request to the model, so it has no hook before compaction.
const geminiEvents: EventNames = {
  ...{ 'session-start': 'SessionStart', stop: 'AfterAgent', 'before-edit': 'BeforeTool' },
};
const cursorEvents: EventNames = {
  ...{ 'session-start': 'sessionStart', 'pre-compact': 'preCompact' },
  ...{ stop: 'stop', 'before-edit': 'preToolUse' },
};

/** A group of hooks as in Claude Code, which Codex and Gemini CLI share. */
const groupOf =
  (more: Readonly<Record<string, unknown>>): EntryShape['build'] =>
  (command, matcher) => ({ ...matcher, hooks: [{ type: 'command', command, ...more }] });

/**
 * Builds the hooks file that GitHub Copilot CLI and VS Code both read. VS Code ignores matchers, so the hook
 * itself ignores tools that edit nothing.
 */
function copilotHooks(options: HookOptions): string {
  const hooks = Object.fromEntries(
    hookNames.map((hook) => [
      claudeEvents[hook],
      [
        {
          type: 'command',
          ...(hook === 'before-edit' && { matcher: 'Edit|Write' }),
          bash: posixHookCommand(hook, 'copilot', options),
          powershell: powershellHookCommand(hook, 'copilot', options),
          timeoutSec: clientTimeoutSeconds,
        },
      ],
    ]),
  );
  return `${JSON.stringify({ version: 1, hooks }, null, 2)}\n`;
}

const copilotHome = (...names: string[]): string =>
  path.join(process.env['COPILOT_HOME'] ?? homePath('.copilot'), ...names);
const codexHome = (...names: string[]): string =>
  path.join(process.env['CODEX_HOME'] ?? homePath('.codex'), ...names);

const copilotHooksFile = {
  project: '.github/hooks/muster.json',
  user: () => copilotHome('hooks', 'muster.json'),
  kind: 'file',
  text: copilotHooks,
} as const;

export const setupClients = {
  claude: {
    skill: skillFile('.claude'),
    instructions: { project: 'CLAUDE.md', user: () => homePath('.claude', 'CLAUDE.md') },
    hooks: {
      project: '.claude/settings.json',
      user: () => homePath('.claude', 'settings.json'),
      kind: 'entries',
      entries: entriesOf('claude', {
        events: claudeEvents,
        editTools: 'Edit|MultiEdit|Write|NotebookEdit',
        build: groupOf({ timeout: clientTimeoutSeconds }),
      }),
      fields: {},
    },
  },
  codex: {
    skill: commonSkill,
    instructions: { project: 'AGENTS.md', user: () => codexHome('AGENTS.md') },
    hooks: {
      project: '.codex/hooks.json',
      user: () => codexHome('hooks.json'),
      kind: 'entries',
      entries: entriesOf('codex', {
        events: claudeEvents,
        editTools: 'apply_patch|Edit|Write',
        build: groupOf({ timeout: clientTimeoutSeconds }),
      }),
      fields: {},
    },
    hookInstructions: 'Codex runs new hooks after you trust them: type /hooks in Codex.',
  },
  cursor: {
    skill: commonSkill,
    instructions: { project: 'AGENTS.md', user: undefined },
    hooks: {
      project: '.cursor/hooks.json',
      user: () => homePath('.cursor', 'hooks.json'),
      kind: 'entries',
      entries: entriesOf('cursor', {
        events: cursorEvents,
        editTools: 'Write|Edit|Delete|StrReplace|ApplyPatch|EditNotebook',
        build: (command, matcher) => ({ command, ...matcher, timeout: clientTimeoutSeconds }),
      }),
      fields: { version: 1 },
    },
  },
  gemini: {
    skill: commonSkill,
    instructions: { project: 'GEMINI.md', user: () => homePath('.gemini', 'GEMINI.md') },
    hooks: {
      project: '.gemini/settings.json',
      user: () => homePath('.gemini', 'settings.json'),
      kind: 'entries',
      entries: entriesOf('gemini', {
        events: geminiEvents,
        editTools: 'write_file|replace|edit',
        // Gemini CLI takes milliseconds.
        build: groupOf({ name: 'muster', timeout: clientTimeoutSeconds * 1_000 }),
      }),
      fields: {},
    },
  },
  copilot: {
    skill: commonSkill,
    instructions: { project: 'AGENTS.md', user: () => copilotHome('copilot-instructions.md') },
    hooks: copilotHooksFile,
  },
  opencode: {
    skill: commonSkill,
    instructions: {
      project: 'AGENTS.md',
      user: () => homePath('.config', 'opencode', 'AGENTS.md'),
    },
    hooks: {
      project: '.opencode/plugins/muster.js',
      user: () => homePath('.config', 'opencode', 'plugins', 'muster.js'),
      kind: 'file',
      text: opencodePlugin,
    },
  },
  vscode: {
    skill: commonSkill,
    instructions: { project: 'AGENTS.md', user: undefined },
    hooks: copilotHooksFile,
  },
} as const satisfies Partial<Readonly<Record<McpClientName, SetupClient>>>;

export type SetupClientName = keyof typeof setupClients;
export const setupClientNames = Object.keys(setupClients) as SetupClientName[];
export const setupClientOf = (name: SetupClientName): SetupClient => setupClients[name];

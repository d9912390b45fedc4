/** The hooks that clients call, and the command that runs one. */

export const hookNames = ['session-start', 'pre-compact', 'stop', 'before-edit'] as const;
export type HookName = (typeof hookNames)[number];
/** The hook of git, in addition to those of coding agents. */
export const gitHookName = 'pre-commit';

export const isHookName = (text: string): text is HookName => (hookNames as readonly string[]).includes(text);

/** The options of `muster hook` that `muster setup` writes into a client's file. */
export interface HookOptions {
  /** The address of the installation. The client's environment may have only the token. */
  readonly baseUrl: string;
  /** The project whose locks are checked. */
  readonly project?: string | undefined;
  /** If true, an edit is refused when its lock cannot be checked. */
  readonly isStrict: boolean;
  /** If true, edits are checked only in clones of the project's repository. For hooks of all repositories. */
  readonly matchesRepository?: boolean;
}

/** Returns the arguments of `muster` for a hook. */
export const hookWords = (
  hook: HookName | typeof gitHookName,
  client: string,
  { baseUrl, project, isStrict, matchesRepository = false }: HookOptions,
): string[] => [
  ...['hook', hook, client, '--base-url', baseUrl],
  ...(project === undefined ? [] : ['--project', project]),
  ...(isStrict && (hook === 'before-edit' || hook === gitHookName) ? ['--strict'] : []),
  ...(matchesRepository && hook === 'before-edit' ? ['--match-repository'] : []),
];

/** Recognizes a command that `muster setup` wrote. */
export const isHookCommand = (command: unknown): boolean =>
  typeof command === 'string' && /\bmuster hook (session-start|pre-compact|stop|before-edit)\b/.test(command);

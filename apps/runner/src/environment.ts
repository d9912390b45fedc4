/** What an agent and the repository's hooks know of this machine: what is listed, and no more. */
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { startedWith } from './secrets.ts';
import { type ReadyRun } from './session.ts';

/** What programs need to run at all, to be reached through a proxy, and to know their user. */
export const usual: readonly string[] = [
  ...[
    'PATH',
    'HOME',
    'USER',
    'LOGNAME',
    'SHELL',
    'TMPDIR',
    'TERM',
    'COLORTERM',
    'NO_COLOR',
    'TZ',
    'LANG',
    'LANGUAGE',
  ],
  ...['LC_ALL', 'LC_CTYPE', 'LC_MESSAGES', 'LC_COLLATE', 'LC_NUMERIC', 'LC_TIME'],
  ...['XDG_CONFIG_HOME', 'XDG_CACHE_HOME', 'XDG_DATA_HOME', 'XDG_STATE_HOME', 'XDG_RUNTIME_DIR'],
  ...[
    'HTTP_PROXY',
    'HTTPS_PROXY',
    'NO_PROXY',
    'ALL_PROXY',
    'http_proxy',
    'https_proxy',
    'no_proxy',
    'all_proxy',
  ],
  ...['SSL_CERT_FILE', 'SSL_CERT_DIR', 'NODE_EXTRA_CA_CERTS'],
];

/** Files of a run, beside its journal: they go with it. */
export const filesOf = (folder: string) => ({
  prompt: path.join(folder, 'prompt.md'),
  signals: path.join(folder, 'signals.jsonl'),
  result: path.join(folder, 'result.json'),
  log: path.join(folder, 'agent.log'),
  /** Has the command `muster`, and comes first on the agent's PATH. */
  programs: path.join(folder, 'bin'),
});

/** Makes the command `muster` that an agent finds, whatever the machine has: this program itself. */
export async function writeLauncher(folder: string): Promise<void> {
  const { programs } = filesOf(folder);
  const quoted = [process.execPath, process.argv[1] ?? ''].map(
    (word) => `'${word.replaceAll("'", "'\\''")}'`,
  );
  await mkdir(programs, { recursive: true });
  await writeFile(path.join(programs, 'muster'), `#!/bin/sh\nexec ${quoted.join(' ')} "$@"\n`, {
    mode: 0o755,
  });
}

/** By whom the agent's own calls are: a token that lasts as long as the run, else the login, whose tokens do not. */
export function credentialOf({ session: { connection }, identity }: ReadyRun): Record<string, string> {
  const { renewed, token } = connection;
  return renewed !== undefined && token === identity.token
    ? { MUSTER_PROFILE: renewed }
    : { MUSTER_TOKEN: identity.token };
}

export function environmentFor(run: ReadyRun): Record<string, string> {
  const { own, session, lease, work, config } = run;
  const entry = own.get();
  const files = filesOf(own.folder);
  const passed = [...usual, ...config.agent.environment, ...entry.passed].flatMap((name) => {
    const value = startedWith(name);
    return value === undefined ? [] : [[name, value] as const];
  });
  return {
    ...Object.fromEntries(passed),
    PATH: `${files.programs}${path.delimiter}${process.env['PATH'] ?? ''}`,
    MUSTER_BASE_URL: session.connection.baseUrl,
    ...credentialOf(run),
    MUSTER_RUN_ID: entry.runId,
    MUSTER_EXECUTION_ID: work.executionId,
    MUSTER_LEASE_TOKEN: lease.leaseToken,
    MUSTER_STORY: work.key,
    MUSTER_PROJECT: work.key.slice(0, work.key.lastIndexOf('-')),
    MUSTER_BRANCH: work.branch,
    MUSTER_BASE_BRANCH: work.base,
    MUSTER_PROMPT_FILE: files.prompt,
    MUSTER_SIGNALS: files.signals,
    MUSTER_RESULT: files.result,
    ...(work.portBase !== undefined && { MUSTER_PORT_BASE: String(work.portBase) }),
  };
}

/** The environment variables and files of agents and repository hooks. They get the listed variables only. */
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { inheritedVariables } from './inherited-variables.ts';
import { originalEnvironmentValue } from './secrets.ts';
import { type ReadyRun } from './session.ts';

/**
 * Returns the paths of a run's files. They are in the folder of its journal entry and are deleted with it.
 */
export const runFilesOf = (folder: string) => ({
  prompt: path.join(folder, 'prompt.md'),
  signals: path.join(folder, 'signals.jsonl'),
  result: path.join(folder, 'result.json'),
  log: path.join(folder, 'agent.log'),
  usage: path.join(folder, 'usage.json'),
  /** The folder of the command `muster`, which comes first on the agent's PATH. */
  programs: path.join(folder, 'bin'),
});

/**
 * Writes a launcher for the command `muster` that starts this same program, whatever version the machine has
 * installed.
 */
export async function writeMusterLauncher(folder: string): Promise<void> {
  const { programs } = runFilesOf(folder);
  const quoted = [process.execPath, process.argv[1] ?? ''].map(
    (word) => `'${word.replaceAll("'", "'\\''")}'`,
  );
  await mkdir(programs, { recursive: true });
  await writeFile(path.join(programs, 'muster'), `#!/bin/sh\nexec ${quoted.join(' ')} "$@"\n`, {
    mode: 0o755,
  });
}

/**
 * Returns the credential for the agent's own calls: the token of the run. A run that works as the caller gets
 * the name of the login instead, because the login's tokens expire before the run ends.
 */
export function credentialOf({ session: { connection }, identity }: ReadyRun): Record<string, string> {
  const { renewingLogin, token } = connection;
  return renewingLogin !== undefined && token === identity.token
    ? { MUSTER_PROFILE: renewingLogin }
    : { MUSTER_TOKEN: identity.token };
}

export function environmentFor(run: ReadyRun): Record<string, string> {
  const { own, session, lease, work, config } = run;
  const entry = own.get();
  const files = runFilesOf(own.folder);
  const passed = [...inheritedVariables, ...config.agent.environment, ...entry.passed].flatMap((name) => {
    const value = originalEnvironmentValue(name);
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

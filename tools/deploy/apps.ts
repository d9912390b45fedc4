/** Reads facts about the apps, with which deployment files are compared. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { type AppName, portsOfApps, repositoryRoot } from '@muster/tools';

export type Environment = Readonly<Record<string, string>>;

interface AppConfig {
  readonly environment: Readonly<Record<string, unknown>>;
  readonly readConfig: (from: Environment) => {
    readonly PORT: number;
    readonly METRICS_PORT: number;
    readonly DRAIN_NOTICE_MILLIS: number;
  };
}

export const appNames = Object.keys(portsOfApps) as AppName[];

export const isApp = (name: string): name is AppName => name in portsOfApps;

/** Returns the variables that an app reads from its environment, by the app's own configuration module. */
export const configOf = async (app: AppName): Promise<AppConfig> =>
  (await import(path.join(repositoryRoot, 'apps', app, 'src/config.ts'))) as AppConfig;

/**
 * Returns addresses in variables that lead from one container to another. A host name with a dot leads
 * outside.
 */
export const innerAddresses = (environment: Environment): URL[] =>
  Object.entries(environment)
    .filter(([name, value]) => name.endsWith('_URL') && URL.canParse(value))
    .map(([, value]) => new URL(value))
    .filter(({ hostname }) => !hostname.includes('.') && hostname !== 'localhost');

/** Parses a file of variables as compose and kubectl do. */
export async function readEnvironmentFile(file: string): Promise<Environment> {
  const lines = (await readFile(path.join(repositoryRoot, file), 'utf8')).split('\n');
  return Object.fromEntries(
    lines
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  );
}
